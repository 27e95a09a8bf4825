"""Collect images and mentions record by record, checked, for readers of files that are no table."""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite, nan
from typing import Any

import numpy as np
import pyarrow as pa

from cobalance.base import (
    ANNOTATION,
    MENTION_NUMBERS,
    Annotations,
    Box,
    FloatArray,
    IntArray,
    Metadata,
    Progress,
    clean_name,
)
from cobalance.ingest import frames
from cobalance.ingest.concepts import labels_of_objects
from cobalance.ingest.frames import TEXT, ImageColumns, Labels, MentionColumns
from cobalance.ingest.names import Coded, map_values, name_fault, recode_names
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.row_values import table_of_rows

VIDEO = "video"
"""Metadata of a frame: its video, whose frames are one cluster unless another column is named."""
SKIPPED = -1
"""Row of an image that is malformed, or that the file does not have."""
_LARGEST_PX = 1_000_000_000


@dataclass
class _Names:
    """Names as codes, in the order in which they come."""

    code: dict[str, int] = field(default_factory=dict)

    def __call__(self, name: str | None) -> int:
        """The code of a name, -1 for none."""
        if name is None:
            return -1
        return self.code.setdefault(clean_name(name), len(self.code))

    def column(self, codes: "array[int]") -> Coded:
        return recode_names(np.array(codes, dtype=np.int64), list(self.code))


class Collector:
    """Images and mentions of a dataset as its reader finds them; malformed ones are reported.

    Parameters
    ----------
    problems : Problems
        Collects the malformed records, or raises at the first.
    options : ReadOptions
        The split of all images, and where their classes come from.
    """

    def __init__(self, problems: Problems, options: ReadOptions) -> None:
        self._problems, self._options = problems, options

        # Columns of images, with an entry for each.
        self._place: dict[tuple[str, str], str] = {}  # by short and full id
        self._uris: list[str | None] = []
        self._sizes: tuple[list[int | None], list[int | None]] = ([], [])
        self._split_names, self._class_names, self._concept_names = _Names(), _Names(), _Names()
        self._splits, self._classes = array("q"), array("q")

        # Columns of mentions.
        self._image, self._concept = array("q"), array("q")
        self._numbers = {name: array("d") for name in MENTION_NUMBERS}
        self._segmentations: list[bytes | None] = []
        self._crowds = array("b")

        self._without_image = 0
        self._metadata: list[tuple[int, Mapping[str, Any]]] = []
        self._attributes: list[tuple[int, Mapping[str, Any]]] = []

    def image(
        self,
        id_: str,
        place: str,
        *,
        full_id: str = "",
        uri: str | None = None,
        width: int | None = None,
        height: int | None = None,
        split: str | None = None,
        class_name: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> int:
        """Add an image, and return its row for `mention`, or `SKIPPED` if it is malformed.

        `id_` is what the image is called, and `full_id`, with its folder, dataset or task, what it
        is called where `id_` repeats; no two images have both alike. `place` is where the record
        is, in the format's own terms, for messages; `metadata` is what else the record says, any
        values of JSON by name. The others are as in `cobalance.base.records.ImageRecord`; None
        where the file does not say.
        """
        if (fault := name_fault(id_)) is not None:
            return self._skip(
                place, f"the id {id_[:60]!r} {fault}", "Give each image a readable id"
            )
        key = id_, full_id or id_
        if key in self._place:
            return self._skip(
                place, f"the image {id_!r} is at {self._place[key]} already", "Name each image once"
            )

        for what, size in (("width", width), ("height", height)):
            if size is not None and not 0 < size <= _LARGEST_PX:
                return self._skip(
                    place,
                    f"the {what} {size} is not a size in pixels",
                    "Correct it, or leave it out",
                )
        for what, name in (("split", split), ("class", class_name)):
            if name is not None and (fault := name_fault(clean_name(name))) is not None:
                return self._skip(place, f"the {what} {fault}", "Correct it")

        # From here on the image counts: the lists below have an entry for each.
        row = len(self._place)
        self._place[key] = place
        self._problems.within("rows", row + 1)
        self._uris.append(uri or None)
        self._sizes[0].append(width)
        self._sizes[1].append(height)
        self._splits.append(self._split_names(split))
        self._classes.append(self._class_names(class_name))
        if metadata:
            self._metadata.append((row, metadata))

        return row

    def resize(self, image: int, width: int, height: int) -> None:
        """Set the size of an image, by its row, once it is known."""
        self._sizes[0][image], self._sizes[1][image] = width, height

    def name_files(self, uris: Sequence[str | None]) -> None:
        """Replace the addresses of all images, by their rows."""
        self._uris = [uri or None for uri in uris]

    def _skip(self, place: str, reason: str, fix: str) -> int:
        self._problems.record(place, reason, fix)
        return SKIPPED

    def mention(
        self,
        image: int,
        concept: str,
        place: str,
        *,
        score: float | None = None,
        box: Box | None = None,
        area: float | None = None,
        segmentation: bytes | None = None,
        crowd: bool = False,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a mention of a concept in an image, as `base.records.Mention` describes it.

        `image` is what `image` returned, and `place` as there; a mention in a skipped image is
        counted and left out. `attributes` is what else is said of the object, any values of JSON
        by name.
        """
        if image == SKIPPED:
            self._without_image += 1
            return

        x, y, width, height = box or (nan, nan, nan, nan)
        fault = name_fault(clean_name(concept))
        if fault is not None:
            reason, fix = f"the concept {fault}", "Name what is seen"
        elif box is not None and not _is_valid(box):
            reason = f"the box {[*box]} has a side that is negative or no number"
            fix = "Write a box with its sides in pixels"
        elif score is not None and not 0 <= score <= 1:
            reason, fix = f"the score {score:g} is not from 0 to 1", "Scale the scores to 0 to 1"
        elif area is not None and not 0 <= area < inf:
            reason, fix = f"the area {area:g} is negative or no number", "Correct it"
        else:
            self._image.append(image)
            self._concept.append(self._concept_names(concept))
            self._problems.within("mentions", len(self._image))
            values = (score, area, x, y, width, height)
            for column, value in zip(self._numbers.values(), values, strict=True):
                column.append(nan if value is None else value)
            self._segmentations.append(segmentation)
            self._crowds.append(crowd)
            if attributes:
                self._attributes.append((len(self._image) - 1, attributes))
            return

        self._problems.record(place, reason, fix)

    def annotations(self, progress: Progress, notes: Sequence[str] = ()) -> Annotations:
        """All that was collected, with the images' classes.

        Classes come from the options' categories or second file; else from the images.

        Raises
        ------
        InputError
            There is no image.
        UnknownNameError
            A category of the options is none of the concepts.
        """
        n = len(self._place)
        if not n:
            raise self._problems.fatal("has no images", "Give a dataset with images.")
        ids, id_notes = self._unique_ids()
        split = self._split_names.column(self._splits)
        if self._options.split is not None:
            split = Coded.constant(self._options.split, n)
        images = ImageColumns(
            pa.array(ids, TEXT),
            pa.array(self._uris, TEXT),
            pa.array(self._sizes[0], pa.int64()),
            pa.array(self._sizes[1], pa.int64()),
            split,
        )

        numbers: dict[str, FloatArray] = map_values(np.array, self._numbers)
        segmentations = None
        if any(self._segmentations):
            segmentations = np.fromiter(self._segmentations, object, len(self._image))
        mentions = MentionColumns(
            np.array(self._image, dtype=np.int64),
            self._concept_names.column(self._concept),
            ANNOTATION,
            numbers,
            segmentations,
            frames.mask_or_none(np.array(self._crowds, dtype=bool)),
        )
        labels, concepts, objects, label_notes = self._labels(images, mentions, progress)

        # Frames of a video are no independent images.
        has_videos = any(VIDEO in metadata for _, metadata in self._metadata)
        return frames.annotations(
            images,
            labels,
            [concepts],
            np.ones(n, dtype=bool),
            objects=objects,
            metadata=list(self._all_metadata(mentions)),
            roles={"cluster": VIDEO} if has_videos else None,
            set_aside={"annotations of skipped images": self._without_image},
            skipped=self._problems.messages,
            notes=(*notes, *id_notes, *label_notes),
        )

    def _unique_ids(self) -> tuple[list[str], list[str]]:
        """Ids of all images, the full ones if some repeat, and notes; uris and videos follow."""
        short_ids = [id_ for id_, _ in self._place]
        n_repeated = len(short_ids) - len({*short_ids})
        if not n_repeated:
            return short_ids, []

        ids = [full_id for _, full_id in self._place]
        ((most_common, n_most),) = Counter(ids).most_common(1)
        if n_most > 1:
            reason = f"has two images that are called {most_common!r}"
            raise self._problems.fatal(reason, "Give each image a name of its own.")

        n_images = Counter(short_ids)
        n_shared = 0
        for row, (short_id, full_id) in enumerate(self._place):
            is_shared = n_images[short_id] > 1
            n_shared += is_shared
            # A name alone would give all of them the same picture.
            if is_shared and self._uris[row] == short_id:
                self._uris[row] = full_id

        # Two videos of one name are two clusters.
        for number, (row, values) in enumerate(self._metadata):
            if VIDEO in values:
                folder = ids[row].removesuffix(short_ids[row])
                self._metadata[number] = row, {**values, VIDEO: f"{folder}{values[VIDEO]}"}

        note = f"{n_shared:,} images share their names, so that ids have folders, such as {ids[0]}"
        return ids, [f"{self._problems.file}: {note}"]

    def _all_metadata(self, mentions: MentionColumns) -> Iterator[Metadata]:
        """Metadata of images, and attributes of the objects in them."""
        if self._metadata:
            rows, columns = self._table_of(self._metadata)
            yield Metadata(rows, columns)
        if self._attributes:
            rows, columns = self._table_of(self._attributes)
            of_objects = frames.take_rows(mentions.numbers, rows)
            yield Metadata(mentions.image[rows], columns, of_objects)

    def _table_of(
        self, records: Sequence[tuple[int, Mapping[str, Any]]]
    ) -> tuple[IntArray, dict[str, pa.Array]]:
        """Rows of some records, and their values as columns."""
        listed = frozenset(
            name
            for _, values in records
            for name, value in values.items()
            if isinstance(value, list)
        )
        rows = (("", _as_lists(values, listed)) for _, values in records)
        table = table_of_rows(rows, self._problems)
        return np.array([row for row, _ in records], dtype=np.int64), table.columns

    def _labels(
        self, images: ImageColumns, mentions: MentionColumns, progress: Progress
    ) -> tuple[Labels, MentionColumns, MentionColumns, tuple[str, ...]]:
        """Classes of images; mentions of concepts and of classes; notes."""
        options = self._options
        are_own = not (
            options.class_category or options.classes_come_later or options.class_captions
        )
        if self._class_names.code and are_own:
            column = self._class_names.column(self._classes)
            why = Coded(np.where(column.codes < 0, 0, -1), ("images without a class",))
            no_objects = replace(mentions, concept=Coded.none(len(mentions.image)))
            return Labels(column, why), mentions, no_objects, ()
        return labels_of_objects(images, mentions, options, self._problems, progress)


def _is_valid(box: Box) -> bool:
    """Whether a box has a place, and no negative side."""
    try:
        return all(map(isfinite, box)) and box[2] >= 0 and box[3] >= 0
    except OverflowError:
        return False


def _as_lists(values: Mapping[str, Any], names: frozenset[str]) -> Mapping[str, Any]:
    """Values whose columns have lists elsewhere as lists, so that a single one is read alike."""
    if names.isdisjoint(values):
        return values
    return {
        name: [value] if name in names and not isinstance(value, list) else value
        for name, value in values.items()
    }
