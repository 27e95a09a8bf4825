"""Methods on networks: losses against computations of their own, and training with each."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from cobalance.base.errors import DataError
from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Batch, Method, Run
from cobalance.evaluation.training.methods import METHODS
from cobalance.evaluation.training.networks.learner import NetworkLearner
from cobalance.evaluation.training.networks.options import NetworkOptions
from tests.evaluation.training.networks.conftest import TINY
from tests.tiny.labelled import tiny_examples

RNG = np.random.default_rng(5)
LABELS = np.array([0, 2, 1, 2])
SEVERAL = np.array([[1, 0, 0], [1, 1, 1], [0, 0, 0], [0, 1, 1]])
DOMAINS = np.array([0, 1, 1, 0])


def batch(outputs: Any, labels: Any, **others: Any) -> Batch:
    return Batch(
        torch.tensor(outputs),
        others.pop("features", torch.zeros(len(outputs), 2)),
        torch.tensor(labels),
        torch.tensor(others.pop("domains", DOMAINS[: len(outputs)])),
        **others,
    )


def examples(n_classes: int = 3, labels: Any = LABELS, domains: Any = DOMAINS) -> Examples:
    names = [str(at) for at in range(len(labels))]
    classes = list("abcdef"[:n_classes])
    return Examples(names, np.array(labels), np.array(domains), np.array(domains), classes, list)


def softmax(outputs: Any) -> Any:
    raised = np.exp(outputs)
    return raised / raised.sum(axis=-1, keepdims=True)


def sigmoid(outputs: Any) -> Any:
    return 1 / (1 + np.exp(-outputs))


def binary(outputs: Any, labels: Any) -> Any:
    return -np.where(labels == 1, np.log(sigmoid(outputs)), np.log(1 - sigmoid(outputs)))


def test_focal_at_one_half() -> None:
    focal = METHODS.open("focal", {})
    assert focal.losses(batch([[0.0, 0.0]], [1])).item() == pytest.approx(0.1733, abs=5e-5)
    assert focal.losses(batch([[0.0, 0.0]], [[1, 0]])).item() == pytest.approx(0.1733, abs=5e-5)


def test_focal() -> None:
    outputs = RNG.normal(size=(4, 3))
    p = softmax(outputs)[np.arange(4), LABELS]
    found = METHODS.open("focal", {"gamma": 1.5}).losses(batch(outputs, LABELS))
    np.testing.assert_allclose(found, -((1 - p) ** 1.5) * np.log(p))
    p = np.where(SEVERAL == 1, sigmoid(outputs), 1 - sigmoid(outputs))
    found = METHODS.open("focal", {"gamma": 1.5}).losses(batch(outputs, SEVERAL))
    np.testing.assert_allclose(found, (-((1 - p) ** 1.5) * np.log(p)).mean(axis=1))
    plain = METHODS.open("focal", {"gamma": 0}).losses(batch(outputs, LABELS))
    assert torch.allclose(plain, Method().losses(batch(outputs, LABELS)))


def test_domain_independent() -> None:
    """Each image is judged by its domain's three outputs; the last layers are summed."""
    method = METHODS.open("domain-independent").prepare(examples())
    assert method.outputs(3, 2) == 6
    outputs = RNG.normal(size=(4, 6))
    own = np.stack([row[3 * d : 3 * d + 3] for row, d in zip(outputs, DOMAINS, strict=True)])
    found = method.losses(batch(outputs, LABELS))
    np.testing.assert_allclose(found, -np.log(softmax(own)[np.arange(4), LABELS]))
    found = method.losses(batch(outputs, SEVERAL))
    np.testing.assert_allclose(found, binary(own, SEVERAL).mean(axis=1))
    weight, bias, features = RNG.normal(size=(6, 5)), RNG.normal(size=6), RNG.normal(size=(4, 5))
    both = features @ weight.T + bias
    weight, bias = method.finish(weight, bias, 3)
    np.testing.assert_allclose(features @ weight.T + bias, both[:, :3] + both[:, 3:])


def test_domain_discriminative() -> None:
    """The softmax over pairs, divided by their prior: (b, 1) is in no image and counts as one."""
    labels, domains = [0, 0, 0, 1, 0, 2, 2, 2], [0, 0, 0, 0, 1, 1, 1, 0]
    method = METHODS.open("domain-discriminative").prepare(examples(3, labels, domains))
    outputs = RNG.normal(size=(4, 6))
    found = method.losses(batch(outputs, LABELS))
    pair = LABELS + 3 * DOMAINS
    np.testing.assert_allclose(found, -np.log(softmax(outputs)[np.arange(4), pair]))
    counts = np.array([3, 1, 1, 1, 1, 2])
    corrected = softmax(outputs) / counts
    corrected /= corrected.sum(axis=1, keepdims=True)
    weight, bias = method.finish(np.eye(6), np.zeros(6), 3)
    np.testing.assert_allclose(softmax(outputs @ weight.T + bias), corrected)

    method = METHODS.open("domain-discriminative").prepare(examples(3, SEVERAL, DOMAINS))
    wanted = np.zeros((4, 6), dtype=np.int64)
    for row, domain in enumerate(DOMAINS):
        wanted[row, 3 * domain : 3 * domain + 3] = SEVERAL[row]
    found = method.losses(batch(outputs, SEVERAL))
    np.testing.assert_allclose(found, binary(outputs, wanted).mean(axis=1))
    _, bias = method.finish(np.eye(6), np.zeros(6), 3)
    np.testing.assert_array_equal(bias, np.zeros(6))


def test_adversarial_trains_one_of_two() -> None:
    method = METHODS.open("adversarial", {"alpha": 0.5}).prepare(examples())
    assert method.epochs(4) == 12
    auxiliary = method.auxiliary(5, 2)
    assert isinstance(auxiliary, torch.nn.Linear)
    values = torch.tensor(RNG.normal(size=(4, 5)), dtype=torch.float32)
    with torch.no_grad():
        domains = softmax(auxiliary(values).numpy())
    outputs = np.float32(RNG.normal(size=(4, 3)))
    plain = -np.log(softmax(outputs)[np.arange(4), LABELS])
    expected = {
        0: plain - 0.5 * np.log(domains).mean(axis=1),
        1: -np.log(domains[np.arange(4), DOMAINS]),
        2: -np.log(domains[np.arange(4), DOMAINS]),
    }
    for epoch, losses in expected.items():
        features = values.clone().requires_grad_()
        auxiliary.zero_grad()
        given = batch(outputs, LABELS, features=features, epoch=epoch, auxiliary=auxiliary)
        found = method.losses(given)
        np.testing.assert_allclose(found.detach(), losses, rtol=1e-5)
        found.sum().backward()
        trains_network = epoch == 0
        assert (features.grad is not None) == trains_network
        assert (auxiliary.weight.grad is None) == trains_network


def test_cutmix_shares_are_those_of_the_pixels() -> None:
    method = METHODS.open("cutmix")
    own = torch.arange(5, dtype=torch.uint8)[:, None, None, None].expand(5, 3, 16, 12).clone()
    torch.manual_seed(0)
    shares = set()
    for _ in range(20):
        mixed, labels = method.augment(own)
        assert labels is not None
        others, share = labels
        assert mixed.shape == own.shape
        counted = (mixed == own).float().mean(dim=(1, 2, 3))
        torch.testing.assert_close(counted, torch.full((5,), share))
        torch.testing.assert_close(mixed[mixed != own], own[others][mixed != own])
        shares.add(round(share, 3))
    assert len(shares) > 5
    assert method.augment(own[:1])[1] == (torch.zeros(1, dtype=torch.int64), 1.0)


def test_rand_augment_follows_the_generator() -> None:
    method = METHODS.open("rand-augment")
    images = torch.randint(0, 256, (6, 3, 20, 20), dtype=torch.uint8)
    changed = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        result, labels = method.augment(images)
        assert labels is None
        assert (result.shape, result.dtype) == (images.shape, images.dtype)
        changed.append(result)
    assert torch.equal(changed[0], changed[1])
    assert not torch.equal(changed[0], changed[2])


@pytest.mark.parametrize("name", ["cutmix", "rand-augment"])
def test_augmentations_have_equal_numbers_of_images(name: str) -> None:
    rows = METHODS.open(name, {"added": 7}).rows(examples(), np.random.default_rng(0))
    assert np.bincount(rows).sum() == 11
    assert set(np.bincount(rows)) <= {2, 3}
    assert len(METHODS.open(name).rows(examples(), np.random.default_rng(0))) == 4


@pytest.mark.parametrize("name", ["domain-independent", "domain-discriminative", "adversarial"])
def test_domains_are_needed(name: str) -> None:
    with pytest.raises(DataError, match="two domains or more, and these are of one"):
        METHODS.open(name).prepare(examples(domains=[1, 1, 1, 1]))
    with pytest.raises(DataError, match="domain of each image, and that of 1 of 4 is unknown"):
        METHODS.open(name).prepare(examples(domains=[0, -1, 1, 1]))


def own_losses(method: Method, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, float]]:
    """Epoch and mean of each batch's losses, as the method is trained."""
    kind = next(one for one in type(method).__mro__ if "losses" in vars(one))
    original, seen = kind.losses, []

    def losses(self: Method, given: Batch) -> torch.Tensor:
        found = original(self, given)
        seen.append((given.epoch, float(found.detach().mean())))
        return found

    monkeypatch.setattr(kind, "losses", losses)
    return seen


FOR_LEARNERS = [name for name in METHODS if not vars(METHODS[name])["own_model"]]
SEVERAL_LABELS = [name for name in FOR_LEARNERS if vars(METHODS[name])["multi_label"]]
SMALL_OPTIONS: dict[str, dict[str, Any]] = {"jtt": {"times": 2}, "dfr": {"refits": 2, "c": (1.0,)}}


@pytest.mark.parametrize("name", FOR_LEARNERS)
def test_each_method_lowers_its_loss(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what it trains tells new images apart, and is the same for the same seed."""
    method = METHODS.open(name, SMALL_OPTIONS.get(name, {}))
    seen = own_losses(method, monkeypatch)
    learner = NetworkLearner(NetworkOptions(**{**TINY, "epochs": 4, "select": "last"}), Run(0))
    training, validation = tiny_examples(32, share=0.6), tiny_examples(24, seed=1, share=0.5)
    test = tiny_examples(20, seed=2, share=0.5)
    model = method.train(learner, training, validation, Run(0))
    every = 3 if name == "adversarial" else 1
    main = [(epoch, loss) for epoch, loss in seen if epoch % every == 0]
    first = np.mean([loss for epoch, loss in main if epoch == 0])
    last = np.mean([loss for epoch, loss in main if epoch == main[-1][0]])
    assert last < first
    probabilities = model.probabilities(test)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities.argmax(axis=1) == test.labels).mean() >= 0.7
    if name in ("group-dro", "cutmix", "rand-augment", "dfr"):
        again = method.train(learner, training, validation, Run(0)).probabilities(test)
        np.testing.assert_array_equal(probabilities, again)


@pytest.mark.parametrize("name", SEVERAL_LABELS)
def test_several_labels(name: str) -> None:
    """Every method that says it takes several labels an image does."""
    method = METHODS.open(name, SMALL_OPTIONS.get(name, {}))
    learner = NetworkLearner(NetworkOptions(**{**TINY, "epochs": 1}), Run(0))
    training = tiny_examples(16, multi_label=True)
    model = method.train(learner, training, tiny_examples(8, seed=1, multi_label=True), Run(0))
    probabilities = model.probabilities(training)
    assert probabilities.shape == (16, 2)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()


@pytest.mark.parametrize("name", ["domain-independent", "adversarial", "group-dro"])
def test_what_no_training_image_shows_changes_nothing(name: str) -> None:
    """Domains and groups that only test images have leave gaps in the codes."""
    images = tiny_examples(16)
    gaps = replace(images, domains=2 * images.domains + 1, groups=images.groups + 3)
    found = [
        METHODS.open(name)
        .train(
            NetworkLearner(NetworkOptions(**{**TINY, "epochs": 1, "select": "last"}), Run(0)),
            training,
            None,
            Run(0),
        )
        .probabilities(images)
        for training in (images, gaps)
    ]
    np.testing.assert_array_equal(*found)


def test_upweight_of_equal_groups_is_erm() -> None:
    """To the last bit."""
    groups = np.arange(16) % 4
    found = []
    for name in ("erm", "upweight"):
        learner = NetworkLearner(NetworkOptions(**{**TINY, "select": "last"}), Run(0))
        images = tiny_examples(16)
        equal = Examples(images.ids, images.labels, groups, groups, images.classes, images.read)
        found.append(METHODS.open(name).train(learner, equal, None, Run(0)).probabilities(images))
    np.testing.assert_array_equal(*found)
