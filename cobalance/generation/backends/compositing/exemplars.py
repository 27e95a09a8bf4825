"""Exemplars: cutouts of concepts from a dataset's images, to compose scenes from.

A folder of exemplars has a folder for each concept, named as `concept_folder` does, with PNG files
in it: an image of the dataset, transparent wherever it does not show the concept. So a background
is an image with holes where its objects were, and an object is mostly hole.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np

from cobalance.base import DataError, Image, JobBlockedError
from cobalance.vision import ImageArray, ImageFileError, MaskArray, decode

GROUND_SHARE = 0.5
"""A concept that shows in half of its exemplars' pixels or more is a background, else an object."""

# Most characters of a quoted name; file systems allow 255 bytes.
_LONGEST = 120


@dataclass(frozen=True, eq=False)
class Exemplar:
    """An image with the mask of a concept.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        Its pixels.
    shown : bool array, shape (height, width)
        The pixels that are the concept's; at least one is.

    Raises
    ------
    DataError
        The two do not fit, or nothing is shown.
    """

    image: ImageArray
    shown: MaskArray

    def __post_init__(self) -> None:
        if self.image.shape != (*self.shown.shape, 3) or not self.shown.any():
            raise DataError(
                f"An exemplar has pixels of shape {self.image.shape}, and {self.shown.sum()} of "
                f"{self.shown.shape} are the concept's. Give an image with a mask of its size."
            )


@dataclass(frozen=True, eq=False)
class Exemplars:
    """All exemplars of a folder.

    Parameters
    ----------
    by_folder : mapping of str to tuple of Exemplar
        By name of the concept's folder, in order of file name; at least one each.
    sha256 : str
        Digest of all their pixels.
    """

    by_folder: Mapping[str, tuple[Exemplar, ...]]
    sha256: str

    def of(self, concept: str) -> tuple[Exemplar, ...]:
        """Exemplars of a concept; empty without any."""
        return self.by_folder.get(concept_folder(concept), ())

    def is_ground(self, concept: str) -> bool:
        """Whether a concept with exemplars is a background."""
        masks = [exemplar.shown for exemplar in self.of(concept)]
        covered = sum(np.count_nonzero(mask) / mask.size for mask in masks)
        return bool(covered >= GROUND_SHARE * len(masks))


def concept_folder(concept: str) -> str:
    """Folder name of a concept: its name, percent-encoded except for spaces.

    Very long names are cut, with a digest of the whole.

    Examples
    --------
    >>> concept_folder("forest road"), concept_folder("../etc"), concept_folder("")
    ('forest road', '%2E%2E%2Fetc', '%')
    """
    safe = " " if concept == concept.strip() else ""
    quoted = quote(concept, safe=safe, errors="surrogatepass").replace(".", "%2E")
    if len(quoted) > _LONGEST:
        digest = hashlib.sha256(concept.encode(errors="surrogatepass")).hexdigest()[:16]
        return f"{quoted[:_LONGEST]}.{digest}"
    return quoted or "%"


def write_exemplars(folder: Path, concept: str, exemplars: Iterable[Exemplar]) -> int:
    """Write a concept's exemplars, replacing files of the same numbers.

    Only images that the resulting dataset may be trained on belong here: never those of a test
    set.

    Returns
    -------
    int
        How many there are.
    """
    of_concept = folder / concept_folder(concept)
    of_concept.mkdir(parents=True, exist_ok=True)
    count = 0

    for count, exemplar in enumerate(exemplars, start=1):
        alpha = exemplar.shown.astype(np.uint8) * 255
        pixels = np.where(exemplar.shown[..., np.newaxis], exemplar.image, 0)
        picture = Image.fromarray(np.dstack([pixels, alpha]).astype(np.uint8))
        picture.save(of_concept / f"{count:06d}.png")
    return count


def read_exemplars(folder: Path) -> Exemplars:
    """Read a folder of exemplars; JobBlockedError if it has none, or one cannot be read."""
    if not folder.is_dir():
        raise JobBlockedError(
            f"There is no folder {folder} of exemplars. Name one with a folder of PNG files for "
            "each concept, or none for invented styles."
        )

    digest = hashlib.sha256()
    by_folder: dict[str, tuple[Exemplar, ...]] = {}
    for of_concept in sorted(path for path in folder.iterdir() if path.is_dir()):
        exemplars = tuple(map(_read, sorted(of_concept.glob("*.png"))))
        for exemplar in exemplars:
            digest.update(f"{of_concept.name}\0{exemplar.shown.shape}\0".encode())
            digest.update(exemplar.image.tobytes() + np.packbits(exemplar.shown).tobytes())
        if exemplars:
            by_folder[of_concept.name] = exemplars

    if not by_folder:
        raise JobBlockedError(
            f"The folder {folder} has no exemplar. Put PNG files into a folder for each concept, "
            "transparent where they do not show it."
        )
    return Exemplars(by_folder, digest.hexdigest())


def _read(path: Path) -> Exemplar:
    try:
        picture = decode(path.read_bytes()).upright()
        pixels = np.asarray(picture.convert("RGBA"), dtype=np.uint8)
        return Exemplar(pixels[..., :3].copy(), pixels[..., 3] >= 128)
    except (OSError, ImageFileError, DataError) as error:
        raise JobBlockedError(f"The exemplar {path} cannot be used: {error} Replace it.") from error
