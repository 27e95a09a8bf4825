"""Human studies in the graph: created, answered, closed, renamed and dropped with their dataset."""

from dataclasses import replace

import pandas as pd
import pytest

from cobalance.base.errors import ConflictError, NotFoundError, StoreError
from cobalance.base.records import Annotations, Edit, ImageRecord, Mention, PlannedQuery
from cobalance.graph.dataset.drop_rename import drop_dataset, rename_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.candidates import NewCandidate, record_made
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.reports import start_queries
from cobalance.graph.panels.panel import list_panels, read_answers, read_panel, save_answers
from cobalance.graph.panels.studies import (
    Assignment,
    Study,
    StudyPair,
    close_study,
    create_study,
    read_pairs,
)
from tests.conftest import HOSTILE

GROUPS = ("man", "woman")


@pytest.fixture
def job(store, dataset):
    """Two images, each edited to show both groups; the last edit is rejected, one has no file."""
    records = [ImageRecord(f"{i}", GROUPS[i], (Mention("dog"),), uri=f"{i}.png") for i in range(2)]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    queries = [
        PlannedQuery(
            group, ("dog",), 1, Edit(f"{i}", f"a {group}", own_group=GROUPS[0] if i else "")
        )
        for i in range(2)
        for group in GROUPS
    ]
    made = create_job(store, dataset, "twins", queries)
    ids = [query_id(made, position) for position in range(4)]
    start_queries(store, made, 0, ids)
    uris = ("a.png", None, "c.png", "d.png")
    verdicts = ("accepted", "accepted", "accepted", "rejected")
    record_made(
        store,
        made,
        {
            query: [
                NewCandidate(
                    f"{query}/0",
                    uri,
                    verdict,
                    source_image=f"{at // 2}",
                    source_uri=f"{at // 2}.png",
                )
            ]
            for at, (query, uri, verdict) in enumerate(zip(ids, uris, verdicts, strict=True))
        },
    )
    return made


def pair_of(job, position):
    return StudyPair(f"{query_id(job, position)}/0", "0", "a.png", "0.png", "man", "", "A ____.")


@pytest.fixture
def study(store, job):
    study = create_study(
        store,
        job,
        groups=GROUPS,
        people=["ann", "bob"],
        pairs=[pair_of(job, 0), replace(pair_of(job, 2), own="man")],
        assignments=[Assignment(0, 1, True), Assignment(1, 0, False)],
        settings={"seed": 3},
    )
    return read_panel(store, Study, study)


def save_answer(store, study, pair, person, question, answer):
    row = {"pair": pair, "person": person, "question": question, "answer": answer}
    save_answers(store, study, pd.DataFrame([row]))


def test_pairs_are_the_accepted_edits_whose_files_are_kept(store, job):
    found = read_pairs(store, job)
    assert found.to_dict("records") == [
        {
            "candidate": f"{query_id(job, position)}/0",
            "uri": uri,
            "original": original,
            "original_uri": f"{original}.png",
            "asked": "man",
            "own": own,
            "caption": "a man",
        }
        for position, uri, original, own in ((0, "a.png", "0", ""), (2, "c.png", "1", "man"))
    ]


def test_a_study_is_read_as_it_was_created(store, dataset, job, study):
    found = study
    assert (found.dataset, found.job) == (dataset, job)
    assert (found.groups, found.people) == (GROUPS, ("ann", "bob"))
    assert found.pairs == (pair_of(job, 0), replace(pair_of(job, 2), own="man"))
    assert found.assignments == (Assignment(0, 1, True), Assignment(1, 0, False))
    assert found.settings == {"seed": 3}
    assert found.closed_at is None
    assert list_panels(store, Study, job=job) == [found]
    assert list_panels(store, Study, dataset=dataset) == [found]
    with pytest.raises(NotFoundError, match="There is no study 'x'"):
        read_panel(store, Study, "x")
    with pytest.raises(NotFoundError, match="There is no study 'x'"):
        close_study(store, "x")


def test_an_answer_is_one_for_each_person_pair_and_question_until_the_end(store, job, study):
    candidate = pair_of(job, 0).candidate
    save_answer(store, study, candidate, "ann", "objects", "same")
    for answer in ("different", "cannot tell", "cannot tell"):
        save_answer(store, study, candidate, "bob", "objects", answer)
    rows = [
        {"pair": candidate, "person": person, "question": "objects", "answer": answer}
        for person, answer in (("ann", "same"), ("bob", "cannot tell"))
    ]
    assert read_answers(store, study).to_dict("records") == rows
    assert read_answers(store, study, "bob").to_dict("records") == rows[1:]
    (edges,) = store.read(
        "MATCH (a:StudyAnswer {study: $study, person: 'bob'}) "
        "RETURN COLLECT { MATCH (a)-[:GIVEN_IN]->(:Study)-[:STUDIES]->(j) RETURN j.id } AS jobs, "
        "COLLECT { MATCH (a)-[:JUDGES]->(c:Candidate) RETURN c.id } AS candidates",
        study=study.id,
    )
    assert edges == {"jobs": [job], "candidates": [candidate]}
    close_study(store, study.id)
    close_study(store, study.id)
    with pytest.raises(ConflictError):
        save_answer(store, study, candidate, "ann", "objects", "different")
    assert read_answers(store, study).to_dict("records") == rows
    assert read_panel(store, Study, study.id).closed_at is not None


def test_names_of_people_and_answers_are_any_text(store, job, study):
    for name in HOSTILE:
        save_answer(store, study, pair_of(job, 0).candidate, name, name, name)
        (row,) = read_answers(store, study, name).to_dict("records")
        assert (row["person"], row["question"], row["answer"]) == (name,) * 3


def test_a_study_goes_with_its_dataset(store, dataset, job, study):
    save_answer(store, study, pair_of(job, 0).candidate, "ann", "objects", "same")
    new = f"{dataset} renamed"
    rename_dataset(store, dataset, new)
    try:
        assert read_panel(store, Study, study.id).dataset == new
        assert [one.id for one in list_panels(store, Study, dataset=new)] == [study.id]
        assert not list_panels(store, Study, dataset=dataset)
        save_answer(store, study, pair_of(job, 2).candidate, "ann", "objects", "same")
        assert len(read_answers(store, study)) == 2
    finally:
        drop_dataset(store, new)
    left = "MATCH (n) WHERE n.study = $study OR n.id = $study RETURN count(n) AS n"
    assert store.read(left, study=study.id) == [{"n": 0}]
    with pytest.raises(StoreError):
        create_study(store, job, groups=GROUPS, people=["a"], pairs=[], assignments=[])
    with pytest.raises(NotFoundError):
        save_answer(store, study, pair_of(job, 0).candidate, "ann", "objects", "same")
