"""Captions, licences and attribution of the images of a COCO file."""

from collections import defaultdict
from collections.abc import Sequence
from urllib.parse import urlsplit

import numpy as np

from cobalance.graph.arrays import IntArray
from cobalance.ingest.coco.records import Image, License, Records
from cobalance.ingest.frames import TextColumns

_SOURCES = ("attribution", "flickr_url", "coco_url")


def coco_texts(
    images: Records[Image],
    licenses: Records[License],
    captions: tuple[IntArray, Sequence[str]] | None = None,
) -> TextColumns:
    """Captions, licence and attribution of each image of a COCO file.

    Parameters
    ----------
    captions : tuple of int64 array and sequence of str, or None
        The image's row and the text of each caption, in their order.
    """
    given, notes = licenses_of(images, licenses)
    n = len(given)
    return TextColumns(
        np.arange(n),
        [None] * n if captions is None else captions_by_image(*captions, n),
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
    found: dict[int, list[str]] = defaultdict(list)
    for row, text in zip(image.tolist(), texts, strict=True):
        if text is not None and text.strip():
            found[row].append(text)
    return [found.get(row) for row in range(n_images)]


def _name(one: License | None) -> str | None:
    """Name of a licence; None if an export has put its address there."""
    return None if one is None or one.name == one.url else one.name


def _attribution(image: Image) -> str | None:
    values = (getattr(image, name) for name in _SOURCES)
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


_CC = "http://creativecommons.org/licenses"
COCO_LICENSES = (
    License(1, "Attribution-NonCommercial-ShareAlike License", f"{_CC}/by-nc-sa/2.0/"),
    License(2, "Attribution-NonCommercial License", f"{_CC}/by-nc/2.0/"),
    License(3, "Attribution-NonCommercial-NoDerivs License", f"{_CC}/by-nc-nd/2.0/"),
    License(4, "Attribution License", f"{_CC}/by/2.0/"),
    License(5, "Attribution-ShareAlike License", f"{_CC}/by-sa/2.0/"),
    License(6, "Attribution-NoDerivs License", f"{_CC}/by-nd/2.0/"),
    License(7, "No known copyright restrictions", "http://flickr.com/commons/usage/"),
    License(8, "United States Government Work", "http://www.usa.gov/copyright.shtml"),
)
"""Those of COCO's own files (cocodataset.org), by the same ids since 2014."""

_COCO_HOSTS = ("cocodataset.org", "mscoco.org")
_SHOWN = 5  # numbers in a note


def licenses_of(
    images: Records[Image], licenses: Records[License]
) -> tuple[list[License | None], tuple[str, ...]]:
    """Licence of each image, None where unknown, and a note on unexplained numbers.

    A number means what the file's ``licenses`` say. Without this list it is trusted only of COCO's
    own images, as their ``coco_url`` shows: other datasets have the form of COCO's files, and
    count their licences as they like.
    """
    known = {str(one.id): one for one in licenses.items}
    of_coco = {} if known else {str(one.id): one for one in COCO_LICENSES}
    found = list[License | None]()
    unknown = dict[str, None]()
    lacking = 0
    for image in images.items:
        number = str(image.license) or None if isinstance(image.license, int | str) else None
        usable = of_coco if of_coco and _is_of_coco(image) else known
        one = None if number is None else usable.get(number)
        found.append(one)
        if number is not None and one is None:
            unknown[number] = None
            lacking += 1
    return found, (_note(lacking, list(unknown)),) if lacking else ()


def _note(lacking: int, numbers: Sequence[str]) -> str:
    told = ", ".join(numbers[:_SHOWN]) + (", …" if len(numbers) > _SHOWN else "")
    images = "1 image" if lacking == 1 else f"{lacking:,} images"
    return (
        f"{images} of unknown licence: the file's list `licenses` has no entry with the id that "
        f"they give ({told}); add it if their licences matter"
    )


def _is_of_coco(image: Image) -> bool:
    if not isinstance(image.coco_url, str):
        return False
    try:
        host = urlsplit(image.coco_url).hostname or ""
    except ValueError:
        return False
    return any(host == own or host.endswith(f".{own}") for own in _COCO_HOSTS)
