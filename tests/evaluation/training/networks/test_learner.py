"""Training networks: seeds, selection, interruption, folders."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cobalance.base.errors import ConflictError, DataError, DivergedError, OptionError
from cobalance.evaluation.training.examples import Examples, Floats, IntArray
from cobalance.evaluation.training.learners import LEARNERS
from cobalance.evaluation.training.method import Method, Run
from cobalance.evaluation.training.networks.learner import NetworkLearner
from cobalance.evaluation.training.networks.model import NetworkModel, open_network
from cobalance.evaluation.training.networks.options import NetworkOptions
from cobalance.evaluation.training.presets import PRESETS
from cobalance.evaluation.training.run import TRAINED, Recipe, train_run
from tests.evaluation.training.networks.conftest import TINY, Train
from tests.tiny.labelled import tiny_examples


def weights(model: NetworkModel) -> dict[str, torch.Tensor]:
    return model.classifier.network.state_dict()


def same(a: NetworkModel, b: NetworkModel) -> bool:
    """Whether all weights and running statistics are equal to the last bit."""
    first, second = weights(a), weights(b)
    return first.keys() == second.keys() and all(
        torch.equal(values, second[name]) for name, values in first.items()
    )


def test_learns_what_the_images_show(train: Train) -> None:
    model = train(epochs=8, crop=0.8, flip=True)
    test = tiny_examples(40, seed=2, share=0.5)
    probabilities = model.probabilities(test)
    assert probabilities.shape == (40, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities.argmax(axis=1) == test.labels).mean() > 0.9


def test_seed_decides(train: Train) -> None:
    test = tiny_examples(6, seed=2)
    first, again, other = (train(seed=seed, crop=0.8, flip=True) for seed in (0, 0, 1))
    assert same(first, again)
    np.testing.assert_array_equal(first.probabilities(test), again.probabilities(test))
    assert not np.allclose(first.probabilities(test), other.probabilities(test))


def test_leaves_the_generator_of_others_alone(train: Train) -> None:
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    train(epochs=1)
    assert torch.equal(torch.rand(4), expected)


@dataclass(frozen=True)
class Counting(Method):
    """A method with a state, which decides the weights of images."""

    def prepare(self, training: Examples) -> "Counting":
        return Counting(self.options, {"batches": np.zeros(1)})

    def reweight(self, losses: Floats, groups: IntArray) -> Floats:
        self.state["batches"] += losses.mean()
        return np.full(len(losses), np.cos(self.state["batches"][0]) / len(losses))


class InterruptedRunError(Exception):
    """Ends a run from inside."""


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_goes_on_to_equal_weights(train: Train, tmp_path: Path, optimiser: str) -> None:
    settings: dict[str, Any] = {
        "epochs": 4, "crop": 0.7, "flip": True, "optimiser": optimiser, "select": "accuracy"
    }  # fmt: skip
    whole = train(Counting(), folder=tmp_path / "whole", **settings)

    def stop_before(last: int) -> Any:
        def progress(stage: str, done: int, total: int | None) -> None:
            if done == last:
                raise InterruptedRunError

        return progress

    for last in (1, 3):
        with pytest.raises(InterruptedRunError):
            train(Counting(), folder=tmp_path / "cut", progress=stop_before(last), **settings)
    resumed = train(Counting(), folder=tmp_path / "cut", **settings)
    assert same(whole, resumed)
    assert whole.describe() == resumed.describe()
    assert sorted(path.name for path in (tmp_path / "cut/seed-0/model").iterdir()) == [
        "config.json",
        "model.safetensors",
    ]


KILLED = """
import os, signal, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from cobalance.evaluation.training.method import Method, Run
from cobalance.evaluation.training.networks.learner import NetworkLearner
from cobalance.evaluation.training.networks.options import NetworkOptions
from tests.evaluation.training.networks.conftest import TINY
from tests.tiny.labelled import tiny_examples

class Deadly(Method):
    # killed in the middle of the second epoch
    def losses(self, batch):
        if batch.epoch == 1 and batch.labels.sum() >= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().losses(batch)

Deadly.__qualname__ = "Method"
learner = NetworkLearner(NetworkOptions(**TINY), Run(0, Path(sys.argv[1])))
learner.fit(tiny_examples(), tiny_examples(10, seed=1), Deadly())
"""


def test_goes_on_after_kill_9(train: Train, tmp_path: Path) -> None:
    root = str(Path(__file__).parents[4])
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": root},
        check=False,
    )
    assert killed.returncode == -9
    assert (tmp_path / "seed-0/model/checkpoint.safetensors").is_file()
    assert same(train(), train(folder=tmp_path))


def test_folder_keeps_the_model(train: Train, tmp_path: Path) -> None:
    test = tiny_examples(6, seed=2)
    model = train(folder=tmp_path)

    def never(stage: str, done: int, total: int | None) -> None:
        raise AssertionError

    again = train(folder=tmp_path, progress=never)
    np.testing.assert_array_equal(model.probabilities(test), again.probabilities(test))
    opened = open_network(tmp_path / "seed-0/model", device="cpu")
    np.testing.assert_array_equal(model.probabilities(test), opened.probabilities(test))
    with pytest.raises(ConflictError, match="other data or settings"):
        train(folder=tmp_path, learning_rate=0.1)


def test_groups_of_other_test_images_change_nothing(tmp_path: Path) -> None:
    """They shift the codes of the training images' groups, and the model is the same."""
    images, validation = tiny_examples(), tiny_examples(10, seed=1)
    learner = NetworkLearner(NetworkOptions(**{**TINY, "epochs": 1}), Run(0, tmp_path))
    first = learner.fit(images, validation, Method())
    shifted = [replace(one, groups=3 * one.groups + 1) for one in (images, validation)]
    assert same(first, learner.fit(*shifted, Method()))
    other = replace(images, groups=images.groups[::-1].copy())
    with pytest.raises(ConflictError, match="other data or settings"):
        learner.fit(other, validation, Method())


def test_checkpoint_of_other_settings_is_refused(train: Train, tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int | None) -> None:
        if done == 1:
            raise InterruptedRunError

    with pytest.raises(InterruptedRunError):
        train(folder=tmp_path, progress=stop)
    with pytest.raises(ConflictError, match="other data or settings"):
        train(folder=tmp_path, epochs=3)
    (tmp_path / "seed-0/model/checkpoint.safetensors").write_bytes(b"cut short")
    with pytest.raises(DataError, match="Delete it to train from the start"):
        train(folder=tmp_path)


def test_selected_epoch_is_the_best(train: Train) -> None:
    """The weights are those of the epoch with the best value, and the record says so."""
    validation = tiny_examples(10, seed=1)
    model = train(epochs=5, select="worst-group", learning_rate=0.03)
    about = model.describe()
    record, values = about["selection"], about["values"]
    assert len(values) == 5
    assert record["rule"] == "worst-group"
    assert record["reads_groups"]
    assert record["epoch"] == int(np.argmax(values)) + 1
    right = model.probabilities(validation).argmax(axis=1) == validation.labels
    worst = min(right[validation.groups == group].mean() for group in set(validation.groups))
    assert record["value"] == pytest.approx(worst)
    loss = train(epochs=2, select="loss").describe()["selection"]
    assert not loss["reads_groups"]
    assert train(epochs=2, select="last").describe()["selection"] == {
        "rule": "last", "epoch": 2, "value": None, "reads_groups": False
    }  # fmt: skip


def test_patience_ends_training(train: Train) -> None:
    about = train(epochs=40, select="accuracy", patience=2, learning_rate=0.01).describe()
    assert about["epochs"] == about["selection"]["epoch"] + 2 < 40


def test_several_labels(train: Train) -> None:
    model = train(multi_label=True, epochs=12, select="loss")
    test = tiny_examples(40, seed=2, multi_label=True)
    probabilities = model.probabilities(test)
    assert ((probabilities >= 0.5) == test.labels).mean() > 0.85
    assert not np.allclose(probabilities.sum(axis=1), 1)


def test_another_head(train: Train) -> None:
    """Probabilities are those of the features with the given layer."""
    test = tiny_examples(6, seed=2)
    model = train()
    features = model.features(test)
    weight, bias = np.random.default_rng(0).normal(size=(2, features.shape[1])), np.array([0, 0.5])
    before = model.probabilities(test)
    outputs = features @ weight.T + bias
    expected = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    given = model.with_head(weight, bias).probabilities(test)
    np.testing.assert_allclose(given, expected, atol=1e-5)
    np.testing.assert_array_equal(model.probabilities(test), before)


def test_bfloat16_stays_near(train: Train) -> None:
    test = tiny_examples(20, seed=2)
    full, half = train(epochs=6), train(epochs=6, dtype="bfloat16")
    assert weights(half)["head.weight"].dtype == torch.float32
    agree = full.probabilities(test).argmax(axis=1) == half.probabilities(test).argmax(axis=1)
    assert agree.mean() > 0.8
    assert not same(full, half)


def test_last_batch_of_one_image() -> None:
    """It joins the one before it, as batch normalisation needs two."""
    learner = NetworkLearner(NetworkOptions(**{**TINY, "select": "last"}), Run(0))
    images = tiny_examples(9)
    model = learner.fit(images, None, Method())
    assert np.isfinite(model.probabilities(images)).all()
    assert model.probabilities(images.take(np.array([], dtype=np.int64))).shape == (0, 2)


def test_refusals() -> None:
    images = tiny_examples()
    learner = NetworkLearner(NetworkOptions(**TINY), Run(0))
    with pytest.raises(OptionError, match="by validation images, and there are none"):
        learner.fit(images, None, Method())
    with pytest.raises(DataError, match="at least two training images"):
        learner.fit(images.take(np.array([0])), images, Method())
    high = NetworkLearner(NetworkOptions(**{**TINY, "learning_rate": 1e30}), Run(0))
    with pytest.raises(DivergedError, match="Lower the learning rate"):
        high.fit(images, images, Method())
    with pytest.raises(OptionError, match="no architecture 'resnet5O'"):
        NetworkLearner(NetworkOptions(**{**TINY, "model": "resnet5O"}), Run(0)).fit(
            images, images, Method()
        )


def test_run_keeps_the_trained_model(tmp_path: Path) -> None:
    """Of several seeds and stages, beside the record of what was selected."""
    test = tiny_examples(6, seed=2)
    recipe = Recipe("jtt", {"times": 2}, "network", TINY)
    for seed in (0, 1):
        trained = train_run(
            recipe, Run(seed, tmp_path), tiny_examples(), tiny_examples(10, seed=1), test
        )
        about = trained.record["model"]
        assert about["selection"]["rule"] == trained.record["selected_by"] == "loss"
        assert about["seed"] == seed
        opened = open_network(tmp_path / f"seed-{seed}" / TRAINED, device="cpu", batch_size=8)
        found = trained.predictions[["p_red", "p_blue"]].to_numpy()
        np.testing.assert_array_equal(opened.probabilities(test), found)


def test_presets_are_those_of_the_papers() -> None:
    read = {
        name: LEARNERS.check("network", preset.learner_options)
        for name, preset in PRESETS.items()
        if preset.learner == "network"
    }
    conbias, whac = read["conbias"], read["whac-a-mole"]
    assert isinstance(conbias, NetworkOptions)
    assert isinstance(whac, NetworkOptions)
    assert json.loads(conbias.model_dump_json()).items() >= {
        "model": "timm/resnet50.tv_in1k", "optimiser": "adam", "learning_rate": 1e-3,
        "weight_decay": 1e-5, "schedule": "cosine", "epochs": 100, "select": "loss",
    }.items()  # fmt: skip
    assert (whac.optimiser, whac.learning_rate, whac.epochs) == ("sgd", 1e-3, 300)
    assert whac.select == "worst-group"
    with pytest.raises(OptionError, match="bfloat16"):
        LEARNERS.check("network", {"dtype": "float16"})
