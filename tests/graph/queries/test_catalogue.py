"""Saved queries agree with the records, and return the columns they declare."""

import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.queries.binding import bind_named
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.workflows.plan.planners import plan_dataset


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
        "compared": "concept 1",
    }
    for name, query in CATALOGUE.items():
        wanted = {k: v for k, v in given.items() if k in query.parameters}
        _, bound = bind_named(store, name, {"dataset": dataset, **wanted})
        assert tuple(store.read_frame(query.text, **bound).columns) == query.columns, name
        assert query.purpose.endswith("."), name
