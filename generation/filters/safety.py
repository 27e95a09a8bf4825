"""Safety filter: reject images flagged by Stable Diffusion's safety checker."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from generation.filters.filter import FilterPlugin, Judgement
from generation.image_request import GeneratedImage, ImageRequest
from graph.errors import JobBlockedError
from ingest.images.arrays import ImageArray
from ingest.models.options import ModelOptions

if TYPE_CHECKING:
    import torch

    from ingest.models.checkpoints import Checkpoint
    from ingest.models.vision import VisionModel

SAFETY_REVISION = "refs/pr/41"
"""A pull request that has the default checker's weights as safetensors, in half precision: its
main branch has a pickle alone, which is refused."""


class SafetyOptions(ModelOptions):
    """Model and settings of the safety checker.

    Parameters
    ----------
    model : str
        As for any model; a folder may be the ``safety_checker`` of a pipeline with safetensors.
    """

    model: str = "CompVis/stable-diffusion-safety-checker"


PLUGIN = FilterPlugin(
    "safety",
    "The image is safe to look at.",
    extra="models",
    options=SafetyOptions,
)


PROCESSOR_FILE = "preprocessor_config.json"


@dataclass(frozen=True, eq=False)
class SafetyFilter:
    """Rejects images that the checker flags; the score is 1 for a safe image, else 0.

    The checker compares CLIP's embedding of an image with those of 17 concepts that its authors
    published as vectors alone. They were found to be about sexual content, and not about violence
    or gore [1]_: a safe image of this filter need not be safe for everyone.

    Parameters
    ----------
    options : SafetyOptions
        Which checker.
    vision : VisionModel
        A `StableDiffusionSafetyChecker`.

    References
    ----------
    .. [1] Rando, J. et al., *Red-teaming the Stable Diffusion safety filter* (2022).
    """

    options: SafetyOptions
    vision: "VisionModel"

    def judge(
        self, requests: Sequence[ImageRequest], made: Sequence[GeneratedImage]
    ) -> list[Judgement]:
        """Judge a batch without changing the images."""
        images = [one.image for _, one in zip(requests, made, strict=True)]
        with self.vision.computing(f"the safety checker on {len(made)} images"):
            flags = [
                flag for batch in self.vision.batches(images) for flag in self._is_flagged(batch)
            ]
        return [_judgement(flag) for flag in flags]

    def describe(self) -> Mapping[str, Any]:
        """The model with its weights."""
        described = self.vision.describe()
        packages = described["software"] | {"diffusers": version("diffusers")}
        return {"filter": "safety", "settings": {}, **described, "software": packages}

    def _is_flagged(self, images: Sequence[ImageArray]) -> list[bool]:
        # The checker blackens what it is given as images: it gets stand-ins.
        stand_ins = [np.empty(0) for _ in images]
        _, flags = self.vision.model(clip_input=self.vision.pixels(images), images=stand_ins)
        return [bool(flag) for flag in flags]


def _judgement(flagged: bool) -> Judgement:
    if flagged:
        return Judgement(0.0, accepted=False, reason="The safety checker flags the image.")
    return Judgement(1.0, accepted=True)


def open_filter(options: SafetyOptions) -> SafetyFilter:
    """Open the filter and load its model; see `graph.plugins.Plugins`."""
    from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker
    from transformers import CLIPImageProcessorPil

    from ingest.models.loading import load_processor
    from ingest.models.vision import find_model, open_vision

    # It warns that a black image is returned, which is not so here.
    logging.getLogger(StableDiffusionSafetyChecker.__module__).setLevel(logging.ERROR)
    checkpoint = find_model(options, SAFETY_REVISION)
    processor = load_processor(CLIPImageProcessorPil, _with_processor(checkpoint))
    vision = open_vision(
        options, checkpoint, StableDiffusionSafetyChecker, processor, _load_checker
    )
    return SafetyFilter(options, vision)


def _with_processor(checkpoint: "Checkpoint") -> "Checkpoint":
    """Folder of the image processor: in a pipeline, next to the checker's."""
    beside = checkpoint.folder.parent / "feature_extractor"
    if not (checkpoint.folder / PROCESSOR_FILE).exists() and (beside / PROCESSOR_FILE).exists():
        return replace(checkpoint, folder=beside)
    return checkpoint


def _load_checker(kind: Any, checkpoint: "Checkpoint", dtype: "torch.dtype") -> Any:
    """The checker with all of its weights: diffusers defines it, and transformers loads it."""
    from ingest.models.loading import quiet

    where = f"The model {checkpoint.name}"
    try:
        with quiet():
            model, report = kind.from_pretrained(
                str(checkpoint.folder),
                local_files_only=True,
                use_safetensors=True,
                output_loading_info=True,
                dtype=dtype,
                variant=checkpoint.variant,
            )
    except Exception as error:  # a library's loader raises whatever the files make it raise
        raise JobBlockedError(
            f"{where} cannot be loaded as {kind.__name__}: {error}. Check that it is one."
        ) from error
    # transformers fills such tensors with random numbers
    lacking = sorted({*report["missing_keys"], *(key[0] for key in report["mismatched_keys"])})
    if lacking:
        raise JobBlockedError(
            f"{where} is not a complete {kind.__name__}: {len(lacking)} of its tensors are "
            f"missing, such as {lacking[0]}. Give a model that was trained as one."
        )
    return model
