"""Evaluations from the command line: ordered, run here, shown, exported; and anybody's tables."""

import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from tests.app.cli.calling import call, run_without
from tests.app.cli.conftest import table
from tests.workflows.evaluate.conftest import BIASED, EVEN, animals, draw, own, pictures, rebalanced  # noqa: F401


@pytest.fixture
def evaluate(environment, pictures):  # noqa: F811
    def command(*arguments, exit_code=0):
        done = call(environment | {"COBALANCE_IMAGES": str(pictures)}, "evaluate", *arguments)
        assert done.returncode == exit_code, done.stderr
        return done

    return command


def test_from_an_order_to_a_table(run, evaluate, animals, rebalanced, tmp_path):  # noqa: F811
    done = evaluate(
        "train", animals, rebalanced, "--method", "erm", "--method", "upweight", "--seed", 1,
        "--here",
    )  # fmt: skip
    ids = done.stdout.split()
    assert len(ids) == 4
    assert "4 evaluations ended. Next: cobalance evaluate show" in done.stderr
    rows = table(evaluate("show", animals, "--metric", "worst_group", "-f", "csv"))
    assert set(rows["train"]) == {animals, rebalanced}
    assert rows["mean"].between(0, 1).all()
    shown = evaluate("show", animals).stdout
    assert "worst group" in shown
    assert "upweight" in shown
    differences = table(evaluate("show", animals, "--baseline", "erm", "-f", "csv"))
    assert {"difference", "low", "high"} <= set(differences)
    for suffix in ("csv", "parquet", "tex", "html"):
        file = tmp_path / f"scores.{suffix}"
        assert "rows." in evaluate("export", file, animals).stdout
        assert file.stat().st_size > 100
    refused = evaluate("export", tmp_path / "scores.doc", animals, exit_code=2).stderr
    assert "does not end like a format's files: .csv, .parquet, .tex, .html" in refused
    helped = table(run("cypher", "what-helped", "-d", animals, "-f", "csv"))
    assert set(helped["training_set"]) == {rebalanced}
    saved = tmp_path / "p.csv"
    evaluate("predict", ids[0][:8], "-o", saved)
    assert len(pd.read_csv(saved)) == sum(EVEN.values())
    judged = pd.read_csv(saved)
    grass = judged[judged["image"].str.contains("-grass-")]
    listed = table(run("imbalances", animals, "--evaluation", ids[0][:8], "-f", "csv"))
    (row,) = listed[listed["concepts"].str.contains("grass")].to_dict("records")
    assert row["test_images"] == len(grass)
    assert row["accuracy"] == pytest.approx((grass["class_name"] == grass["predicted"]).mean())
    assert "which have no maps" in " ".join(evaluate("cam", ids[0], exit_code=1).stderr.split())
    # The same table, scored as if it were from elsewhere.
    again = table(evaluate("score", saved, "--metric", "worst_group", "-f", "csv"))
    one = rows[(rows["train"] == animals) & (rows["method"] == "erm")]
    assert again["value"].tolist() == pytest.approx(one["mean"].tolist())
    kept = evaluate("score", saved, "-d", animals, "--metric", "accuracy", "--save").stderr
    assert "Kept as 1 evaluations" in kept or "Kept as 1 evaluation" in kept
    assert "Deleted 2 evaluations" in evaluate("delete", ids[0], ids[1][:8], "--yes").stderr
    assert "There is no evaluation" in evaluate("delete", ids[0], "--yes", exit_code=1).stderr


def test_orders_wait_for_workers(run, evaluate, animals):  # noqa: F811
    done = evaluate("train", animals, "--seed", 0, "--shortcuts", "none")
    (made,) = done.stdout.split()
    assert "Next: cobalance work --until-idle; then: cobalance evaluate show" in done.stderr
    assert table(run("jobs", "list", "--tasks", "-d", animals, "-f", "csv"))["task"].tolist() == [
        made
    ]
    assert "1 of 1 are still queued or running" in evaluate("show", animals).stderr
    assert f"Task {made} is cancelled" in run("jobs", "cancel", made).stderr
    for arguments, code, said in (
        (("train", animals, "--method", "magic"), 2, "unknown method 'magic'"),
        (("train", "nowhere"), 1, "There is no dataset 'nowhere'"),
        (("train", animals, "--set", "epochs=3"), 2, "an option begins with learner., method."),
        (("train", animals, "--set", "learner.epochs=0"), 2, "epochs is 0"),
        (("train", animals, "--test-split", "val"), 2, "--test-split"),
        (
            ("train", animals, "--validation-split", "dev", "--here"),
            2,
            "no images of the split 'dev'",
        ),
        (("show", "nothing-like-it"), 1, "There is no dataset 'nothing-like-it'"),
        (("predict", "nothing-like-it"), 1, "There is no evaluation 'nothing-like-it'"),
    ):
        assert said in evaluate(*arguments, exit_code=code).stderr


def test_evaluations_that_fail_here_are_no_success(evaluate, animals, pictures):  # noqa: F811
    leak = ("train", animals, "--method", "dfr", "--validation", animals, "--here")
    assert "validation images are training images, too" in evaluate(*leak, exit_code=1).stderr
    assert not evaluate("show", animals).stdout
    next(pictures.glob("train-cat-*")).unlink()
    failed = evaluate("train", animals, "--seed", 0, "--seed", 1, "--here", exit_code=1)
    assert len(failed.stdout.split()) == 2
    assert failed.stderr.count("(erm) failed: ") == 2


@pytest.fixture
def frame_f(tmp_path):
    """The issue's frame F as a confusion table: urban and country by background and object."""
    right = {"urban": (98, 84, 74, 40), "country": (96, 82, 72, 42)}
    states = [("common", "common"), ("uncommon", "common")]
    states += [("common", "uncommon"), ("uncommon", "uncommon")]
    rows = [
        (class_name, predicted, *state, n)
        for class_name, counts in right.items()
        for state, count in zip(states, counts, strict=True)
        for predicted, n in ((class_name, count), ("other", 100 - count))
    ]
    file = tmp_path / "f.csv"
    columns = ["class_name", "predicted", "background", "object", "n"]
    pd.DataFrame(rows, columns=columns).to_csv(file, index=False)
    return file


def test_anybodys_table_is_scored_without_a_database(frame_f, environment, tmp_path):
    nowhere = {"NEO4J_URI": "bolt://127.0.0.1:9"} | {"COBALANCE_HOME": str(tmp_path / "home")}

    def score(*arguments, exit_code=0):
        done = call(environment | nowhere, "evaluate", "score", *arguments)
        assert done.returncode == exit_code, done.stderr
        return done

    named = ["--metric", "balanced_accuracy", "--metric", "out_of_distribution"]
    done = score(frame_f, *named, "--metric", "worst_group", "-f", "json")
    values = {row["metric"]: row["value"] for row in json.loads(done.stdout)}
    assert values["balanced_accuracy"] == pytest.approx(0.735)
    assert values["out_of_distribution"] == pytest.approx(0.41)
    assert values["worst_group"] == pytest.approx(0.40)
    assert "balanced accuracy" in score(frame_f).stdout.replace("_", " ")
    rng = np.random.default_rng(0)
    plain = pd.DataFrame({"image": range(6), "class_name": list("ababab"), "p_a": rng.random(6)})
    plain["p_b"] = 1 - plain["p_a"]
    plain.to_parquet(tmp_path / "p.parquet")
    both = [plain.assign(method=name, predicted=name) for name in "ab"]
    pd.concat(both).to_csv(tmp_path / "both.csv", index=False)
    compared = score(tmp_path / "both.csv", "--baseline", "a", "--metric", "accuracy", "-f", "csv")
    assert table(compared)[["metric", "difference"]].to_numpy().tolist() == [["accuracy", 0]]
    pd.DataFrame({"image": range(5), "place": "common"}).to_csv(tmp_path / "g.csv", index=False)
    said = score(tmp_path / "p.parquet", "--group-table", tmp_path / "g.csv", exit_code=1).stderr
    assert "names 1 image missing from" in said
    assert ": '5'" in said
    counts = pd.read_csv(frame_f).rename(columns=str.upper)
    rates = 'shortcut_gaps.rates={"BACKGROUND": 0.95, "OBJECT": 0.95}'
    counts.assign(N=50).to_csv(tmp_path / "before.csv", index=False)
    counts.to_csv(tmp_path / "after.csv", index=False)
    compared = score(
        *(tmp_path / "after.csv", "--baseline", tmp_path / "before.csv", "--set", rates),
        *("-f", "csv"),
    )
    gaps = table(compared).set_index("metric")
    assert gaps.loc["id_accuracy", "after"] == pytest.approx(0.95055)
    assert "Newcombe" in compared.stderr
    plain.loc[3, "p_a"] = np.nan
    plain.to_csv(tmp_path / "nan.csv", index=False)
    assert "row 4: p_a is" in score(tmp_path / "nan.csv", exit_code=1).stderr
    (tmp_path / "found.json").write_text("[]")
    for arguments, code, said in (
        ((), 2, "There is nothing to score"),
        ((tmp_path / "none.csv",), 1, "none.csv"),
        ((frame_f, "--metric", "magic"), 2, "unknown metric 'magic'"),
        ((frame_f, "--set", "accuracy.magic=1"), 2, "has no option 'magic'"),
        ((frame_f, "--with", "captions"), 2, "--with 'captions' is no NAME=FILE"),
        ((frame_f, "--with", "sounds=f.csv"), 2, "unknown table 'sounds'"),
        ((tmp_path / "found.json",), 2, "need the objects to find: objects=FILE"),
        ((tmp_path / "found.json", "--with", "objects=none.json"), 1, "none.json: there is no"),
        ((frame_f, "--save"), 2, "--save is of a dataset of the graph"),
        ((frame_f, "--metric", "self_similarity"), 2, "needs embeddings"),
    ):
        assert said in score(*arguments, exit_code=code).stderr


def test_scoring_needs_no_extra(frame_f, environment):
    done = run_without(
        environment,
        ("worker", "demo"),
        *("evaluate", "score", frame_f, "--metric", "worst_group", "-f", "csv"),
    )
    assert done.returncode == 0, done.stderr
    assert table(done)["value"].tolist() == [0.4]


def test_two_folders_are_compared_without_a_database(environment, tmp_path):
    rng = np.random.default_rng(0)
    for at in range(3):
        pixels = rng.integers(0, 256, (9 + at, 12, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{at}.png")

    def score(*arguments):
        nowhere = environment | {"NEO4J_URI": "bolt://127.0.0.1:9"}
        images = ("--images", tmp_path, "--metric", "frechet")
        return call(nowhere, "evaluate", "score", *images, *arguments)

    same = ("--real-images", tmp_path, "--features", "pixels")
    done = score(*same, "--set", "features.side_px=4", "-f", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["value"] == pytest.approx(0, abs=1e-9)
    assert "The Fréchet distance is of 3 images" in done.stderr
    assert "FewImagesWarning" not in done.stderr
    assert "--metric frechet compares --images with --real-images" in score().stderr
