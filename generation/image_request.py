"""What one image to be made is: class, concepts, prompt, and where its object comes from."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from graph.errors import CobalanceError, OptionError
from ingest.images.arrays import ImageArray, MaskArray


class GenerationError(CobalanceError):
    """A request that cannot be made into an image, whatever is tried; others can."""


class NoSourceError(GenerationError):
    """No image of a class has an object that can be used; those of another class may.

    Parameters
    ----------
    message : str
        For people.
    brief : str
        The same without names of files and without advice, for provenance.
    """

    def __init__(self, message: str, brief: str = "") -> None:
        super().__init__(message)
        self.brief = brief


@dataclass(frozen=True, eq=False)
class SourceImage:
    """An image of the class, with the object that must stay as it is.

    Parameters
    ----------
    image_id : str
        The image's id in its dataset.
    uri : str
        Where its file is, as the annotations have it.
    image : uint8 array, shape (height, width, 3)
        Its pixels.
    mask : bool array, shape (height, width)
        The object's pixels; at least one is, and at least one is not.

    Raises
    ------
    OptionError
        The arrays are not as above, such as a mask of another size.
    """

    image_id: str
    uri: str
    image: ImageArray
    mask: MaskArray

    def __post_init__(self) -> None:
        if self.image.dtype != np.uint8 or self.image.ndim != 3 or self.image.shape[2] != 3:
            raise OptionError(
                f"Image {self.image_id!r} is {self.image.dtype} of shape {self.image.shape}; give "
                "8-bit pixels of shape (height, width, 3)."
            )
        if self.mask.dtype != np.bool_ or self.mask.shape != self.image.shape[:2]:
            raise OptionError(
                f"The mask of image {self.image_id!r} is {self.mask.dtype} of shape "
                f"{self.mask.shape}, the image has {self.image.shape[:2]}. Give a mask of the "
                "image's size."
            )
        if self.mask.all() or not self.mask.any():
            raise OptionError(
                f"The mask of image {self.image_id!r} covers {'all' if self.mask.any() else 'none'}"
                " of it. Give one that tells the object from the rest."
            )

    def mask_sha256(self) -> str:
        """The mask's digest: of its shape and its bits, row by row."""
        bits = np.packbits(self.mask).tobytes()
        return hashlib.sha256(f"{self.mask.shape}".encode() + bits).hexdigest()


@dataclass(frozen=True, eq=False)
class ImageRequest:
    """One image to be made.

    Parameters
    ----------
    id : str
        The candidate's, unique in the store: the query's id and the image's number among its.
    class_name : str
        The class that the image is to be of.
    concepts : tuple of str
        What it is to show beside the object, in ascending order.
    prompt : str
        Words for the model.
    seed : int
        Of this image's own random generator, from 0 to 2**63 - 1.
    source : SourceImage or None
        Where its object comes from; None for a backend that needs none.
    """

    id: str
    class_name: str
    concepts: tuple[str, ...]
    prompt: str
    seed: int
    source: SourceImage | None = None


@dataclass(frozen=True, eq=False)
class GeneratedImage:
    """An image that a backend has made for a request.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        Its pixels.
    mask : bool array, shape (height, width), or None
        The pixels that are the object's, where the backend keeps it.
    details : dict
        What was decided for this image alone, such as where its object stands; for JSON.
    """

    image: ImageArray
    mask: MaskArray | None = None
    details: dict[str, Any] | None = None


def seed_of(job: str, query: int, index: int) -> int:
    """The seed of an image: the same whenever it is made, and unlike that of any other.

    Parameters
    ----------
    job : str
        The job's id, or whatever stands for it.
    query, index : int
        The query's position in the job, and the image's number among its images, from 0.

    Returns
    -------
    int
        From 0 to 2**63 - 1: SHA-256 of the three, its first 63 bits.

    Examples
    --------
    >>> seed_of("5f1c", 0, 0) == seed_of("5f1c", 0, 0) != seed_of("5f1c", 0, 1)
    True
    """
    digest = hashlib.sha256(f"{job}/{query}/{index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
