import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import InputError, UnknownNameError
from cobalance.evaluation.metrics.comparison import compare_methods, compare_scores
from cobalance.evaluation.metrics.gaps import shortcut_gaps
from cobalance.evaluation.metrics.group_accuracy import (
    balanced_accuracy,
    group_accuracy,
    out_of_distribution,
    worst_group,
)
from cobalance.evaluation.metrics.metric import Inputs, score_metrics
from cobalance.evaluation.predictions import check_predictions
from tests.evaluation.tables import cars, frame_f, one_row_an_image

BETTER = cars((97, 90, 80, 60), (96, 88, 75, 65))


def several(seeds: tuple[int, ...] = (0, 1)) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Predictions of erm and of a better method for the same images."""
    erm, groups = one_row_an_image(frame_f())
    dfr, _ = one_row_an_image(BETTER)
    parts = []
    for seed in seeds:
        flipped = erm.assign(seed=seed, method="erm")
        flipped.loc[:seed, "predicted"] = "country"  # seeds differ in a few images
        parts += [flipped.sample(frac=1, random_state=seed), dfr.assign(seed=seed, method="dfr")]
    return check_predictions(pd.concat(parts)), groups


def test_differences_are_those_of_the_metrics():
    table, groups = several()
    found = compare_methods(table, groups, "erm", np.random.default_rng(0), draws=300)
    by_metric = found.set_index(["metric", "group"])
    assert (found["method"] == "dfr").all()
    assert (found["seeds"] == 2).all()
    assert (found["n"] == 800).all()
    scores = pd.concat(
        [
            group_accuracy(table, groups),
            balanced_accuracy(table, groups),
            out_of_distribution(table, groups),
            worst_group(table, groups),
            shortcut_gaps(table, groups, id="common"),
        ]
    )
    means = scores.groupby(["method", "metric", "group"])["value"].mean()
    assert len(found) == len(means["erm"]) + 1  # and plain accuracy
    for (metric, group), value in means["erm"].items():
        row = by_metric.loc[(metric, group)]
        assert row["before"] == pytest.approx(value)
        assert row["after"] == pytest.approx(means["dfr"][metric, group])
        assert row["difference"] == pytest.approx(row["after"] - row["before"])
        assert row["low"] <= row["difference"] <= row["high"]
    assert by_metric.loc[("worst_group", ""), "low"] > 0


def test_gaps_by_training_rates():
    table, groups = several((4,))
    rates = {"background": 0.95, "object": 0.95}
    found = compare_methods(
        table, groups, "erm", np.random.default_rng(0), training=rates, draws=20
    )
    found = found.set_index(["metric", "group"])
    direct = shortcut_gaps(table, groups, rates).set_index(["method", "metric", "group"])["value"]
    key = ("shortcut_gaps", "background + object")
    assert found.loc[key, "before"] == pytest.approx(direct["erm", *key])
    assert found.loc[key, "after"] == pytest.approx(direct["dfr", *key])


def test_empty_groups_are_nan_and_classes_alone_do():
    table, groups = several((0,))
    groups = groups.assign(object="common")
    found = compare_methods(table, groups, "erm", np.random.default_rng(0), draws=20)
    found = found.set_index(["metric", "group"])["difference"]
    assert np.isnan(found["out_of_distribution", ""])
    assert np.isnan(found["shortcut_gaps", "object"])
    assert not np.isnan(found["shortcut_gaps", "background"])
    assert not np.isnan(found["balanced_accuracy", ""])
    alone = compare_methods(table, None, "erm", np.random.default_rng(0), draws=20)
    assert "out_of_distribution" not in set(alone["metric"])


def test_what_cannot_be_paired_is_refused():
    table, groups = several()
    rng = np.random.default_rng(0)
    with pytest.raises(UnknownNameError, match=r"unknown method 'jtt'\. Known: dfr, erm"):
        compare_methods(table, groups, "jtt", rng)
    with pytest.raises(InputError, match="no method but 'erm'"):
        compare_methods(table[table["method"] == "erm"], groups, "erm", rng)
    with pytest.raises(InputError, match="'dfr', seed 0, has other images or classes"):
        compare_methods(table.drop(table.index[table["method"] == "dfr"][0]), groups, "erm", rng)
    other = table.assign(seed=table["seed"] + 10 * (table["method"] == "dfr"))
    with pytest.raises(InputError, match="'dfr' and 'erm' have no seed in common"):
        compare_methods(other, None, "erm", rng)
    with pytest.raises(InputError, match="several images for a row"):
        compare_methods(frame_f(), None, "", rng)


def test_counts_are_compared_with_unpaired_intervals():
    from statsmodels.stats.proportion import confint_proportions_2indep

    tables = [frame_f().assign(method="before"), BETTER.assign(method="after")]
    table = check_predictions(pd.concat(tables, ignore_index=True))
    scored = score_metrics(Inputs(predictions=table), {"group_accuracy": {}, "worst_group": {}})
    found = compare_scores(scored.frame, "before")
    assert set(found["method"]) == {"after"}
    by_metric = found.set_index(["metric", "group"])
    worst = by_metric.loc[("worst_group", "")]
    assert (worst["before"], worst["after"]) == pytest.approx((0.40, 0.60))
    limits = confint_proportions_2indep(60, 100, 40, 100, method="newcomb", compare="diff")
    assert (worst["low"], worst["high"]) == pytest.approx(limits)
    assert len(found) == 9
    with pytest.raises(UnknownNameError, match="unknown method 'x'"):
        compare_scores(scored.frame, "x")
    with pytest.raises(InputError, match="no method but 'before'"):
        compare_scores(scored.frame[scored.frame["method"] == "before"], "before")
    empty = scored.frame.assign(low=np.nan, high=np.nan)  # as scores without intervals
    assert compare_scores(empty, "before")["low"].isna().all()


def test_predictions_with_a_column_of_clusters_are_resampled_by_cluster():
    rng = np.random.default_rng(2)
    labels, right = np.repeat(["cat", "dog"], 30), rng.random((2, 60)) < [[0.5], [0.7]]
    rows = [
        {"image": f"{image} {copy}", "class_name": labels[image], "method": method, "seed": 0,
         "predicted": labels[image] if right[at, image] else "owl", "cluster": cluster}
        for at, method in enumerate(["erm", "new"])
        for image in range(60)
        for copy in range(9)
        for cluster in [f"video {image}" if image else None]
    ]  # fmt: skip
    table = check_predictions(pd.DataFrame(rows))
    widths = []
    for part in (table, table.drop(columns="cluster")):
        found = compare_methods(part, None, "erm", np.random.default_rng(3))
        widths.append((found["high"] - found["low"])[found["metric"] == "accuracy"].item())
    assert widths[0] == pytest.approx(3 * widths[1], rel=0.2)  # nine copies
