import subprocess
import sys

import pandas as pd
import pytest

from cobalance.base.errors import OptionError
from cobalance.evaluation.metrics import METRICS, TABLES
from cobalance.evaluation.metrics.metric import COLUMNS, Inputs, score_metrics
from cobalance.evaluation.predictions import check_predictions
from tests.evaluation.tables import frame_f, one_row_an_image

HEAVY = ("sklearn", "torch", "transformers", "PIL")


@pytest.mark.parametrize("name", list(METRICS))
def test_a_metric_declares_what_it_takes(name):
    plugin = METRICS[name]
    known = {*TABLES, "images"}
    assert plugin.takes
    assert {one for need in plugin.takes for one in need.split("|")} | {*plugin.may_take} <= known
    with pytest.raises(OptionError, match=f"the metric {name} needs .*; given: nothing"):
        METRICS.open(name)(Inputs())


def test_metrics_import_without_heavy_packages():
    code = (
        "import sys; from cobalance.evaluation.metrics import METRICS; "
        f"[METRICS[n] for n in METRICS]; print([n for n in {HEAVY} if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_all_metrics_that_fit_are_scored_and_the_others_say_why_not():
    rows, groups = one_row_an_image(frame_f())
    scored = score_metrics(Inputs(predictions=rows, groups=groups))
    assert list(scored.frame) == list(COLUMNS)
    assert {"group_accuracy", "worst_group", "ratio"} <= set(scored.frame["metric"])
    assert not scored.frame.duplicated(["method", "seed", "metric", "group"]).any()
    assert 'or choose id = "common"' in scored.left_out["shortcut_gaps"]
    assert "there is no column p_" in scored.left_out["mean_average_precision"]


def test_chosen_metrics_must_do():
    inputs = Inputs(predictions=frame_f())
    chosen = {"shortcut_gaps": {"id": "common"}, "accuracy": {}}
    scored = score_metrics(inputs, chosen)
    assert scored.frame["metric"].unique().tolist() == ["id_accuracy", "shortcut_gaps", "accuracy"]
    assert scored.frame["value"].iloc[-1] == pytest.approx(588 / 800)
    with pytest.raises(OptionError, match="weighs groups by their share in training"):
        score_metrics(inputs, {"shortcut_gaps": {}})
    with pytest.raises(OptionError, match="The metric worst_group: by is 'x'"):
        score_metrics(inputs, {"worst_group": {"by": "x"}})


def test_without_any_metric_that_fits_it_is_said():
    with pytest.raises(OptionError, match="no metric fits what is given: nothing"):
        score_metrics(Inputs())
    table = pd.DataFrame({"nothing": ["known"]})
    with pytest.raises(OptionError, match=r"given: table.*no column first; its columns: nothing"):
        score_metrics(Inputs(table=table))


def test_several_labels_an_image_are_left_to_the_metrics_that_take_them():
    columns = {"image": [1, 2], "y_cup": [1, 0], "p_cup": [0.9, 0.2]}
    scored = score_metrics(Inputs(predictions=check_predictions(pd.DataFrame(columns))))
    assert "mean_average_precision" in set(scored.frame["metric"])
    assert "has no column class_name" in scored.left_out["accuracy"]
