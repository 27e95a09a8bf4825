"""What mining writes is what an independent count finds, and what can be read back."""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import OptionError, StaleError, TooManyCliquesError, UnknownNameError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import incidence_of
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.mining import HeldImages, mine_dataset, mine_images
from cobalance.graph.dataset.read import load_incidence
from cobalance.graph.dataset.state import dataset_state
from cobalance.graph.dataset.statements import INCIDENCE_TABLE
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.queries.cooccurrences import read_cooccurrences
from cobalance.graph.queries.imbalances import Ranking, read_imbalances
from cobalance.statistics.cooccurrences import cooccurrence_table
from cobalance.statistics.design_effects import with_clusters
from cobalance.statistics.imbalance import imbalance_table
from cobalance.workflows.demo.urbancars import urbancars
from cobalance.workflows.plan.planners import plan_dataset


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


def test_images_are_read_once_where_concepts_are_compared(
    store, load, random_annotations, monkeypatch
):
    options = MiningOptions(max_size=2)
    dataset = load(random_annotations(60), options)
    texts = []
    stream = store.stream

    def stream_and_note(text, **parameters):
        texts.append(text)
        return stream(text, **parameters)

    monkeypatch.setattr(store, "stream", stream_and_note)  # `read` goes through it
    state = dataset_state(store, dataset)
    images = HeldImages.read(store, state, options)
    mine_images(store, state, images, options, max_cliques=10**6, compared=["concept 0"])
    assert texts.count(INCIDENCE_TABLE) == 1
    assert dataset_state(store, dataset).compared == ("concept 0",)


def test_read_back_is_what_the_kernel_gave(store, load, random_annotations):
    dataset = load(random_annotations(200), MiningOptions(max_size=3, min_support=2))
    kernel = mine_cliques(load_incidence(store, dataset), max_size=3, min_support=2)
    stored = load_cliques(store, dataset)
    assert stored.names() == kernel.names()
    np.testing.assert_array_equal(stored.counts, kernel.counts)
    np.testing.assert_array_equal(stored.class_sizes, kernel.class_sizes)
    assert stored.classes == kernel.classes


def test_no_clique_at_all(store, load):
    records = [ImageRecord("1", "a", (Mention("x"),)), ImageRecord("2", "b", (Mention("y"),))]
    dataset = load(Annotations.from_records(records), MiningOptions(max_size=2))
    cliques = load_cliques(store, dataset)
    assert (cliques.members.shape, cliques.counts.shape) == ((0, 2), (0, 2))


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


OTHERS = MiningOptions(3, 2, ("a",), "train", 0.9)


def split_records(count=40):
    """Two classes in two splits, which show other concepts together in each."""
    for number in range(count):
        split = "train" if number % 4 else "test"
        shown = ("x", "y") if number % 3 else (("x",) if split == "train" else ("x", "y", "z"))
        mentions = tuple(Mention(name) for name in shown)
        yield ImageRecord(str(number), "ab"[number % 2], mentions, split=split)


def test_a_recount_of_a_split_is_what_was_mined_there(store, load, ask):
    records = list(split_records())
    dataset = load(Annotations.from_records(records), MiningOptions(2, split="train"))
    cliques = load_cliques(store, dataset)
    mined = dict(zip(cliques.names(), map(tuple, cliques.counts.tolist()), strict=True))
    for split, same in (("train", True), (None, False)):
        recounted = {}
        for size in (1, 2):
            given = {} if split is None else {"split": split}
            for row in ask(f"imbalances-from-images-{size}", **given):
                recounted[tuple(row["concepts"])] = tuple(n for _, n in row["counts"])
        assert (recounted == mined) is same
    of_train = ask("imbalance-of-concepts", concepts=["x", "y"], split="train")
    wanted = {
        name: sum(
            record.class_name == name and record.split == "train" and len(record.mentions) > 1
            for record in records
        )
        for name in "ab"
    }
    assert {row["class"]: row["images"] for row in of_train} == wanted


def test_advice_to_mine_again_keeps_all_options(store, load):
    dataset = load(Annotations.from_records(split_records()), OTHERS)
    with pytest.raises(OptionError) as larger:
        load_cliques(store, dataset, max_size=5)
    assert f"mine({dataset!r}, max_size=5)" in str(larger.value)
    state = dataset_state(store, dataset)
    assert state.mining_options() == OTHERS
    assert state.mining_options(max_size=5) == replace(OTHERS, max_size=5)
    load(Annotations.from_records(split_records(41)))
    with pytest.raises(StaleError) as stale:
        load_cliques(store, dataset)
    assert "has changed since" in str(stale.value)
    assert f"mine({dataset!r})" in str(stale.value)


def test_cliques_of_clustered_images_are_stored_with_their_clustering(store, dataset):
    rng = np.random.default_rng(0)
    records = [
        ImageRecord(
            str(at),
            "ab"[at % 2],
            tuple(Mention(name) for name in "uvw" if rng.random() < 0.5),
            cluster=f"video {at // 6}" if at < 54 else None,
        )
        for at in range(60)
    ]
    annotations = Annotations.from_records(records)
    write_annotations(store, dataset, annotations, source="a test")
    mine_dataset(store, dataset, MiningOptions(max_size=2), max_cliques=100)
    incidence = incidence_of(annotations)
    expected = with_clusters(mine_cliques(incidence, max_size=2), incidence)
    found = load_cliques(store, dataset)
    for name in ("standing", "freedom", "tests", "intervals", "own"):
        kept, computed = (getattr(one.clustering, name) for one in (found, expected))
        np.testing.assert_allclose(kept, computed)
    table = imbalance_table(expected).sort_values("concepts", ignore_index=True)
    read = read_imbalances(store, dataset, Ranking()).sort_values("concepts", ignore_index=True)
    assert read[["concepts", "clusters"]].equals(table[["concepts", "clusters"]])
    np.testing.assert_allclose(read["q_value"], table["q_value"])
    together = read_cooccurrences(store, dataset, Ranking())
    pd.testing.assert_frame_equal(together, cooccurrence_table(expected, incidence))
    assert together["q_value"].notna().all()
    single = [replace(record, cluster=None) for record in records]
    write_annotations(store, dataset, Annotations.from_records(single), source="a test")
    mine_dataset(store, dataset, MiningOptions(max_size=2), max_cliques=100)
    assert load_cliques(store, dataset).clustering is None
    assert "clusters" not in read_imbalances(store, dataset, Ranking())
    assert "clusters" not in read_cooccurrences(store, dataset, Ranking())
