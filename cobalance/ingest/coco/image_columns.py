"""Images of a COCO file as columns: joined with annotations, captions, licences, attribution."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import FloatArray, IntArray, Metadata, Progress, group_pairs, inflect
from cobalance.ingest.coco.records import Id, Image, License, Records, decode, id_columns
from cobalance.ingest.frames import TEXT, ImageColumns, TextColumns
from cobalance.ingest.names import Coded, unreadable
from cobalance.ingest.problems import Problems, RowProblems, first_rows

_sources_of = attrgetter("attribution", "flickr_url", "coco_url")
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

_COCO_HOSTS = (".cocodataset.org", ".mscoco.org")
_SHOWN = 5  # numbers in a note


class Caption(msgspec.Struct, gc=False):
    """An entry of ``annotations`` in a captions file."""

    image_id: Id
    caption: str


@dataclass(frozen=True, eq=False)
class CocoImages:
    """The images of a COCO file, malformed ones included, and the image of each annotation.

    `images` and `annotations` are the malformed ones; `image` (int64) is the row of each
    annotation's image in `columns`, -1 if malformed.
    """

    columns: ImageColumns
    images: RowProblems
    annotations: RowProblems
    image: IntArray


def field(records: Records[Any], name: str) -> list[Any]:
    """One field of all records."""
    return list(map(attrgetter(name), records.items))


def coco_images(
    images: Records[Image], annotations: Records[Any], split: str | None, problems: Problems
) -> CocoImages:
    """Validate a COCO file's images, and that each annotation refers to one of them.

    Raises
    ------
    InputError
        There are no images, an id is taken, a size is not positive, or an annotation refers to an
        image that is missing.
    """
    n = len(images.items)
    if n == 0:
        raise problems.fatal("has no images", "Give a file whose list 'images' has entries.")
    rows = RowProblems(problems, n, images.place)
    ids, owner_ids = id_columns(field(images, "id"), field(annotations, "image_id"))
    texts = pc.cast(ids, TEXT)
    rows.report(
        unreadable(texts),
        lambda row: f"the id {texts[row].as_py()!r} is not readable text",
        "Give it another one",
    )

    index = pd.Index(ids.to_pandas())
    first = first_rows(index)
    rows.report(
        first != np.arange(n),
        lambda row: f"the id {index[row]} is taken by {images.place(int(first[row]))}",
        "Give each image an id of its own",
    )

    columns = ImageColumns(
        texts,
        pa.array(list(map(_file, images.items)), TEXT),
        _sizes(images, "width", rows),
        _sizes(images, "height", rows),
        Coded.none(n) if split is None else Coded.constant(split, n),
    )

    # The last place, of -1, is that of annotations whose image is not there.
    unique = np.flatnonzero(first == np.arange(n))
    image = np.append(unique, -1)[index[unique].get_indexer(pd.Index(owner_ids.to_pandas()))]
    owner_rows = RowProblems(problems, len(annotations.items), annotations.place)
    owner_rows.report(
        image < 0,
        lambda row: f"image_id {owner_ids[row]} is not in images ({n:,} known)",
        "Add the image",
    )
    return CocoImages(columns, rows, owner_rows, image)


def json_metadata(
    name: str, image: IntArray, texts: list[bytes], numbers: Mapping[str, FloatArray]
) -> list[Metadata]:
    """Metadata of JSON objects, such as an image's further fields; nothing without any."""
    column = pa.array(texts, pa.large_binary()).cast(TEXT)
    if not texts:
        return []
    return [Metadata(image, {name: column}, numbers)]


def _file(image: Image) -> str | None:
    """The image's file; LVIS has its address at COCO alone, which ends with folder and file."""
    if image.file_name is None and isinstance(image.coco_url, str):
        return "/".join(image.coco_url.rsplit("/", 2)[-2:])
    return image.file_name


def _sizes(images: Records[Image], name: str, rows: RowProblems) -> pa.Array:
    values = field(images, name)
    faulty = np.array([size is not None and not 0 < size < 1 << 31 for size in values])
    rows.report(faulty, lambda row: f"{name}: {values[row]} is not a size in pixels", "Correct it")
    return pa.array(np.array(values, dtype=object), pa.int64(), mask=faulty)


def read_captions(
    path: Path, split: str | None, problems: Problems, progress: Progress
) -> tuple[CocoImages, list[str], TextColumns]:
    """Read a COCO captions file: its images, and the text of each annotation that is sound.

    The last is what it tells about its images, with their captions.

    Raises
    ------
    InputError
        The file is not one, or a record in it is malformed.
    """
    progress("read", 0, None)
    lists = decode(path, "captions", {"images": Image, "annotations": Caption}, problems)
    captions = lists["annotations"]
    images = coco_images(lists["images"], captions, split, problems)

    sound = np.flatnonzero(~images.annotations.bad)
    texts = [captions.items[row].caption for row in sound.tolist()]
    progress("read", len(texts), len(texts))
    image = images.image[sound]
    image_texts = coco_texts(lists["images"], lists["licenses"], (image, texts))
    return replace(images, image=image), texts, image_texts


def coco_texts(
    images: Records[Image],
    licenses: Records[License],
    captions: tuple[IntArray, Sequence[str]] | None = None,
) -> TextColumns:
    """Licence and attribution of each image of a COCO file, and its captions in their order.

    `captions` has the image's row (int64) and the text of each caption.
    """
    image_licenses, notes = licenses_of(images, licenses)
    files = Counter(filter(None, map(_file, images.items)))
    shared = [file for file, n_images in files.items() if n_images > 1]
    if shared:
        example = f"{inflect(len(shared), 'files')} of several images each, such as {shared[0]}"
        notes += (f"{example}: every one of them counts as an image",)

    n = len(image_licenses)
    return TextColumns(
        np.arange(n),
        [None] * n if captions is None else captions_by_image(*captions, n),
        list(map(_name, image_licenses)),
        [license_.url if license_ else None for license_ in image_licenses],
        list(map(_attribution, images.items)),
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
    pairs = zip(image.tolist(), texts, strict=True)
    captions = group_pairs((row, text) for row, text in pairs if text is not None and text.strip())
    return list(map(captions.get, range(n_images)))


def _name(license_: License | None) -> str | None:
    """Name of a licence; None if an export has put its address there."""
    return None if license_ is None or license_.name == license_.url else license_.name


def _attribution(image: Image) -> str | None:
    return next(
        (value for value in _sources_of(image) if isinstance(value, str) and value.strip()), None
    )


def licenses_of(
    images: Records[Image], licenses: Records[License]
) -> tuple[list[License | None], tuple[str, ...]]:
    """Licence of each image, None where unknown, and a note on unexplained numbers.

    A number means what the file's ``licenses`` say. Without this list it is trusted only of COCO's
    own images, as their ``coco_url`` shows: other datasets have the form of COCO's files, and
    count their licences as they like.
    """
    own_licenses = _by_number(licenses.items)
    coco_licenses = _by_number(COCO_LICENSES)
    found_licenses = list[License | None]()
    unknown = Counter[str]()

    for image in images.items:
        number = str(image.license) if isinstance(image.license, int | str) else ""
        usable = own_licenses
        if not own_licenses and _is_of_coco(image):
            usable = coco_licenses
        license_ = usable.get(number) if number else None
        found_licenses.append(license_)
        if number and license_ is None:
            unknown[number] += 1

    if not unknown:
        return found_licenses, ()
    return found_licenses, (_note(unknown.total(), list(unknown)),)


def _by_number(licenses: Iterable[License]) -> dict[str, License]:
    return {str(license_.id): license_ for license_ in licenses}


def _note(lacking: int, numbers: Sequence[str]) -> str:
    listed_numbers = ", ".join(numbers[:_SHOWN])
    if len(numbers) > _SHOWN:
        listed_numbers += ", …"
    return (
        f"{inflect(lacking, 'images')} of unknown licence: the file's list `licenses` has no entry "
        f"with the id that they give ({listed_numbers}); add it if their licences matter"
    )


def _is_of_coco(image: Image) -> bool:
    if not isinstance(image.coco_url, str):
        return False
    # What stands before the path is the same in all images of a file.
    return _begins_at_coco("/".join(image.coco_url.split("/", 3)[:3]))


@lru_cache(64)
def _begins_at_coco(address: str) -> bool:
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    # A host of COCO, or one below it, and no other that ends alike.
    return f".{host}".endswith(_COCO_HOSTS)
