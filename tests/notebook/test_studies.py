"""Human studies from Python: drawn, answered by a frame, closed."""

import pytest

import cobalance as cb
from tests.support.studied_job import write_studied_job


def test_a_study_from_the_draw_to_its_end(store, dataset, own, tmp_path):
    opened = cb.Store(store, own)
    job = opened.job(write_studied_job(store, dataset, tmp_path / "pictures", 2))
    study = job.study(["ann", "bob"], 2)
    sample = study.sample
    assert sample.groupby("person")["task"].apply(list).to_dict() == {
        "ann": [*range(1, 9)],
        "bob": [*range(1, 9)],
    }
    assert study.title().endswith("by 2 people: 0 of 16 answers")
    asks_group = sample["sentence"] != ""
    answers = sample.assign(answer=["man" if group else "Same" for group in asks_group])
    assert study.answer(answers).answer(answers).progress()["answered"].tolist() == [8, 8]
    found = study.result()
    shares = found[(found["measure"] == "share of answers") & (found["group"] == "")]
    objects = shares[shares["question"] == "objects"].set_index("answer")
    assert objects["value"].to_dict() == {"same": 1, "different": 0, "cannot tell": 0}
    assert (study.sample["answer"] == answers["answer"].str.lower()).all()
    assert "Study of 2 pairs" in repr(study)
    for changed, problem in (
        (answers[:1].assign(answer="cat"), "Row 1: the answer 'cat' is none"),
        (answers[:1].assign(task=9), "does not ask person 'ann', task '9'"),
        (answers.drop(columns="task"), "no column 'task'"),
    ):
        with pytest.raises(cb.CobalanceError, match=problem):
            study.answer(changed)
    assert study.close().title().endswith("closed")
    with pytest.raises(cb.CobalanceError, match="is closed"):
        study.answer(answers[:1])
    assert [one.id for one in job.studies()] == [study.id]
    assert [one.id for one in opened[dataset].studies()] == [study.id]
