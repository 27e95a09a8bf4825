"""Captions, licences and attribution of the images of a COCO file."""

from collections.abc import Sequence

import numpy as np

from cobalance.graph.arrays import IntArray
from cobalance.ingest.coco.licenses import licenses_of
from cobalance.ingest.coco.records import Image, License, Records
from cobalance.ingest.frames import TextColumns

_SOURCES = ("attribution", "flickr_url", "coco_url")


def coco_texts(
    images: Records[Image],
    licenses: Records[License],
    captions: tuple[IntArray, Sequence[str]] | None = None,
) -> TextColumns:
    """What a COCO file tells about its images.

    Parameters
    ----------
    captions : tuple of int64 array and sequence of str, or None
        The image's row and the text of each caption, in their order.
    """
    given, notes = licenses_of(images, licenses)
    return TextColumns(
        np.arange(len(images.items)),
        [None] * len(images.items)
        if captions is None
        else captions_by_image(*captions, len(images.items)),
        [_name(one) for one in given],
        [one.url if one else None for one in given],
        [_attribution(image) for image in images.items],
        notes=notes,
    )


def captions_by_image(
    image: IntArray, texts: Sequence[str | None], n_images: int
) -> list[list[str] | None]:
    """Captions of each image in their order; None for an image without any.

    Blank ones are left out.

    Examples
    --------
    >>> captions_by_image(np.array([1, 0, 1]), ["b", " ", "a"], 3)
    [None, ['b', 'a'], None]
    """
    found: list[list[str] | None] = [None] * n_images
    for row, text in zip(image.tolist(), texts, strict=True):
        if text is not None and text.strip():
            own = found[row]
            if own is None:
                found[row] = [text]
            else:
                own.append(text)
    return found


def _name(one: License | None) -> str | None:
    """Name of a licence; None also where it is the address, as exports write what has no name."""
    return None if one is None or one.name == one.url else one.name


def _attribution(image: Image) -> str | None:
    values = (getattr(image, name) for name in _SOURCES)
    return next((value for value in values if isinstance(value, str) and value.strip()), None)
