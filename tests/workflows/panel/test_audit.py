"""Audits of a run that errs by class: drawn, answered one by one and as a table, and their use."""

import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import ConflictError, DataError, OptionError, UnknownNameError
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.annotations.runs import NewRun, create_run
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.panels.panel import read_answers
from cobalance.graph.queries.imbalances import Ranking, read_imbalances
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.label.decide import decide_labels
from cobalance.workflows.panel.answers import (
    answer_sheet,
    answer_task,
    panel_progress,
    person_tasks,
    take_answers,
)
from cobalance.workflows.panel.audit import AuditSample, draw_audit
from cobalance.workflows.panel.verdicts import (
    audit_imbalances,
    audit_rates,
    imbalance_verdicts,
    warn_unsupported,
)
from cobalance.workflows.plan.planners import plan_dataset
from tests.support.audited_run import CLASSES, CONCEPTS, labelled, shows, write_audited_run

IMAGES = 65
SKY, SEA = CONCEPTS


@pytest.fixture
def folder(own):
    return OutputFolder(own.folders().output)


@pytest.fixture
def run(store, dataset, folder, tmp_path):
    return write_audited_run(store, dataset, folder, tmp_path / "pictures", IMAGES)


def filled(sheet):
    """Everybody is right, but for eve, who cannot tell."""
    said = [
        "shows" if shows(int(image), concept) else "does not"
        for image, concept in zip(sheet["image"], sheet["concept"], strict=True)
    ]
    return sheet.assign(answer=np.where(sheet["person"] == "eve", "unknown", said))


def counts_of(of):
    """Images with and without, of those that the run could read."""
    return {
        (concept, name): (
            sum(of(image, concept) for image in range(at or 2, IMAGES, 2)),
            len(range(at or 2, IMAGES, 2)),
        )
        for concept in CONCEPTS
        for at, name in enumerate(CLASSES)
    }


def test_an_audit_corrects_what_the_run_says_and_tells_which_imbalances_are_left(
    store, dataset, folder, run
):
    audit = draw_audit(store, folder, run, AuditSample(("ann", "bob", "eve"), n=100))
    told = counts_of(labelled)
    counts = audit.counts.set_index(["concept", "class_name"])
    assert {key: (row["labelled"], row.sum()) for key, row in counts.iterrows()} == told
    assert len(audit.labels) == 2 * (IMAGES - 1)
    assert set(audit.labels["image"]) == {f"{at}" for at in range(1, IMAGES)}
    assert all(
        labelled(int(row["image"]), row["concept"]) == row["labelled"]
        for row in audit.labels.to_dict("records")
    )
    assert audit_imbalances(store, audit)["verdict"].tolist() == ["not audited"] * 2
    decide_labels(store, folder, run, "accepted")
    mine_dataset(store, dataset, MiningOptions(2, common=()), max_cliques=100)
    cliques = read_imbalances(store, dataset, Ranking(limit=100))
    assert set(filter(None, imbalance_verdicts(store, dataset, cliques))) == {"not audited"}
    sheet = answer_sheet(store, audit)
    assert "class_name" not in sheet
    assert "labelled" not in sheet
    assert take_answers(store, audit, filled(sheet)) == len(sheet) == 6 * (IMAGES - 1)
    assert panel_progress(store, audit)["answered"].tolist() == [2 * (IMAGES - 1)] * 3
    rates = audit_rates(store, audit).set_index(["concept", "class_name"])
    truth = counts_of(shows)
    assert rates["corrected"].to_dict() == pytest.approx({key: n for key, (n, _) in truth.items()})
    assert (rates["precision"].dropna() == 1).all()
    found = audit_imbalances(store, audit).set_index("concept")
    assert found.loc[SKY, "verdict"] == "not supported"
    assert found.loc[SEA, "verdict"] == "supported"
    assert found.loc[SKY, "gap"] == told[(SKY, "gull")][0] - told[(SKY, "owl")][0] > 10
    said = dict(zip(cliques["concepts"], imbalance_verdicts(store, dataset, cliques), strict=True))
    assert said[(SKY,)] == "not supported"
    assert said[(SEA,)] == said[("bird", SEA)] == "supported"
    assert said[("bird",)] is None
    assert said[tuple(sorted(CONCEPTS))] == "not supported"
    options = PlanOptions(min_size=1)
    every = plan_dataset(store, dataset, "conbias", options)
    by_query = {
        (query.class_name, query.concepts): verdict
        for query, verdict in zip(every.plan.queries, every.audited, strict=True)
    }
    assert by_query[("owl", ("bird", SKY))] == "not supported"
    assert by_query[("owl", ("bird", SEA))] == "supported"
    warned = warn_unsupported(every.plan.queries, every.audited)
    left = [verdict for verdict in by_query.values() if verdict == "not supported"]
    assert f"of {len(left)} quer" in warned
    assert f": {len(left)} not supported." in warned
    kept = plan_dataset(store, dataset, "conbias", options, supported_only=True)
    assert {(query.class_name, query.concepts) for query in kept.plan.queries} == {
        key for key, verdict in by_query.items() if verdict in (None, "supported")
    }
    assert warn_unsupported(kept.plan.queries, kept.audited) == ""
    decide_labels(store, folder, run, "rejected")
    assert imbalance_verdicts(store, dataset, cliques) is None
    mine_dataset(store, dataset, MiningOptions(1, common=()), max_cliques=100)
    with pytest.raises(DataError, match="is audited"):
        plan_dataset(store, dataset, "conbias", options, supported_only=True)


def test_a_clique_is_audited_as_one(store, dataset, folder, run):
    """Gulls alone show both; the run misses the sky in owls, who show no sea."""
    both, with_own = tuple(sorted(CONCEPTS)), ("bird", SKY)
    sample = AuditSample(("ann",), n=100, cliques=(CONCEPTS, with_own[::-1]))
    audit = draw_audit(store, folder, run, sample)
    names = [" + ".join(both), " + ".join(with_own)]
    assert list(audit.concepts) == names
    assert [audit.members(name) for name in names] == [both, with_own]
    assert audit.members(SEA) == (SEA,)
    assert len(audit.labels) == 2 * (IMAGES - 1)
    for row in audit.labels.to_dict("records"):
        own = [name for name in audit.members(row["concept"]) if name != "bird"]
        assert row["labelled"] == all(labelled(int(row["image"]), name) for name in own)
    tasks = person_tasks(audit, "ann", read_answers(store, audit))
    assert {task.concepts for task in tasks} == {both, with_own}
    sheet = answer_sheet(store, audit)
    said = [
        all(shows(int(image), name) for name in audit.members(concept) if name != "bird")
        for image, concept in zip(sheet["image"], sheet["concept"], strict=True)
    ]
    take_answers(store, audit, sheet.assign(answer=np.where(said, "shows", "does not")))
    rates = audit_rates(store, audit).set_index(["concept", "class_name"])
    truth = {
        (name, of): sum(
            all(shows(image, each) for each in audit.members(name) if each != "bird")
            for image in range(at or 2, IMAGES, 2)
        )
        for name in names
        for at, of in enumerate(CLASSES)
    }
    assert rates["corrected"].to_dict() == pytest.approx(truth)
    decide_labels(store, folder, run, "accepted")
    cliques = pd.DataFrame({"concepts": [both, with_own, (SKY,), (SEA,)]})
    cliques["over_represented"], cliques["under_represented"] = CLASSES
    expected = ["supported", "not supported", "not audited", "not audited"]
    assert imbalance_verdicts(store, dataset, cliques) == expected
    for wrong, problem in (
        (("bird", "bird"), "fewer than two"), (("bird", "boat"), "boat"), ((SEA,), "fewer than two")
    ):  # fmt: skip
        with pytest.raises((OptionError, UnknownNameError), match=problem):
            draw_audit(store, folder, run, AuditSample(("ann",), cliques=(wrong,)))


def test_people_answer_one_by_one_and_change_their_minds(store, folder, run):
    sample = AuditSample(("ann", "bob"), n=2, overlap=1, seed=4, concepts=(SEA,))
    audit = draw_audit(store, folder, run, sample)
    assert draw_audit(store, folder, run, sample).labels.equals(audit.labels)
    assert set(audit.labels["concept"]) == {SEA}
    assert len(audit.labels) == 6  # no owl is labelled with the sea
    none = read_answers(store, audit)
    tasks = person_tasks(audit, "ann", none)
    assert len(tasks) == len(person_tasks(audit, "bob", none)) == 3
    assert person_tasks(audit, "eve", none) == []
    answer_task(store, audit, "ann", 1, "shows")
    answer_task(store, audit, "ann", 1, "unknown")
    answers = read_answers(store, audit)
    assert [task.answer for task in person_tasks(audit, "ann", answers)] == [None, "unknown", None]
    with pytest.raises(UnknownNameError):
        answer_task(store, audit, "ann", 1, "maybe")
    with pytest.raises(OptionError, match="no task 4"):
        answer_task(store, audit, "ann", 3, "shows")
    sheet = answer_sheet(store, audit)
    for problem, changed in {
        "no column 'answer'": sheet.drop(columns="answer"),
        "'maybe'": sheet.assign(answer="maybe"),
        "does not ask": filled(sheet.assign(person="bob")),
    }.items():
        with pytest.raises(DataError, match=problem):
            take_answers(store, audit, changed)
    assert len(read_answers(store, audit)) == 1
    assert take_answers(store, audit, sheet.assign(answer=["", " Shows ", None, *" " * 3])) == 1
    own = filled(sheet)
    twice = pd.concat([own, own.assign(person=" " + own["person"])], ignore_index=True)
    assert take_answers(store, audit, twice) == len(sheet) == len(read_answers(store, audit))
    last = {"shows": "does not", "does not": "shows"}[own["answer"].iloc[0]]
    contradicted = pd.concat([own, own[:1].assign(answer=last)], ignore_index=True)
    for named, places in ((contradicted, "Row 7: .* in row 1"), (
        contradicted.set_axis([f"line {at}" for at in range(2, 9)]), "Line 8: .* in line 2"
    )):  # fmt: skip
        with pytest.raises(DataError, match=places):
            take_answers(store, audit, named.assign(uri=None))
    assert sorted(read_answers(store, audit)["answer"]) == sorted(own["answer"])


def test_what_cannot_be_audited_is_refused(store, dataset, folder, run):
    proposal = create_run(store, dataset, NewRun("propose", "m", {}))
    waiting = create_run(store, dataset, NewRun("label", "m", {}), tasks=[{"chunk": 0}])
    for of, sample, problem in (
        (proposal, AuditSample(("ann",)), "labels nothing"),
        (waiting, AuditSample(("ann",)), "once it is done"),
        (run, AuditSample(()), "Nobody is named"),
        (run, AuditSample(("ann", "ann")), "is there twice"),
        (run, AuditSample(("ann",), overlap=2), "2 of 1 people"),
        (run, AuditSample(("ann",), concepts=("bird",)), "bird"),
    ):
        with pytest.raises((OptionError, ConflictError), match=problem):
            draw_audit(store, folder, of, sample)


def test_nothing_is_said_where_there_is_no_audit(store, dataset, run):
    cliques = pd.DataFrame(
        {"concepts": [(SKY,)], "over_represented": "a", "under_represented": "b"}
    )
    assert imbalance_verdicts(store, dataset, cliques) is None
