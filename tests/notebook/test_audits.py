"""Audits from Python: drawn, answered by a frame, read again, and what they say."""

import pandas as pd
import pytest

import cobalance as cb
from cobalance.vision.stored.output_folder import OutputFolder
from tests.support.audited_run import CONCEPTS, labelled, shows, write_audited_run

IMAGES = 41
SKY, SEA = CONCEPTS


@pytest.fixture
def data(store, dataset, own, tmp_path):
    write_audited_run(store, dataset, OutputFolder(own.folders().output), tmp_path / "p", IMAGES)
    return cb.Store(store, own)[dataset]


def filled(audit):
    """People are right."""
    sample = audit.sample
    members = audit.record().members
    said = [
        all(shows(int(image), name) for name in members(concept))
        for image, concept in zip(sample["image"], sample["concept"], strict=True)
    ]
    return sample.assign(answer=pd.Series(said).map({True: "shows", False: "does not"}))


def test_an_audit_from_the_draw_to_its_result(data):
    audit = data.audit(["ann", "bob"], n=99)
    assert audit.title().endswith("by 2 people: 0 of 160 answers")
    assert list(audit.sample) == ["person", "image", "uri", "concept", "answer"]
    assert audit.sample["answer"].isna().all()
    half = filled(audit).query("person == 'ann'")
    assert audit.answer(half).answer(half).progress()["answered"].tolist() == [80, 0]
    found = audit.result().set_index("concept")
    told = sum(labelled(at, SKY) * (1 - 2 * (at % 2)) for at in range(1, IMAGES))
    true = sum(shows(at, SKY) * (1 - 2 * (at % 2)) for at in range(1, IMAGES))
    assert found.loc[SKY, ["gap", "corrected_gap"]].tolist() == pytest.approx([told, true])
    assert found["verdict"].to_dict() == {SKY: "not supported", SEA: "supported"}
    assert audit.rates()["precision"].dropna().eq(1).all()
    assert len(audit) == 2
    assert "not supported" in repr(audit)
    assert "not supported" in audit._repr_html_()
    (labels,) = data.labels()
    assert [one.id for one in labels.audits()] == [one.id for one in data.audits()] == [audit.id]


def test_a_clique_and_what_is_refused(data):
    audit = data.labels()[0].audit("ann", n=50, cliques=[CONCEPTS])
    assert audit.answer(filled(audit)).frame["verdict"].tolist() == ["supported"]
    assert audit.frame["concept"].tolist() == [" + ".join(sorted(CONCEPTS))]
    wrong = audit.sample.assign(answer="yes")
    with pytest.raises(cb.CobalanceError, match="Row 1: the answer 'yes' is none"):
        audit.answer(wrong)
    with pytest.raises(cb.CobalanceError, match="bird"):
        data.audit(["ann"], concepts="bird")


def test_without_labels_there_is_nothing_to_audit(store, dataset, own):
    frame = pd.DataFrame({"label": ["a", "b"], "objects": ["x", "y"]})
    data = cb.Store(store, own).load(cb.read(frame), dataset)
    with pytest.raises(cb.CobalanceError, match=r"Have one do so with label\(...\)"):
        data.audit(["ann"])
    assert data.audits() == data.studies() == []
