"""Build the data frames that every reader returns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base.arrays import STRING, BoolArray, FloatArray, IntArray
from cobalance.base.records import (
    ALL_IMAGES,
    ANNOTATION,
    MENTION_NUMBERS,
    Annotations,
    Metadata,
)
from cobalance.ingest.names import Coded, categorical, recode_names, translate_codes

TEXT = pa.large_string()

ObjectArray = npt.NDArray[np.object_]
Scalar = TypeVar("Scalar", np.integer, np.float64, np.object_, np.bool_)
TEXT_COLUMNS = ("captions", "license", "license_url", "attribution")


@dataclass(frozen=True, eq=False)
class Labels:
    """The class of each image; -1 if it has none and is set aside.

    `why` has the reason why an image has no class; -1 for the others.
    """

    column: Coded
    why: Coded

    @classmethod
    def none(cls, n_images: int) -> "Labels":
        """The labels of images without classes: all are of the class `ALL_IMAGES`."""
        nothing = Coded(np.full(n_images, -1, dtype=np.int64), ())
        return cls(Coded.constant(ALL_IMAGES, n_images), nothing)


@dataclass(frozen=True, eq=False)
class ImageColumns:
    """The images of a file, malformed ones included: ids and URIs as text, sizes as whole numbers.

    URIs and sizes are null where unknown; a column is None if all of it is.
    """

    ids: pa.Array
    uris: pa.Array | None = None
    widths: pa.Array | None = None
    heights: pa.Array | None = None
    split: Coded | None = None


@dataclass(frozen=True, eq=False)
class MentionColumns:
    """Mentions from one source.

    Parameters
    ----------
    image : int64 array, shape (m,)
        Row of each mention's image.
    concept : Coded
        Concept of each mention; those with the code -1 are left out.
    source : str
        As in `cobalance.base.records.Mention`.
    numbers : mapping of str to float64 array
        Any of score, area_px2, x_px, y_px, w_px and h_px.
    segmentations : object array or None
        JSON as bytes or memory views.
    crowds : bool array or None
        True where many instances are outlined as one; None if there are none.
    """

    image: IntArray
    concept: Coded
    source: str
    numbers: Mapping[str, FloatArray]
    segmentations: ObjectArray | None = None
    crowds: BoolArray | None = None


@dataclass(frozen=True, eq=False)
class TextColumns:
    """Captions (in their order), licences and attribution of images; None where unknown.

    `image` (int64) is the row of each image, each once; attributions are whom or where it is from;
    `notes` are what people should know of them.
    """

    image: IntArray
    captions: Sequence[list[str] | None]
    licenses: Sequence[str | None]
    license_urls: Sequence[str | None]
    attributions: Sequence[str | None]
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    def frame(self, new_row: IntArray) -> pd.DataFrame | None:
        """As `base.records.Annotations.texts`, for images renumbered (-1 for those left out)."""
        columns: list[Any] = [self.captions, self.licenses, self.license_urls, self.attributions]
        texts = pd.DataFrame({"image": new_row[self.image]})
        for name, column in zip(TEXT_COLUMNS, columns, strict=True):
            texts[name] = pd.Series(column, dtype=object)
        told = texts[(texts["image"] >= 0) & texts[[*TEXT_COLUMNS]].notna().any(axis=1)]
        return None if told.empty else told.reset_index(drop=True)


def annotations(
    images: ImageColumns,
    labels: Labels,
    mentions: Sequence[MentionColumns],
    keep: BoolArray,
    *,
    objects: MentionColumns | None = None,
    texts: TextColumns | None = None,
    metadata: Sequence[Metadata] = (),
    roles: Mapping[str, str] | None = None,
    set_aside: Mapping[str, int] | None = None,
    skipped: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Annotations:
    """Assemble a reader's result, without images that are malformed or have no class.

    `keep` (bool) is False where an image is malformed; `objects` are instances of the images'
    classes, which are their concepts; `set_aside` counts other records that were left out on
    purpose, by reason.
    """
    kept = keep & (labels.column.codes >= 0)
    rows = np.flatnonzero(kept)
    n = len(rows)
    missing = pa.nulls(len(kept), pa.int64())
    split = images.split or Coded(np.full(len(kept), -1, dtype=np.int64), ())
    uris = pa.nulls(len(kept), pa.large_string()) if images.uris is None else images.uris
    picked = pa.array(rows)
    frame = pd.DataFrame(
        {
            "id": pd.array(images.ids.take(picked), dtype=STRING),
            "class_name": categorical(labels.column.codes[rows], labels.column.names),
            "split": categorical(split.codes[rows], split.names),
            "uri": pd.array(uris.take(picked), dtype=STRING),
            "width_px": _whole(missing if images.widths is None else images.widths, picked),
            "height_px": _whole(missing if images.heights is None else images.heights, picked),
            "synthetic": np.zeros(n, dtype=bool),
        },
        index=pd.RangeIndex(n),
    )
    new_row = np.full(len(kept), -1, dtype=np.int64)
    new_row[rows] = np.arange(n)
    reasons = np.bincount(labels.why.codes[keep] + 1, minlength=len(labels.why.names) + 1)[1:]
    counts = {**dict(zip(labels.why.names, reasons.tolist(), strict=True)), **(set_aside or {})}
    instances = pd.DataFrame() if objects is None else _mention_frame([objects], new_row)
    return Annotations(
        frame,
        _mention_frame(mentions or [_join_mentions([])], new_row),
        {reason: count for reason, count in counts.items() if count},
        tuple(skipped),
        (*notes, *(() if texts is None else texts.notes)),
        None if instances.empty else instances.drop(columns=["concept", "source"]),
        None if texts is None else texts.frame(new_row),
        tuple(part.move(new_row) for part in metadata),
        roles or {},
    )


def add_mentions(annotations: Annotations, parts: Sequence[MentionColumns]) -> Annotations:
    """The annotations with more mentions, behind their own."""
    plain = [part for part in parts if not part.numbers]
    joined = [_join_mentions(plain), *(part for part in parts if part.numbers)] if plain else parts
    if not any(len(part.image) for part in joined):
        return annotations
    more = _mention_frame(joined, np.arange(len(annotations.images)))
    old = annotations.mentions
    if old.empty:
        return replace(annotations, mentions=more)
    names = {
        name: pd.api.types.union_categoricals([old[name], more[name]], sort_categories=True)
        for name in ("concept", "source")
    }
    both = pd.concat([old.drop(columns=[*names]), more.drop(columns=[*names])], ignore_index=True)
    if "crowd" in both:
        both["crowd"] = both["crowd"].eq(True)
    return replace(
        annotations, mentions=both.assign(**names)[[*more, *both.columns.difference([*more])]]
    )


def _join_mentions(parts: Sequence[MentionColumns]) -> MentionColumns:
    """Mentions without numbers as one part, whose numbers then take no memory."""
    first = np.cumsum([0, *(len(part.concept.names) for part in parts)])
    codes = [
        np.where(part.concept.codes < 0, -1, part.concept.codes + start)
        for part, start in zip(parts, first, strict=False)
    ]
    names = [name for part in parts for name in part.concept.names]
    none = np.empty(0, dtype=np.int64)
    concept = recode_names(np.concatenate([none, *codes]), names)
    image = np.concatenate([none, *(part.image for part in parts)])
    return MentionColumns(image, concept, ANNOTATION, {})


def _mention_frame(parts: Sequence[MentionColumns], new_row: IntArray) -> pd.DataFrame:
    names = sorted(set().union(*(part.concept.names for part in parts)))
    sources = sorted({part.source for part in parts})
    number = {name: code for code, name in enumerate(names)}
    image, concept, source = [], [], []
    numbers: dict[str, list[FloatArray]] = {name: [] for name in MENTION_NUMBERS}
    segmentations: list[ObjectArray] = []
    crowds: list[BoolArray] = []
    has_crowds = any(part.crowds is not None for part in parts)
    for part in parts:
        rows = new_row[part.image]
        sound = (rows >= 0) & (part.concept.codes >= 0)
        kept = slice(None) if sound.all() else np.flatnonzero(sound)
        new_code = np.array([number[name] for name in part.concept.names], dtype=np.int32)
        image.append(rows[kept])
        concept.append(translate_codes(part.concept.codes[kept], new_code))
        n = len(image[-1])
        source.append(np.full(n, sources.index(part.source), dtype=np.int32))
        for name, columns in numbers.items():
            columns.append(_pick(part.numbers.get(name), kept, n, np.array(np.nan)))
        segmentations.append(_pick(part.segmentations, kept, n, np.array(None)))
        crowded = part.crowds
        crowds.append(np.zeros(n, dtype=bool) if crowded is None else crowded[kept])
    return pd.DataFrame(
        {
            "image": _join(image),
            "concept": categorical(_join(concept), names),
            "source": categorical(_join(source), sources),
            **{name: _join(columns) for name, columns in numbers.items()},
            # As a series: pandas would take 42 bytes a row to see what the objects are.
            "segmentation": pd.Series(_join(segmentations), dtype=object, copy=False),
            **({"crowd": _join(crowds)} if has_crowds else {}),
        },
        copy=False,
    )


def _pick(
    values: npt.NDArray[Scalar] | None,
    kept: IntArray | slice,
    n: int,
    missing: npt.NDArray[Scalar],
) -> npt.NDArray[Scalar]:
    """Values at `n` positions; without any, one for all: a column of NaN takes 8 bytes a row."""
    return np.broadcast_to(missing, n) if values is None else values[kept]


def _join(columns: Sequence[npt.NDArray[Scalar]]) -> npt.NDArray[Scalar]:
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


def _whole(column: pa.Array, picked: pa.Array) -> pd.api.extensions.ExtensionArray:
    taken = column.take(picked)
    values = pc.fill_null(taken, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    absent = pc.is_null(taken).to_numpy(zero_copy_only=False)
    return pd.arrays.IntegerArray(values, absent)
