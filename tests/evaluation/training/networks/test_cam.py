"""GradCAM on CNNs, windowed and plain transformers, against gradients computed here."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
import torch

from cobalance.evaluation.training.examples import Examples, Floats
from cobalance.evaluation.training.networks.cam import grad_cam
from cobalance.evaluation.training.networks.model import NetworkModel
from cobalance.vision.models.classifiers import Classifier, Network, open_backbone, width_of
from cobalance.vision.models.options import ModelOptions
from tests.tiny.labelled import tiny_examples


def untrained(architecture: str, image_px: int = 64, n_domains: int = 1) -> NetworkModel:
    torch.manual_seed(3)
    options = ModelOptions(model=architecture)
    backbone, settings = open_backbone(options, pretrained=False, image_px=image_px)
    head = torch.nn.Linear(width_of(backbone), 2 * n_domains)
    settings = replace(settings, classes=("red", "blue"), n_outputs=2 * n_domains)
    classifier = Classifier(
        Network(backbone, head), settings, torch.device("cpu"), torch.float32, 4
    )
    return NetworkModel(classifier)


def inputs_of(model: NetworkModel, images: Examples) -> torch.Tensor:
    settings = model.classifier.settings
    pixels = [settings.squeeze(one) for one in images.read(np.arange(len(images)))]
    return settings.normalise(torch.stack(pixels))


def expected(activations: torch.Tensor, gradients: torch.Tensor) -> Floats:
    """Channels first: gradients averaged over places, weighted sum, positive part, 0 to 1."""
    weights = gradients.mean(dim=(2, 3), keepdim=True)
    maps = (weights * activations).sum(dim=1).clamp(min=0).detach().numpy()
    small = []
    for one in maps:
        low = one - one.min()
        small.append(low / (1e-7 + low.max()))
    return np.array(small)


def test_cnn() -> None:
    model, images = untrained("test_resnet", 128), square(tiny_examples(3, size_px=128))
    network = model.classifier.network.eval()
    maps = network.backbone.forward_features(inputs_of(model, images))
    maps.retain_grad()
    network.head(network.backbone.forward_head(maps))[[0, 1, 2], [1, 0, 1]].sum().backward()
    check(grad_cam(model, images, np.array([1, 0, 1])), expected(maps, maps.grad))


def check(found: Iterable[np.ndarray], small: Floats) -> None:
    """Maps look like these small ones, enlarged."""
    for one, wanted in zip(found, small, strict=True):
        assert one.shape == (128, 128)
        assert 0 <= one.min() <= one.max() <= 1
        means = one.reshape(4, 32, 4, 32).mean(axis=(1, 3))
        np.testing.assert_allclose(means, wanted, atol=0.25)
        assert np.corrcoef(means.ravel(), wanted.ravel())[0, 1] > 0.95


def square(images: Examples) -> Examples:
    """The same images, cut to 128 pixels."""

    def read(rows: np.ndarray) -> list[np.ndarray]:
        return [image[:128, :128] for image in images.read(rows)]

    return replace(images, read=read)


def test_vit() -> None:
    """By the tokens of patches before the last attention; that of the class is left out."""
    model, images = untrained("test_vit"), square(tiny_examples(2, size_px=128))
    network = model.classifier.network.eval()
    kept = []

    def keep(module: torch.nn.Module, given: object, tokens: torch.Tensor) -> None:
        tokens.retain_grad()
        kept.append(tokens)

    hook = network.backbone.blocks[-1].norm1.register_forward_hook(keep)
    network(inputs_of(model, images))[[0, 1], [0, 0]].sum().backward()
    hook.remove()
    (tokens,) = kept
    maps, gradients = (
        values[:, 1:].reshape(2, 4, 4, -1).permute(0, 3, 1, 2) for values in (tokens, tokens.grad)
    )
    small = expected(maps, gradients)
    check(grad_cam(model, images, np.array([0, 0])), small)


@pytest.mark.parametrize(
    "architecture", ["test_convnext", "test_efficientnet", "swin_tiny_patch4_window7_224"]
)
def test_other_networks_at_each_image_s_size(architecture: str) -> None:
    """Also with images of several sizes, and outputs for each of two domains."""
    image_px = 224 if "swin" in architecture else 64
    model, images = untrained(architecture, image_px, n_domains=2), tiny_examples(2)
    found = list(grad_cam(model, images))
    shapes = [image.shape[:2] for image in images.read(np.arange(2))]
    assert [one.shape for one in found] == shapes
    assert all(np.isfinite(one).all() and 0 <= one.min() <= one.max() <= 1 for one in found)


def test_finds_the_only_thing_there() -> None:
    """A network that reads one channel of its maps sees where that is active."""
    model = untrained("test_resnet", 128)
    network = model.classifier.network
    image = np.zeros((128, 128, 3), np.uint8)
    image[:48, 80:] = (255, 40, 200)
    images = Examples(["a"], np.array([0]), np.array([0]), np.array([0]), ["red", "blue"],
                      lambda rows: [image])  # fmt: skip
    with torch.no_grad():
        maps = network.eval().backbone.forward_features(inputs_of(model, images))[0]
        network.head.weight.zero_()
        channel = int(maps.amax(dim=(1, 2)).argmax())
        network.head.weight[0, channel] = 1
    (found,) = grad_cam(model, images, np.array([0]))
    peak = np.unravel_index(found.argmax(), found.shape)
    rows, columns = maps.shape[1:]
    row, column = np.unravel_index(int(maps[channel].argmax()), (rows, columns))
    assert (peak[0] * rows // 128, peak[1] * columns // 128) == (row, column)
