"""Audits in the graph: created, answered, renamed and dropped with their dataset, or their run."""

import pandas as pd
import pytest

from cobalance.base.errors import NotFoundError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.annotations.runs import NewRun, create_run, delete_run
from cobalance.graph.dataset.drop_rename import drop_dataset, rename_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.panels.audits import Audit, create_audit
from cobalance.graph.panels.panel import list_panels, read_answers, read_panel, save_answers
from tests.conftest import HOSTILE

PEOPLE = ("ann", HOSTILE[0])
COUNTS = pd.DataFrame(
    {"concept": [HOSTILE[2]] * 2, "class_name": ["a", "b"], "labelled": [1, 0], "unlabelled": 1}
)
LABELS = pd.DataFrame(
    {
        "image": ["0", "1", "gone"],
        "uri": ["0.png", "1.png", None],
        "concept": HOSTILE[2],
        "class_name": ["a", "b", "a"],
        "labelled": [True, False, False],
    }
)
TASKS = pd.DataFrame({"person": [0, 0, 1], "label": [2, 0, 1]})
LEFT = "MATCH (n) WHERE n.audit = $audit OR (n:Audit AND n.id = $audit) RETURN count(n) AS n"


@pytest.fixture
def run(store, dataset):
    records = [ImageRecord(f"{i}", "ab"[i], (Mention("tree"),), uri=f"{i}.png") for i in range(2)]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    return create_run(store, dataset, NewRun("label", "m", {}))


def answers(*rows):
    frame = pd.DataFrame(rows, columns=["image", "person", "answer"])
    return frame.assign(concept=HOSTILE[2])


def created(store, run):
    audit = create_audit(
        store, run, people=PEOPLE, labels=LABELS, tasks=TASKS, counts=COUNTS, settings={"n": 2}
    )
    return read_panel(store, Audit, audit)


def test_an_audit_is_read_as_it_was_created_and_goes_with_its_dataset(store, dataset, run):
    found = created(store, run)
    audit = found.id
    assert (found.dataset, found.run, found.people) == (dataset, run, PEOPLE)
    assert (found.concepts, found.settings) == ((HOSTILE[2],), {"n": 2})
    pd.testing.assert_frame_equal(found.labels, LABELS, check_dtype=False)
    pd.testing.assert_frame_equal(found.counts, COUNTS, check_dtype=False)
    assert found.labels_of("ann")["image"].tolist() == ["gone", "0"]
    assert found.labels_of("eve").empty
    new = f"{dataset} renamed"
    save_answers(store, found, answers(("0", "ann", "shows"), ("gone", "ann", "unknown")))
    save_answers(store, found, answers(("0", "ann", "does not"), ("1", PEOPLE[1], "shows")))
    save_answers(store, found, answers())
    rename_dataset(store, dataset, new)
    try:
        assert [one.id for one in list_panels(store, Audit, dataset=new)] == [audit]
        said = read_answers(store, found)
        assert sorted(zip(said["image"], said["person"], said["answer"], strict=True)) == [
            ("0", "ann", "does not"),
            ("1", PEOPLE[1], "shows"),
            ("gone", "ann", "unknown"),
        ]
        assert read_answers(store, found, PEOPLE[1])["image"].tolist() == ["1"]
        judged = "MATCH (:AuditAnswer {audit: $a})-[:JUDGES]->(i) RETURN count(i) AS n"
        assert store.read(judged, a=audit) == [{"n": 2}]
    finally:
        drop_dataset(store, new)
    assert store.read(LEFT, audit=audit) == [{"n": 0}]
    with pytest.raises(NotFoundError, match="no audit"):
        save_answers(store, found, answers(("0", "ann", "shows")))
    with pytest.raises(NotFoundError, match="no audit"):
        read_panel(store, Audit, audit)


def test_an_audit_is_deleted_with_its_run(store, run):
    found = created(store, run)
    save_answers(store, found, answers(("0", "ann", "shows")))
    assert [one.id for one in list_panels(store, Audit, run=run)] == [found.id]
    delete_run(store, run)
    assert store.read(LEFT, audit=found.id) == [{"n": 0}]
