"""Reports: means over seeds, and hostile names in every format."""

import io
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from cobalance.evaluation.differences import mean_and_sd
from cobalance.evaluation.reports import REPORTS, RUN, SCORE, arrange

HOSTILE = "a_b & 50% <script>alert(1)</script> \\input{x} $~^#\n"


def scores(values, **columns):
    rows = {
        "train": "D",
        "training_set": "real",
        "test": "T",
        "method": "erm",
        "settings": "linear",
        "seed": range(len(values)),
        "metric": "worst_group",
        "group": "",
        "value": values,
        "low": np.array(values) - 0.1,
        "high": np.array(values) + 0.1,
        "n": 40,
        "outdated": False,
    }
    return pd.DataFrame(rows | columns)


def summarise(frame):
    return mean_and_sd(frame, (*RUN, *SCORE))


def test_means_and_deviations_are_over_seeds_with_ddof_1():
    (row,) = summarise(scores([0.1, 0.2, 0.6])).to_dict("records")
    assert row["mean"] == pytest.approx(0.3)
    assert row["sd"] == pytest.approx(np.std([0.1, 0.2, 0.6], ddof=1))
    assert (row["low"], row["high"]) == (pytest.approx(0.2), pytest.approx(0.4))
    assert (row["seeds"], row["n"]) == (3, 40)
    (row,) = summarise(scores([0.5])).to_dict("records")
    assert np.isnan(row["sd"])
    (row,) = summarise(scores([0.5, np.nan])).to_dict("records")
    assert np.isnan(row["mean"])


def test_a_table_has_a_row_for_each_run_and_a_column_for_each_metric_and_group():
    parts = [
        scores([0.5, 0.7]),
        scores([np.nan, np.nan], metric="group_accuracy", group="a"),
        scores([1.0], method="dfr", outdated=True),
        scores([0.75], settings="network"),
        scores([0.25], train=None, training_set=None, method="theirs"),
    ]
    table = arrange(summarise(pd.concat(parts)), ["worst_group", "group_accuracy"])
    assert table.columns.tolist() == [
        *("train", "training_set", "test", "method", "settings", "seeds"),
        *("worst_group", "group_accuracy, a", "outdated"),
    ]
    assert table["worst_group"].tolist() == ["60.0 ± 14.1", "100.0", "75.0", "25.0"]
    assert table["group_accuracy, a"].tolist() == ["", "", "", ""]
    assert table["outdated"].tolist() == ["", "yes", "", ""]
    assert table["train"].tolist() == ["D", "D", "D", ""]


def test_tables_for_programs_are_read_back():
    frame = scores([0.5, np.nan], group=HOSTILE)
    read = pd.read_csv(io.BytesIO(REPORTS["csv"].write(frame, "t")), keep_default_na=False)
    assert read["group"].tolist() == frame["group"].tolist()
    read = pd.read_parquet(io.BytesIO(REPORTS["parquet"].write(frame, "t")))
    pd.testing.assert_frame_equal(read, frame, check_dtype=False)


def test_html_shows_names_as_text():
    page = REPORTS["html"].write(scores([0.5], method=HOSTILE), HOSTILE).decode()
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert page.count("<tr>") == 2


def test_latex_escapes_names(tmp_path):
    table = arrange(summarise(scores([0.5, 0.7], method=HOSTILE)), ["worst_group"])
    text = REPORTS["latex"].write(table, HOSTILE).decode()
    body = text[text.index(r"\midrule") :]
    assert r"a\_b \& 50\% \textless{}script" in body
    assert r"60.0 $\pm$ 14.1" in body
    assert r"\input{" not in text.replace(r"\textbackslash{}input", "")
    assert text.count(r"\\") == 2
    if latex := shutil.which("pdflatex"):
        document = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{text}"
        (tmp_path / "t.tex").write_text(document + r"\end{document}")
        subprocess.run([latex, "-halt-on-error", "t.tex"], cwd=tmp_path, check=True)
