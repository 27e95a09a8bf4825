"""Runs, attributes and decisions in the graph; labels come and go with accepted runs."""

import pandas as pd
import pytest

from cobalance.base.errors import ConflictError, NotFoundError, OptionError, UnknownNameError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.annotations.attributes import (
    Decision,
    ProposedAttribute,
    decide_attributes,
    link_concepts,
    list_attributes,
    save_attributes,
)
from cobalance.graph.annotations.found import apply_runs, source_of
from cobalance.graph.annotations.runs import (
    NewRun,
    cancel_run,
    create_run,
    decide_run,
    delete_run,
    describe_run,
    end_run,
    list_runs,
    read_run,
    retry_run,
)
from cobalance.graph.dataset.drop_rename import drop_dataset, rename_dataset
from cobalance.graph.dataset.read import load_incidence
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.tasks.lifecycle import end_task, fail_task, list_tasks, start_task

SKY, SEA = ("scene", "sky"), ("scene", "o'sea {x}")


@pytest.fixture
def birds(store, dataset):
    records = [ImageRecord(f"{i}", "ab"[i % 2], (Mention("tree"),) * (i % 3)) for i in range(6)]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    return dataset


def proposed(key, **values):
    return ProposedAttribute(*key, "image", f"a photo of {key[1]}", **values)


def test_a_run_goes_from_its_tasks_to_a_decision(store, birds):
    new = NewRun("label", "m", {"rule": "base"}, licence="MIT")
    create_run(store, birds, new, tasks=[{"chunk": 0}, {"chunk": 1}], created_by="eve")
    run = read_run(store, new.id)
    assert (run.state, run.chunks, run.created_by, run.outdated) == ("queued", 2, "eve", False)
    assert run.settings == {"rule": "base"}
    tasks = {task.id: task for task in list_tasks(store, birds)}
    assert sorted(tasks) == [f"{new.id}-0", f"{new.id}-1"]
    assert tasks[f"{new.id}-1"].settings == {"chunk": 1, "run": new.id}
    assert start_task(store, f"{new.id}-0", 0) is not None
    assert read_run(store, new.id).state == "running"
    assert run.started_at is None
    assert read_run(store, new.id).started_at is not None
    end_task(store, f"{new.id}-0", 0)
    fail_task(store, f"{new.id}-1", 0, "no such model")
    run = read_run(store, new.id)
    assert (run.state, run.done, run.failed, run.error) == ("failed", 1, 1, "no such model")
    assert not decide_run(store, new.id, "accepted")
    assert retry_run(store, new.id) == 1
    assert read_run(store, new.id).state == "running"
    describe_run(store, new.id, {"weights_sha256": "abc"})
    end_run(store, new.id)
    assert decide_run(store, new.id, "accepted", "ann")
    run = read_run(store, new.id)
    assert (run.state, run.decided_by, run.weights_sha256) == ("accepted", "ann", "abc")
    assert [each.id for each in list_runs(store, birds)] == [new.id]


def test_a_run_is_cancelled_and_deleted_with_its_tasks(store, birds):
    run = create_run(store, birds, NewRun("label", "m", {}), tasks=[{}, {}])
    cancel_run(store, run)
    assert read_run(store, run).state == "cancelled"
    assert {task.state for task in list_tasks(store, birds)} == {"cancelled"}
    delete_run(store, run)
    assert list_tasks(store, birds) == []
    with pytest.raises(NotFoundError):
        read_run(store, run)


def test_decisions_outlive_a_second_proposal(store, birds):
    run = create_run(store, birds, NewRun("propose", "m", {}))
    save_attributes(store, run, [proposed(SKY, votes=2, rounds=5), proposed(SEA, flags=("seen",))])
    decide_attributes(
        store, birds, [Decision(SKY, "accepted", changes={"name": "blue sky"})], "ann"
    )
    again = create_run(store, birds, NewRun("propose", "m2", {}))
    save_attributes(store, again, [proposed(SKY, votes=4, rounds=5)])
    found = list_attributes(store, birds).set_index("proposed")
    assert found.loc["sky", ["name", "state", "votes", "run"]].tolist() == [
        "blue sky", "accepted", 4, again,
    ]  # fmt: skip
    assert found.loc["o'sea {x}", ["state", "flags", "run"]].tolist() == [
        "proposed",
        ("seen",),
        run,
    ]


def test_merging_needs_an_accepted_attribute(store, birds):
    run = create_run(store, birds, NewRun("propose", "m", {}))
    save_attributes(store, run, [proposed(SKY), proposed(SEA)])
    with pytest.raises(ConflictError, match="not accepted"):
        decide_attributes(store, birds, [Decision(SEA, "merged", SKY)])
    with pytest.raises(UnknownNameError):
        decide_attributes(store, birds, [Decision(("x", "y"), "accepted")])
    with pytest.raises(OptionError, match="empty"):
        decide_attributes(store, birds, [Decision(SEA, "accepted", changes={"name": " "})])
    decide_attributes(store, birds, [Decision(SKY, "accepted"), Decision(SEA, "merged", SKY)])
    found = list_attributes(store, birds).set_index("proposed")
    assert found.loc["o'sea {x}", "merged_into"] == SKY
    decide_attributes(store, birds, [Decision(SEA, "proposed")])
    assert (
        list_attributes(store, birds).set_index("proposed").loc["o'sea {x}", "merged_into"] is None
    )


def test_labels_come_and_go_with_accepted_runs(store, birds, dump_of):
    labels = {
        "one": pd.DataFrame({"image": ["0", "1"], "concept": ["sky", "tree"], "score": [0.5, 0.9]}),
        "two": pd.DataFrame({"image": ["0", "2"], "concept": ["sky", "sea"], "score": [0.4, 0.3]}),
    }
    before = load_incidence(store, birds)
    runs = {}
    for name in labels:
        runs[name] = create_run(store, birds, NewRun("label", "m", {}))
        end_run(store, runs[name])
    found_by = {runs[name]: frame for name, frame in labels.items()}

    def state():
        rows = store.read(
            "MATCH (i:Image {dataset: $d})-[e:CONTAINS]->(c:Concept) WHERE c.name <> 'tree' "
            "RETURN i.id AS id, c.name AS name, e.source AS source, e.score AS score",
            d=birds,
        )
        found = store.read(
            "MATCH (i:Image {dataset: $d})-[e:FOUND]->(c:Concept) "
            "RETURN i.id AS id, c.name AS name, e.run AS run",
            d=birds,
        )
        return {tuple(row.values()) for row in rows}, {tuple(row.values()) for row in found}

    def apply(**states):
        for name, decision in states.items():
            decide_run(store, runs[name], decision)
        apply_runs(store, birds, found_by.__getitem__)
        return state()

    one, two = (source_of("m", runs[name]) for name in ("one", "two"))
    contains, found = apply(one="accepted", two="accepted")
    assert contains == {("0", "sky", one, 0.5), ("2", "sea", two, 0.3)}
    assert found == {
        ("0", "sky", runs["one"]), ("1", "tree", runs["one"]), ("0", "sky", runs["two"]),
        ("2", "sea", runs["two"]),
    }  # fmt: skip
    assert apply() == (contains, found)
    assert not any(run.outdated for run in list_runs(store, birds))
    contains, found = apply(one="rejected")
    assert contains == {("0", "sky", two, 0.4), ("2", "sea", two, 0.3)}
    assert {row[2] for row in found} == {runs["two"]}
    assert apply(two="rejected") == (set(), set())
    after = load_incidence(store, birds)
    assert after.concepts == before.concepts == ("tree",)
    assert sorted(after.labels.tolist()) == sorted(before.labels.tolist())


def test_attributes_lead_to_their_concepts(store, birds):
    run = create_run(store, birds, NewRun("propose", "m", {}))
    save_attributes(store, run, [proposed(("plants", "tree")), proposed(SKY)])
    decide_attributes(store, birds, [Decision(("plants", "tree"), "accepted")])
    link_concepts(store, birds, {("plants", "tree"): "tree", SKY: "tree"})
    assert list_attributes(store, birds)["concept"].tolist() == ["tree", None]


def test_runs_and_attributes_go_with_their_dataset(store, birds):
    run = create_run(store, birds, NewRun("label", "m", {}), tasks=[{}])
    save_attributes(store, run, [proposed(SKY)])
    rename_dataset(store, birds, f"{birds} renamed")
    assert read_run(store, run).dataset == f"{birds} renamed"
    assert len(list_attributes(store, f"{birds} renamed")) == 1
    drop_dataset(store, f"{birds} renamed")
    assert list_runs(store, birds) == []
    assert store.read("MATCH (a:Attribute {dataset: $d}) RETURN a", d=f"{birds} renamed") == []
