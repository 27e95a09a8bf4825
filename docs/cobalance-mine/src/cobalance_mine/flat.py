"""Fills everything around the object with one colour."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import Field

from cobalance.base.plugins import Plugin
from cobalance.generation.backends.backend import SYNTHETIC_SOURCE, ImageOptions
from cobalance.generation.image_request import GeneratedImage, ImageRequest


class FlatOptions(ImageOptions):
    """Options of the backend flat.

    Parameters
    ----------
    darkest : int
        The least value of a colour's channels.
    """

    darkest: int = Field(default=0, ge=0, le=255)


PLUGIN = Plugin(
    "flat", "Fills everything around the object with one colour.", "worker", FlatOptions
)


class FlatBackend:
    """Fills everything around the object with a colour that follows from the concepts."""

    needs_source = True

    def __init__(self, options: FlatOptions) -> None:
        self.options = options

    def generate(self, requests: Sequence[ImageRequest]) -> list[GeneratedImage]:
        """Make one image for each request, in their order."""
        return [self._fill(request) for request in requests]

    def describe(self) -> Mapping[str, Any]:
        """Provenance of the images, for JSON."""
        return {
            "backend": "flat",
            "digital_source_type": f"{SYNTHETIC_SOURCE}compositeSynthetic",
            "settings": self.options.model_dump(),
            "software": {},
        }

    def _fill(self, request: ImageRequest) -> GeneratedImage:
        source = request.source
        assert source is not None  # as needs_source asks
        digest = hashlib.sha256(f"{request.seed} {request.concepts}".encode()).digest()
        colour = np.maximum(np.frombuffer(digest[:3], np.uint8), self.options.darkest)
        kept = source.mask
        image = np.where(kept[..., np.newaxis], source.image, colour).astype(np.uint8)
        return GeneratedImage(image, source.mask, kept=kept)


def open_backend(options: FlatOptions) -> FlatBackend:
    """Open the backend."""
    return FlatBackend(options)
