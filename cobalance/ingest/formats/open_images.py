"""Open Images: CSV files of boxes, of labels of whole images, and of people (MIAP)."""

import csv
import re
from codecs import getincrementaldecoder
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from cobalance.base import ANNOTATION, Annotations, BoolArray, FloatArray, Progress, track
from cobalance.ingest import frames
from cobalance.ingest.concepts import labels_of_objects
from cobalance.ingest.frames import TEXT, ImageColumns, MentionColumns
from cobalance.ingest.names import Coded, encode_names, rename_some, unreadable
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.pictures import NamedPicture, PictureMatcher, picture_size
from cobalance.ingest.problems import Problems, RowProblems
from cobalance.ingest.reader import TreeReader, format_of
from cobalance.ingest.trees import FileTree, open_tree
from cobalance.vision import IMAGE_ENDINGS

_HEADER_BYTES = 4096
_BLOCK_BYTES = 1 << 24
_NEEDED = ("ImageID", "LabelName", "Confidence")
_POINTS = {"ImageId": "ImageID", "Label": "LabelName", "EstimatedYesNo": "Confidence"}
"""Columns of point labels, by what other files call them."""
_LISTED = {"ImageID", "Subset"}
_SIDES = ("XMin", "YMin", "XMax", "YMax")
_PEOPLE = ("GenderPresentation", "AgePresentation")
_UNKNOWN = "Unknown"
_SUBSET = re.compile(r"(?:^|[-_])(train|validation|val|test|challenge)(?=[-_.])")


class _Part(NamedTuple):
    """Mentions from one column of one file; `sides` is (n, 4), of the columns in `_SIDES`."""

    ids: pa.Array
    concept: pa.Array
    score: FloatArray
    crowd: BoolArray
    sides: FloatArray
    split: str | None


class OpenImages(TreeReader):
    """Reader of Open Images' CSV files, in one folder or archive, or one of them alone.

    A label is a mention with its confidence as score; confidence 0 says that a person looked for it
    and saw none. Of labels of points those count that people say yes to. In MIAP's files the gender
    and age presentation of each person are mentions, too, unless they are unknown. Labels are
    called as ``class-descriptions`` says, else by their ids. Boxes are relative: those of images
    whose pictures lie in the folder or archive are read.
    """

    description = "Open Images: CSV with ImageID and LabelName, in a folder, archive or file"

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether a CSV file has the columns."""
        return any(_label_files(tree))

    def detects(self, _path: Path, head: bytes) -> bool:
        """Whether one file has the columns."""
        return _is_labels(head.split(b"\n", 1)[0].decode("utf-8", "replace").strip().split(","))

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Annotations:
        """Read a folder, an archive, or one file with the descriptions beside it."""
        if path.suffix.lower() != ".csv":
            return super().read(path, options, progress)
        if path.is_symlink():
            path = path.resolve()
        with open_tree(path.parent) as tree:
            return self._read(tree, [path.name], options, progress)

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read all files with the columns, and lists of images whose pictures are there."""
        names = list(_label_files(tree))
        return self._read(tree, names, options, progress, list(_listed_images(tree)))

    def _read(
        self,
        tree: FileTree,
        names: list[str],
        options: ReadOptions,
        progress: Progress,
        listed: Sequence[_Part] = (),
    ) -> Annotations:
        problems = Problems(str(tree.path), options)
        if not names:
            raise problems.fatal(
                f"has no CSV file with the columns {', '.join(_NEEDED)}", "Name one that has."
            )

        display = _display_names(tree, problems)
        parts, n_mentions = list(listed), 0
        for _, name in track(progress, "read", names):
            for part in _parts(tree, name, display, problems):
                parts.append(part)
                n_mentions += len(part.ids)
                problems.within("mentions", n_mentions)
        return _assemble(tree, parts, options, problems, progress)


def _label_files(tree: FileTree) -> Iterator[str]:
    return (name for name in tree.below("", ".csv") if _is_labels(_header(tree, name)))


def _pictures(tree: FileTree, ids: Sequence[str]) -> tuple[pa.Array, list[tuple[Any, Any]]]:
    """Address and size of each image, as its picture in the tree, which is called so, has them."""
    matcher = PictureMatcher(tree.below("", *IMAGE_ENDINGS), str(tree.path.resolve()))
    addresses = matcher.match(list(map(NamedPicture, ids)))
    sizes = [(path and picture_size(tree, path)) or (None, None) for path in addresses]
    return pa.array(addresses, TEXT), sizes


def _header(tree: FileTree, name: str) -> list[str]:
    with tree.open(name) as file:
        line = file.readline(_HEADER_BYTES)
    return line.decode("utf-8-sig", "replace").strip().split(",")


def _is_labels(header: list[str]) -> bool:
    return set(_NEEDED) <= set(header) or _POINTS.keys() <= set(header)


def _listed_images(tree: FileTree) -> Iterator[_Part]:
    """Images of lists whose pictures are there: those without labels are images of nothing."""
    pictures = {PurePosixPath(path).stem for path in tree.below("", *IMAGE_ENDINGS)}
    for name in tree.below("", ".csv"):
        header = _header(tree, name)
        if not pictures or _is_labels(header) or not set(header) >= _LISTED:
            continue

        ids_by_subset: dict[str, list[str]] = defaultdict(list)
        for row in csv.DictReader(tree.lines(name)):
            if PurePosixPath(row["ImageID"] or "").name in pictures:
                ids_by_subset[row["Subset"] or ""].append(row["ImageID"])
        for subset, ids in ids_by_subset.items():
            n = len(ids)
            nothing = pa.nulls(n, TEXT).dictionary_encode()
            sides = np.full((n, 4), np.nan)
            no_crowds = np.zeros(n, dtype=bool)
            yield _Part(pa.array(ids, TEXT), nothing, np.zeros(n), no_crowds, sides, subset or None)


def _display_names(tree: FileTree, problems: Problems) -> dict[str, str]:
    """Names of labels by their ids, from files called class-descriptions."""
    names = {}
    for file in tree.below("", ".csv"):
        if "class-descriptions" in PurePosixPath(file).name:
            for line, row in enumerate(csv.reader(tree.lines(file)), start=1):
                if len(row) >= 2:
                    names[row[0]] = row[1]
                elif row:
                    place = f"{file}, line {line}"
                    problems.record(place, "has no name of the label", "Write: id,name")
    return names


def _parts(
    tree: FileTree, name: str, display: Mapping[str, str], problems: Problems
) -> Iterator[_Part]:
    """Mentions of one file, a block at a time."""
    header = _header(tree, name)
    people = list(filter(header.__contains__, _PEOPLE))
    optional = list(filter(header.__contains__, ("IsGroupOf", *_SIDES)))
    has_points = "EstimatedYesNo" in header
    wanted_columns = [*(_POINTS if has_points else _NEEDED), *people, *optional]
    subset = _SUBSET.search(PurePosixPath(name).name)
    split = subset and subset[1]
    # The first line has the names of the columns.
    row = 2

    invalid: list[pyarrow.csv.InvalidRow] = []

    def skip(bad: pyarrow.csv.InvalidRow) -> str:
        invalid.append(bad)
        return "skip"

    def report() -> None:
        for bad in invalid:
            problems.record(
                f"{name}, line {bad.number}",
                f"has {bad.actual_columns} fields, and the header {bad.expected_columns}",
                "Correct the line",
            )
        invalid.clear()

    with tree.open(name) as file:
        try:
            reader = pyarrow.csv.open_csv(
                pa.PythonFile(_Utf8(file), "r"),
                pyarrow.csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
                pyarrow.csv.ParseOptions(invalid_row_handler=skip),
                pyarrow.csv.ConvertOptions(
                    include_columns=wanted_columns, column_types=dict.fromkeys(wanted_columns, TEXT)
                ),
            )
            for batch in reader:
                report()
                columns = dict(zip(batch.schema.names, batch.columns, strict=True))
                if has_points:
                    columns = _labels_of_points(columns)
                yield from _of_batch(columns, display, people, split, name, row, problems)
                row += batch.num_rows
            report()
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise problems.fatal(f"is not CSV ({error})", "Download it anew.", name) from None


def _labels_of_points(columns: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """Columns of labels; at a point only "yes" says that a label was seen."""
    is_seen = pc.equal(pc.utf8_lower(columns["EstimatedYesNo"]), "yes")
    renamed = {name: columns[column] for column, name in _POINTS.items()}
    return {**renamed, "Confidence": pc.if_else(is_seen, "1", "0").cast(TEXT)}


class _Utf8:
    """A file that raises UnicodeDecodeError where it is not UTF-8.

    Arrow would print a traceback of its own for a row of too many fields that is not.
    """

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._decoder = file, getincrementaldecoder("utf-8")()

    def read(self, n: int = -1) -> bytes:
        """Read up to `n` bytes."""
        piece = self._file.read(n)
        self._decoder.decode(piece, final=not piece)
        return piece


def _of_batch(
    columns: Mapping[str, pa.Array],
    display: Mapping[str, str],
    people: list[str],
    split: str | None,
    name: str,
    first: int,
    problems: Problems,
) -> Iterator[_Part]:
    """Yield the sound rows as mentions: of labels, of people, and of nothing."""
    ids, n = columns["ImageID"], len(columns["ImageID"])
    rows = RowProblems(problems, n, lambda row: f"{name}, line {first + row}")
    rows.report(
        unreadable(ids),
        lambda row: f"the id {ids[row].as_py()[:60]!r} is not readable text",
        "Correct it",
    )
    score = _scores(columns["Confidence"])
    rows.report(
        ~((score >= 0) & (score <= 1)),
        lambda row: f"the confidence {columns['Confidence'][row].as_py()!r} is not from 0 to 1",
        "Correct it",
    )

    is_group = np.zeros(n, dtype=bool)
    if "IsGroupOf" in columns:
        is_group = pc.equal(columns["IsGroupOf"], "1").to_numpy(zero_copy_only=False)
    sides = np.full((n, 4), np.nan)
    if set(_SIDES) <= columns.keys():
        sides = np.stack([_scores(columns[side]) for side in _SIDES], axis=1)
        # Sides are -1 where there is no box.
        sides[~((sides >= 0) & (sides <= 1)).all(axis=1)] = np.nan

    is_seen = ~rows.bad & (score > 0)
    labels = columns["LabelName"].dictionary_encode()
    names = pa.array(rename_some(labels.dictionary.to_pylist(), display), TEXT)
    concepts = [(pa.DictionaryArray.from_arrays(labels.indices, names), is_seen)]
    for column in people:
        is_unknown = pc.is_in(columns[column], pa.array([_UNKNOWN, ""], TEXT))
        is_told = ~is_unknown.to_numpy(zero_copy_only=False)
        concepts.append((columns[column].dictionary_encode(), is_seen & is_told))
    # An image where nothing was seen is an image, too.
    nothing = pa.nulls(n, TEXT).dictionary_encode()
    concepts.append((nothing, ~rows.bad & (score == 0)))

    for concept, is_used in concepts:
        mask = pa.array(is_used)
        numbers = score[is_used], is_group[is_used], sides[is_used]
        yield _Part(ids.filter(mask), concept.filter(mask), *numbers, split)


def _scores(texts: pa.Array) -> FloatArray:
    number = pc.match_substring_regex(texts, r"^[0-9]*\.?[0-9]+(e-?[0-9]+)?$")
    values = pc.cast(pc.if_else(number, texts, pa.scalar("nan", TEXT)), pa.float64())
    return np.asarray(values, dtype=np.float64)


def _assemble(
    tree: FileTree,
    parts: list[_Part],
    options: ReadOptions,
    problems: Problems,
    progress: Progress,
) -> Annotations:
    """The mentions of all parts, with classes of images and the boxes of those with pictures."""
    if not any(len(part.ids) for part in parts):
        raise problems.fatal("has no images", "Give files with a row for each label.")
    part_ids, part_concepts, scores, part_crowds, sides, part_splits = zip(*parts, strict=True)
    image, image_ids = pd.factorize(pa.concat_arrays(part_ids).to_pandas())
    n_images = len(image_ids)
    problems.within("rows", n_images)
    column = encode_names(
        pa.chunked_array([concept.cast(TEXT) for concept in part_concepts]).combine_chunks()
    )

    lengths = list(map(len, part_ids))
    splits = sorted(filter(None, {*part_splits}))
    split_code = pd.Index(splits, dtype=object).get_indexer(pd.Index(part_splits, dtype=object))
    of_image = np.full(n_images, -1, dtype=np.int64)
    # Of parts with one image the last gives the split.
    of_image[image] = np.repeat(split_code, lengths)
    split = Coded(of_image, splits)
    if options.split is not None:
        split = Coded.constant(options.split, n_images)
    uris, sizes = _pictures(tree, image_ids)
    widths, heights = (pa.array(side, pa.int64()) for side in zip(*sizes, strict=True))
    images = ImageColumns(pa.array(image_ids, TEXT), uris, widths, heights, split)

    score = np.concatenate(scores)
    crowds = np.concatenate(part_crowds)
    size = np.array(sizes, dtype=np.float64)[image]
    relative = np.concatenate(sides)
    corner, opposite = relative[:, :2] * size, relative[:, 2:] * size
    x, y, w, h = np.concatenate([corner, np.maximum(opposite - corner, 0)], axis=1).T.copy()
    numbers = {"score": score, "x_px": x, "y_px": y, "w_px": w, "h_px": h}
    mentions = MentionColumns(
        image.astype(np.int64), column, ANNOTATION, numbers, crowds=frames.mask_or_none(crowds)
    )
    labels, concepts, objects, label_notes = labels_of_objects(
        images, mentions, options, problems, progress
    )

    n_without = int((np.isnan(x) & ~np.isnan(relative[:, 0])).sum())
    notes = list(label_notes)
    if n_without:
        reason = f"{n_without:,} boxes left out, as their pictures are not there"
        notes.insert(0, f"{problems.file}: {reason}")

    return frames.annotations(
        images,
        labels,
        [concepts],
        np.ones(n_images, dtype=bool),
        objects=objects,
        skipped=problems.messages,
        notes=notes,
    )


PLUGIN = format_of("open-images", OpenImages())
