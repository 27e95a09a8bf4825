"""What a job's images changed, by the saved query alone, against statsmodels."""

import math

import pandas as pd
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from cobalance.graph.evaluations.writing import (
    NewEvaluation,
    begin_evaluation,
    create_evaluations,
    save_scores,
)
from cobalance.graph.queries.binding import bind_named

NAN = math.nan
SETTINGS = {"preset": "small"}


def wilson(right, n):
    low, high = proportion_confint(right, n, method="wilson")
    return right / n, low, high, n


@pytest.fixture
def evaluate(store):
    """Write an evaluation that has scores already."""

    def write(
        train, test, seed, rows, *, method="erm", settings=SETTINGS, images="augmented", **compared
    ):
        new = NewEvaluation(method, seed, settings, images, **compared)
        (made,) = create_evaluations(store, [new], train=train, test=test, extra=None)
        columns = ["metric", "group", "value", "low", "high", "n"]
        save_scores(store, made, pd.DataFrame(rows, columns=columns))
        return made

    return write


@pytest.fixture
def ask(store):
    def read(dataset, query="what-helped", **given):
        query, bound = bind_named(store, query, {"dataset": dataset, **given})
        return store.read(query.text, **bound)

    return read


def test_the_difference_has_newcombes_interval(
    store, original, rebalanced, job, evaluate, ask, write
):
    evaluate(original, original, 0, [("worst_group", "", *wilson(40, 100))])
    after = evaluate(rebalanced, original, 0, [("worst_group", "", *wilson(72, 100))])
    (row,) = ask(original)
    assert ask(rebalanced) == [row]
    low, high = confint_proportions_2indep(72, 100, 40, 100, method="newcomb", compare="diff")
    assert row["interval"] == pytest.approx([low, high])
    assert row["difference"] == pytest.approx(0.32)
    assert (row["training_set"], row["images"], row["job"]) == (rebalanced, "augmented", job)
    assert (row["planner"], row["backend"], row["seeds"]) == ("mine", "paste", 1)
    assert (row["method"], row["metric"], row["group"]) == ("erm", "worst_group", "")
    assert (row["before"], row["after"], row["outdated"]) == (0.4, 0.72, False)
    write(rebalanced, 12)
    assert [row["outdated"] for row in ask(original)] == [True]
    begin_evaluation(store, after)
    assert ask(original) == []


def test_only_the_same_method_seeds_settings_and_images_are_compared(
    original, rebalanced, evaluate, ask
):
    for seed, before, after in ((0, 40, 60), (1, 50, 80), (2, 10, None), (3, None, 90)):
        if before is not None:
            evaluate(original, original, seed, [("m", "a", *wilson(before, 100))])
        if after is not None:
            evaluate(rebalanced, original, seed, [("m", "a", *wilson(after, 100))])
    evaluate(original, original, 0, [("m", "a", *wilson(1, 100))], method="upweight")
    evaluate(original, original, 1, [("m", "a", *wilson(1, 100))], settings={"preset": "gpu"})
    evaluate(rebalanced, original, 1, [("m", "a", *wilson(1, 100))], images="real")
    (row,) = ask(original)
    assert (row["seeds"], row["before"], row["after"]) == (
        *(2, pytest.approx(0.45)),
        pytest.approx(0.7),
    )
    ends = [wilson(right, 100)[1:3] for right in (40, 50, 60, 80)]
    (b_low, b_high), (a_low, a_high) = (
        [sum(limit) / 2 for limit in zip(*some, strict=True)] for some in (ends[:2], ends[2:])
    )
    assert row["interval"] == pytest.approx(
        [
            0.25 - math.hypot(0.7 - a_low, b_high - 0.45),
            0.25 + math.hypot(a_high - 0.7, 0.45 - b_low),
        ]
    )


def test_settings_seeds_before_and_test_images_are_rows_of_their_own(
    original, rebalanced, evaluate, ask
):
    def network(lr, **changes):
        return {"learner": "network", "learner_options": {"lr": lr}, "preset": "small"} | changes

    def write(train, right, settings=None, test=original, **kinds):
        rows = [("m", "", *wilson(right, 100))]
        settings = settings or {"learner": "linear", "preset": "tiny"}
        evaluate(train, test, 0, rows, settings=settings, **kinds)

    for train, right in ((original, 10), (rebalanced, 20)):
        write(train, 99)  # an older run of the same seed
        write(train, right)
        write(train, right + 30, network(0.1))
        write(train, right + 60, network(0.5))
    write(rebalanced, 70, test=rebalanced)
    write(original, 65, test=rebalanced)
    found = {(row["test"], row["settings"]): row for row in ask(original)}
    assert {key: (row["before"], row["after"], row["seeds"]) for key, row in found.items()} == {
        (original, "linear"): (0.1, 0.2, 1),
        (original, "network, lr 0.1"): (0.4, 0.5, 1),
        (original, "network, lr 0.5"): (0.7, 0.8, 1),
        (rebalanced, "linear"): (0.65, 0.7, 1),
    }
    shared = {"other_methods": network(0.5)}
    dfr = network(0.5, method_options={"refits": 3}, validation_share=0.2)
    write(original, 90, dfr, method="dfr", **shared)
    (row,) = ask(original, "remedies")
    assert (row["settings"], row["before"], row["after"]) == ("network", 0.7, 0.9)
    write(original, 80, network(0.5, validation_share=0.3), **shared)
    rows = {row["settings"]: (row["before"], row["after"]) for row in ask(original, "remedies")}
    assert rows == {
        "network": (0.7, 0.9),
        "network, before: erm validation share 0.3": (0.8, 0.9),
    }


def test_groups_without_images_and_metrics_without_intervals_stay(
    original, rebalanced, evaluate, ask
):
    rows = [
        ("acc", "a", 0.5, NAN, NAN, 8),
        ("acc", "b", NAN, NAN, NAN, 0),
        ("other", "", 1, 1, 1, 8),
    ]
    evaluate(original, original, 0, rows)
    evaluate(rebalanced, original, 0, rows)
    found = {row["group"]: row for row in ask(original, metric="acc")}
    assert found.keys() == {"a", "b"}
    assert (found["a"]["difference"], found["a"]["interval"]) == (0, [None, None])
    assert (found["b"]["difference"], found["b"]["interval"]) == (None, [None, None])
    assert len(ask(original)) == 3
    assert len(ask(original, limit=1)) == 1


def test_remedies_stand_beside_erm_on_the_same_images(original, rebalanced, job, evaluate, ask):
    rows = {n: [("m", "", *wilson(n, 100))] for n in (10, 30, 50, 60, 70)}

    def cutmix(train, n, added, seed=0, **changes):
        settings = SETTINGS | {"method_options": {"added": added, "alpha": 1}} | changes
        evaluate(
            *(train, original, seed, rows[n]),
            method="cutmix",
            settings=settings,
            same_method=SETTINGS | {"method_options": {"alpha": 1}} | changes,
            other_methods=SETTINGS | changes,
        )

    evaluate(original, original, 0, rows[10])
    evaluate(original, original, 1, rows[70], settings={"preset": "gpu"})
    cutmix(original, 30, 56)
    cutmix(original, 70, 56, seed=1)  # no ERM of that seed with these settings
    cutmix(original, 70, 56, preset="huge")  # nor with these
    (row,) = ask(original, "remedies")
    assert (row["method"], row["job"], row["training_set"]) == ("cutmix", None, original)
    assert (row["before"], row["after"], row["seeds"]) == (0.1, 0.3, 1)
    low, high = confint_proportions_2indep(30, 100, 10, 100, method="newcomb", compare="diff")
    assert row["interval"] == pytest.approx([low, high])

    assert ask(original) == []
    evaluate(rebalanced, original, 0, rows[50])
    cutmix(rebalanced, 60, 0)
    helped = {row["method"]: (row["before"], row["after"]) for row in ask(original)}
    assert helped == {"erm": (0.1, 0.5), "cutmix": (0.3, 0.6)}
    found = {row["job"]: (row["before"], row["after"]) for row in ask(original, "remedies")}
    assert found == {None: (0.1, 0.3), job: (0.5, 0.6)}
    assert [row["job"] for row in ask(rebalanced, "remedies")] == [job]
    assert ask(original, "remedies", metric="other") == []
