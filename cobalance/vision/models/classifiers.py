"""Image classifiers of timm with a linear head: pretrained backbones, and trained ones in a folder.

Weights are safetensors files alone. The licence of pretrained weights is their publisher's; the
hub's page of each names it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import timm
import torch
from safetensors.torch import load_file, save_file
from torchvision.transforms.v2 import functional as pictures

from cobalance.base.errors import JobBlockedError, OptionError
from cobalance.vision.images.arrays import ImageArray
from cobalance.vision.models.checkpoints import Checkpoint, describe_error, find_checkpoint
from cobalance.vision.models.devices import SMALLER_MODEL, out_of_memory
from cobalance.vision.models.loading import software
from cobalance.vision.models.options import ModelOptions
from cobalance.vision.models.weight_files import MODEL_FILE
from cobalance.vision.models.weights import fill

WEIGHTS_FILE = "model.safetensors"


class Network(torch.nn.Module):
    """A backbone and a linear head."""

    def __init__(self, backbone: Any, head: torch.nn.Linear) -> None:
        super().__init__()
        self.backbone, self.head = backbone, head

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Outputs of normalised images, shape (n_images, n_outputs)."""
        outputs: torch.Tensor = self.head(self.backbone(images))
        return outputs


@dataclass(frozen=True)
class ClassifierSettings:
    """Settings of a classifier, saved beside its weights.

    Parameters
    ----------
    architecture : str
        Its name in timm.
    image_px : int
        Side of the square that images are resized to.
    mean, std : tuple of float
        What pixels are normalised with, from 0 to 1.
    classes : tuple of str
        In the order of the outputs.
    multi_label : bool
        Whether an image may have several classes, or none.
    n_outputs : int
        A multiple of the number of classes: as many outputs for each domain, domain by domain.
    confidence : mapping of str to float
        Mean probability of each class in held-out images of the class.
    about : mapping
        Where it is from, for provenance; JSON values.
    """

    architecture: str
    image_px: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    classes: tuple[str, ...] = ()
    multi_label: bool = False
    n_outputs: int = 0
    confidence: Mapping[str, float] | None = None
    about: Mapping[str, Any] | None = None

    def squeeze(self, image: ImageArray) -> torch.Tensor:
        """The whole image as a uint8 tensor, shape (3, image_px, image_px)."""
        pixels = torch.tensor(image).permute(2, 0, 1)
        size = [self.image_px, self.image_px]
        squeezed: torch.Tensor = pictures.resize(pixels, size, antialias=True)
        return squeezed

    def normalise(self, pixels: torch.Tensor) -> torch.Tensor:
        """Normalise uint8 pixels for the network, shape (n_images, 3, …)."""
        mean, std = (
            torch.tensor(values, device=pixels.device)[:, None, None]
            for values in (self.mean, self.std)
        )
        return (pixels.float() / 255 - mean) / std

    def read_out(self, outputs: torch.Tensor) -> torch.Tensor:
        """Probability of each class from outputs.

        The softmax over all of them, summed over domains; with several labels an image, the sigmoid
        of each, summed over domains to 1 at most.
        """
        shape = len(outputs), -1, len(self.classes)
        if self.multi_label:
            return outputs.double().sigmoid().reshape(shape).sum(dim=1).clamp(max=1)
        return outputs.double().softmax(dim=1).reshape(shape).sum(dim=1)


@dataclass(frozen=True, eq=False)
class Classifier:
    """A classifier on its device."""

    network: Network
    settings: ClassifierSettings
    device: torch.device
    dtype: torch.dtype
    batch_size: int

    def predict(self, images: Sequence[ImageArray]) -> npt.NDArray[np.float64]:
        """Probabilities, shape (n_images, n_classes); OutOfMemoryError for too large a batch."""
        rows = [np.empty((0, len(self.settings.classes)))]
        for start in range(0, len(images), self.batch_size):
            some = images[start : start + self.batch_size]
            pixels = torch.stack([self.settings.squeeze(image) for image in some])
            rows.append(self.settings.read_out(self.run(pixels)).cpu().numpy())
        return np.concatenate(rows)

    def run(self, pixels: torch.Tensor, *, features: bool = False) -> torch.Tensor:
        """Outputs for a batch of uint8 pixels, or the features below the head."""
        kind = self.device.type
        half = self.dtype != torch.float32
        with (
            out_of_memory(f"the classifier on {len(pixels)} images"),
            torch.inference_mode(),
            torch.autocast(kind, self.dtype, enabled=half),
        ):
            values = self.network.eval().backbone(self.settings.normalise(pixels.to(self.device)))
            result: torch.Tensor = values if features else self.network.head(values)
            return result.float()

    def save(self, folder: Path) -> None:
        """Save weights and settings, to open with `open_classifier`."""
        folder.mkdir(parents=True, exist_ok=True)
        save_file(
            {name: values.contiguous() for name, values in self.network.state_dict().items()},
            folder / WEIGHTS_FILE,
            {"format": "pt"},
        )
        text = json.dumps(vars(self.settings), indent=2, ensure_ascii=False)
        unfinished = folder / f"{MODEL_FILE}.unfinished"
        unfinished.write_text(text, "utf-8")
        unfinished.replace(folder / MODEL_FILE)  # the last, so that it tells the model is whole


def open_backbone(
    options: ModelOptions, *, pretrained: bool = True, image_px: int | None = None
) -> tuple[Any, ClassifierSettings]:
    """Open a backbone without a head: weights of a folder or the hub, or random ones.

    Parameters
    ----------
    options : ModelOptions
        The model: a folder or a repository of the hub that timm wrote; without pretrained weights
        the name of an architecture of timm.
    pretrained : bool
        Whether to load weights; else they are random, by torch's generator.
    image_px : int or None
        Side of the images; None for the model's own.

    Raises
    ------
    OptionError
        timm has no such architecture, or the model cannot take images of this size.
    JobBlockedError
        The model is missing, incomplete or not one of timm.
    """
    if not pretrained:
        backbone = _create(options.model)
        about: dict[str, Any] = {"model": options.model, "weights": "random"}
    else:
        checkpoint = find_checkpoint(options.model, options.revision, options.offline)
        backbone = _load(checkpoint)
        about = {
            "model": checkpoint.label,
            "revision": checkpoint.revision,
            "weights_sha256": checkpoint.weights_sha256,
        }
    given = backbone.pretrained_cfg
    own_px = given["input_size"][-1]
    if image_px is not None and image_px != own_px:
        _resize(
            backbone, image_px, f"The model {options.model} cannot take images of {image_px} px"
        )
    about["software"] = software("torch", "timm", "torchvision")
    return backbone, ClassifierSettings(
        given["architecture"],
        image_px or own_px,
        tuple(given["mean"]),
        tuple(given["std"]),
        about=about,
    )


def open_classifier(options: ModelOptions, device: torch.device, dtype: torch.dtype) -> Classifier:
    """Open a classifier that `Classifier.save` saved.

    Raises
    ------
    JobBlockedError
        There is none, or it is damaged or of another kind.
    OutOfMemoryError
        The device has no room for it.
    """
    checkpoint = find_checkpoint(options.model, options.revision, options.offline)
    values = checkpoint.read_config(MODEL_FILE)
    try:
        settings = ClassifierSettings(**values)
    except TypeError as error:
        raise JobBlockedError(
            f"The model {checkpoint.name} is not a classifier that cobalance has trained: its "
            f"{MODEL_FILE} has other entries. Give the folder of a training run's model."
        ) from error
    settings = replace(
        settings,
        classes=tuple(settings.classes),
        about={**(settings.about or {}), "weights_sha256": checkpoint.weights_sha256},
    )
    backbone = _create(settings.architecture)
    _resize(backbone, settings.image_px, checkpoint.name)
    network = Network(backbone, torch.nn.Linear(width_of(backbone), settings.n_outputs))
    fill(network, load_file(checkpoint.folder / WEIGHTS_FILE), checkpoint.name)
    with out_of_memory(f"the model {checkpoint.label}", SMALLER_MODEL):
        network = network.to(device)
    return Classifier(network, settings, device, dtype, options.batch_size)


def _resize(backbone: Any, image_px: int, what: str) -> None:
    """Prepare a backbone for images of another size, where it depends on that."""
    try:
        if hasattr(backbone, "set_input_size"):
            backbone.set_input_size((image_px, image_px))
        with torch.inference_mode():
            backbone.eval()(torch.zeros(1, 3, image_px, image_px))
    except (AssertionError, ValueError, RuntimeError) as error:
        raise OptionError(f"{what}: {describe_error(error)}. Use another size.") from error
    for values in backbone.parameters():  # resampled ones have other strides, and other rounding
        values.data = values.data.contiguous()


def width_of(backbone: Any) -> int:
    """How many features a backbone gives."""
    return int(getattr(backbone, "head_hidden_size", None) or backbone.num_features)


def _create(architecture: str) -> Any:
    try:
        return timm.create_model(architecture, pretrained=False, num_classes=0)
    except RuntimeError as error:
        raise OptionError(
            f"timm has no architecture {architecture!r}. Give the name of one, such as resnet50."
        ) from error


def _load(checkpoint: Checkpoint) -> Any:
    values = checkpoint.read_config(MODEL_FILE)
    architecture = values.get("architecture")
    if not isinstance(architecture, str) or checkpoint.weights != (WEIGHTS_FILE,):
        raise JobBlockedError(
            f"The model {checkpoint.name} is not one of timm: its {MODEL_FILE} names no "
            f"architecture. Give a repository of the hub as timm/NAME, or a folder of such a model."
        )
    backbone = _create(architecture)
    given = values.get("pretrained_cfg", {})
    backbone.pretrained_cfg.update(
        {name: given[name] for name in ("input_size", "mean", "std") if name in given}
    )
    heads = given.get("classifier") or backbone.pretrained_cfg.get("classifier") or ()
    heads = tuple(f"{head}." for head in ((heads,) if isinstance(heads, str) else heads))
    weights = load_file(checkpoint.folder / WEIGHTS_FILE)
    body = {name: tensor for name, tensor in weights.items() if not name.startswith(heads)}
    return fill(backbone, body, checkpoint.name)
