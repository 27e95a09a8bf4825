"""Evaluations: ordered, scored, outdated by changes, dropped and renamed with their datasets."""

import math

import pandas as pd
import pytest

from cobalance.base.errors import NotFoundError, StoreError
from cobalance.graph.dataset.drop_rename import drop_dataset, rename_dataset
from cobalance.graph.evaluations.reading import (
    list_evaluations,
    name_settings,
    read_evaluation,
    read_scores,
)
from cobalance.graph.evaluations.writing import (
    ConflictError,
    NewEvaluation,
    begin_evaluation,
    create_evaluations,
    delete_evaluation,
    save_predictions_uri,
    save_scores,
)
from cobalance.graph.tasks.lifecycle import (
    active_tasks,
    cancel_task,
    fail_task,
    read_task,
    start_task,
)

NAN = math.nan


def scores(*rows):
    return pd.DataFrame(rows, columns=["metric", "group", "value", "low", "high", "n"])


@pytest.fixture
def evaluation(store, rebalanced, original):
    new = NewEvaluation("erm", 0, {"preset": "small", "note": 'it\'s "so"'}, "synthetic")
    (made,) = create_evaluations(
        store, [new], train=rebalanced, test=original, extra="evaluate", created_by="ann"
    )
    return made


def test_settings_are_named_by_what_tells_them_apart(store, original):
    shared = {"learner": "linear", "learner_options": {"c": 0.1}, "shortcuts": {"a": ["x"]}}
    given = [
        NewEvaluation("erm", 0, shared | {"validation_share": 0.0}, other_methods=shared),
        NewEvaluation(
            "dfr", 0, shared | {"method_options": {"refits": 3}, "validation_share": 0.2},
            other_methods=shared,
        ),
        NewEvaluation("erm", 0, {"learner": "network", "preset": "gpu"}),
        NewEvaluation("theirs", None, {"shortcuts": {}}),
    ]  # fmt: skip
    create_evaluations(store, given, train=original, test=original, extra=None)
    found = {one.id: one for one in list_evaluations(store, original)}
    names = name_settings([*found.values()])
    assert [names[one.id] for one in given] == ["linear", "linear", "network", ""]

    others = [
        NewEvaluation("erm", 0, shared | {"learner_options": {"c": 1}}),
        NewEvaluation(
            "dfr", 1, {**given[1].settings, "shortcuts": {"a": ["y"]}}, other_methods=shared
        ),
        NewEvaluation("dfr", 1, given[1].settings, other_methods=shared, most_synthetic=8),
    ]
    create_evaluations(store, others, train=original, test=original, extra=None)
    names = name_settings(list_evaluations(store, original))
    told = [names[one.id] for one in (*given, *others)]
    assert len(set(told)) == len(told)
    assert told[0].startswith("linear, c 0.1, shortcuts ")
    assert told[2:4] == ["network", ""]
    assert told[4].startswith("linear, c 1, shortcuts ")
    assert told[6].startswith("linear, c 0.1, most synthetic 8, shortcuts ")


def test_an_evaluation_knows_its_datasets_job_and_task(
    store, rebalanced, original, job, evaluation
):
    found = read_evaluation(store, evaluation)
    assert (found.train, found.training_set, found.test) == (rebalanced, "synthetic", original)
    assert (found.job, found.method, found.seed) == (job, "erm", 0)
    assert found.settings == {"preset": "small", "note": 'it\'s "so"'}
    assert (found.state, found.error, found.outdated) == ("queued", "", False)
    assert (found.created_by, found.predictions_uri, found.scored_at) == ("ann", None, None)
    assert evaluation in [task.id for task in active_tasks(store)]
    assert read_task(store, evaluation).kind == "evaluation"
    (edges,) = store.read(
        "MATCH (e:Evaluation {id: $id}) RETURN [(e)-[:TRAINED_ON]->(d) | d.name] AS train, "
        "[(e)-[:TESTED_ON]->(d) | d.name] AS test, [(e)-[:OF]->(j:Job) | j.id] AS jobs",
        id=evaluation,
    )
    assert edges == {"train": [rebalanced], "test": [original], "jobs": [job]}
    start_task(store, evaluation, 0)
    fail_task(store, evaluation, 0, "no images")
    found = read_evaluation(store, evaluation)
    assert (found.state, found.error) == ("failed", "no images")
    for dataset in (original, rebalanced):
        assert [one.id for one in list_evaluations(store, dataset)] == [evaluation]


def test_predictions_of_other_models_need_no_training_set_and_no_task(store, original):
    seeds = [NewEvaluation("theirs", seed) for seed in range(3)]
    made = create_evaluations(store, seeds, train=None, test=original, extra=None)
    found = list_evaluations(store, original)
    assert {one.id for one in found} == set(made)
    assert {(one.train, one.training_set, one.state, one.job) for one in found} == {
        (None, None, "done", None)
    }
    with pytest.raises(NotFoundError):
        read_task(store, made[0])
    save_scores(store, made[0], scores(("worst_group", "", 0.5, NAN, NAN, 8)))
    delete_evaluation(store, made[0])
    assert read_scores(store, made).empty
    assert len(list_evaluations(store, original)) == 2
    with pytest.raises(NotFoundError, match="There is no evaluation"):
        read_evaluation(store, made[0])


def test_scores_replace_those_of_the_same_metrics_and_keep_empty_groups(store, evaluation):
    save_scores(
        store,
        evaluation,
        scores(
            ("group_accuracy", "a x", 0.5, 0.25, 0.75, 8),
            ("group_accuracy", "b x", NAN, NAN, NAN, 0),
            ("worst_group", "", 0.5, NAN, NAN, 8),
        ),
    )
    save_scores(store, evaluation, scores(("worst_group", "", 0.25, 0.1, 0.4, 8)))
    save_scores(store, evaluation, scores())
    read = read_scores(store, [evaluation])
    assert read["evaluation"].tolist() == [evaluation] * 3
    assert read["group"].tolist() == ["a x", "", "b x"]
    by_group = read.set_index(["metric", "group"])
    assert by_group.loc[("worst_group", ""), "value"] == 0.25
    assert by_group.loc[("group_accuracy", "a x"), ["low", "high"]].tolist() == [0.25, 0.75]
    empty = by_group.loc[("group_accuracy", "b x")]
    assert empty[["value", "low", "high"]].isna().all()
    assert empty["n"] == 0
    assert read_evaluation(store, evaluation).scored_at is not None
    begin_evaluation(store, evaluation)
    assert read_scores(store, [evaluation]).empty
    assert read_scores(store, []).columns.tolist()[1:] == scores().columns.tolist()


def test_a_score_twice_and_an_unknown_evaluation_are_refused(store, evaluation):
    twice = scores(("m", "g", 0.5, NAN, NAN, 1), ("m", "g", 0.6, NAN, NAN, 1))
    with pytest.raises(ValueError, match="twice"):
        save_scores(store, evaluation, twice)
    for change in (
        lambda: save_scores(store, "none", twice[:1]),
        lambda: save_predictions_uri(store, "none", "a"),
        lambda: begin_evaluation(store, "none"),
        lambda: delete_evaluation(store, "none"),
    ):
        with pytest.raises(NotFoundError, match="There is no evaluation 'none'"):
            change()


def test_a_running_evaluation_is_not_deleted(store, evaluation):
    start_task(store, evaluation, 0)
    with pytest.raises(ConflictError, match="Cancel it first"):
        delete_evaluation(store, evaluation)
    assert read_task(store, evaluation).state == "running"
    cancel_task(store, evaluation)
    delete_evaluation(store, evaluation)
    with pytest.raises(NotFoundError):
        read_task(store, evaluation)


def test_a_changed_dataset_marks_results_as_outdated(
    store, write, rebalanced, original, evaluation
):
    write(original, 9)
    assert read_evaluation(store, evaluation).outdated
    begin_evaluation(store, evaluation)
    assert not read_evaluation(store, evaluation).outdated
    write(rebalanced, 11)
    assert read_evaluation(store, evaluation).outdated


def test_a_rename_and_a_drop_of_either_dataset(store, rebalanced, original, evaluation):
    save_scores(store, evaluation, scores(("m", "", 0.5, NAN, NAN, 1)))
    new = f"{original} renamed"
    rename_dataset(store, original, new)
    found = read_evaluation(store, evaluation)
    assert (found.train, found.test, found.outdated) == (rebalanced, new, False)
    drop_dataset(store, new)  # what it was tested on
    found = read_evaluation(store, evaluation)
    assert found.outdated
    assert [one.id for one in list_evaluations(store, rebalanced)] == [evaluation]
    assert len(read_scores(store, [evaluation])) == 1
    with pytest.raises(StoreError, match="is gone"):
        begin_evaluation(store, evaluation)
    drop_dataset(store, rebalanced)  # what it was trained on, with which it goes
    with pytest.raises(NotFoundError):
        read_evaluation(store, evaluation)
    assert read_scores(store, [evaluation]).empty


def test_an_unknown_dataset_is_refused(store, original):
    for names in ({"train": "nowhere", "test": original}, {"train": None, "test": "nowhere"}):
        with pytest.raises(NotFoundError, match="There is no dataset 'nowhere'"):
            create_evaluations(store, [NewEvaluation("erm")], **names, extra=None)
