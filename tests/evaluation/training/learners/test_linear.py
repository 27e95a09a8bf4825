"""The linear learner: both solvers, several labels, selection, and what it refuses."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import DataError, MissingExtraError, OptionError, UnknownNameError
from cobalance.evaluation.training.learners import LEARNERS
from cobalance.evaluation.training.learners.linear import bootstrap_weights
from cobalance.evaluation.training.learners.regression import (
    Descent,
    descend,
    head_probabilities,
    losses_of,
    solve,
)
from cobalance.evaluation.training.method import Method, Run
from cobalance.evaluation.training.methods import METHODS
from cobalance.evaluation.training.run import Recipe, kept_model, predict, train_run
from tests.evaluation.training.images import examples, several_labels

PIXELS = {"features_options": {"side_px": 8, "components": 10}}


@pytest.mark.parametrize("classes", [("cat", "dog"), ("cat", "dog", "owl")], ids=len)
def test_both_solvers_find_the_same_minimum(classes):
    images = examples((30, 8), classes=classes)
    features = np.random.default_rng(0).normal(size=(len(images), 4)) + images.labels[:, None]
    weights = np.random.default_rng(1).uniform(0.5, 2, len(images))
    exact = solve(features, images, weights, 0.05)
    settings = Descent(0.05, 400, len(images), 0.3)
    *_, near = descend(features, images, Method(), weights, settings, Run(0))

    def objective(head):
        found = head_probabilities(head, features, False)
        wanted = np.eye(len(classes))[images.labels]
        losses = losses_of(found, wanted, False)
        weight = head[0][1:] - head[0][:1] if len(classes) == 2 else head[0]
        return (weights * losses).mean() + (weight**2).sum() / (2 * 0.05 * len(images))

    assert objective(near) == pytest.approx(objective(exact), abs=1e-3)
    assert head_probabilities(near, features, False) == pytest.approx(
        head_probabilities(exact, features, False), abs=0.02
    )


def test_two_classes_have_scikit_learns_probabilities():
    images = examples((20, 20))
    features = np.random.default_rng(0).normal(size=(len(images), 3)) + images.labels[:, None]
    ones = np.ones(len(images))
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=0.3, max_iter=1000).fit(features, images.labels)
    found = head_probabilities(solve(features, images, ones, 0.3), features, False)
    assert found == pytest.approx(fitted.predict_proba(features), abs=1e-6)


def test_a_class_without_training_images_is_never_predicted():
    images = examples((20, 5), classes=("cat", "dog", "owl"))
    training = images.take(np.flatnonzero(images.labels != 1))
    for method in ("erm", "group-dro"):
        found = train_run(Recipe(method, learner_options=PIXELS), Run(0), training, None, images)
        assert found.predictions["p_dog"].max() < 0.2
        assert found.predictions["p_dog"].max() == (
            0 if method == "erm" else pytest.approx(0.1, abs=0.1)
        )


@pytest.mark.parametrize("method", ["erm", "group-dro", "jtt"])
def test_several_labels_an_image(method):
    training, test = several_labels(), several_labels(seed=1)
    recipe = Recipe(method, learner_options={**PIXELS, "c": (1.0,)})
    found = train_run(recipe, Run(0), training, None, test).predictions
    columns = [f"p_thing {at}" for at in range(3)]
    assert list(found.columns[:4]) == ["image", *(f"y_thing {at}" for at in range(3))]
    assert ((found[columns].to_numpy() > 0.5) == (test.labels == 1)).mean() > 0.85


def test_a_label_that_all_or_no_images_have():
    images = several_labels()
    images.labels[:, 0], images.labels[:, 1] = 1, 0
    found = train_run(Recipe(learner_options=PIXELS), Run(0), images, None, images).predictions
    assert found["p_thing 0"].min() == 1
    assert found["p_thing 1"].max() == 0


def test_validation_images_select_and_test_images_do_not():
    training, held = examples((60, 6)), examples((20, 20), seed=1)
    options = {**PIXELS, "c": (1e-4, 1.0), "select": "worst-group"}
    for method in ("erm", "group-dro"):
        recipe = Recipe(method, learner_options={**options, "epochs": 15})
        found = train_run(recipe, Run(0), training, held, held)
        assert found.record["selected_by"] == "worst-group"
        assert found.record["reads_validation_groups"]
        assert found.record["reads_training_groups"] == (method == "group-dro")
        part = train_run(recipe, Run(0), training, held, held.take(np.arange(5)))
        assert part.predictions.equals(found.predictions.head(5))
    with pytest.raises(OptionError, match="'worst-group' selects an epoch by validation images"):
        train_run(Recipe(learner_options=options), Run(0), training, None, held)
    with pytest.raises(OptionError, match="has 2 values of c to select from"):
        train_run(Recipe(learner_options={"c": (1, 2)}), Run(0), training, held, held)


def test_features_of_repeated_rows_are_read_once():
    images = examples()
    reads = []

    def read(rows):
        reads.extend(rows.tolist())
        return images.read(rows)

    counted = type(images)(
        images.ids, images.labels, images.groups, images.domains, images.classes, read
    )
    learner = LEARNERS.open("linear", PIXELS)(Run(0)).prepare(counted)
    for name in ("over-sampling", "jtt"):
        METHODS.open(name).train(learner, counted, None, Run(0))
    assert sorted(reads) == list(range(len(images)))


BOTH = [name for name, plugin in METHODS.items() if not (plugin.network_only or plugin.own_model)]


@pytest.mark.parametrize("method", BOTH)
def test_seeds_differ_and_one_seed_repeats(method):
    images, held = examples(), examples((9, 9, 9, 9), seed=1)
    options = {"features_options": {"side_px": 1, "components": 3}, "epochs": 5}

    def p_cat(seed, **others):
        recipe = Recipe(method, learner_options={**options, **others})
        return train_run(recipe, Run(seed), images, held, held).predictions["p_cat"].to_numpy()

    first = p_cat(0)
    assert p_cat(0).tolist() == first.tolist()
    assert all(np.abs(p_cat(seed) - first).max() > 1e-3 for seed in (1, 2))
    if method in ("erm", "upweight", "dfr"):
        exact = p_cat(0, bootstrap=False)
        assert p_cat(1, bootstrap=False) == pytest.approx(exact, abs=1e-6)
        assert np.abs(np.mean([p_cat(seed) for seed in range(8)], axis=0) - exact).max() < 0.1


@pytest.mark.parametrize("make", [examples, several_labels], ids=["one-label", "several"])
def test_bootstrap_weights_have_mean_1_in_each_group(make):
    images = make()
    weights = bootstrap_weights(images, np.random.default_rng(0))
    sizes = np.bincount(images.groups)
    assert np.bincount(images.groups, weights) == pytest.approx(sizes)
    assert weights.min() > 0
    rows = np.array([3, 3, *np.flatnonzero(images.groups == images.groups[3])])
    taken = bootstrap_weights(images.take(rows), np.random.default_rng(0))
    assert taken.mean() == pytest.approx(1)
    assert taken == pytest.approx(weights[rows] / weights[rows].mean())
    alone = examples((1, 1, 1, 1))
    assert bootstrap_weights(alone, np.random.default_rng(0)).tolist() == [1.0] * 8


@pytest.mark.parametrize("make", [examples, several_labels], ids=["one-label", "several"])
def test_a_kept_model_predicts_the_same(make, tmp_path):
    images, test = make(), make(seed=1)
    recipe, run = Recipe(learner_options=PIXELS), Run(3, tmp_path)
    assert kept_model(recipe, run, images.classes) is None
    found = train_run(recipe, run, images, None, test)
    model = kept_model(recipe, run, images.classes)
    again = predict(model, test, seed=3, method="erm")
    pd.testing.assert_frame_equal(again, found.predictions, check_exact=True)
    assert kept_model(recipe, run, ["other"]) is None
    assert kept_model(recipe, Run(4, tmp_path), images.classes) is None
    (file,) = tmp_path.rglob("*.npz")
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"linear.npz is damaged. Delete it to train again"):
        kept_model(recipe, run, images.classes)


def test_what_cannot_be_trained_on_is_refused():
    cats = examples().take(np.flatnonzero(examples().labels == 0))
    with pytest.raises(DataError, match="54 training images are all of the class 'cat'"):
        train_run(Recipe(learner_options=PIXELS), Run(0), cats, None, cats)
    with pytest.raises(DataError, match="principal components need two"):
        LEARNERS.open("linear", {})(Run(0)).prepare(cats.take(np.array([0])))
    with pytest.raises(OptionError, match=r"c\[0\] is 0"):
        Recipe(learner_options={"c": (0.0,)}).check()
    with pytest.raises(UnknownNameError, match=r"clip.*dinov2.*pixels"):
        LEARNERS.open("linear", {"features": "hog"})


def test_methods_of_networks_are_refused(monkeypatch):
    for_networks = replace(METHODS["erm"], network_only=True)
    monkeypatch.setattr("cobalance.evaluation.training.methods.erm.PLUGIN", for_networks)
    with pytest.raises(OptionError, match="Choose the learner network"):
        Recipe("erm").check()


@pytest.mark.parametrize("method", ["erm", "dfr"])
def test_without_scikit_learn_the_extra_is_named(method, monkeypatch):
    for name in [one for one in sys.modules if one.split(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    images = examples()
    with pytest.raises(MissingExtraError, match=r"pip install .*\[evaluate\]'"):
        train_run(Recipe(method), Run(0), images, images, images)


def test_test_images_need_not_have_all_classes_nor_validation_images_all_groups():
    images = examples()
    cats = images.take(np.flatnonzero(images.labels == 0)[:9])
    for method in ("erm", "upweight", "group-dro"):
        recipe = Recipe(method, learner_options={**PIXELS, "select": "worst-group"})
        found = train_run(recipe, Run(0), images, cats, cats).predictions
        assert len(found) == 9
        assert found[["p_cat", "p_dog"]].sum(axis=1).to_numpy() == pytest.approx(1)


def test_groups_of_one_image_are_trained_on():
    images = examples((20, 5, 1, 1))
    for method in ("over-sampling", "sub-sampling", "upweight", "group-dro"):
        found = train_run(Recipe(method, learner_options=PIXELS), Run(0), images, None, images)
        assert np.isfinite(found.predictions["p_cat"]).all()
