"""Methods that balance: rows, weights and batches, and what training with each gives."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import DataError, OptionError
from cobalance.evaluation.training.method import Method, MethodPlugin, Run
from cobalance.evaluation.training.methods import METHODS
from cobalance.evaluation.training.methods.class_balanced import class_weights
from cobalance.evaluation.training.methods.group_dro import group_weights
from cobalance.evaluation.training.run import Recipe, train_run
from tests.evaluation.training.images import SIZES, examples, several_labels

OWN = ("erm", "over-sampling", "sub-sampling", "upweight", "class-balanced", "group-dro", "jtt")
LINEAR = {"features_options": {"side_px": 8, "components": 10}, "epochs": 20}


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_each_method_says_what_it_does_and_where_it_is_from() -> None:
    for name, declared in METHODS.items():
        assert isinstance(declared, MethodPlugin)
        assert declared.purpose.endswith(".")
        assert declared.reference or name == "erm"


def test_over_sampling_keeps_every_image_and_sub_sampling_repeats_none() -> None:
    images = examples()
    rows = METHODS.open("over-sampling").rows(images, rng())
    assert set(rows) == set(range(len(images)))
    assert np.bincount(images.groups[rows]).tolist() == [max(SIZES)] * 8
    rows = METHODS.open("sub-sampling").rows(images, rng())
    assert len(set(rows)) == len(rows)
    assert np.bincount(images.groups[rows]).tolist() == [min(SIZES)] * 8


@pytest.mark.parametrize("name", ["over-sampling", "sub-sampling", "upweight"])
def test_balance_of_classes_needs_no_groups(name: str) -> None:
    images = examples((9, 9, 0, 0)).take(np.arange(12))
    unknown = examples((9, 0, 0, 0), groups=False).take(np.arange(12))
    balanced = METHODS.open(name, {"by": "class"})
    weights = np.bincount(unknown.labels, balanced.weights(unknown))
    rows = np.bincount(unknown.labels[balanced.rows(unknown, rng())])
    assert (weights if name == "upweight" else rows).std() == pytest.approx(0)
    by_group = METHODS.open(name)
    read = by_group.weights if name == "upweight" else lambda given: by_group.rows(given, rng())
    assert len(read(images)) >= 1
    with pytest.raises(DataError, match="12 of 12 is unknown, such as 'image"):
        read(unknown)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60))
def test_upweight_gives_every_group_the_same_sum(groups: list[int]) -> None:
    images = examples((30, 0, 0, 0)).take(np.arange(len(groups)))
    images = type(images)(
        images.ids, images.labels, np.array(groups), images.domains, images.classes, images.read
    )
    weights = METHODS.open("upweight").weights(images)
    sums = np.bincount(groups, weights)
    assert sums[sums > 0] == pytest.approx(len(groups) / len(set(groups)))
    if len(set(np.bincount(groups)) - {0}) == 1:
        assert weights.tolist() == [1.0] * len(groups)


def test_upweight_of_equal_groups_is_erm_bit_by_bit() -> None:
    images, test = examples((9, 9, 9, 9)), examples(seed=1)
    erm, upweight = (
        train_run(Recipe(name, learner_options=LINEAR), Run(0), images, None, test).predictions
        for name in ("erm", "upweight")
    )
    assert erm.drop(columns="method").equals(upweight.drop(columns="method"))


def test_class_balanced_weights_by_effective_numbers() -> None:
    assert class_weights(np.array([100, 1000]), 0.999).round(4).tolist() == [1.7383, 0.2617]
    sizes = np.array([3, 40, 700])
    effective = np.array([sum(0.99**power for power in range(n)) for n in sizes])
    expected = 1 / effective * 3 / (1 / effective).sum()
    assert class_weights(sizes, 0.99) == pytest.approx(expected)
    assert class_weights(sizes, 0).tolist() == [1.0] * 3
    images = examples((8, 0, 0, 0)).take(np.arange(11))
    of_images = METHODS.open("class-balanced", {"beta": 0.9}).weights(images)
    counts = np.bincount(images.labels)
    assert of_images == pytest.approx(class_weights(counts, 0.9)[images.labels])


def test_group_dro_follows_the_losses_of_groups() -> None:
    method = METHODS.open("group-dro", {"step": 1.0}).prepare(examples((2,)))
    weights = method.reweight(np.array([2.0, 0.0]), np.array([0, 1]))
    assert weights is not None
    assert weights.round(4).tolist() == [0.8808, 0.1192]
    assert round(float(weights @ [2.0, 0.0]), 4) == 1.7616
    # Group 1 is absent: its loss counts as 0. Images of a group share its weight.
    weights = method.reweight(np.array([1.0, 3.0]), np.array([0, 0]))
    before = np.array([np.exp(2), 1]) / (np.exp(2) + 1)
    q = before * np.exp([2.0, 0.0])
    assert weights == pytest.approx([q[0] / q.sum() / 2] * 2)
    assert method.state["q"] == pytest.approx(q / q.sum())
    assert METHODS.open("group-dro").prepare(examples((2,))).state["q"].tolist() == [0.5, 0.5]
    assert group_weights(np.array([0.5, 0.5]), np.array([5e3, 0.0]), 1.0).tolist() == [1.0, 0.0]


def test_group_dro_draws_all_groups_alike() -> None:
    images = examples((200, 20, 4, 1))
    method = METHODS.open("group-dro")
    batches = method.batches(images, 32, rng())
    assert [len(rows) for rows in batches] == [32] * 14 + [2]
    drawn = np.bincount(images.groups[np.concatenate(method.batches(images, 450, rng()))])
    assert drawn.min() > 30
    assert drawn.max() < 85


@pytest.mark.parametrize("name", OWN)
def test_the_same_seed_gives_the_same_predictions(name: str) -> None:
    images, test = examples(noise=60), examples((10, 10, 10, 10), seed=1, noise=40)
    recipe = Recipe(name, learner_options=LINEAR)
    first, again, other = (
        train_run(recipe, Run(seed), images, None, test).predictions for seed in (3, 3, 4)
    )
    assert first.equals(again)
    assert not first["p_cat"].equals(other["p_cat"])


def test_methods_for_groups_break_the_shortcut() -> None:
    images = examples((200, 10, 10, 4), noise=40)
    held = examples((30, 30, 30, 30), seed=2, noise=40)
    test = examples((60, 60, 60, 60), seed=1, noise=40)
    worst = {}
    as_they_are = {**LINEAR, "bootstrap": False}
    for name in (*OWN, "dfr"):
        recipe = Recipe(name, learner_options=as_they_are)
        found = train_run(recipe, Run(0), images, held, test)
        right = (found.predictions["predicted"] == found.predictions["class_name"]).to_numpy()
        worst[name] = min(right[test.groups == group].mean() for group in range(8))
    assert worst["erm"] < 0.5
    for name in ("over-sampling", "sub-sampling", "upweight", "group-dro", "dfr"):
        assert worst[name] > worst["erm"] + 0.2, worst


def test_jtt_repeats_what_the_first_model_gets_wrong() -> None:
    images = examples()
    asked = []

    class Model:
        def probabilities(self, images):
            return np.eye(2)[1 - images.labels if len(asked) > 2 else np.zeros(len(images), int)]

    class Learner:
        def fit(self, training, validation, method, *, weights=None, epochs=None, stage=""):
            asked.append((len(training), np.bincount(training.labels).tolist(), epochs, stage))
            return Model()

    METHODS.open("jtt", {"epochs": 2, "times": 7}).train(Learner(), images, None, Run(0))
    assert asked == [(108, [54, 54], 2, "errors"), (54 + 54 * 7, [54, 54 * 7], None, "again")]


def test_dfr_averages_balanced_refits_of_the_last_layer() -> None:
    images, held = examples((100, 5, 5, 5)), examples((12, 12, 12, 9), seed=2)
    recipe = Recipe("dfr", learner_options=LINEAR)
    one, two = (train_run(recipe, Run(seed), images, held, held) for seed in (0, 0))
    assert one.predictions.equals(two.predictions)
    assert one.record["reads_validation_groups"]
    assert not one.record["reads_training_groups"]
    erm = train_run(Recipe(learner_options=LINEAR), Run(0), images, held, held)
    assert one.model.features(held) == pytest.approx(erm.model.features(held))


@pytest.mark.parametrize(
    ("held", "message"),
    [
        (None, "there are none"),
        (examples((3,), groups=False), "6 of 6 is unknown"),
        (examples((4, 1)), "'group 1' has one image"),
        (
            examples((4,)).take(np.flatnonzero(examples((4,)).labels == 0)),
            "none of the class 'dog'",
        ),
    ],
    ids=["none", "unknown groups", "group of one", "class missing"],
)
def test_dfr_says_what_its_held_out_images_lack(held, message: str) -> None:
    with pytest.raises((OptionError, DataError), match=message):
        train_run(Recipe("dfr", learner_options=LINEAR), Run(0), examples(), held, examples())


def test_dfr_takes_more_than_two_classes() -> None:
    classes = ("cat", "dog", "owl")
    images = examples((30, 5), classes=classes, noise=15)
    held = examples((10, 10), 1, classes=classes, noise=15)
    found = train_run(Recipe("dfr", learner_options=LINEAR), Run(0), images, held, held)
    assert (found.predictions["predicted"] == found.predictions["class_name"]).mean() > 0.7


def test_methods_with_one_label_refuse_several() -> None:
    images = several_labels()
    for name in ("class-balanced", "dfr"):
        with pytest.raises(OptionError, match=f"{name} takes images with one label"):
            train_run(Recipe(name), Run(0), images, images, images)
    with pytest.raises(OptionError, match="these images have several labels"):
        METHODS.open("upweight", {"by": "class"}).weights(images)


def test_a_method_that_changes_nothing_has_a_weight_of_one() -> None:
    images = examples((3,))
    assert Method().weights(images).tolist() == [1.0] * 6
    assert sorted(np.concatenate(Method().batches(images, 4, rng()))) == list(range(6))
    assert not METHODS.open("erm").adapts
    assert METHODS.open("group-dro").adapts
