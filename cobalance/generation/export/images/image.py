"""One image of an export, before and after its file is read."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cobalance.base import Mention
from cobalance.vision import ImageFileError, is_turned, read_header

# A file's name has at most so many characters of the id; a digest makes it unique.
_LONGEST = 60
WITHOUT_SPLIT = "without_split"
_PORTS = {f"{port}{number}" for port in ("com", "lpt") for number in range(10)}
# Device names of Windows; and to load_dataset of Hugging Face, all splits at once.
_RESERVED = {"aux", "con", "nul", "prn", *_PORTS, "all"}


def file_stem(image_id: str) -> str:
    """File name of an image without its extension: readable, unique, the same in every export.

    The digest also keeps it from being a device name.

    Examples
    --------
    >>> file_stem("train/cat 1.jpg")
    'train_cat_1_jpg-5e51df90ac091f38'
    >>> file_stem("شارع")
    'image-40c0f8d20ae8c548'
    """
    return f"{_slug(image_id) or 'image'}-{digest(image_id)[:16]}"


def split_names(splits: Iterable[str | None]) -> dict[str | None, str]:
    """Name of each split in the export, of letters, digits and ``_``: its own, if possible.

    A name is changed, and ends in a digest, if it has other characters, differs from another one
    only in case, or is reserved: ``all`` by load_dataset, ``con`` and others by Windows. If no
    image has a split, the name is ``train``, as loaders assume.

    Examples
    --------
    >>> split_names(["train", "val", "train"])
    {'train': 'train', 'val': 'val'}
    >>> split_names([None]), split_names([None, "a/b"])
    ({None: 'train'}, {None: 'without_split', 'a/b': 'a_b_c14cddc0'})
    """
    distinct = set(splits)
    if distinct == {None}:
        return {None: "train"}
    named = sorted(name for name in distinct if name is not None)
    slugs = {name: _slug(name).replace("-", "_") for name in named}
    # Some file systems take names that differ in case for the same.
    times = Counter([WITHOUT_SPLIT, *(slug.lower() for slug in slugs.values())])

    names: dict[str | None, str] = {None: WITHOUT_SPLIT} if None in distinct else {}
    for name, slug in slugs.items():
        is_unique = times[slug.lower()] == 1 and slug.lower() not in _RESERVED
        if slug == name and is_unique:
            names[name] = slug
        else:
            names[name] = f"{slug or 'split'}_{digest(name)[:8]}"
    return names


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", text[: 2 * _LONGEST])[:_LONGEST].strip("_")


def digest(text: str) -> str:
    """SHA-256 of a text, such as an id, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class ImageText:
    """Captions, licence and attribution of an image.

    Parameters
    ----------
    captions : tuple of str
        Its captions in their order; those of a generated image are edited.
    source_captions : tuple of str
        Of a generated image with captions those that were edited.
    license, license_url, attribution : str or None
        As its dataset states them; a generated image has those of its source, and behind them
        those of the image whose object is pasted into it, if any.
    """

    captions: tuple[str, ...] = ()
    source_captions: tuple[str, ...] = ()
    license: str | None = None
    license_url: str | None = None
    attribution: str | None = None


@dataclass(frozen=True, eq=False, slots=True)
class ExportImage:
    """An image to export.

    Parameters
    ----------
    id, class_name, split, concepts
        As in the dataset; concepts in ascending order.
    uri : str or None
        Address of a real image; None for a generated one.
    width_px, height_px : int or None
        Its size; None if neither the dataset nor the file says.
    provenance : mapping or None
        A generated image's row of the manifest; None for a real image.
    twin : str or None
        What an edited image shares with all that were made of it: its id; None for other images.
    content : bytes or None
        Its file's content; None before it is read, and for an image that is not copied.
    suffix : str or None
        The file's extension, without the dot.
    regions : tuple of Mention
        Known regions of its concepts.
    objects : tuple of Mention
        Known regions of its class: in a generated image the object that it was made around, in a
        real one the annotated instances. The class is not a concept.
    mask : bytes or None
        A generated image's mask file, a PNG.
    """

    id: str
    class_name: str
    split: str | None
    concepts: tuple[str, ...]
    uri: str | None
    width_px: int | None
    height_px: int | None
    provenance: Mapping[str, Any] | None = None
    twin: str | None = None
    content: bytes | None = None
    suffix: str | None = None
    sha256: str | None = None
    regions: tuple[Mention, ...] = ()
    objects: tuple[Mention, ...] = ()
    mask: bytes | None = None
    text: ImageText = ImageText()

    @property
    def synthetic(self) -> bool:
        """Whether it is generated."""
        return self.provenance is not None

    @property
    def annotated_as(self) -> str | None:
        """The id of the real image whose regions it has: its own, or that of the edited one."""
        return self.id if self.provenance is None else self.twin

    @property
    def changed(self) -> bool | None:
        """Whether a counterfactual shows another group than its source; None for other images."""
        if self.provenance is None or self.provenance["source_class"] is None:
            return None
        return bool(self.provenance["source_class"] != self.class_name)

    @property
    def stem(self) -> str:
        """Name of its file, without the extension."""
        return file_stem(self.id)

    @property
    def file_name(self) -> str:
        """Name of its file."""
        return f"{self.stem}.{self.suffix}"


class UnreadableError(Exception):
    """An image without a usable file; the message is a clause that follows the file's name."""

    def __init__(self, problem: str, remedy: str = "Put its file there") -> None:
        super().__init__(problem)
        self.remedy = remedy


class WrongSizeError(UnreadableError):
    """A file whose size differs from the dataset's, so probably of another image."""


def with_content(image: ExportImage, content: bytes) -> ExportImage:
    """Add the content of its file to an image.

    Raises
    ------
    UnreadableError
        The content is not an image, or has another size than the dataset says.
    """
    try:
        header = read_header(content)
    except ImageFileError as error:
        raise UnreadableError(f"is not a usable image ({error})") from error
    width, height = image.width_px or header.width_px, image.height_px or header.height_px
    stored, annotated = (header.width_px, header.height_px), (width, height)

    # Annotations are of the image as it is shown, or as it lies in its file; see `DecodedImage`.
    if annotated != stored and not (annotated == stored[::-1] and is_turned(content)):
        raise WrongSizeError(
            f"has {stored[0]:,}×{stored[1]:,} pixels in its file and {width:,}×{height:,} in the "
            "dataset, so that regions would be off",
            "Put the file there that was annotated, ingest the dataset again with this file's size",
        )

    return replace(
        image,
        content=content,
        suffix=header.suffix,
        sha256=hashlib.sha256(content).hexdigest(),
        width_px=width,
        height_px=height,
    )
