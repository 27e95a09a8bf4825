"""Human studies from a job: drawn, answered by several people, evaluated."""

import dataclasses
from collections import Counter

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from cobalance.base.errors import NotFoundError, OptionError, UnknownNameError
from cobalance.evaluation.study.agreement import ALPHA, ASKED, BOTH, OWN, SHARE
from cobalance.evaluation.study.questions import CANNOT_TELL, SENTENCE
from cobalance.graph.jobs.candidates import decide
from cobalance.graph.panels.panel import read_answers, read_panel
from cobalance.graph.panels.studies import Study, close_study
from cobalance.workflows.panel.answers import answer_task, panel_progress, person_tasks
from cobalance.workflows.panel.study import Sample, draw_study, results_frame
from tests.support.edited_job import GROUPS
from tests.support.studied_job import SENTENCE as GAPPED, write_studied_job

IMAGES = 6
PEOPLE = ("ann", "bob")


@pytest.fixture
def job(store, dataset, tmp_path):
    return write_studied_job(store, dataset, tmp_path / "pictures", IMAGES)


def open_tasks(store, study, person):
    found = read_panel(store, Study, study)
    return person_tasks(found, person, read_answers(store, found, person))


def answer_all(store, study, person, choose):
    """Answer every task by what `choose` says of the study's truth, which people do not see."""
    found = read_panel(store, Study, study)
    truth = {pair.uri: pair for pair in found.pairs} | {p.original_uri: p for p in found.pairs}
    for number, task in enumerate(open_tasks(store, study, person)):
        pair = truth[task.images[0]]
        answer_task(store, found, person, number, choose(task, pair))


def sees_well(task, pair):
    if not task.sentence:
        return "same"
    return pair.asked if task.images == (pair.uri,) else pair.own


def sees_men(task, pair):
    if not task.sentence:
        return "different" if "same objects" in task.text and pair.asked == "woman" else "same"
    return "man" if task.images == (pair.uri,) else CANNOT_TELL


def test_from_a_job_to_results(store, job):
    study = draw_study(store, job, Sample(PEOPLE, seed=5))
    assert (study.groups, study.people) == (GROUPS, PEOPLE)
    assert sorted(pair.original for pair in study.pairs) == [f"{at}" for at in range(IMAGES)]
    for pair in study.pairs:
        assert pair.own == GROUPS[int(pair.original) % 2]
        assert pair.sentence == GAPPED
        assert (pair.uri, pair.original_uri) == (
            f"{pair.original}-edit.png",
            f"{pair.original}.png",
        )
    assert panel_progress(store, study)["tasks"].tolist() == [4 * IMAGES] * 2
    answer_all(store, study.id, "ann", sees_well)
    answer_all(store, study.id, "bob", sees_men)
    assert panel_progress(store, study)["answered"].tolist() == [4 * IMAGES] * 2
    found = results_frame(store, study).set_index(
        ["measure", "question", "person", "group", "answer"]
    )
    women = sum(pair.asked == "woman" for pair in study.pairs)
    men = IMAGES - women
    assert 0 < women < IMAGES

    def check(key, hits, n):
        interval = proportion_confint(hits, n, method="wilson")
        limits = found.loc[key, ["value", "low", "high"]].tolist()
        assert limits == pytest.approx([hits / n, *interval])
        assert found.loc[key, "n"] == n

    check((ASKED, "group_edited", "ann", "", ""), IMAGES, IMAGES)
    check((ASKED, "group_edited", "bob", "", ""), men, IMAGES)
    check((ASKED, "group_edited", "", "", ""), IMAGES + men, 2 * IMAGES)
    check((OWN, "group_original", "bob", "", ""), 0, IMAGES)
    agreeing = sum(pair.asked == pair.own for pair in study.pairs)
    check((BOTH, "", "ann", "", ""), agreeing, IMAGES)
    check((SHARE, "objects", "", "", "different"), women, 2 * IMAGES)
    check((SHARE, "objects", "", "woman", "same"), women, 2 * women)
    # Coincidences: each pair of unlike answers stands twice; alpha is 1 - observed / expected.
    counts = Counter({"same": 2 * IMAGES - women, "different": women})
    n = 2 * IMAGES
    unlike = n * n - sum(each * each for each in counts.values())
    expected = 1 - (2 * women / n) / (unlike / (n * (n - 1)))
    assert found.loc[(ALPHA, "objects", "", "", ""), "value"] == pytest.approx(expected)
    assert np.isnan(found.loc[(ALPHA, "colours", "", "", ""), "value"])


def test_what_is_shown_tells_neither_groups_nor_which_image_was_edited(store, job):
    study = draw_study(store, job, Sample(tuple("abcdefgh"), seed=1))
    fields = {field.name for field in dataclasses.fields(type(open_tasks(store, study.id, "a")[0]))}
    assert fields == {"text", "sentence", "images", "choices", "answer", "concepts"}
    first, left = Counter(), Counter()
    for person in study.people:
        tasks = open_tasks(store, study.id, person)
        assert {task.choices for task in tasks} == {
            (*GROUPS, CANNOT_TELL),
            ("same", "different", CANNOT_TELL),
        }
        assert len({task.text for task in tasks if task.sentence}) == 1
        singles = [task.images[0] for task in tasks[: 2 * IMAGES]]
        assert len(set(singles)) == 2 * IMAGES  # before any pair is seen together
        stems = [uri.split("-")[0].removesuffix(".png") for uri in singles]
        assert stems[:IMAGES] == stems[IMAGES:]  # each twin as late as can be
        pairs = [task.images for task in tasks[2 * IMAGES :: 2]]
        assert [images[0] for images in pairs] == singles[:IMAGES]
        first.update("edit" in uri for uri in singles[:IMAGES])
        left.update("edit" in images[0] for images in pairs)
    n = IMAGES * len(study.people)
    for sides in (first, left):
        assert abs(sides[True] - n / 2) < 2.6 * np.sqrt(n / 4)


def test_people_go_on_where_they_were_and_may_change_answers(store, job):
    drawn = draw_study(store, job, Sample(PEOPLE, 2, 1))
    study = drawn.id
    assert sorted(len(open_tasks(store, study, person)) for person in PEOPLE) == [4, 4]
    answer_task(store, drawn, "ann", 0, "man")
    answer_task(store, drawn, "ann", 0, "woman")
    assert [task.answer for task in open_tasks(store, study, "ann")] == ["woman", None, None, None]
    for number, answer in ((4, "man"), (-1, "man")):
        with pytest.raises(OptionError, match="has no task"):
            answer_task(store, drawn, "ann", number, answer)
    with pytest.raises(OptionError):
        answer_task(store, drawn, "eve", 0, "man")
    with pytest.raises(UnknownNameError, match="cannot tell, man, woman"):
        answer_task(store, drawn, "ann", 0, "same")
    answer_all(store, study, "ann", sees_well)
    assert all(task.answer for task in open_tasks(store, study, "ann"))
    close_study(store, study)
    with pytest.raises(Exception, match="closed"):
        answer_task(store, drawn, "ann", 0, "man")


def test_samples_that_cannot_be_drawn_are_refused_before_anything_is_written(store, job):
    for sample, said in (
        (Sample(PEOPLE, IMAGES + 1), "7 pairs cannot be drawn, as 6 images"),
        (Sample(PEOPLE, overlap=3), "3 of 2 people"),
        (Sample(PEOPLE, overlap=0), "0 of 2 people"),
        (Sample(()), "Nobody is named"),
        (Sample(("ann", " ann ")), "twice"),
        (Sample(("ann", "")), "is empty"),
        (Sample(("ann", "b\x00")), "control character"),
        (Sample(PEOPLE, words=("gensyth",)), "gensynth"),
    ):
        with pytest.raises(OptionError, match=said):
            draw_study(store, job, sample)
    with pytest.raises(NotFoundError):
        draw_study(store, "gone", Sample(PEOPLE))
    assert store.read("MATCH (s:Study {job: $job}) RETURN s", job=job) == []


def test_a_seed_draws_the_same_sample_and_rejected_edits_are_left_out(store, job):
    drawn = [draw_study(store, job, Sample(PEOPLE, 4, seed=seed)) for seed in (1, 1, 2)]
    assert drawn[0].pairs == drawn[1].pairs != drawn[2].pairs
    assert drawn[0].assignments == drawn[1].assignments
    for pair in drawn[0].pairs:
        decide(store, pair.candidate, "rejected", "eve")
    again = draw_study(store, job, Sample(PEOPLE))
    assert not {pair.candidate for pair in again.pairs} & {p.candidate for p in drawn[0].pairs}
    # A study that is under way keeps its pairs.
    answer_task(store, drawn[0], "ann", 0, "man")


def test_words_of_the_plan_make_the_gap(store, dataset, job):
    assert draw_study(store, job, Sample(PEOPLE, 1, words=("age",))).pairs[0].sentence == SENTENCE
    store.write(
        "MERGE (p:Plan {dataset: $d, name: 'twins'}) SET p.planner_options = $options",
        d=dataset,
        options='{"words": ["gensynth"]}',
    )
    assert draw_study(store, job, Sample(PEOPLE, 1)).pairs[0].sentence == GAPPED
