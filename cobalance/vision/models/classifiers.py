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

from cobalance.base import JobBlockedError, OptionError
from cobalance.vision.images import ImageArray
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
        return self.head(self.backbone(images))


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
        return pictures.resize(pixels, size, antialias=True)

    def normalise(self, pixels: torch.Tensor) -> torch.Tensor:
        """Normalise uint8 pixels for the network, shape (n_images, 3, …)."""
        mean = torch.tensor(self.mean, device=pixels.device)[:, None, None]
        std = torch.tensor(self.std, device=pixels.device)[:, None, None]
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
        # Without images there is a table without rows.
        rows = [np.empty((0, len(self.settings.classes)))]
        for start in range(0, len(images), self.batch_size):
            batch = images[start : start + self.batch_size]
            pixels = torch.stack(list(map(self.settings.squeeze, batch)))
            rows.append(self.settings.read_out(self.run(pixels)).cpu().numpy())
        return np.concatenate(rows)

    def run(self, pixels: torch.Tensor, *, features: bool = False) -> torch.Tensor:
        """Outputs for a batch of uint8 pixels, or the features below the head."""
        half = self.dtype != torch.float32
        with (
            out_of_memory(f"the classifier on {len(pixels)} images"),
            torch.inference_mode(),
            torch.autocast(self.device.type, self.dtype, enabled=half),
        ):
            values = self.network.eval().backbone(self.settings.normalise(pixels.to(self.device)))
            result: torch.Tensor = values if features else self.network.head(values)
            return result.float()

    def save(self, folder: Path) -> None:
        """Save weights and settings, to open with `open_classifier`."""
        folder.mkdir(parents=True, exist_ok=True)
        state = self.network.state_dict()
        weights = {name: values.contiguous() for name, values in state.items()}
        save_file(weights, folder / WEIGHTS_FILE, {"format": "pt"})

        # The settings come last, and at once: where they are, the model is whole.
        text = json.dumps(vars(self.settings), indent=2, ensure_ascii=False)
        unfinished = folder / f"{MODEL_FILE}.unfinished"
        unfinished.write_text(text, "utf-8")
        unfinished.replace(folder / MODEL_FILE)


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
    about["software"] = software("torch", "timm", "torchvision")

    config = backbone.pretrained_cfg
    usual_px = config["input_size"][-1]
    if image_px is not None and image_px != usual_px:
        what = f"The model {options.model} cannot take images of {image_px} px"
        _resize(backbone, image_px, what)
    return backbone, ClassifierSettings(
        architecture=config["architecture"],
        image_px=image_px or usual_px,
        mean=tuple(config["mean"]),
        std=tuple(config["std"]),
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
    # JSON has lists where the settings have tuples.
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
        # Some models refuse a size only when they get an image of it.
        with torch.inference_mode():
            backbone.eval()(torch.zeros(1, 3, image_px, image_px))
    except (AssertionError, ValueError, RuntimeError) as error:
        raise OptionError(f"{what}: {describe_error(error)}. Use another size.") from error

    # Parameters that were resampled have other strides, and with them other rounding.
    for values in backbone.parameters():
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
    """Load a pretrained backbone without its head; JobBlockedError for a model of others."""
    values = checkpoint.read_config(MODEL_FILE)
    architecture = values.get("architecture")
    if not isinstance(architecture, str) or checkpoint.weights != (WEIGHTS_FILE,):
        raise JobBlockedError(
            f"The model {checkpoint.name} is not one of timm: its {MODEL_FILE} names no "
            f"architecture. Give a repository of the hub as timm/NAME, or a folder of such a model."
        )

    backbone = _create(architecture)
    config = values.get("pretrained_cfg", {})
    backbone.pretrained_cfg.update(
        {name: config[name] for name in ("input_size", "mean", "std") if name in config}
    )

    # One head, or several: that of a distilled model is beside the usual one.
    heads = config.get("classifier") or backbone.pretrained_cfg.get("classifier") or ()
    if isinstance(heads, str):
        heads = (heads,)
    prefixes = tuple(f"{head}." for head in heads)
    weights = load_file(checkpoint.folder / WEIGHTS_FILE)
    body = {name: tensor for name, tensor in weights.items() if not name.startswith(prefixes)}
    return fill(backbone, body, checkpoint.name)
