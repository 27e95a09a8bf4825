"""GradCAM: where in an image a network sees a class."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from cobalance.base import DataError
from cobalance.evaluation.training.examples import Examples, IntArray
from cobalance.evaluation.training.networks.model import NetworkModel, consecutive
from cobalance.evaluation.training.networks.pixels import read_batches
from cobalance.vision import ClassifierSettings, Network

Map = npt.NDArray[np.float32]
BATCH_SIZE = 16


class _LastMaps(torch.nn.Module):
    """A network whose last feature maps pass through `tap`."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        self.tap = torch.nn.Identity()

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        maps = self.tap(self.network.backbone.forward_features(images))
        return self.network.head(self.network.backbone.forward_head(maps))


@dataclass(frozen=True)
class _Score:
    """The differentiated score: a class's output; of several domains, their log-sum-exp."""

    label: int
    n_classes: int

    def __call__(self, outputs: torch.Tensor) -> torch.Tensor:
        return outputs.reshape(-1, self.n_classes)[:, self.label].logsumexp(dim=0)


def grad_cam(
    model: NetworkModel, images: Examples, labels: IntArray | None = None
) -> Iterator[Map]:
    """GradCAM of each image, at its size, from 0 to 1.

    The layer is a CNN's last feature maps, and of a ViT the norm before its last attention, since
    after it the class token alone counts. A map without any positive part is 0 throughout.

    Parameters
    ----------
    model : NetworkModel
        A trained network.
    images : Examples
        Their labels are not read.
    labels : int64 array, shape (n_images,), optional
        The class that each map is of, as an index; by default the one that the model predicts.

    Yields
    ------
    float32 array, shape (height, width)
        Of each image, in order.

    Raises
    ------
    DataError
        The model has no feature maps.

    References
    ----------
    Selvaraju, R. R. et al., *Grad-CAM: Visual Explanations from Deep Networks via Gradient-based
    Localization* (ICCV 2017), section 3.
    """
    from pytorch_grad_cam import GradCAM

    if labels is None:
        labels = model.probabilities(images).argmax(axis=1)
    classifier = model.classifier
    settings, network = classifier.settings, classifier.network.eval()
    whole, layer = _layer(network)
    sizes: dict[int, tuple[int, int]] = {}

    def fit(image: Any, position: int) -> torch.Tensor:
        # Images are read ahead: each map is scaled to the size that its image had.
        sizes[position] = image.shape[:2]
        return settings.squeeze(image)

    n_done = 0
    arrange = partial(_arrange, network.backbone, settings)
    batches = consecutive(len(images), BATCH_SIZE)
    with GradCAM(whole, [layer], reshape_transform=arrange) as cam:
        for rows, pixels in read_batches(images, batches, fit):
            inputs = settings.normalise(pixels.to(classifier.device))
            targets = [_Score(int(label), len(settings.classes)) for label in labels[rows]]
            maps = torch.from_numpy(np.asarray(cam(inputs, targets), dtype=np.float32))
            for small_map in maps:
                size = sizes.pop(n_done)
                n_done += 1
                scaled = functional.interpolate(small_map[None, None], size, mode="bilinear")
                yield scaled[0, 0].numpy()


def _layer(network: Network) -> tuple[torch.nn.Module, torch.nn.Module]:
    """The network to run, and the module whose output is explained."""
    backbone = network.backbone
    if getattr(backbone, "blocks", None) is not None and hasattr(backbone, "num_prefix_tokens"):
        return network, backbone.blocks[-1].norm1

    if not hasattr(backbone, "forward_features"):
        raise DataError(
            f"GradCAM does not know the feature maps of {type(backbone).__name__}. Train a network "
            "with timm's forward_features, such as a ResNet or a ViT."
        )

    whole = _LastMaps(network)
    return whole, whole.tap


def _arrange(backbone: Any, settings: ClassifierSettings, values: torch.Tensor) -> torch.Tensor:
    """Feature maps, shape (n_images, channels, height, width), from a layer's output."""
    if values.ndim == 3:
        # Tokens, with those of the class before those of patches.
        values = values[:, getattr(backbone, "num_prefix_tokens", 0) :]
        height, width = backbone.patch_embed.patch_size
        rows, columns = settings.image_px // height, settings.image_px // width
        return values.reshape(len(values), rows, columns, -1).permute(0, 3, 1, 2)

    if getattr(backbone, "output_fmt", "NCHW") == "NHWC":
        return values.permute(0, 3, 1, 2)
    return values
