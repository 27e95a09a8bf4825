import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import DataError, InputError, OptionError
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.artefact_shift import artefact_shift
from cobalance.evaluation.metrics.metric import Inputs
from cobalance.evaluation.metrics.ratios import caption_predictions, fold_ratio, ratio
from cobalance.evaluation.predictions import check_predictions

TABLE_3 = {
    "original": ((3.5, 3.0, 14.3), (3.1, 2.6, 16.1), (2.3, 2.5, 8.7), (2.3, 2.4, 4.4)),
    "augment": ((3.7, 1.5, 59.5), (3.2, 0.6, 81.3), (2.5, 0.8, 68.0), (2.3, 1.8, 21.7)),
    "synthetic": ((1.9, 1.8, 5.3), (2.1, 2.0, 4.8), (1.7, 1.6, 5.9), (1.8, 1.7, 5.6)),
}
"""Resampled Datasets Are Not Enough: ratio before, after and shift, for four models."""


def counts(**predicted: int) -> pd.DataFrame:
    rows = {"class_name": "man", "predicted": list(predicted), "n": list(predicted.values())}
    return check_predictions(pd.DataFrame(rows))


def people(predicted: list[str], **columns: object) -> pd.DataFrame:
    images = [str(row) for row in range(len(predicted))]
    rows = {"image": images, "class_name": "man", "predicted": predicted, **columns}
    return check_predictions(pd.DataFrame(rows))


def of(scores: pd.DataFrame, metric: str, group: str = "") -> float:
    row = scores[(scores["metric"] == metric) & (scores["group"] == group)]
    assert len(row) == 1
    return float(row["value"].iloc[0])


def test_published_shifts():
    rows = [
        (f"{trained_on} {model}", before, after, shift)
        for trained_on, models in TABLE_3.items()
        for model, (before, after, shift) in enumerate(models)
    ]
    table = pd.DataFrame(rows, columns=["method", "original", "edited", "published"])
    scores = METRICS.open("artefact_shift")(Inputs(table=table))
    assert scores["method"].tolist() == table["method"].tolist()
    assert (scores["value"] - table["published"]).abs().max() <= 0.1


@pytest.mark.parametrize(
    ("men", "women", "expected"),
    [(30, 10, 3), (10, 30, 3), (7, 7, 1), (0, 5, np.inf), (5, 0, np.inf), (0, 0, np.nan)],
)
def test_ratio(men, women, expected):
    table = counts(man=men, woman=women, neither=9)
    scores = ratio(table, "man", "woman")
    assert of(scores, "ratio") == pytest.approx(expected, nan_ok=True)
    table = pd.DataFrame({"first": [men], "second": [women], "method": ["x"]})
    pd.testing.assert_frame_equal(
        METRICS.open("ratio")(Inputs(table=table)), scores.assign(method="x")
    )


def test_the_interval_of_an_even_ratio_begins_at_one():
    low, high = ratio(counts(man=50, woman=50))[["low", "high"]].iloc[0]
    assert low == 1
    p = 0.5 + 1.959964 / np.sqrt(100 + 1.959964**2) / 2  # Wilson's upper limit at one half
    assert high == pytest.approx(p / (1 - p), rel=1e-5)


@pytest.mark.parametrize("n", [1, 5, 10, 17, 1000])
def test_of_one_group_alone_the_interval_has_no_end(n):
    for first, second in ((n, 0), (0, n)):
        table = pd.DataFrame({"first": [first], "second": [second]})
        scores = METRICS.open("ratio")(Inputs(table=table)).set_index("metric")
        assert scores.loc["ratio", "high"] == np.inf
        end = scores.loc["unfolded_ratio", "high" if first else "low"]
        assert end == (np.inf if first else 0)


def test_folding():
    assert fold_ratio(np.array([0.5, 2, 0, np.inf])).tolist() == [2, 2, np.inf, np.inf]


def test_groups_must_be_clear():
    table = counts(man=3, woman=4, person=5)
    with pytest.raises(OptionError, match="Set first and second, such as man and woman"):
        ratio(table)
    with pytest.raises(DataError, match="the group 'mann'"):
        ratio(table, "mann", "woman")


def test_groups_that_captions_name():
    texts = ["A man and his dog.", "THE MAN", "A woman.", "A man and a woman.", "A dog.", "Men."]
    captions = pd.DataFrame({"image": range(6), "caption": texts, "method": "blip", "seed": 4})
    scores = METRICS.open("ratio")(Inputs(captions=captions))
    assert of(scores, "unfolded_ratio") == 3
    assert scores["n"].tolist() == [4, 4]
    assert scores["method"].tolist() == ["blip", "blip"]
    named = caption_predictions(captions)
    shift = artefact_shift(named, named, np.random.default_rng(0))
    assert set(shift["metric"]) == {"artefact_shift", "artefact_ratio"}
    with pytest.raises(InputError, match="captions: has no column caption"):
        METRICS.open("ratio")(Inputs(captions=captions.drop(columns="caption")))
    with pytest.raises(InputError, match=r"captions, row 2: caption is (nan|None)"):
        METRICS.open("ratio")(Inputs(captions=captions.assign(caption=["A man.", None] * 3)))


def test_shift_of_predictions():
    before = people(["man"] * 60 + ["woman"] * 30 + ["other"] * 10)
    after = people(["man"] * 40 + ["woman"] * 50 + ["other"] * 10).sample(frac=1, random_state=3)
    scores = artefact_shift(before, after, np.random.default_rng(5), "man", "woman")
    assert of(scores, "artefact_shift") == pytest.approx(100 * (2 - 0.8) / 2)
    assert of(scores, "artefact_ratio", "original") == pytest.approx(2)
    assert of(scores, "artefact_ratio", "edited") == pytest.approx(0.8)
    assert of(scores, "artefact_accuracy", "original") == pytest.approx(0.6)
    assert of(scores, "artefact_accuracy", "edited") == pytest.approx(0.4)
    shift = scores.iloc[0]
    again = artefact_shift(before, after, np.random.default_rng(5), "man", "woman")
    pd.testing.assert_frame_equal(scores, again)
    # 20 of 100 images change: the interval of a bootstrap over whole images, by hand
    rng = np.random.default_rng(1)
    pairs = before.merge(after, on="image")[["predicted_x", "predicted_y"]].to_numpy()
    drawn = []
    for _ in range(2_000):
        rows = pairs[rng.integers(0, 100, 100)]
        ratios = [np.sum(side == "man") / np.sum(side == "woman") for side in rows.T]
        drawn.append(100 * abs(ratios[0] - ratios[1]) / ratios[0])
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert (shift["low"], shift["high"]) == pytest.approx((low, high), abs=4)


def test_equal_predictions_do_not_shift():
    table = people(["man", "woman", "man"])
    scores = artefact_shift(table, table, np.random.default_rng(0))
    assert scores.iloc[0][["value"]].tolist() == [0]


def test_a_model_that_predicts_one_group_alone_has_no_shift():
    table = people(["man", "man"])
    scores = artefact_shift(table, table.assign(predicted="woman"), np.random.default_rng(0))
    assert scores.iloc[0][["value", "low", "high"]].isna().all()


def test_the_images_must_be_the_same():
    table = people(["man", "woman"])
    with pytest.raises(InputError, match=r"1 images are not in both tables .*: '1'"):
        artefact_shift(table, table.head(1), np.random.default_rng(0))
    twice = pd.concat([table, table])
    with pytest.raises(InputError, match="several rows for an image"):
        artefact_shift(twice, twice, np.random.default_rng(0))
    with pytest.raises(InputError, match="no predictions of method 'erm', seed 0"):
        artefact_shift(table.assign(method="erm"), table, np.random.default_rng(0))


def test_tables_with_wrong_cells_are_refused():
    table = pd.DataFrame({"original": [1.0, "x"], "edited": 2})
    with pytest.raises(InputError, match="row 2: original is 'x'"):
        METRICS.open("artefact_shift")(Inputs(table=table))
    with pytest.raises(InputError, match="no column second; its columns: first"):
        METRICS.open("ratio")(Inputs(table=pd.DataFrame({"first": [1]})))
