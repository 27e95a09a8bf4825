"""What mining writes is what an independent count finds, and what can be read back."""

import re
from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from app.demo import urbancars
from app.services.plans import plan_dataset
from generation.planning.plan import PlanOptions
from graph.counting.cliques import mine_cliques
from graph.dataset import clique_table
from graph.dataset.cliques import load_cliques
from graph.dataset.mining import MiningOptions, mine_dataset
from graph.dataset.plans import read_plan, write_plan
from graph.dataset.read import load_incidence
from graph.dataset.state import dataset_state
from graph.diagnosis.imbalance import imbalance_table
from graph.errors import OptionError, StaleError, TooManyCliquesError, UnknownNameError
from graph.queries.binding import bind_named
from graph.queries.catalogue import CATALOGUE
from graph.queries.imbalances import Ranking, read_imbalances
from graph.records import Annotations, ImageRecord, Mention


@pytest.fixture
def ask(store, dataset):
    def run(name, **parameters):
        query, bound = bind_named(store, name, {"dataset": dataset, **parameters})
        return store.read(query.text, **bound)

    return run


def brute_force(annotations, size):
    """Joint counts per class of every common set of a size that an image contains."""
    counts, seen = Counter(), Counter()
    classes = set()
    for record in annotations.records():
        names = sorted({mention.concept for mention in record.mentions})
        classes.add(record.class_name)
        seen.update((record.class_name, name) for name in names)
        counts.update((members, record.class_name) for members in combinations(names, size))
    common = {name for _, name in seen if all(seen[y, name] for y in classes)}
    return {
        members: {y: counts[members, y] for y in sorted(classes)}
        for members in {members for members, _ in counts}
        if common.issuperset(members)
    }


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_cypher_and_kernel_count_what_brute_force_counts(
    store, load, ask, random_annotations, size
):
    annotations = random_annotations(250, seed=size, n_concepts=9)
    dataset = load(annotations, MiningOptions(max_size=size))
    expected = brute_force(annotations, size)
    from_images = ask(f"imbalances-from-images-{size}", limit=10**6)
    assert {tuple(r["concepts"]): dict(r["counts"]) for r in from_images} == expected
    for row in from_images:
        counts = dict(row["counts"])
        assert row["gap"] == max(counts.values()) - min(counts.values())
        assert (row["under_represented"] is None) == (row["gap"] == 0)
        if row["gap"]:
            assert counts[row["under_represented"]] == min(counts.values())
    cliques = load_cliques(store, dataset)
    mined = {
        names: dict(zip(cliques.classes, counts, strict=True))
        for names, counts in zip(cliques.names(), cliques.counts.tolist(), strict=True)
        if len(names) == size
    }
    assert mined == expected
    queries = {
        (r["class"], tuple(r["concepts"])): r["n"]
        for r in ask(f"generation-queries-from-images-{size}", limit=10**6)
    }
    assert queries == {
        (y, members): max(counts.values()) - n
        for members, counts in expected.items()
        for y, n in counts.items()
        if n < max(counts.values())
    }


def test_read_back_is_what_the_kernel_gave(store, load, random_annotations):
    dataset = load(random_annotations(200), MiningOptions(max_size=3, min_support=2))
    kernel = mine_cliques(load_incidence(store, dataset), max_size=3, min_support=2)
    stored = load_cliques(store, dataset)
    assert stored.names() == kernel.names()
    np.testing.assert_array_equal(stored.counts, kernel.counts)
    np.testing.assert_array_equal(stored.class_sizes, kernel.class_sizes)
    assert stored.classes == kernel.classes


def test_the_packed_cliques_are_those_of_the_nodes(
    store, load, random_annotations, monkeypatch, dump
):
    monkeypatch.setattr(clique_table, "CLIQUES_PER_PART", 7)
    options = MiningOptions(max_size=3, min_support=2, split="train")
    dataset = load(random_annotations(300, n_concepts=12), options)
    nodes = store.read(
        "MATCH (q:Clique {dataset: $dataset}) RETURN q.concepts AS concepts, "
        "COLLECT { MATCH (q)-[n:COUNTED_IN]->(y:Class) RETURN [y.name, n.images] } AS counts",
        dataset=dataset,
    )
    expected = {tuple(row["concepts"]): dict(row["counts"]) for row in nodes}
    assert len(expected) > 3 * 7
    for max_size in (None, 1, 2, 3):
        cliques = load_cliques(store, dataset, max_size=max_size)
        assert cliques.members.shape[1] == (max_size or 3)
        assert cliques.concepts == tuple(sorted({name for names in expected for name in names}))
        rows = [dict(zip(cliques.classes, row, strict=True)) for row in cliques.counts.tolist()]
        assert dict(zip(cliques.names(), rows, strict=True)) == {
            names: counts for names, counts in expected.items() if len(names) <= (max_size or 3)
        }
    sizes = store.read(
        "MATCH (:Image {dataset: $dataset, split: 'train'})-[:LABELED]->(y:Class) "
        "RETURN y.name AS name, count(*) AS images ORDER BY name",
        dataset=dataset,
    )
    assert cliques.class_sizes.tolist() == [row["images"] for row in sizes]
    assert dict(dataset_state(store, dataset).mined_classes) == {
        row["name"]: row["images"] for row in sizes
    }
    before = dump(dataset)
    store.write("MATCH (t:CliqueTable {dataset: $name, part: 1}) DELETE t", name=dataset)
    with pytest.raises(StaleError, match=r"Run `mine\("):
        load_cliques(store, dataset)
    mine_dataset(store, dataset, options, max_cliques=1000)
    assert dump(dataset) == before


def test_no_clique_at_all(store, load):
    records = [ImageRecord("1", "a", (Mention("x"),)), ImageRecord("2", "b", (Mention("y"),))]
    dataset = load(Annotations.from_records(records), MiningOptions(max_size=2))
    cliques = load_cliques(store, dataset)
    assert (cliques.members.shape, cliques.counts.shape) == ((0, 2), (0, 2))


def ranked(table, ranking):
    """What a ranking selects from the whole table; equal values by size, then by concepts."""
    asked = [
        (ranking.class_name, table["under_represented"].astype(str) == ranking.class_name),
        (ranking.min_size, table["size"] >= (ranking.min_size or 0)),
        (ranking.max_size, table["size"] <= (ranking.max_size or 0)),
        (ranking.max_q_value, table["q_value"] <= (ranking.max_q_value or 0)),
    ]
    kept = table["concepts"].map(set(ranking.concepts).issubset)
    for value, passes in asked:
        if value is not None:
            kept &= passes
    order = {"ascending": [not ranking.descending, True, True], "na_position": "last"}
    return table[kept].sort_values([ranking.by, "size", "concepts"], **order).head(ranking.limit)


@pytest.mark.parametrize(
    "ranking",
    [
        Ranking(),
        Ranking(by="q_value", descending=False, limit=15),
        Ranking(by="log_odds_ratio", limit=7),
        Ranking(by="count_class 1", limit=12),
        Ranking(by="rate_class 0", descending=False, limit=12),
        Ranking(class_name="class 2", min_size=2, limit=50),
        Ranking(concepts=("}) DETACH DELETE n //",), max_size=2, limit=50),
        Ranking(max_q_value=0.99, limit=1000),
    ],
    ids=repr,
)
def test_a_ranking_is_the_one_of_the_table(store, load, random_annotations, ranking):
    dataset = load(random_annotations(150), MiningOptions(max_size=3))
    table = imbalance_table(mine_cliques(load_incidence(store, dataset), max_size=3))
    expected = ranked(table, ranking)
    assert len(expected)
    found = read_imbalances(store, dataset, ranking)
    pd.testing.assert_frame_equal(
        found, expected.reset_index(drop=True), check_dtype=False, check_categorical=False
    )


def test_mining_again_changes_nothing_and_other_options_do(store, load, random_annotations, dump):
    dataset = load(random_annotations(100), MiningOptions(max_size=3))
    before = dump(dataset)
    again = mine_dataset(store, dataset, MiningOptions(max_size=3), max_cliques=10**6)
    assert (again.created, again.updated, again.deleted) == (0, 0, 0)
    assert dump(dataset) == before
    fewer = mine_dataset(store, dataset, MiningOptions(max_size=2), max_cliques=10**6)
    assert fewer.deleted > 0
    mine_dataset(store, dataset, MiningOptions(max_size=3), max_cliques=10**6)
    assert dump(dataset) == before


def test_interrupted_mining_is_noticed_and_goes_on(store, load, random_annotations, dump):
    dataset = load(random_annotations(400, n_concepts=12), MiningOptions())
    before = dump(dataset)
    mine_dataset(store, dataset, MiningOptions(max_size=1), max_cliques=10**6)

    class StopError(Exception):
        pass

    def stop(stage, done, total):
        if stage == "write cliques":
            raise StopError

    with pytest.raises(StopError):
        mine_dataset(store, dataset, MiningOptions(), max_cliques=10**6, progress=stop)
    with pytest.raises(StaleError, match=r"Run `mine\("):
        load_cliques(store, dataset)
    mine_dataset(store, dataset, MiningOptions(), max_cliques=10**6)
    assert dump(dataset) == before


def test_stale_numbers_are_not_shown(store, load, ask, random_annotations):
    dataset = load(random_annotations(60))
    with pytest.raises(StaleError, match="has not been mined yet"):
        ask("imbalances")
    load(random_annotations(60), MiningOptions(max_size=2))
    assert ask("imbalances")
    load(random_annotations(70))
    with pytest.raises(StaleError, match="has changed since it was mined"):
        read_imbalances(store, dataset, Ranking())
    with pytest.raises(StaleError):
        plan_dataset(store, dataset, "conbias", PlanOptions())


def test_too_many_cliques_write_nothing(store, load, random_annotations, dump):
    dataset = load(random_annotations(60))
    before = dump(dataset)
    with pytest.raises(TooManyCliquesError, match="minimum support"):
        mine_dataset(store, dataset, MiningOptions(), max_cliques=5)
    assert dump(dataset) == before


def test_misspelt_names_do_not_count_zero(store, load, ask, random_annotations):
    dataset = load(random_annotations(60), MiningOptions(max_size=2))
    with pytest.raises(UnknownNameError, match="concept 5"):
        ask("imbalance-of-concepts", concepts=["concept 55"])
    with pytest.raises(UnknownNameError, match="class 0"):
        read_imbalances(store, dataset, Ranking(class_name="klass"))
    with pytest.raises(UnknownNameError, match="q_value"):
        read_imbalances(store, dataset, Ranking(by="p"))
    with pytest.raises(OptionError, match="max_size=3"):
        load_cliques(store, dataset, max_size=3)


@pytest.mark.parametrize(
    ("street", "nodes", "edges", "singles", "pairs", "queries", "images"),
    [(False, 19, 106, 17, 72, 69, 7238), (True, 20, 116, 18, 80, 76, 7308)],
)
def test_urbancars_has_the_numbers_of_the_paper(
    store, load, ask, street, nodes, edges, singles, pairs, queries, images
):
    """From the kernel and from Cypher alone; figures of the authors' published files."""
    dataset = load(Annotations.from_records(urbancars(street=street)), MiningOptions())
    (size,) = ask("graph-size")
    assert (size["nodes"], size["edges"], size["images"]) == (nodes, edges, 8000)
    assert len(ask("edges-from-images")) == edges
    names = load_cliques(store, dataset).names()
    assert [len(n) for n in names] == [1] * singles + [2] * pairs
    assert len(ask("imbalances-from-images-1")) == singles
    assert len(ask("imbalances-from-images-2")) == pairs
    planned = plan_dataset(store, dataset, "published", PlanOptions(2, 2)).plan
    assert (len(planned.queries), planned.images) == (queries, images)
    from_cypher = ask("generation-queries-from-images-2")
    assert {(r["class"], tuple(r["concepts"]), r["n"]) for r in from_cypher} == {
        (q.class_name, q.concepts, q.n) for q in planned.queries
    }
    if not street:
        assert planned.images_by_class() == {"country": 3587, "urban": 3651}


def test_coverage_of_a_plan_is_what_simulation_says(store, load, ask, random_annotations):
    dataset = load(random_annotations(150), MiningOptions(max_size=3))
    planned = plan_dataset(store, dataset, "conbias", PlanOptions(1, 3))
    coverage = ask("plan-coverage", plan="conbias", limit=10_000)
    assert len(coverage) == len(load_cliques(store, dataset))
    assert all(row["gap_after"] == 0 for row in coverage)
    overshot = plan_dataset(store, dataset, "published", PlanOptions(1, 3))
    coverage = ask("plan-coverage", plan="published", limit=10_000)
    by_size = pd.DataFrame(coverage).groupby("size")["gap_after"].sum()
    expected = overshot.summary["total_gap_after"]
    assert by_size.to_dict() == expected.to_dict()
    plans = {row["plan"]: row["images"] for row in ask("plans")}
    assert plans == {"conbias": planned.plan.images, "published": overshot.plan.images}
    listed = ask("plan-queries", plan="conbias", limit=10_000)
    assert sum(row["n"] for row in listed) == planned.plan.images


def test_a_plan_for_other_cliques_is_refused(store, load, ask, random_annotations):
    dataset = load(random_annotations(100), MiningOptions(max_size=2))
    plan_dataset(store, dataset, "conbias", PlanOptions(1, 2))
    assert ask("plans")[0]["current"] is True
    mine_dataset(store, dataset, MiningOptions(max_size=2, min_support=3), max_cliques=10**6)
    assert ask("plans")[0]["current"] is False
    again = f"Run `plan({dataset!r}, name='conbias', min_size=1)`."
    for name in ("plan-coverage", "plan-queries"):
        with pytest.raises(StaleError, match=re.escape(again)):
            ask(name, plan="conbias")
    with pytest.raises(StaleError, match=re.escape(again)):
        read_plan(store, dataset, "conbias")
    plan_dataset(store, dataset, "conbias", PlanOptions(1, 2))
    assert ask("plan-queries", plan="conbias")


def test_a_plan_is_made_again_with_its_options(store, load, ask, random_annotations):
    dataset = load(random_annotations(100), MiningOptions(max_size=3))
    options = PlanOptions(1, 2, max_per_query=4, budget=40)
    plan_dataset(store, dataset, "published", options, "a small one")

    def asked_for():
        with pytest.raises(StaleError) as caught:
            read_plan(store, dataset, "a small one")
        return str(caught.value).partition("than the dataset has now. ")[2]

    mine_dataset(store, dataset, MiningOptions(max_size=3, min_support=2), max_cliques=10**6)
    made = f"{dataset!r}, name='a small one', planner='published', min_size=1"
    assert asked_for() == f"Run `plan({made}, max_size=2, max_per_query=4, budget=40)`."
    # As an earlier version of the program wrote it.
    store.write(
        "MATCH (p:Plan {dataset: $dataset}) REMOVE p.max_per_query, p.budget", dataset=dataset
    )
    assert asked_for() == f"Run `plan({made}, max_size=2)`."
    mine_dataset(store, dataset, MiningOptions(max_size=2), max_cliques=10**6)
    assert asked_for() == f"Run `plan({made})`."  # of a larger size there is nothing now
    write_plan(
        store,
        dataset,
        "a small one",
        [],
        planner="mine",
        min_size=2,
        max_size=2,
        planner_options={"share": 0.5},
    )
    assert ask("plans")[0]["planner_options"] == '{"share": 0.5}'
    mine_dataset(store, dataset, MiningOptions(max_size=2, min_support=2), max_cliques=10**6)
    made = f"{dataset!r}, name='a small one', planner='mine'"
    assert asked_for() == f"Run `plan({made}, planner_options={{'share': 0.5}})`."
    plan_dataset(store, dataset, "conbias", PlanOptions(), "a small one")
    mine_dataset(store, dataset, MiningOptions(max_size=3), max_cliques=10**6)
    assert asked_for() == f"Run `plan({dataset!r}, name='a small one', max_size=2)`."


def test_a_dataset_without_a_plan_says_how_to_make_one(store, load, random_annotations):
    dataset = load(random_annotations(60), MiningOptions(max_size=2))
    for name, option in (("conbias", ""), ("my own", ", name='my own'")):
        with pytest.raises(OptionError) as caught:
            read_plan(store, dataset, name)
        assert str(caught.value) == (
            f"{dataset!r} has no plan yet. Run `plan({dataset!r}{option})`."
        )
    plan_dataset(store, dataset, "conbias", PlanOptions(1, 2))
    with pytest.raises(UnknownNameError, match=r"unknown plan 'my own'. Known: conbias.$"):
        read_plan(store, dataset, "my own")


def test_edges_have_the_weights_of_the_mined_split(store, load, ask):
    records = [
        ImageRecord(f"{split}{i}", name, (Mention("x"), Mention("y"), *extra), split)
        for i, (split, name, extra) in enumerate(
            [
                ("train", "a", ()),
                ("train", "b", (Mention("z"),)),
                ("train", "a", (Mention("z"),)),
                ("val", "a", (Mention("z"),)),
                ("val", "b", ()),
            ]
        )
    ]
    load(Annotations.from_records(records), MiningOptions(split="train"))
    rows = ask("class-edge-weights", limit=2)
    assert [(r["concept_1"], r["concept_2"], r["images"], r["weights"]) for r in rows] == [
        ("x", "y", 3, [["a", 2], ["b", 1]]),
        ("x", "z", 2, [["a", 1], ["b", 1]]),
    ]


def test_a_plan_follows_its_cliques_through_mining_anew(store, load, random_annotations, dump):
    dataset = load(random_annotations(100), MiningOptions(max_size=2))
    plan_dataset(store, dataset, "conbias", PlanOptions(1, 2))
    before = dump(dataset)
    mine_dataset(store, dataset, MiningOptions(max_size=1), max_cliques=10**6)
    mine_dataset(store, dataset, MiningOptions(max_size=2), max_cliques=10**6)
    assert dump(dataset) != before  # the queries have lost the cliques that were deleted
    plan_dataset(store, dataset, "conbias", PlanOptions(1, 2))
    assert dump(dataset) == before


def test_other_questions_agree_with_the_records(load, ask):
    records = [
        ImageRecord("1", "a", (Mention("x"), Mention("y")), uri="1.jpg"),
        ImageRecord("2", "a", (Mention("x"),)),
        ImageRecord("3", "b", (Mention("x"), Mention("y"), Mention("z"))),
        ImageRecord("4", "b"),
    ]
    load(Annotations.from_records(records), MiningOptions(common=()))
    rows = ask("imbalance-of-concepts", concepts=["y", "x"])
    assert [(r["class"], r["images"], r["class_size"], r["rate"]) for r in rows] == [
        ("a", 1, 2, 0.5),
        ("b", 1, 2, 0.5),
    ]
    assert [r["images"] for r in ask("imbalance-of-concepts", concepts=["z", "y"])] == [1, 0]
    assert [(r["concept"], r["images"], r["lift"]) for r in ask("neighbourhood", concept="x")] == [
        ("y", 2, pytest.approx(2 * 4 / (3 * 2))),
        ("z", 1, pytest.approx(1 * 4 / (3 * 1))),
    ]
    assert [(r["class"], r["images"]) for r in ask("classes-of-concept", concept="z")] == [
        ("b", 1),
        ("a", 0),
    ]
    weights = {(r["concept_1"], r["concept_2"]): r["weights"] for r in ask("class-edge-weights")}
    assert weights == {
        ("x", "y"): [["a", 1], ["b", 1]],
        ("x", "z"): [["a", 0], ["b", 1]],
        ("y", "z"): [["a", 0], ["b", 1]],
    }
    found = ask("images-of-clique", concepts=["x", "y"], **{"class": "a"})
    assert [(r["id"], r["uri"]) for r in found] == [("1", "1.jpg")]
    assert [r["id"] for r in ask("images-of-clique", concepts=["x"], skip=1, **{"class": "a"})] == [
        "2"
    ]
    missing = ask("missing-concepts")
    assert [(r["class"], r["concept"], r["images"]) for r in missing] == [("a", "z", 1)]
    assert [r["concept"] for r in ask("rare-concepts", max_images=2)] == ["z", "y"]
    assert [r["concept"] for r in ask("concepts")] == ["x", "y", "z"]
    assert {r["class"]: r["images"] for r in ask("images-without-concepts")} == {"a": 0, "b": 1}
    assert {r["class"]: r["images"] for r in ask("classes")} == {"a": 2, "b": 2}
    (clique,) = ask("clique", concepts=["y", "x"])
    assert (clique["concepts"], clique["gap"]) == (["x", "y"], 0)
    assert {(r["class"], r["concept"]): r["count"] for r in ask("concepts-by-class")} == {
        ("a", "x"): 2,
        ("a", "y"): 1,
        ("a", "z"): 0,
        ("b", "x"): 1,
        ("b", "y"): 1,
        ("b", "z"): 1,
    }
    edges = {(r["start"], r["end"]): r["images"] for r in ask("edges-from-images")}
    assert edges == {
        ("x", "y"): 2,
        ("x", "z"): 1,
        ("y", "z"): 1,
        ("a", "x"): 2,
        ("a", "y"): 1,
        ("b", "x"): 1,
        ("b", "y"): 1,
        ("b", "z"): 1,
    }


def test_every_query_declares_what_it_returns(store, load, random_annotations):
    dataset = load(random_annotations(80), MiningOptions(max_size=2))
    plan_dataset(store, dataset, "conbias", PlanOptions(1, 2))
    given = {
        "concept": "concept 1",
        "concepts": ["concept 0", "concept 1"],
        "class": "class 0",
        "plan": "conbias",
    }
    for name, query in CATALOGUE.items():
        wanted = {k: v for k, v in given.items() if k in query.parameters}
        _, bound = bind_named(store, name, {"dataset": dataset, **wanted})
        assert tuple(store.read_frame(query.text, **bound).columns) == query.columns, name
        assert query.purpose.endswith("."), name
