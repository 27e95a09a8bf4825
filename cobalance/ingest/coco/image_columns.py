"""Images of a COCO file as columns, joined with the annotations."""

from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.graph.arrays import IntArray
from cobalance.graph.progress import Progress
from cobalance.ingest.coco.records import Id, Image, Records, decode, id_columns
from cobalance.ingest.coco.texts import coco_texts
from cobalance.ingest.frames import TEXT, ImageColumns, TextColumns
from cobalance.ingest.names import Coded, unreadable
from cobalance.ingest.problems import Problems, RowProblems, first_rows


class Caption(msgspec.Struct, gc=False):
    """An entry of ``annotations`` in a captions file."""

    image_id: Id
    caption: str


@dataclass(frozen=True, eq=False)
class CocoImages:
    """The images of a COCO file, and the image of each annotation.

    Parameters
    ----------
    columns : ImageColumns
        All images, malformed ones included.
    images, annotations : RowProblems
        Malformed images and annotations.
    image : int64 array
        Row of each annotation's image in `columns`; -1 if malformed.
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
    rows = problems.rows(n, images.place)
    ids, owners = id_columns(field(images, "id"), field(annotations, "image_id"))
    texts = pc.cast(ids, TEXT)
    rows.report(
        unreadable(texts),
        lambda row: f"the id {texts[row].as_py()!r} is not readable text",
        "Give it another one",
    )
    known = pd.Index(ids.to_pandas())
    first = first_rows(known)
    rows.report(
        first != np.arange(n),
        lambda row: f"the id {known[row]} is taken by {images.place(int(first[row]))}",
        "Give each image an id of its own",
    )
    columns = ImageColumns(
        texts,
        pa.array(list(map(_file, images.items)), TEXT),
        _sizes(images, "width", rows),
        _sizes(images, "height", rows),
        None if split is None else Coded.constant(split, n),
    )
    owner_rows = problems.rows(len(annotations.items), annotations.place)
    unique = np.flatnonzero(first == np.arange(n))
    found = known[unique].get_indexer(pd.Index(owners.to_pandas()))
    image = np.append(unique, -1)[found]
    owner_rows.report(
        image < 0,
        lambda row: f"image_id {owners[row]} is not in images ({n:,} known)",
        "Add the image",
    )
    return CocoImages(columns, rows, owner_rows, image)


def _file(image: Image) -> str | None:
    """The image's file; LVIS has its address at COCO alone, which ends with folder and file."""
    if image.file_name is None and isinstance(image.coco_url, str):
        return "/".join(image.coco_url.rsplit("/", 2)[-2:])
    return image.file_name


def _sizes(images: Records[Image], name: str, rows: RowProblems) -> pa.Array:
    given = field(images, name)
    faulty = np.array([size is not None and not 0 < size < 1 << 31 for size in given])
    rows.report(faulty, lambda row: f"{name}: {given[row]} is not a size in pixels", "Correct it")
    sound = [None if bad else size for size, bad in zip(given, faulty.tolist(), strict=True)]
    return pa.array(sound, pa.int64())


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
    found = coco_images(lists["images"], captions, split, problems)
    sound = np.flatnonzero(~found.annotations.bad)
    texts = [captions.items[row].caption for row in sound.tolist()]
    progress("read", len(texts), len(texts))
    image = found.image[sound]
    told = coco_texts(lists["images"], lists["licenses"], (image, texts))
    return replace(found, image=image), texts, told
