"""Image requests: class, concepts, prompt, seed and source of one image to generate."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from cobalance.base import CobalanceError, DataError
from cobalance.vision import ImageArray, MaskArray

SCALES = ("guidance_scale", "image_guidance_scale")
"""The scales that a request may have of its own, by their names in backends' options."""


class GenerationError(CobalanceError):
    """A request whose image cannot be generated; others of the batch can."""


class NoSourceError(GenerationError):
    """No image of the class can be a source; other classes may have one.

    Parameters
    ----------
    message : str
        For people.
    brief : str
        The same for provenance: without file names and advice.
    """

    def __init__(self, message: str, brief: str = "") -> None:
        super().__init__(message)
        self.brief = brief


@dataclass(frozen=True, eq=False)
class SourceImage:
    """An image of the class, with the mask of its object, which stays as it is.

    Parameters
    ----------
    uri : str
        Address of its file, as in the annotations.
    image : uint8 array, shape (height, width, 3)
        Its pixels.
    mask : bool array, shape (height, width)
        True on the object's pixels; neither empty nor everywhere.

    Raises
    ------
    DataError
        The mask is empty, or everywhere.
    """

    image_id: str
    uri: str
    image: ImageArray
    mask: MaskArray

    def __post_init__(self) -> None:
        if self.mask.all() or not self.mask.any():
            raise DataError(
                f"The mask of image {self.image_id!r} covers {'all' if self.mask.any() else 'none'}"
                " of it. Give one that tells the object from the rest."
            )

    def mask_sha256(self) -> str:
        """SHA-256 of the mask's shape and its bits, row by row."""
        bits = np.packbits(self.mask).tobytes()
        return hashlib.sha256(f"{self.mask.shape}".encode() + bits).hexdigest()


@dataclass(frozen=True, eq=False)
class ImageRequest:
    """One image to generate.

    Parameters
    ----------
    id : str
        The candidate's id: the query's, and the number of the candidate within the query.
    concepts : tuple of str
        Concepts to show beside the object, in ascending order.
    seed : int
        Seed of this image's random draws, from 0 to 2**63 - 1.
    source : SourceImage or None
        The image that its object is taken from, or that is edited; None to paint an object.
    source_class : str or None
        The class of the image that is edited; None where none is.
    caption : str
        The caption of the edited image; empty where the recipe needs none.
    captions : tuple of str
        All captions of the edited image, for the manifest.
    variant : int
        Its number among the job's variants.
    guidance_scale, image_guidance_scale : float or None
        How closely to follow the prompt and the source; None for the backend's own.
    patch : SourceImage or None
        An image of the class whose object is put in the place of the source's.
    """

    id: str
    class_name: str
    concepts: tuple[str, ...]
    prompt: str
    seed: int
    source: SourceImage | None = None
    source_class: str | None = None
    caption: str = ""
    captions: tuple[str, ...] = ()
    variant: int = 0
    guidance_scale: float | None = None
    image_guidance_scale: float | None = None
    patch: SourceImage | None = None

    @property
    def scales(self) -> dict[str, float]:
        """The scales of its own, by name; they win over the backend's options."""
        return {name: value for name in SCALES if (value := getattr(self, name)) is not None}


def require_source(request: ImageRequest, backend: str) -> SourceImage:
    """The source of a request, for a backend that works on one.

    Raises
    ------
    GenerationError
        The request has none.
    """
    if request.source is None:
        raise GenerationError(
            f"The request {request.id} has no source image, and the backend {backend} works on "
            "one. Give it an image with the object's mask, or use another backend."
        )
    return request.source


@dataclass(frozen=True, eq=False)
class GeneratedImage:
    """An image that a backend has generated for a request.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        Its pixels.
    mask : bool array, shape (height, width), or None
        True on the object's pixels, where the backend knows them: it keeps the object, or paints it
        within its outline.
    details : dict
        What differs from image to image, such as the object's position; JSON values.
    kept : bool array, shape (height, width), or None
        True where the pixels must equal the source's, which has the same size then; None where
        nothing is promised.
    """

    image: ImageArray
    mask: MaskArray | None = None
    details: dict[str, Any] | None = None
    kept: MaskArray | None = None


def seed_of(job: str, query: int, index: int) -> int:
    """The seed of a candidate: reproducible, and different for each candidate.

    Parameters
    ----------
    job : str
        The job's id, or the seed of its settings.
    query, index : int
        The query's position in the job, and the candidate's number within the query, from 0.

    Returns
    -------
    int
        From 0 to 2**63 - 1: the first 63 bits of the SHA-256 of the three.

    Examples
    --------
    >>> seed_of("5f1c", 0, 0) == seed_of("5f1c", 0, 0) != seed_of("5f1c", 0, 1)
    True
    """
    digest = hashlib.sha256(f"{job}/{query}/{index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
