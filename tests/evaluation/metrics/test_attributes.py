import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import InputError
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.attributes import attribute_counts, attribute_shift
from cobalance.evaluation.metrics.metric import Inputs


def wilson(hits: float, n: float) -> tuple[float, float]:
    z = 1.959963985
    p, centre = hits / n, (hits + z**2 / 2) / (n + z**2)
    half = z / (n + z**2) * np.sqrt(n * p * (1 - p) + z**2 / 4)
    return centre - half, centre + half


def faces(smile: int, frown: int, others: dict[str, object] | None = None) -> pd.DataFrame:
    values = ["smile"] * smile + ["frown"] * frown
    images = [str(row) for row in range(len(values))]
    return pd.DataFrame({"image": images, "expression": values, **(others or {})})


def test_shift_in_points_with_newcombes_interval():
    inputs = Inputs(real_attributes=faces(600, 400), attributes=faces(750, 250))
    scores = METRICS.open("attribute_shift")(inputs)
    assert scores["group"].tolist() == ["expression: smile", "expression: frown"]
    assert scores["value"].tolist() == pytest.approx([-15.0, 15.0])
    (low, high), (of_low, of_high) = wilson(600, 1000), wilson(750, 1000)
    expected = (
        -0.15 - np.hypot(0.6 - low, of_high - 0.75),
        -0.15 + np.hypot(high - 0.6, 0.75 - of_low),
    )
    assert scores[["low", "high"]].iloc[0].tolist() == pytest.approx(
        [100 * limit for limit in expected]
    )


def test_rows_are_sorted_by_training_frequency_within_each_category():
    counts = pd.DataFrame(
        {
            "category": ["hair", "age", "hair", "age", "hair"],
            "attribute": ["b", "old", "a", "young", "c"],
            "real": [5, 1, 5, 9, 7],
            "generated": [1, 1, 1, 1, 1],
            "n_real": 10,
            "n_generated": 10,
        }
    )
    assert attribute_shift(counts)["group"].tolist() == [
        "hair: c",
        "hair: a",
        "hair: b",
        "age: young",
        "age: old",
    ]


def test_images_may_have_several_attributes_or_none():
    hats = [("cap", "cap"), ["cap", "bow"], None, "", "bow|cap|"]
    real = pd.DataFrame({"image": list("12345"), "hat": hats})
    made = pd.DataFrame({"image": ["9"], "hat": ["veil"], "wall": ["red"]})
    counts = attribute_counts(real, made)
    assert counts.to_dict("list") == {
        "category": ["hat"] * 3,
        "attribute": ["bow", "cap", "veil"],
        "real": [2, 3, 0],
        "generated": [0, 0, 1],
        "n_real": [5] * 3,
        "n_generated": [1] * 3,
    }
    with pytest.raises(InputError, match="no column of attributes"):
        attribute_counts(real.rename(columns={"hat": "cap"}), made)


def test_no_images_give_nan():
    scores = attribute_shift(attribute_counts(faces(2, 1), faces(0, 0)))
    assert scores[["value", "low", "high"]].isna().all().all()
    assert scores["n"].tolist() == [0, 0]


def test_more_hits_than_images_are_refused():
    counts = attribute_counts(faces(2, 1), faces(1, 1)).assign(n_real=1)
    with pytest.raises(InputError, match="row 2: has more images with the attribute than images"):
        attribute_shift(counts)
