"""Plans in the graph: their coverage, and how they are made again."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import NotFoundError, StaleError, StoreError, UnknownNameError
from cobalance.base.records import Annotations, Edit, ImageRecord, Mention, PlannedQuery
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.plans import read_plan, write_plan
from cobalance.graph.dataset.write import write_annotations
from cobalance.workflows.plan.planners import plan_dataset


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
    again = f"Run `plan({dataset!r}, planner='conbias', min_size=1)`."
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
    made = f"{dataset!r}, name='a small one', planner='conbias'"
    assert asked_for() == f"Run `plan({made}, max_size=2)`."


def test_a_dataset_without_a_plan_says_how_to_make_one(store, load, random_annotations):
    dataset = load(random_annotations(60), MiningOptions(max_size=2))
    for name, option in (("conbias", ""), ("my own", ", name='my own'")):
        with pytest.raises(NotFoundError) as caught:
            read_plan(store, dataset, name)
        assert str(caught.value) == (
            f"There is no plan {name!r}. {dataset!r} has no plan yet. "
            f"Run `plan({dataset!r}{option})`."
        )
    plan_dataset(store, dataset, "conbias", PlanOptions(1, 2))
    with pytest.raises(UnknownNameError, match=r"unknown plan 'my own'. Known: conbias.$"):
        read_plan(store, dataset, "my own")


def test_a_plan_follows_its_cliques_through_mining_anew(store, load, random_annotations, dump):
    dataset = load(random_annotations(100), MiningOptions(max_size=2))
    plan_dataset(store, dataset, "conbias", PlanOptions(1, 2))
    before = dump(dataset)
    mine_dataset(store, dataset, MiningOptions(max_size=1), max_cliques=10**6)
    assert dump(dataset) != before  # the queries have lost the cliques that were deleted
    mine_dataset(store, dataset, MiningOptions(max_size=2), max_cliques=10**6)
    assert dump(dataset) == before
    plan_dataset(store, dataset, "conbias", PlanOptions(1, 2))
    assert dump(dataset) == before


def tied(store, dataset, groups=("class 0", "someone else")):
    """Queries that edit the first images, some without a concept, in no order of their ids."""
    rows = store.read(
        "MATCH (i:Image {dataset: $d}) RETURN i.id AS id, "
        "COLLECT { MATCH (i)-[:CONTAINS]->(c) RETURN c.name ORDER BY c.name } AS concepts "
        "ORDER BY id DESC LIMIT 5",
        d=dataset,
    )
    rows[0]["concepts"] = []
    return [
        PlannedQuery(
            group,
            tuple(row["concepts"]),
            1,
            Edit(row["id"], f"a {group} in {row['id']}", ("one", f"a {group}"), "b"),
        )
        for row in rows
        for group in groups
    ]


def edges_of(store, dataset, label):
    rows = store.read(
        f"MATCH (q:{label} {{dataset: $d}})-[r]->(n) "
        "RETURN type(r) AS type, q.class_name AS group, coalesce(n.id, n.name) AS end",
        d=dataset,
    )
    return {(row["type"], row["group"], row["end"]) for row in rows}


def test_a_plan_that_edits_images_needs_no_cliques(store, dataset, random_annotations, dump):
    write_annotations(store, dataset, random_annotations(30), source="a test")
    queries = tied(store, dataset)
    own = {"groups": ["class 0", "someone else"], "limit": 5}
    for _ in range(2):  # the second changes nothing
        write_plan(store, dataset, "r", queries, planner="resampled", planner_options=own)
        assert read_plan(store, dataset, "r") == queries
    before = dump(dataset)
    images = {query.edit.source_image for query in queries}
    wanted = {("EDITS", query.class_name, query.edit.source_image) for query in queries}
    wanted |= {("FOR_CLASS", "class 0", "class 0")}
    wanted |= {("ASKED_BY", group, "r") for group in own["groups"]}
    assert edges_of(store, dataset, "GenerationQuery") == wanted
    keys = store.read("MATCH (g:GenerationQuery {dataset: $d}) RETURN g.key AS key", d=dataset)
    assert {tuple(row["key"]) for row in keys} == {
        ("r", group, "", image) for group in own["groups"] for image in images
    }
    again = [query._replace(edit=replace(query.edit, caption="new")) for query in queries[:4]]
    write_plan(store, dataset, "r", again, planner="resampled", planner_options=own)
    assert read_plan(store, dataset, "r") == again
    write_plan(store, dataset, "r", queries, planner="resampled", planner_options=own)
    assert dump(dataset) == before


def test_a_plan_that_edits_images_is_for_the_images_of_its_time(
    store, dataset, ask, random_annotations
):
    write_annotations(store, dataset, random_annotations(30), source="a test")
    queries = tied(store, dataset)
    own = {"groups": ["class 0", "someone else"], "limit": 5}
    write_plan(store, dataset, "mine", queries, planner="resampled", planner_options=own)
    listed = ask("plan-queries", plan="mine", limit=100)
    assert [(row["source_image"], row["class"]) for row in listed] == [
        (query.edit.source_image, query.class_name) for query in queries
    ]
    mine_dataset(store, dataset, MiningOptions(max_size=2), max_cliques=10**6)
    assert [row["current"] for row in ask("plans")] == [True]  # it is about no cliques
    assert read_plan(store, dataset, "mine") == queries
    write_annotations(store, dataset, random_annotations(31), source="a test")
    assert [row["current"] for row in ask("plans")] == [False]
    again = (
        f"Run `plan_counterfactuals({dataset!r}, recipe='resampled', name='mine', "
        "groups=('class 0', 'someone else'), limit=5)`."
    )
    for read in (
        lambda: read_plan(store, dataset, "mine"),
        lambda: ask("plan-queries", plan="mine"),
    ):
        with pytest.raises(StaleError, match=re.escape(again)):
            read()


def test_queries_of_both_kinds_are_up_to_date_with_cliques_and_images(
    store, load, random_annotations
):
    dataset = load(random_annotations(60), MiningOptions(max_size=2))
    cliques = load_cliques(store, dataset).take(np.arange(2))
    anew = [PlannedQuery("class 1", names, 3) for names in cliques.names()]
    queries = [*anew, *tied(store, dataset)]
    write_plan(store, dataset, "both", queries, planner="mine", min_size=1, max_size=2)
    assert sorted(read_plan(store, dataset, "both")[:2]) == sorted(anew)
    assert read_plan(store, dataset, "both")[2:] == queries[2:]
    mine_dataset(store, dataset, MiningOptions(2, min_support=2), max_cliques=10**6)
    with pytest.raises(StaleError, match="other cliques"):
        read_plan(store, dataset, "both")


def test_an_image_that_is_not_there_is_not_planned(store, dataset, random_annotations):
    write_annotations(store, dataset, random_annotations(3), source="a test")
    query = PlannedQuery("class 0", (), 1, Edit("no such image"))
    with pytest.raises(StoreError):
        write_plan(store, dataset, "r", [query], planner="resampled")


def test_coverage_counts_edited_images_with_the_concepts_of_their_source(store, load, ask):
    records = [
        ImageRecord("1", "a", (Mention("x"), Mention("y"))),
        ImageRecord("2", "a", (Mention("x"),)),
        ImageRecord("3", "b", (Mention("x"), Mention("y"))),
    ]
    dataset = load(Annotations.from_records(records), MiningOptions(max_size=2))
    asked = [PlannedQuery("b", ("x",), 1, Edit("2")), PlannedQuery("c", ("x",), 1, Edit("2"))]
    write_plan(store, dataset, "r", asked, planner="resampled")
    coverage = {tuple(row["concepts"]): row for row in ask("plan-coverage", plan="r", limit=99)}
    assert (coverage[("x",)]["gap"], coverage[("x",)]["gap_after"]) == (1, 0)
    assert (coverage[("y",)]["gap"], coverage[("y",)]["planned"]) == (0, 0)
