"""COCO instances: a JSON file of objects with category, box, area and segmentation."""

from dataclasses import dataclass
from itertools import chain
from math import nan
from operator import attrgetter
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd

from cobalance.base import (
    ANNOTATION,
    Annotations,
    BoolArray,
    FloatArray,
    IntArray,
    Progress,
    group_pairs,
    with_article,
)
from cobalance.ingest import frames
from cobalance.ingest.coco import (
    Attribute,
    Category,
    Id,
    Image,
    Records,
    coco_images,
    coco_kind,
    coco_texts,
    decode,
    field,
    id_columns,
    json_metadata,
)
from cobalance.ingest.concepts import labels_of_objects
from cobalance.ingest.frames import MentionColumns, ObjectArray
from cobalance.ingest.names import Coded, recode_names
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems, RowProblems, first_rows
from cobalance.ingest.reader import format_of

_NOT_THERE = msgspec.Raw()
_FLAGGED = frozenset({1, "1", "true"})  # true and 1.0 are 1


class Box(msgspec.Struct, array_like=True, gc=False):
    """A ``bbox``: a struct, as a million tuples would keep the garbage collector busy."""

    x: float
    y: float
    width: float
    height: float
    excess: None = None  # so that a fifth number is reported with its record


_NO_BOX = Box(nan, nan, nan, nan)
_SIDES = attrgetter("x", "y", "width", "height")


class Instance(msgspec.Struct, gc=False):
    """An entry of ``annotations`` without its segmentation."""

    image_id: Id
    category_id: Id
    bbox: Box | None = None
    area: float | None = None
    score: float | None = None
    iscrowd: bool | int | float | str | None = None
    ignore: bool | int | float | str | None = None
    attributes: msgspec.Raw = _NOT_THERE
    attribute_ids: list[Id] | None = None


class OutlinedInstance(Instance, gc=False):
    """An entry of ``annotations``; the segmentation is not parsed."""

    segmentation: msgspec.Raw = _NOT_THERE


@dataclass(frozen=True)
class CocoInstances:
    """Reader of COCO instances; each is a mention of its category, crowds included."""

    description: str = "COCO instances: categories and boxes as one JSON file"
    uses: frozenset[str] = frozenset({"categories"})

    def detects(self, path: Path, _head: bytes) -> bool:
        """Whether the annotations have categories or boxes."""
        return coco_kind(path) == "instances"

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Annotations:
        """Read images, categories and annotations, and derive the images' classes."""
        problems = Problems(str(path), options)
        progress("read", 0, None)
        instance = OutlinedInstance if options.outlines else Instance
        types = {"images": Image, "annotations": instance, "categories": Category}
        lists = decode(path, "instances", types, problems)
        instances = lists["annotations"]

        progress("check", 0, len(instances.items))
        images = coco_images(lists["images"], instances, options.split, problems)
        category = _categories(lists["categories"], instances, images.annotations)
        numbers = _numbers(instances, images.annotations)
        progress("check", len(instances.items), len(instances.items))

        is_ignored = _flags(instances, "ignore")
        n_ignored = int((is_ignored & ~images.annotations.bad).sum())
        sound = np.flatnonzero(~images.annotations.bad & ~is_ignored)
        image, category = images.image[sound], Coded(category.codes[sound], category.names)
        numbers = frames.take_rows(numbers, sound)
        segmentations = _segmentations(instances, sound) if options.outlines else None
        crowds = _crowds(instances, sound)
        texts = coco_texts(lists["images"], lists["licenses"])
        n = len(lists["images"].items)
        metadata = json_metadata("image", np.arange(n), lists["further"].items, {})
        attributes = np.fromiter(_attributes(instances, lists["attributes"]), object)[sound]
        filled = np.flatnonzero(attributes.astype(bool))
        boxes = frames.take_rows(numbers, filled)
        metadata += json_metadata("attributes", image[filled], attributes[filled].tolist(), boxes)
        # They take hundreds of megabytes.
        del lists, instances

        mentions = MentionColumns(image, category, ANNOTATION, numbers, segmentations, crowds)
        labels, concepts, objects, notes = labels_of_objects(
            images.columns, mentions, options, problems, progress
        )
        set_aside = {
            "annotations of skipped images": int(images.images.bad[image].sum()),
            "annotations of skipped categories": int((category.codes < 0).sum()),
            "annotations flagged as ignored": n_ignored,
        }
        return frames.annotations(
            images.columns,
            labels,
            [concepts],
            ~images.images.bad,
            objects=objects,
            texts=texts,
            metadata=metadata,
            set_aside=set_aside,
            skipped=problems.messages,
            notes=notes,
        )


def _attributes(instances: Records[Instance], known: Records[Attribute]) -> list[bytes]:
    """The attributes of each instance as JSON, Fashionpedia's by their ids; empty for none."""
    texts = list(map(bytes, field(instances, "attributes")))
    by_id = {attribute.id: attribute for attribute in known.items}
    for row, ids in enumerate(field(instances, "attribute_ids") if by_id else ()):
        attributes = filter(None, map(by_id.get, ids or ()))
        by_category = group_pairs(
            (attribute.supercategory, attribute.name) for attribute in attributes
        )
        if by_category:
            texts[row] = msgspec.json.encode(by_category)
    return texts


def _categories(
    categories: Records[Category], instances: Records[Instance], rows: RowProblems
) -> Coded:
    """Category of each instance; unknown ones are reported."""
    column = recode_names(np.arange(len(categories.items)), field(categories, "name"))
    faults = RowProblems(rows.problems, len(categories.items), categories.place)
    faults.report(
        column.codes < 0, lambda row: f"the name {column.fault(row)}", "Give it a readable name"
    )

    ids, used_ids = id_columns(field(categories, "id"), field(instances, "category_id"))
    index = pd.Index(ids.to_pandas())
    # Names that differ, and are one once cleaned, are one concept, as in tables.
    names = pd.Index(field(categories, "name"), dtype=object)
    rows_of_ids = np.arange(len(index))
    # Roboflow's root category comes first, is called as another, and no annotation has it.
    n_roots = int(len(index) > 0 and not (used_ids.to_pandas() == index[0]).any())
    first_named = np.append(rows_of_ids[:n_roots], first_rows(names[n_roots:]) + n_roots)
    for what, first in (("id", first_rows(index)), ("name", first_named)):
        faults.report(
            first != rows_of_ids,
            lambda row, what=what, first=first: (  # type: ignore[misc]
                f"the {what} {getattr(categories.items[row], what)!r} is taken by "
                f"{categories.place(int(first[row]))}"
            ),
            f"Give each category {with_article(what)} of its own",
        )

    unique = np.flatnonzero(first_rows(index) == np.arange(len(index)))
    category = np.append(unique, -1)[index[unique].get_indexer(pd.Index(used_ids.to_pandas()))]
    rows.report(
        category < 0,
        lambda row: f"category_id {used_ids[row]} is not in categories ({len(index):,} known)",
        "Add the category",
    )
    codes = np.where(faults.bad, -1, column.codes)
    return Coded(np.append(codes, -1)[category], column.names)


def _numbers(instances: Records[Instance], rows: RowProblems) -> dict[str, FloatArray]:
    """Boxes, areas and scores as columns, NaN where unknown; invalid ones are reported."""
    boxes = field(instances, "bbox")
    if None in boxes:
        boxes = [box or _NO_BOX for box in boxes]
    values = chain.from_iterable(map(_SIDES, boxes))
    flat = np.fromiter(values, np.float64, 4 * len(boxes)).reshape(-1, 4)

    numbers = {
        "area_px2": _floats(field(instances, "area")),
        "score": _floats(field(instances, "score")),
    }
    numbers |= zip(("x_px", "y_px", "w_px", "h_px"), flat.T.copy(), strict=True)

    # Boxes of no width or height are in COCO itself; the object is seen all the same.
    rows.report(
        (flat[:, 2] < 0) | (flat[:, 3] < 0),
        lambda row: f"bbox: {flat[row].tolist()} has a negative width or height",
        "Write a box as [x, y, width, height]",
    )
    rows.report(
        numbers["area_px2"] < 0,
        lambda row: f"area: {numbers['area_px2'][row]:g} is negative",
        "Correct it",
    )
    rows.report(
        (numbers["score"] < 0) | (numbers["score"] > 1),
        lambda row: f"score: {numbers['score'][row]:g} is not from 0 to 1",
        "Scale the scores to 0 to 1",
    )
    return numbers


def _floats(values: list[float | None]) -> FloatArray:
    # np.full is ten times as fast as turning None into NaN one by one.
    if values.count(None) == len(values):
        return np.full(len(values), np.nan)
    return np.array(values, dtype=np.float64)


def _segmentations(instances: Records[OutlinedInstance], sound: IntArray) -> ObjectArray:
    """Segmentation of each instance as a view of the file; None where absent."""
    outlines = [
        None if outline is _NOT_THERE else outline for outline in field(instances, "segmentation")
    ]
    # np.array would split the views into bytes.
    values = np.fromiter(outlines, object, len(outlines))
    if len(sound) == len(values):
        return values
    return values[sound]


def _crowds(instances: Records[Instance], sound: IntArray) -> BoolArray | None:
    """Mask of crowd instances, or None."""
    return frames.mask_or_none(_flags(instances, "iscrowd")[sound])


def _flags(instances: Records[Instance], name: str) -> BoolArray:
    """Rows of instances whose field says yes, such as those flagged as ignored."""
    values = field(instances, name)
    if values.count(None) == len(values):
        return np.zeros(len(values), dtype=bool)
    return np.fromiter(map(_FLAGGED.__contains__, values), bool, len(values))


PLUGIN = format_of("coco-instances", CocoInstances())
