"""Safety filter: reject images flagged by Stable Diffusion's safety checker."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from cobalance.base import transformers
from cobalance.generation.filters.filter import FilterPlugin, Judgement, Said
from cobalance.generation.image_request import GeneratedImage, ImageRequest
from cobalance.vision import ImageArray, ModelOptions, VisionModel, open_vision

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
    licence="none named on the hub",
    says=lambda found, _: (
        Said("Not flagged by the safety checker")
        if found.score
        else Said("Flagged by the safety checker", enough=False)
    ),
)


@dataclass(frozen=True, eq=False)
class SafetyFilter:
    """Rejects images that the checker flags; the score is 1 for a safe image, else 0.

    The checker compares CLIP's embedding of an image with those of 17 concepts that its authors
    published as vectors alone. They were found to be about sexual content, and not about violence
    or gore [1]_: a safe image of this filter need not be safe for everyone.

    References
    ----------
    .. [1] Rando, J. et al., *Red-teaming the Stable Diffusion safety filter* (2022).
    """

    options: SafetyOptions
    vision: VisionModel  # a StableDiffusionSafetyChecker

    def judge(
        self, requests: Sequence[ImageRequest], made: Sequence[GeneratedImage]
    ) -> list[Judgement]:
        """Judge a batch without changing the images."""
        images = [generated.image for _, generated in zip(requests, made, strict=True)]
        flags: list[bool] = []
        with self.vision.computing(f"the safety checker on {len(made)} images"):
            for batch in self.vision.batches(images):
                flags += self._is_flagged(batch)
        flagged = Judgement(0.0, "The safety checker flags the image.")
        return [flagged if flag else Judgement(1.0) for flag in flags]

    def describe(self) -> Mapping[str, Any]:
        """The model with its weights."""
        described = self.vision.describe()
        packages = described["software"] | {"diffusers": version("diffusers")}
        return {"filter": "safety", "settings": {}, **described, "software": packages}

    def _is_flagged(self, images: Sequence[ImageArray]) -> list[bool]:
        # The checker blackens what it is given as images: it gets stand-ins.
        stand_ins = [np.empty(0) for _ in images]
        _, flags = self.vision.model(clip_input=self.vision.pixels(images), images=stand_ins)
        return list(map(bool, flags))


def open_filter(options: SafetyOptions) -> SafetyFilter:
    """Open the filter and load its model; see `cobalance.base.registry.Plugins`."""
    from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker

    # It warns that a black image is returned, which is not so here.
    logging.getLogger(StableDiffusionSafetyChecker.__module__).setLevel(logging.ERROR)
    return SafetyFilter(
        options,
        open_vision(
            options,
            StableDiffusionSafetyChecker,
            transformers.CLIPImageProcessorPil,
            SAFETY_REVISION,
        ),
    )
