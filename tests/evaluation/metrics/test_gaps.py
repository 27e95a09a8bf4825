from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.base.errors import InputError, OptionError
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.gaps import common_rates, shortcut_gaps
from cobalance.evaluation.metrics.metric import Inputs
from cobalance.evaluation.predictions import check_predictions
from tests.evaluation.tables import background_reader, cars, frame_f, one_row_an_image

RATES = {"background": 0.95, "object": 0.95}
GAPS = ("background", "object", "background + object")


def figures(scores: pd.DataFrame) -> list[float]:
    assert scores["metric"].tolist() == ["id_accuracy", *["shortcut_gaps"] * 3]
    assert scores["group"].tolist() == ["", *GAPS]
    return [round(value, 10) for value in scores["value"]]


def test_values_of_frame_f():
    assert figures(shortcut_gaps(frame_f(), training=RATES)) == [
        0.95055,
        -0.12055,
        -0.22055,
        -0.54055,
    ]
    assert figures(shortcut_gaps(frame_f(), id="common")) == [0.97, -0.14, -0.24, -0.56]


def test_a_reader_of_the_background_gains_where_the_object_is_rare():
    assert figures(shortcut_gaps(background_reader(), training=RATES)) == [0.95, -0.95, 0.05, -0.95]


def test_rates_come_from_the_groups_of_training_images():
    training = pd.DataFrame(
        {
            "image": [str(row) for row in range(45)],
            "background": ["common"] * 19 + ["uncommon"] + ["none"] * 25,
            "object": (["common"] * 19 + ["uncommon"]) * 2 + ["none"] * 5,
        }
    )
    rows, groups = one_row_an_image(frame_f())
    inputs = Inputs(predictions=rows, groups=groups, training=training)
    assert figures(METRICS.open("shortcut_gaps")(inputs)) == [
        0.95055,
        -0.12055,
        -0.22055,
        -0.54055,
    ]
    counts = training.groupby(["background", "object"]).size().rename("n").reset_index()
    assert common_rates(counts, ["background", "object"]) == pytest.approx(RATES)


def test_the_interval_holds_the_value_and_grows_with_confidence():
    narrow = shortcut_gaps(frame_f(), training=RATES, confidence=0.5)
    wide = shortcut_gaps(frame_f(), training=RATES)
    for scores in (narrow, wide):
        assert (scores["low"] < scores["value"]).all()
        assert (scores["value"] < scores["high"]).all()
    assert (wide["low"] < narrow["low"]).all()
    assert (wide["high"] > narrow["high"]).all()


numbers = st.integers(0, 20)
cells = st.lists(st.tuples(numbers, numbers), min_size=8, max_size=8)


@settings(max_examples=50)
@given(cells, st.floats(0, 1), st.floats(0, 1))
def test_gaps_are_those_of_a_loop_over_groups(counts, first, second):
    rows = []
    for (name, a, b), (right, wrong) in zip(
        product("xy", ("common", "uncommon"), ("common", "uncommon")), counts, strict=True
    ):
        rows += [(name, name, a, b, right), (name, "z", a, b, wrong)]
    table = pd.DataFrame(rows, columns=["class_name", "predicted", "a", "b", "n"])
    scores = shortcut_gaps(check_predictions(table), training={"a": first, "b": second})
    found = dict(zip(scores["group"], scores["value"], strict=True))

    accuracy = {
        group: right / (right + wrong) if right + wrong else np.nan
        for group, (right, wrong) in zip(product("xy", (0, 1), (0, 1)), counts, strict=True)
    }
    present = [
        name
        for name in "xy"
        if any(not np.isnan(one) for key, one in accuracy.items() if key[0] == name)
    ]
    state = {
        (a, b): np.mean([accuracy[name, a, b] for name in present]) if present else np.nan
        for a, b in product((0, 1), (0, 1))
    }
    total = 0.0
    for (a, b), value in state.items():
        weight = (1 - first if a else first) * (1 - second if b else second)
        total += weight * value if weight else 0.0
    expected = {"": total if present else np.nan}
    expected |= {"a": state[1, 0] - total, "b": state[0, 1] - total, "a + b": state[1, 1] - total}
    assert found == pytest.approx(expected, nan_ok=True)


def test_images_without_a_shortcut_take_no_part():
    extra = cars((0, 0, 0, 0), (0, 0, 0, 0)).assign(background="none")
    both = check_predictions(pd.concat([frame_f(), extra]))
    assert figures(shortcut_gaps(both, training=RATES)) == [
        0.95055,
        -0.12055,
        -0.22055,
        -0.54055,
    ]


def test_an_empty_group_leaves_nan():
    table = frame_f()
    empty = table[(table["background"] != "uncommon") | (table["object"] != "uncommon")]
    found = shortcut_gaps(empty, id="common")["value"].tolist()
    assert found == pytest.approx([0.97, -0.14, -0.24, np.nan], nan_ok=True)


def test_what_is_missing_is_said():
    with pytest.raises(OptionError, match='or choose id = "common"'):
        shortcut_gaps(frame_f())
    with pytest.raises(OptionError, match="the shortcut object needs the share"):
        shortcut_gaps(frame_f(), training={"background": 0.95})
    with pytest.raises(OptionError, match="object = 95"):
        shortcut_gaps(frame_f(), training={"background": 0.95, "object": 95})
    training = pd.DataFrame({"background": ["common"], "object": ["none"]})
    with pytest.raises(InputError, match="no image has the shortcut object"):
        shortcut_gaps(frame_f(), training=training)
    with pytest.raises(InputError, match="no column of the shortcut object; its columns: backgr"):
        shortcut_gaps(frame_f(), training=training[["background"]])
