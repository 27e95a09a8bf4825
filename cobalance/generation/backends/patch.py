"""Backend that pastes an object of another image into the source's box, without a model.

It is a baseline after GenSwap, with which GenSynth (appendix A.2) compares: that one pastes faces,
found by a face detector, from a set of faces; this one takes the object's whole box, from an image
of the class that is asked for. What surrounds the object in its own image comes with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from cobalance.generation.backends.backend import SYNTHETIC_SOURCE, BackendPlugin, ImageOptions
from cobalance.generation.backends.compositing import framing
from cobalance.generation.image_request import (
    GeneratedImage,
    GenerationError,
    ImageRequest,
    require_source,
)
from cobalance.vision import find_box

PLUGIN = BackendPlugin(
    "patch",
    "Pastes an object of the class, with its box, into the source's box.",
    extra="worker",
    options=ImageOptions,
    needs_patch=True,
)

CAPTURES = SYNTHETIC_SOURCE + "compositeCapture"
"""IPTC's term for an image put together from photographs alone."""


@dataclass(frozen=True, eq=False)
class PatchBackend:
    """Pastes the box of a request's patch into the box of its source, stretched to fit.

    Everything outside the box is the source's, or the fitted source's in images of another size.
    ``details`` of an image has the ``box``, the source's ``scale`` in it, and ``patch_image`` and
    ``patch_box`` for where the object is from.
    """

    options: ImageOptions
    needs_source = True

    def generate(self, requests: Sequence[ImageRequest]) -> list[GeneratedImage]:
        """Generate one image per request, in the same order.

        Raises
        ------
        GenerationError
            A request has no source or no patch.
        """
        return list(map(self._make, requests))

    def describe(self) -> Mapping[str, Any]:
        """Settings and software of the backend, for provenance; JSON values."""
        return {
            "backend": "patch",
            "digital_source_type": CAPTURES,
            "settings": self.options.model_dump(),
            "device": "cpu",
            "dtype": "uint8",
            "software": {name: version(name) for name in ("numpy", "pillow")},
        }

    def _make(self, request: ImageRequest) -> GeneratedImage:
        """Paste the box of the patch's object over that of the source's."""
        source, patch = require_source(request, "patch"), request.patch
        if patch is None:
            raise GenerationError(
                f"The request {request.id} has no image to take an object from, and the backend "
                "patch needs one. Use another backend, or a dataset that has more images of the "
                "class."
            )

        size = framing.choose_output_size(self.options, source)
        image, mask, scale = framing.fit_source(source, size)
        box, patch_box = find_box(mask), find_box(patch.mask)
        pasted, of_object, stays = image.copy(), np.zeros_like(mask), np.ones_like(mask)
        pasted[box.slices] = framing.resize_image(patch.image[patch_box.slices], box.shape)
        of_object[box.slices] = framing.resize_mask(patch.mask[patch_box.slices], box.shape)
        stays[box.slices] = False

        details = {
            "scale": scale,
            "box": list(box),
            "patch_image": patch.image_id,
            "patch_box": list(patch_box),
        }
        return GeneratedImage(pasted, of_object, details, framing.kept_pixels(stays, source))


def open_backend(options: ImageOptions) -> PatchBackend:
    """Open the backend."""
    return PatchBackend(options)
