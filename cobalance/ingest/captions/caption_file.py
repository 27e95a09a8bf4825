"""Read captions from a second file, and add them to annotations."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import (
    Annotations,
    BoolArray,
    IntArray,
    Progress,
    Setting,
    inflect,
    shorten_list,
)
from cobalance.ingest.captions.caption_columns import table_texts
from cobalance.ingest.coco import coco_kind, read_captions
from cobalance.ingest.frames import TextColumns
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import read_head
from cobalance.ingest.tables import load_table
from cobalance.ingest.tables.columns import map_columns, text_column

LONGEST = 10_000
"""Most characters of a caption."""

_FORM = "Give COCO captions, or write the columns image_id and caption as CSV."
_ABOUT = ("licenses", "license_urls", "attributions")


@dataclass(frozen=True, eq=False)
class _CaptionFile:
    """Content of a file of captions, in rows of one image each; an image may have several.

    `keys` are those by which each row's image is found: ids, file names; `sound` is False where a
    row is malformed.
    """

    keys: Sequence["pd.Series[str]"]
    texts: TextColumns
    sound: BoolArray


def with_captions(
    annotations: Annotations, options: ReadOptions, file: str, progress: Progress
) -> Annotations:
    """Add the captions of the file `ReadOptions.captions` to annotations, in place of their own.

    Images are found by file name, by id, or by file name without folder where that is unique.
    Images with captions that are not in `annotations` are counted in a note.

    Parameters
    ----------
    file : str
        The file of the annotations, for messages.

    Raises
    ------
    InputError
        The file cannot be read, a record in it is malformed, or it has none of the images.
    """
    path = options.captions
    if path is None:
        return annotations
    problems = Problems(str(path), options)
    file_texts = _without_long_ones(_read(path, problems, progress), problems)

    rows = np.where(file_texts.sound, image_rows(file_texts.keys, annotations.images), -1)
    captioned = file_texts.sound & [captions is not None for captions in file_texts.texts.captions]
    if not (captioned & (rows >= 0)).any():
        raise problems.fatal(
            f"has captions of none of the images of {file}",
            "Give each image the same id or file name in both files.",
        )
    n_known = len(np.unique(rows[captioned & (rows >= 0)]))
    n_others = file_texts.keys[0][captioned & (rows < 0)].nunique()
    note = f"{path}: captions of {n_known:,} of {inflect(len(annotations.images), 'images')}"
    if n_others:
        note += f"; left out those of {inflect(n_others, 'images')} that {file} does not load"

    return replace(
        annotations,
        texts=_merge_texts(annotations.texts, rows, file_texts.texts),
        notes=(*annotations.notes, *file_texts.texts.notes, note),
        skipped=(*annotations.skipped, *problems.messages),
    )


def _read(path: Path, problems: Problems, progress: Progress) -> _CaptionFile:
    read_head(path)
    if coco_kind(path) is not None:
        images, _, texts = read_captions(path, None, problems, progress)
        keys = [images.columns.ids.to_pandas(), images.columns.uris.to_pandas()]
        return _CaptionFile(keys, texts, ~images.images.bad)

    table = load_table(path, problems, progress)
    column_of = dict(map_columns(table, ReadOptions(), ("id", "caption", "uri")).of)

    # Of two columns the one that is no id is the caption, however it is called.
    if len(table.columns) == 2 and "caption" not in column_of:
        names = list(table.columns)
        column_of["id"] = column_of.get("id", names[0])
        (column_of["caption"],) = {*names} - {column_of["id"]}

    for role, name in (("id", "image_id"), ("caption", "caption")):
        if role not in column_of:
            raise problems.fatal(
                f"there is no column {name!r} (its columns: {shorten_list(table.columns)})", _FORM
            )

    rows = table.rows()
    columns = dict.fromkeys(filter(None, map(column_of.get, ("id", "uri"))))
    series = [text_column(table, name, Setting("captions")).to_pandas() for name in columns]
    rows.report(
        (series[0].isna() | (series[0] == "")).to_numpy(),
        lambda _: "there is no image id",
        "Name the image",
    )
    return _CaptionFile(series, table_texts(table, column_of["caption"]), ~rows.bad)


def _without_long_ones(captions_read: _CaptionFile, problems: Problems) -> _CaptionFile:
    """Report texts that are too long for captions, and leave them out."""
    captions: list[list[str] | None] = []
    for row, written in enumerate(captions_read.texts.captions):
        short = [caption for caption in written or () if len(caption) <= LONGEST]
        if written is not None and len(short) < len(written):
            place = f"image {captions_read.keys[0].iloc[row]!r}"
            problems.record(place, f"a caption is longer than {LONGEST:,} characters", "Shorten it")
        captions.append(short or None)
    return replace(captions_read, texts=replace(captions_read.texts, captions=captions))


def image_rows(keys: Sequence["pd.Series[str]"], images: pd.DataFrame) -> IntArray:
    """Row of each key's image; -1 for none. No image is guessed where two have the name.

    Images are found by address, by id, or by the end of a path: up to four of its parts, at last
    the file name, also by a key without its ending.
    """
    ids, uris = images["id"].astype(object), images["uri"].astype(object)
    image = np.full(len(keys[0]), -1, dtype=np.int64)
    # The whole name comes first, then ever shorter ends of its path.
    for parts in (0, 4, 3, 2, 1, -1):
        tried = [_ends(key, abs(parts)) for key in keys]
        for names in (_ends(uris, parts), _ends(ids, parts)):
            rows = np.flatnonzero(names.notna() & ~names.duplicated(keep=False))
            index = pd.Index(names.iloc[rows], dtype=object)
            for key in tried:
                row = np.append(rows, -1)[index.get_indexer(pd.Index(key, dtype=object))]
                image = np.where(image < 0, row, image)

        # Shorter ends fit images more loosely, and are tried for those alone that are left.
        if (image >= 0).all():
            break
    return image


def _ends(paths: "pd.Series[str]", parts: int) -> "pd.Series[Any]":
    """Last parts of paths, -1 for the last without its ending; None where different ones agree."""

    def end(path: str) -> str:
        last = "/".join(path.split("/")[-abs(parts) :])
        return last if parts >= 0 else last.rpartition(".")[0] or last

    distinct = pd.Series(paths.dropna().unique(), dtype=object)
    last = distinct.map(end)

    # Of two paths with one end neither is meant.
    unique = ~last.duplicated(keep=False)
    last_of = dict(zip(distinct[unique], last[unique], strict=True))
    return paths.astype(object).map(last_of.get)


def _merge_texts(
    earlier: pd.DataFrame | None, rows: IntArray, new_texts: TextColumns
) -> pd.DataFrame | None:
    """Merge texts of images: new captions and licences replace those held before."""
    texts_of: dict[int, list[Any]] = {}
    if earlier is not None:
        for row, captions, *about in earlier.itertuples(index=False):
            texts_of[row] = [captions, *about]

    fresh: dict[int, list[str]] = {}
    # An image may have several rows, whose captions all count.
    for position in np.flatnonzero(rows >= 0).tolist():
        row = int(rows[position])
        captions, *before = texts_of.get(row, [None] * 4)
        new_captions = new_texts.captions[position]
        if new_captions is not None:
            captions = fresh.setdefault(row, [])
            captions.extend(new_captions)
        about = [getattr(new_texts, name)[position] for name in _ABOUT]
        texts_of[row] = [captions, *(new or old for new, old in zip(about, before, strict=True))]

    order = sorted(texts_of)
    columns = zip(*(texts_of[row] for row in order), strict=True)
    texts = TextColumns(np.array(order, dtype=np.int64), *map(list, columns))
    return texts.frame(np.arange(max(order) + 1))
