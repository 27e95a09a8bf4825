"""Inception-v3 as in the FID: the last pooling layer of the network of 2015.

Szegedy et al., "Rethinking the Inception Architecture for Computer Vision" (CVPR 2016); network,
resizing and weights are those of torch-fidelity, which gives the figures of the original code.
"""

import io
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np
from pydantic import Field

from cobalance.base import JobBlockedError, OptionError, Options, Plugin, torch
from cobalance.evaluation.training.examples import Examples, Floats, split_rows
from cobalance.evaluation.training.features.features import Features
from cobalance.vision import choose_device, describe_error, out_of_memory, read_weights

WEIGHTS = "weights-inception-2015-12-05-6726825d.pth"
"""The published weights, of torch-fidelity's release 0.2.0."""
_SHA256 = "6726825d0af5f729cebd5821db510b11b1cfad8faad88a03f1befd49fb9129b2"


class InceptionOptions(Options):
    """Options of the features inception.

    Parameters
    ----------
    weights : str
        Path of weights-inception-2015-12-05-6726825d.pth from torch-fidelity's release 0.2.0, or
        of the same as safetensors. Nothing is downloaded.
    sha256 : str
        Digest of a file that is not safetensors; by default that of the published weights.
    layer : {"64", "192", "768", "2048"}
        How many features: those of which pooling layer.
    device : str
        A device of torch, or ``auto`` for a GPU if there is one.
    batch_size : int
        Images per batch; fewer need less memory.
    """

    weights: str = ""
    sha256: str = _SHA256
    layer: Literal["64", "192", "768", "2048"] = "2048"
    device: str = "auto"
    batch_size: int = Field(default=32, ge=1, le=1024)


PLUGIN = Plugin(
    "inception",
    "Features of Inception-v3, as of the FID.",
    "train",
    InceptionOptions,
    licence="Apache License 2.0",
)


@dataclass(frozen=True, eq=False)
class InceptionFeatures(Features):
    """Features of torch-fidelity's Inception network, for images of any size."""

    network: Any
    device: Any
    batch_size: int

    def read(self, images: Examples) -> Floats:
        """Features of images, shape (n_images, n_features)."""
        batches = map(images.read, split_rows(np.arange(len(images)), self.batch_size))
        return np.concatenate(list(map(self._embed, batches))).astype(np.float64)

    def _embed(self, images: list[Any]) -> Any:
        """Features of a batch, of which images of one size go through the network together."""
        features = []
        with out_of_memory(f"features of {len(images)} images"), torch.inference_mode():
            for _, same_size in groupby(images, key=np.shape):
                pixels = torch.from_numpy(np.stack(list(same_size))).permute(0, 3, 1, 2)
                features.append(self.network(pixels.to(self.device))[0].float().cpu().numpy())
        return np.concatenate(features)


def open_features(options: InceptionOptions) -> InceptionFeatures:
    """Load the weights.

    torch-fidelity would unpickle a file without restrictions: it is given what `read_weights` read.

    Raises
    ------
    OptionError
        No weights are named.
    JobBlockedError
        They are missing, damaged or of another network.
    """
    if not options.weights:
        raise OptionError(
            f"The features inception need weights, and download none. Give the path of {WEIGHTS} "
            "of torch-fidelity's release 0.2.0 on GitHub as the option weights."
        )
    from torch_fidelity.feature_extractor_inceptionv3 import FeatureExtractorInceptionV3

    # The default digest is the published file's; the same weights as safetensors have another.
    is_converted = options.weights.endswith(".safetensors") and options.sha256 == _SHA256
    digest = None if is_converted else options.sha256
    device = choose_device(options.device)
    # The network reads a file of its own: give it the weights that were checked.
    checked = io.BytesIO()
    torch.save(read_weights(options.weights, digest), checked)
    checked.seek(0)

    try:
        network = FeatureExtractorInceptionV3("inception", [options.layer], checked)
    except RuntimeError as error:
        raise JobBlockedError(
            f"The weights {options.weights} do not fit the network: {describe_error(error)}. Give "
            f"{WEIGHTS}."
        ) from error
    return InceptionFeatures(network.to(device), device, options.batch_size)
