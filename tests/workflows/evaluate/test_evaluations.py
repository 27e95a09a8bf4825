"""Evaluations from the order to what helped, on pictures whose background goes with the class."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import CobalanceError, NotFoundError, OptionError, UnknownNameError
from cobalance.base.progress import silent
from cobalance.base.records import Annotations, ImageRecord
from cobalance.counting.mining_options import MiningOptions
from cobalance.evaluation.training.data.sets import LeakError
from cobalance.evaluation.training.methods import METHODS
from cobalance.evaluation.training.presets import PRESETS
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.evaluations.reading import list_evaluations, read_evaluation, read_scores
from cobalance.graph.queries.binding import bind_named
from cobalance.graph.tasks.lifecycle import cancel_task, read_task
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.evaluate.order import EvaluationOrder, order_evaluations
from cobalance.workflows.evaluate.results import (
    differences_frame,
    name_rows,
    newest,
    scores_frame,
    summary_frame,
)
from cobalance.workflows.evaluate.settings import RunSettings
from cobalance.workflows.evaluate.stored import (
    NoPredictionsError,
    read_saved_predictions,
)
from cobalance.workflows.evaluate.train import open_model, predict_dataset, run_evaluation
from tests.workflows.evaluate.conftest import EVEN


@pytest.fixture
def run(store, own):
    """Run an evaluation as its task does, and record that this is done."""

    def run(evaluation):
        note = run_evaluation(lambda ask: ask(store), own.folders(), evaluation, silent)
        store.write("MATCH (t:Task {id: $id}) SET t.state = 'done'", id=evaluation)
        return note

    return run


def test_before_and_after_are_trained_scored_and_compared(store, own, animals, rebalanced, run):
    order = EvaluationOrder((animals, rebalanced), methods=("erm", "upweight"), seeds=(0, 1))
    ordered = order_evaluations(store, order, created_by="ann")
    assert len(ordered.ids) == 8
    assert ordered.extras == ("evaluate",)
    found = [read_evaluation(store, one) for one in ordered.ids]
    assert {one.test for one in found} == {animals}
    assert {(one.settings["train_split"], one.settings["test_split"]) for one in found} == {
        ("train", "test")
    }
    shortcuts = {"concepts": {"cat": ["grass"], "dog": ["snow"]}}
    assert all(one.settings["shortcuts"] == shortcuts for one in found)
    for one in ordered.ids:
        run(one)
    folder = OutputFolder(own.folders().output)
    first = read_evaluation(store, ordered.ids[0])
    assert first.predictions_uri == f"evaluations/{first.id}/predictions.parquet"
    predictions = read_saved_predictions(folder, first)
    assert len(predictions) == sum(EVEN.values())
    right = predictions["class_name"] == predictions["predicted"]
    by_hand = right.groupby([predictions["class_name"], predictions["concepts"]]).mean()
    scores = read_scores(store, [first.id]).set_index(["metric", "group"])
    for (class_name, state), accuracy in by_hand.items():
        group = f"{class_name}, concepts {state}"
        assert scores.loc[("group_accuracy", group), "value"] == pytest.approx(accuracy)
    assert scores.loc[("worst_group", ""), "value"] == pytest.approx(by_hand.min())

    # From Cypher alone.
    query, bound = bind_named(store, "what-helped", {"dataset": animals, "metric": "worst_group"})
    rows = {row["method"]: row for row in store.read(query.text, **bound)}
    assert rows.keys() == {"erm", "upweight"}
    row = rows["erm"]
    assert (row["training_set"], row["backend"], row["seeds"]) == (rebalanced, "paste", 2)
    assert row["after"] > row["before"]
    low, high = row["interval"]
    assert low <= row["difference"] <= high
    query, bound = bind_named(store, "remedies", {"dataset": animals, "metric": "worst_group"})
    remedies = {row["training_set"]: row for row in store.read(query.text, **bound)}
    assert {row["method"] for row in remedies.values()} == {"upweight"}
    assert remedies[animals]["before"] == row["before"]
    assert remedies[rebalanced]["after"] == rows["upweight"]["after"]

    everything = list_evaluations(store, animals)
    summary = summary_frame(store, everything)
    means = summary.set_index(["train", "method", "metric", "group"])["mean"]
    assert means[(animals, "erm", "worst_group", "")] == pytest.approx(row["before"])
    assert set(summary["seeds"]) == {2}
    differences = differences_frame(folder, everything, "erm")
    names = name_rows(everything)
    assert set(differences["baseline"]) == {names[first.id]}
    of_worst = differences.set_index(["method", "metric"])["difference"].xs(
        "worst_group", level="metric"
    )
    after = next(one for one in everything if one.train == rebalanced and one.method == "erm")
    assert of_worst[names[after.id]] == pytest.approx(row["difference"])
    with pytest.raises(OptionError, match="No evaluation is of the baseline 'jtt'"):
        differences_frame(folder, everything, "jtt")

    # The same seed predicts the same; another dataset, too.
    again = predict_dataset(store, own.folders(), first.id, animals, "test", progress=silent)
    np.testing.assert_array_equal(again["p_cat"], predictions["p_cat"])
    assert again["predicted"].tolist() == predictions["predicted"].tolist()
    with pytest.raises(LeakError):
        predict_dataset(store, own.folders(), first.id, animals, "train", progress=silent)

    # A repetition takes the place of the earlier one in tables.
    one = replace(order, train=(animals,), methods=("erm",), seeds=(0,))
    assert order_evaluations(store, one).known == (first.id,)
    (repeated,) = order_evaluations(store, replace(one, again=True)).ids
    assert repeated != first.id
    run(repeated)
    kept = newest(list_evaluations(store, animals))
    assert repeated in {one.id for one in kept}
    assert first.id not in {one.id for one in kept}
    assert len(kept) == 8
    assert len(scores_frame(store, kept)) > 8


NETWORK = {
    "model": "test_resnet",
    "pretrained": False,
    "image_px": 32,
    "epochs": 1,
    "batch_size": 32,
    "device": "cpu",
}


def test_networks_are_trained_and_kept(store, own, animals, rebalanced, run):
    """And an augmentation of real images has as many as the rebalanced set; made ones need none."""
    order = EvaluationOrder(
        (animals, rebalanced), methods=("cutmix",), preset="conbias", seeds=(0,),
        learner_options=NETWORK,
    )  # fmt: skip
    ordered = order_evaluations(store, order)
    assert ordered.extras == ("train",)
    options = [read_evaluation(store, one).settings["method_options"] for one in ordered.ids]
    assert options == [{"added": 56}, {}]
    given = order_evaluations(store, replace(order, method_options={"added": 3})).ids
    assert [read_evaluation(store, one).settings["method_options"] for one in given] == [
        {"added": 3}
    ] * 2
    first = ordered.ids[0]
    run(first)
    folder = OutputFolder(own.folders().output)
    predictions = read_saved_predictions(folder, read_evaluation(store, first))
    assert len(predictions) == sum(EVEN.values())
    kept = list(
        Path(own.folders().output).glob(f"evaluations/{first}/checkpoints/*/seed-0/trained")
    )
    assert [sorted(path.name for path in one.iterdir()) for one in kept] == [
        ["config.json", "model.safetensors"]
    ]
    again = predict_dataset(store, own.folders(), first, animals, "test", progress=silent)
    np.testing.assert_array_equal(again["p_cat"], predictions["p_cat"])


def test_training_sets_get_equal_numbers_of_synthetic_images(store, own, animals, rebalanced):
    order = EvaluationOrder((animals, rebalanced), seeds=(0,), equal_numbers=True)
    ids = order_evaluations(store, order).ids
    assert [read_evaluation(store, one).most_synthetic for one in ids] == [56, 56]
    clip = EvaluationOrder(
        (animals,), methods=("clip", "upweight"), preset="pinpoint", seeds=(0,),
        method_options={"epochs": 2},
    )  # fmt: skip
    of_methods = {
        one.method: one.settings["method_options"]
        for one in (read_evaluation(store, made) for made in order_evaluations(store, clip).ids)
    }
    assert of_methods == {
        "clip": {**PRESETS["pinpoint"].method_options["clip"], "epochs": 2},
        "upweight": {},
    }
    store.write("MATCH (e:Evaluation {id: $id}) SET e.most_synthetic = 9", id=ids[1])
    done = open_model(lambda ask: ask(store), own.folders(), read_evaluation(store, ids[1]), silent)
    assert len(done.images.training) == 64 + 9
    assert len(done.images.test) == 40


def test_methods_that_select_hold_images_out(store, own, animals, run, monkeypatch):
    order = EvaluationOrder((animals,), methods=("dfr",), seeds=(3,), method_options={"refits": 1})
    (made,) = order_evaluations(store, order).ids
    settings = read_evaluation(store, made).settings
    assert settings["validation_share"] == 0.2
    assert settings["method_options"] == {"refits": 1}
    run(made)
    assert not read_scores(store, [made]).empty
    monkeypatch.delattr("cobalance.workflows.evaluate.train.train_run")  # the model is kept
    predictions = read_saved_predictions(
        OutputFolder(own.folders().output), read_evaluation(store, made)
    )
    again = predict_dataset(store, own.folders(), made, animals, "test", progress=silent)
    np.testing.assert_array_equal(again["p_cat"], predictions["p_cat"])


def test_orders_that_cannot_be_are_refused_before_anything_is_created(store, animals, tmp_path):
    good = EvaluationOrder((animals,))
    (tmp_path / "none.toml").write_text("[x]")
    for changes, error, said in (
        ({"methods": ("magic",)}, UnknownNameError, "unknown method 'magic'"),
        ({"preset": "huge"}, UnknownNameError, "unknown preset 'huge'"),
        ({"training_sets": ("half",)}, UnknownNameError, "unknown training set 'half'"),
        ({"seeds": (-1,)}, OptionError, "A seed is a whole number"),
        ({"train": ("nowhere",)}, NotFoundError, "There is no dataset 'nowhere'"),
        ({"test": "nowhere"}, NotFoundError, "There is no dataset 'nowhere'"),
        ({"test_split": "val"}, OptionError, "has no split 'val'. Its splits: 'test', 'train'"),
        ({"method_options": {"eta": 1}}, UnknownNameError, "unknown option of the methods 'eta'"),
        ({"learner_options": {"epochs": 0}}, OptionError, "epochs is 0"),
        (
            {"methods": ("erm", "upweight"), "shortcuts": "none"},
            OptionError,
            "The method upweight needs groups, and there are no shortcuts",
        ),
        ({"shortcuts": tmp_path / "none.toml"}, OptionError, "x has no concepts"),
    ):
        with pytest.raises(error, match=said):
            order_evaluations(store, replace(good, **changes))
    assert list_evaluations(store, animals) == []


def test_what_a_worker_would_refuse_is_refused_when_it_is_ordered(store, animals, rebalanced):
    """Some of it of the second dataset; then nothing of the first is created, either."""
    other = f"{animals} other"
    records = [
        ImageRecord(f"{split} {name}", name, (), split, None if split == "bare" else "x.png")
        for split, names in (
            ("train", "cat dog"),
            ("bare", "cat dog"),
            ("cats", "cat"),
            ("more cats", "cat"),
            ("owls", "owl"),
        )
        for name in names.split()
    ]
    write_annotations(store, other, Annotations.from_records(records), source="a test")
    good = EvaluationOrder((other, rebalanced), test=animals, shortcuts="none")
    of_other = {"train": (other,)}
    cats = of_other | {"train_split": "cats", "test": other, "test_split": "more cats"}
    for changes, said in (
        ({"validation": animals}, "are test images, too"),
        ({"validation": other, "validation_split": "train"}, "validation images are training"),
        ({"validation_split": "dev"}, "no images of the split 'dev'"),
        ({"train_split": "nowhere"}, "no images of the split 'nowhere'"),
        ({"test_split": "train"}, "64 of the training images are test images, too"),
        ({"training_sets": ("real", "s_augment")}, "none for the training set 's_augment'"),
        ({"train": (rebalanced,), "learner_options": {"select": "worst-group"}}, "have none. Name"),
        (of_other | {"train_split": "bare"}, "2 of 2 images of .* have no address"),
        (of_other | {"train_split": "cats"}, "of the class 'dog', which is none of the training"),
        (of_other | {"test": other, "test_split": "owls"}, "of the class 'owl'"),
        (cats, "all of the class 'cat'; a classifier needs"),
    ):
        with pytest.raises(CobalanceError, match=said):
            order_evaluations(store, replace(good, **changes))
    assert list_evaluations(store, animals) == list_evaluations(store, other) == []
    drop_dataset(store, other)


def test_datasets_without_splits_or_leaning_concepts(store, dataset, own):
    records = [ImageRecord(f"{i}", "ab"[i % 2]) for i in range(8)]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(common=()), max_cliques=10)
    with pytest.raises(OptionError, match=r"nothing to test on\. Name a split with test_split"):
        order_evaluations(store, EvaluationOrder((dataset,)))


def test_images_without_files_fail_the_evaluation_with_a_reason(store, animals, own, pictures, run):
    for file in pictures.glob("train-cat-*"):
        file.unlink()
    (made,) = order_evaluations(store, EvaluationOrder((animals,), seeds=(0,))).ids
    with pytest.raises(CobalanceError, match=r"train-cat-grass-\d+.png"):
        run(made)
    with pytest.raises(NoPredictionsError, match="has no predictions"):
        read_saved_predictions(OutputFolder(own.folders().output), read_evaluation(store, made))
    assert read_task(store, made).kind == "evaluation"
    assert cancel_task(store, made) == "cancelled"
    ordered = order_evaluations(store, EvaluationOrder((animals,), seeds=(0, 1)))
    assert ordered.known == (made,)
    assert len(ordered.ids) == 2
    assert read_task(store, made).state == "queued"


def test_predictions_that_are_gone_are_named(store, animals, own, run):
    (made,) = order_evaluations(store, EvaluationOrder((animals,), seeds=(0,))).ids
    run(made)
    folder = OutputFolder(own.folders().output)
    found = read_evaluation(store, made)
    assert pd.read_parquet(io.BytesIO(folder.read(found.predictions_uri)))["image"].is_unique
    folder.delete(found.predictions_uri)
    with pytest.raises(NoPredictionsError, match="COBALANCE_OUTPUT"):
        read_saved_predictions(folder, found)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_is_compared_with_erm_and_with_itself(method):
    """Whatever it takes to select by, and however many images it adds."""
    options = {"added": 56} if "added" in METHODS[method].options.model_fields else {}
    own = RunSettings(method_options=options, validation_share=0.2).to_compare()
    assert own["other_methods"] == RunSettings().to_compare()["other_methods"]
    plain = RunSettings(validation_share=0.2).to_compare()
    assert own["same_method"] == plain["same_method"]
    assert own["same_method"] != RunSettings(method_options={"eta": 1}).to_compare()["same_method"]
    assert own["other_methods"] != RunSettings(learner="network").to_compare()["other_methods"]
