"""Build the data frames that every reader returns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import (
    ALL_IMAGES,
    ANNOTATION,
    MENTION_NUMBERS,
    STRING,
    Annotations,
    BoolArray,
    FloatArray,
    IntArray,
    Metadata,
)
from cobalance.ingest.names import Coded, categorical, map_values, recode_names, translate_codes

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
        return cls(Coded.constant(ALL_IMAGES, n_images), Coded.none(n_images))


@dataclass(frozen=True, eq=False)
class ImageColumns:
    """The images of a file, malformed ones included: ids and URIs as text, sizes as whole numbers.

    URIs and sizes are null where unknown, and splits -1.
    """

    ids: pa.Array
    uris: pa.Array
    widths: pa.Array
    heights: pa.Array
    split: Coded

    def take(self, rows: IntArray) -> "ImageColumns":
        """Some images."""
        positions = pa.array(rows)
        return ImageColumns(
            ids=self.ids.take(positions),
            uris=self.uris.take(positions),
            widths=self.widths.take(positions),
            heights=self.heights.take(positions),
            split=Coded(self.split.codes[rows], self.split.names),
        )


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
        has_text = texts[[*TEXT_COLUMNS]].notna().any(axis=1)
        texts = texts[(texts["image"] >= 0) & has_text]
        if texts.empty:
            return None
        return texts.reset_index(drop=True)


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
    is_used = keep & (labels.column.codes >= 0)
    rows = np.flatnonzero(is_used)
    n, n_all = len(rows), len(is_used)
    new_row = np.full(n_all, -1, dtype=np.int64)
    new_row[rows] = np.arange(n)

    used_codes, used = labels.column.codes, images
    if n < n_all:
        used_codes, used = used_codes[rows], images.take(rows)
    frame = pd.DataFrame(
        {
            "id": pd.array(used.ids, dtype=STRING),
            "class_name": categorical(used_codes, labels.column.names),
            "split": categorical(used.split.codes, used.split.names),
            "uri": pd.array(used.uris, dtype=STRING),
            "width_px": _whole(used.widths),
            "height_px": _whole(used.heights),
            "synthetic": np.zeros(n, dtype=bool),
        },
        index=pd.RangeIndex(n),
    )

    # The code -1, of images that have a class, is counted first, and left out.
    reasons = np.bincount(labels.why.codes[keep] + 1, minlength=len(labels.why.names) + 1)[1:]
    counts = dict(zip(labels.why.names, reasons.tolist(), strict=True)) | dict(set_aside or {})
    result = Annotations(
        frame,
        _mention_frame(mentions or [_join_mentions([])], new_row),
        drop_zeros(counts),
        tuple(skipped),
        tuple(notes),
        metadata=tuple(part.move(new_row) for part in metadata),
        roles=roles or {},
    )
    if texts is not None:
        result = replace(result, texts=texts.frame(new_row), notes=(*notes, *texts.notes))
    if objects is not None:
        instances = _mention_frame([objects], new_row).drop(columns=["concept", "source"])
        result = replace(result, objects=None if instances.empty else instances)
    return result


def add_mentions(annotations: Annotations, parts: Sequence[MentionColumns]) -> Annotations:
    """The annotations with more mentions, behind their own."""
    plain = [part for part in parts if not part.numbers]
    numbered = [part for part in parts if part.numbers]
    joined = numbered
    if plain:
        joined = [_join_mentions(plain), *numbered]
    if not any(len(part.image) for part in joined):
        return annotations
    new = _mention_frame(joined, np.arange(len(annotations.images)))
    old = annotations.mentions
    if old.empty:
        return replace(annotations, mentions=new)

    # pandas would turn categories that differ into text.
    coded = {
        name: pd.api.types.union_categoricals([old[name], new[name]], sort_categories=True)
        for name in ("concept", "source")
    }
    both = pd.concat([old.drop(columns=[*coded]), new.drop(columns=[*coded])], ignore_index=True)
    # Where one of them has no crowds, the column is missing there.
    if "crowd" in both:
        both["crowd"] = both["crowd"].eq(True)
    columns = [*new, *both.columns.difference([*new])]
    return replace(annotations, mentions=both.assign(**coded)[columns])


def _join_mentions(parts: Sequence[MentionColumns]) -> MentionColumns:
    """Mentions without numbers as one part, whose numbers then take no memory."""
    codes = [np.empty(0, dtype=np.int64)]
    names = list[str]()
    for part in parts:
        codes.append(np.where(part.concept.codes < 0, -1, part.concept.codes + len(names)))
        names += part.concept.names
    concept = recode_names(np.concatenate(codes), names)
    images = [np.empty(0, dtype=np.int64), *(part.image for part in parts)]
    return MentionColumns(np.concatenate(images), concept, ANNOTATION, {})


def _mention_frame(parts: Sequence[MentionColumns], new_row: IntArray) -> pd.DataFrame:
    """Mentions of images that are left, without those of no concept, as of `Annotations`."""
    names = sorted(set().union(*(part.concept.names for part in parts)))
    sources = sorted({part.source for part in parts})
    code_of = dict(zip(names, range(len(names)), strict=True))
    all_stay = bool((new_row == np.arange(len(new_row))).all())
    image, concept, source = [], [], []
    numbers: dict[str, list[FloatArray]] = {name: [] for name in MENTION_NUMBERS}
    segmentations: list[ObjectArray] = []
    crowds: list[BoolArray] = []
    for part in parts:
        rows = part.image if all_stay else new_row[part.image]
        is_sound = (rows >= 0) & (part.concept.codes >= 0)
        # A slice does not copy the columns.
        sound = slice(None) if is_sound.all() else np.flatnonzero(is_sound)
        new_code = np.array(list(map(code_of.get, part.concept.names)), dtype=np.int32)
        image.append(rows[sound])
        concept.append(translate_codes(part.concept.codes[sound], new_code))
        n = len(image[-1])
        source.append(np.full(n, sources.index(part.source), dtype=np.int16))
        for name, pieces in numbers.items():
            pieces.append(_pick(part.numbers.get(name), sound, n, np.array(np.nan)))
        segmentations.append(_pick(part.segmentations, sound, n, np.array(None)))
        crowds.append(_pick(part.crowds, sound, n, np.array(False)))

    columns = {
        "image": _join(image),
        "concept": categorical(_join(concept), names),
        "source": categorical(_join(source), sources),
        **map_values(_join, numbers),
        # As a series: pandas would take 42 bytes a row to see what the objects are.
        "segmentation": pd.Series(_join(segmentations), dtype=object, copy=False),
    }
    if any(part.crowds is not None for part in parts):
        columns["crowd"] = _join(crowds)
    return pd.DataFrame(columns, copy=False)


def mask_or_none(mask: BoolArray) -> BoolArray | None:
    """A mask, or None where nothing is true in it."""
    return mask if mask.any() else None


def drop_zeros(counts: Mapping[str, int]) -> dict[str, int]:
    """Counts but for those of 0."""
    return {reason: count for reason, count in counts.items() if count}


def take_cells(columns: Mapping[str, pa.Array], rows: IntArray) -> dict[str, pa.Array]:
    """Some rows of all columns of cells."""
    positions = pa.array(rows)
    return {name: column.take(positions) for name, column in columns.items()}


def take_rows(
    columns: Mapping[str, FloatArray], rows: IntArray | BoolArray
) -> dict[str, FloatArray]:
    """Some rows of all columns."""
    return {name: values[rows] for name, values in columns.items()}


def _pick(
    values: npt.NDArray[Scalar] | None,
    rows: IntArray | slice,
    n: int,
    missing: npt.NDArray[Scalar],
) -> npt.NDArray[Scalar]:
    """Values at `n` positions; without any, one for all: a column of NaN takes 8 bytes a row."""
    return np.broadcast_to(missing, n) if values is None else values[rows]


def _join(columns: Sequence[npt.NDArray[Scalar]]) -> npt.NDArray[Scalar]:
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


def _whole(column: pa.Array) -> pd.api.extensions.ExtensionArray:
    values = pc.fill_null(column, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    is_missing = pc.is_null(column).to_numpy(zero_copy_only=False)
    return pd.arrays.IntegerArray(values, is_missing)
