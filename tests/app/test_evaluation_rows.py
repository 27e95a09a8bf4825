"""Evaluations of two learners and two settings are rows of their own, wherever they are shown."""

import re

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

import cobalance as cb
from cobalance.base.errors import OptionError
from cobalance.base.records import PlannedQuery
from cobalance.evaluation.metrics.metric import Inputs, score_metrics
from cobalance.evaluation.predictions import check_predictions
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.read import read_image_concepts
from cobalance.graph.evaluations.reading import list_evaluations
from cobalance.graph.evaluations.writing import (
    NewEvaluation,
    create_evaluations,
    save_predictions_uri,
    save_scores,
)
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.queries.binding import bind_named
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.evaluate.results import (
    differences_frame,
    export_evaluations,
    name_rows,
    newest,
    summary_frame,
)
from cobalance.workflows.evaluate.settings import RunSettings
from cobalance.workflows.evaluate.stored import write_predictions
from cobalance.workflows.report.contents import ReportOptions, read_contents
from cobalance.workflows.report.page import page
from tests.app.cli.conftest import environment, run, table  # noqa: F401

IMAGES = 20
SETTINGS = {
    "linear": RunSettings(),
    "linear, c 0.1": RunSettings(learner_options={"c": 0.1}),
    "network": RunSettings(preset="small-network", learner="network", validation_share=0.2),
}
WRONG = {
    ("before", "erm", "linear"): (8, 6),
    ("before", "erm", "linear, c 0.1"): (9,),
    ("before", "erm", "network"): (4,),
    ("before", "dfr", "linear"): (7,),
    ("before", "dfr", "network"): (2,),
    ("after", "erm", "linear"): (5, 4),
    ("after", "erm", "network"): (1,),
    ("after", "dfr", "network"): (3,),
}
"""How many of 20 images each row predicts wrong, seed by seed."""


def share(row, seeds=slice(None)):
    """The accuracy of a row as a mean over seeds."""
    return np.mean([1 - wrong / IMAGES for wrong in WRONG[row][seeds]])


@pytest.fixture
def names(store, cars, write_dataset):
    """The names of a dataset and of what a job made of it."""
    job = create_job(store, cars, "fields", [PlannedQuery("urban", ("cow",), 2)])
    after = write_dataset(f"{cars} after", [("country", ("cow",), 2), ("urban", ("cow",), 2)])
    store.write("MATCH (d:Dataset {name: $name}) SET d.rebalanced_by = $job", name=after, job=job)
    yield {"before": cars, "after": after}
    drop_dataset(store, after)


@pytest.fixture
def record(store, names, tmp_path):
    """Record an evaluation with its predictions and accuracy, as a worker does; return its id."""
    folder = OutputFolder(str(tmp_path / "generated"))
    images = read_image_concepts(store, names["before"])

    def record(dataset, method, settings, seed, wrong):
        if method == "dfr":
            settings = settings.model_copy(
                update={"method_options": {"refits": 3}, "validation_share": 0.2}
            )
        new = NewEvaluation(method, seed, settings.model_dump(mode="json"), **settings.to_compare())
        (one,) = create_evaluations(
            store, [new], train=names[dataset], test=names["before"], extra=None
        )
        predicted = images["class_name"].mask(np.arange(IMAGES) < wrong, "neither")
        predictions = check_predictions(
            images.assign(image=images["id"], predicted=predicted, seed=seed)[
                ["image", "class_name", "predicted", "seed"]
            ]
        )
        save_predictions_uri(store, one, write_predictions(folder, one, predictions))
        scores = score_metrics(Inputs(predictions), {"accuracy": {}}).frame
        without_interval = scores.assign(metric="preference", low=np.nan, high=np.nan)
        save_scores(store, one, pd.concat([scores, without_interval]))
        return one

    return record


@pytest.fixture
def ids(record):
    """The first seed's evaluation of each row."""
    made = {
        (row, seed): record(row[0], row[1], SETTINGS[row[2]], seed, wrong)
        for row, seeds in WRONG.items()
        for seed, wrong in enumerate(seeds)
    }
    return {row: made[row, 0] for row in WRONG}


@pytest.fixture
def found(store, names, ids):
    return list_evaluations(store, names["before"])


def rows_of(frame, names, value):
    """A column of a table by dataset, method and settings; each of these once."""
    of = {name: key for key, name in names.items()}
    keys = [
        (of[train], method, settings)
        for train, method, settings in zip(
            frame["train"], frame["method"], frame["settings"], strict=True
        )
    ]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, frame[value], strict=True))


def test_means_are_over_the_seeds_of_the_same_settings(store, settings, names, found):
    for frame in (
        summary_frame(store, found),
        cb.Store(store, settings)[names["before"]].evaluations().frame,
    ):
        frame = frame[frame["metric"] == "accuracy"]
        assert rows_of(frame, names, "mean") == pytest.approx({row: share(row) for row in WRONG})
        assert rows_of(frame, names, "seeds") == {row: len(WRONG[row]) for row in WRONG}


def test_the_newest_of_a_seed_with_the_same_settings_counts(store, names, ids, record):
    again = record("before", "erm", SETTINGS["linear"], 0, 0)
    found = list_evaluations(store, names["before"])
    kept = {one.id for one in newest(found)}
    assert again in kept
    assert kept == {one.id for one in found} - {ids["before", "erm", "linear"]}
    frame = summary_frame(store, found)
    means = rows_of(frame[frame["metric"] == "accuracy"], names, "mean")
    assert means["before", "erm", "linear"] == pytest.approx((1 + 1 - 6 / IMAGES) / 2)
    for query, (method, settings) in {
        "what-helped": ("erm", "linear"),
        "remedies": ("dfr", "linear"),
    }.items():
        (row,) = [
            row
            for row in ask(store, names, query)
            if (row["method"], row["settings"]) == (method, settings)
        ]
        assert row["before"] == pytest.approx((1 + 0.7) / 2 if method == "erm" else 1)


def test_exports_have_every_row(store, names, found, tmp_path):
    means = {row: share(row) for row in WRONG}
    for suffix, read in ((".csv", pd.read_csv), (".parquet", pd.read_parquet)):
        file = tmp_path / f"scores{suffix}"
        export_evaluations(store, None, found, file, metrics=["accuracy"])
        by_row = read(file).groupby(["train", "method", "settings"], as_index=False)["value"]
        assert rows_of(by_row.mean(), names, "value") == pytest.approx(means)
    expected = {
        (names[key], method, settings): f"{100 * mean:.1f}"
        for (key, method, settings), mean in means.items()
    }
    for suffix in (".html", ".tex"):
        file = tmp_path / f"scores{suffix}"
        export_evaluations(store, None, found, file, metrics=["accuracy"])
        text = re.sub(r"</td><td[^>]*>", " & ", file.read_text())
        lines = [re.sub(r"<[^>]+>|\\\\", "", line).split(" & ") for line in text.splitlines()]
        rows = [[cell.strip() for cell in line] for line in lines if len(line) == 7]
        found_there = {(row[0], row[3], row[4]): row[6].split()[0] for row in rows}
        assert {key: found_there.get(key) for key in expected} == expected


def test_differences_are_within_the_same_settings(names, found, ids, tmp_path):
    folder = OutputFolder(str(tmp_path / "generated"))

    def compare(baseline):
        frame = differences_frame(folder, found, baseline)
        frame = frame[frame["metric"] == "accuracy"]
        assert len(frame) == len(frame[["method", "baseline"]].drop_duplicates())
        return {
            (row["method"], row["baseline"]): (row["difference"], row["seeds"])
            for row in frame.to_dict("records")
        }

    def name(row):
        dataset, method, settings = row
        return f"{method} ({names[dataset]}, augmented, {settings})"

    assert set(name_rows(found).values()) == {name(row) for row in WRONG}
    pairs = {  # the baseline of each row, and their common seeds
        ("before", "dfr", "linear"): (("before", "erm", "linear"), 1),
        ("before", "dfr", "network"): (("before", "erm", "network"), 1),
        ("after", "erm", "linear"): (("before", "erm", "linear"), 2),
        ("after", "erm", "network"): (("before", "erm", "network"), 1),
        ("after", "dfr", "network"): (("before", "erm", "network"), 1),
    }

    def expected(pairs):
        return {
            (name(row), name(baseline)): (
                pytest.approx(share(row, slice(n)) - share(baseline, slice(n))),
                n,
            )
            for row, (baseline, n) in pairs.items()
        }

    assert compare("erm") == expected(pairs)
    whole = ("before", "erm", "network")
    others = {row: (whole, 1) for row in WRONG if row != whole}
    assert compare(name(whole)) == compare(ids[whole]) == expected(others)
    with pytest.raises(OptionError, match=r"There are: .*\(.*, augmented, linear, c 0\.1\)"):
        differences_frame(folder, found, "linear")


def ask(store, names, query):
    query, bound = bind_named(store, query, {"dataset": names["before"], "metric": "accuracy"})
    return store.read(query.text, **bound)


def test_saved_queries_compare_the_same_settings(store, names, ids):
    for query, pairs in {
        "what-helped": {
            ("after", "erm", "linear"): ("before", "erm", "linear"),
            ("after", "erm", "network"): ("before", "erm", "network"),
            ("after", "dfr", "network"): ("before", "dfr", "network"),
        },
        "remedies": {
            ("before", "dfr", "linear"): ("before", "erm", "linear"),
            ("before", "dfr", "network"): ("before", "erm", "network"),
            ("after", "dfr", "network"): ("after", "erm", "network"),
        },
    }.items():
        frame = pd.DataFrame(ask(store, names, query)).rename(columns={"training_set": "train"})
        seeds = {row: min(len(WRONG[row]), len(WRONG[other])) for row, other in pairs.items()}
        assert rows_of(frame, names, "seeds") == seeds
        before, after = (rows_of(frame, names, column) for column in ("before", "after"))
        assert after == pytest.approx({row: share(row, slice(seeds[row])) for row in pairs})
        assert before == pytest.approx(
            {row: share(other, slice(seeds[row])) for row, other in pairs.items()}
        )
        intervals = rows_of(frame, names, "interval")
        for row, other in pairs.items():
            if seeds[row] == 1:
                right = [IMAGES - WRONG[one][0] for one in (row, other)]
                assert intervals[row] == pytest.approx(
                    confint_proportions_2indep(
                        right[0], IMAGES, right[1], IMAGES, method="newcomb", compare="diff"
                    )
                )


def test_commands_show_every_row_and_intervals_as_intervals(run, names, ids):  # noqa: F811
    before = names["before"]
    show = ("evaluate", "show", before, "--metric", "accuracy")
    frame = table(run(*show, "-f", "csv"))
    assert rows_of(frame, names, "mean") == pytest.approx({row: share(row) for row in WRONG})
    shown = run(*show).stdout
    for method, settings, text in (("dfr", "linear", "65.0"), ("dfr", "network", "90.0")):
        assert re.search(rf"{method} +{settings} +1 +{text}", shown)
    compared = run(*show, "--baseline", f"erm ({before}, augmented, network)", "-f", "csv")
    assert len(table(compared)) == len(WRONG) - 1
    compared = run(*show, "--baseline", "erm", "-f", "csv")
    assert "linear, c 0.1" not in set(table(compared)["method"])
    said = f"Left out, without erm of the same settings: erm ({before}, augmented, linear, c 0.1)"
    assert said in compared.stderr
    query = ("cypher", "what-helped", "-d", before)
    shown = run(*query, "-p", "metric=accuracy").stdout
    lines = [line for line in shown.splitlines() if "network" in line]
    low, high = confint_proportions_2indep(19, 20, 16, 20, method="newcomb", compare="diff")
    (line,) = [line for line in lines if " erm " in line]
    assert f"[{low:.3f}, {high:.3f}]" in line
    lines = run(*query, "-p", "metric=preference").stdout.splitlines()[2:]
    assert len(lines) == 3
    assert all(re.search(r"0\.\d+ +(yes|no) *$", line) for line in lines)


def test_the_page_shows_every_row(open_page, names, ids, monkeypatch, tmp_path):
    monkeypatch.setenv("COBALANCE_OUTPUT", str(tmp_path / "generated"))
    app = open_page("evaluate", dataset=names["before"])
    assert not app.exception
    overview = next(one.value for one in app.dataframe if "seeds" in one.value)
    texts = dict(zip(overview["run"], overview["accuracy"].str.split().str[0], strict=True))
    assert texts == {
        f"{method} ({names[key]}, {settings})": f"{100 * share((key, method, settings)):.1f}"
        for key, method, settings in WRONG
    }
    helped = next(one.value for one in app.dataframe if "difference" in one.value)
    rows = dict(
        zip(
            zip(helped["method"], helped["settings"], strict=True),
            helped["difference"],
            strict=True,
        )
    )
    assert {row: text.split()[0] for row, text in rows.items()} == {
        ("erm", "linear"): "+12.5",
        ("erm", "network"): "+15.0",
        ("dfr", "network"): "−5.0",
    }
    app = open_page("evaluate", dataset=names["before"], evaluate_change="preference")
    assert not app.exception
    helped = next(one.value for one in app.dataframe if "difference" in one.value)
    assert sorted(helped["difference"]) == ["+0.125", "+0.150", "−0.050"]
    asked = open_page("diagnose", dataset=names["before"])
    options = asked.selectbox(key="model").options
    assert f"dfr ({names['before']}, augmented, network), seed 0" in options
    assert len(options) == sum(map(len, WRONG.values()))


def test_a_report_names_the_settings(store, names, ids):
    for settings in ("linear", "network"):
        options = ReportOptions(evaluation=ids["before", "dfr", settings])
        text = re.sub(r"<[^>]+>", " ", page(read_contents(store, names["before"], options)))
        assert re.search(rf"Settings\s+{settings}, .*dfr refits 3", text)
