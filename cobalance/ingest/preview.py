"""Preview of annotations: files of a folder, first rows, categories; tables of what was read."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa

from cobalance.base import Annotations, InputError, UnknownNameError, Words, render, silent
from cobalance.ingest.coco import Category, decode
from cobalance.ingest.formats import FORMATS
from cobalance.ingest.load import detect_format, detect_tree, read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.parts import are_shards, first_part
from cobalance.ingest.problems import Problems, SkippedRecord
from cobalance.ingest.reader import TreeReader, read_head
from cobalance.ingest.tables import TABLES
from cobalance.ingest.tables.columns import map_columns
from cobalance.ingest.tables.guesses import USUAL_NAMES, Guess, guess_uses
from cobalance.ingest.tables.hub_features import HubParquet
from cobalance.ingest.tables.parquet import spread_rows, write_sample
from cobalance.ingest.trees import is_tree, open_tree

MOST_FILES = 200
WHOLE_FOLDER = "."
_MOST_ENTRIES = 50_000
_MOST_TREE_FILES = 500_000
_DEEPEST = 3  # folders below the one that is asked about
_SAMPLE_BYTES = 1 << 18
_SHOWN_ROWS = 200
# Of text, which is quick to read, and of Parquet, where rows in the middle cost those before them.
_GUESSED_ROWS = 5000
_GUESSED_STORED_ROWS = 600
DATA_ENDINGS = ("csv", "gz", "json", "jsonl", "lst", "ndjson", "parquet", "tar", "toml", "tsv",
                "txt", "zip")  # fmt: skip
"""File name endings to search a folder for; any text with a comma would pass as CSV."""


@dataclass(frozen=True)
class FoundFile:
    """A file that may hold annotations or accompany some.

    `name` is its path in the folder, with ``/`` between folders; `format` is None for text of no
    known format, such as a vocabulary; `fault`, a clause, is why no reader can take it, if there is
    a reason.
    """

    name: str
    size_bytes: int
    format: str | None
    fault: str = ""


def find_files(folder: Path) -> list[FoundFile]:
    """List the files with `DATA_ENDINGS` in a folder and its subfolders, sorted by name.

    The folder itself comes first, as ``"."``, if it is a dataset of a format of folders. At most
    200 files, three folders deep. Hidden files, links that lead out of the folder, and files that
    are neither text nor of a known format are left out.

    Raises
    ------
    InputError
        There is no such folder, or it cannot be read.
    """
    try:
        os.scandir(folder).close()
    except OSError as error:
        raise InputError(
            str(folder),
            None,
            f"cannot be read ({error.strerror or error})",
            "Name a folder that is there.",
        ) from None

    files = []
    for path in _candidates(folder.resolve()):
        described = describe_file(path, path.relative_to(folder.resolve()).as_posix())
        if described is not None:
            files.append(described)
        if len(files) == MOST_FILES:
            break

    files.sort(key=lambda file: file.name)
    return with_whole(folder, files)


def with_whole(folder: Path, found: list[FoundFile]) -> list[FoundFile]:
    """The files of a folder, and the folder itself where they are one dataset; first if surely."""
    whole = FoundFile(WHOLE_FOLDER, 0, _tree_format(folder))
    if whole.format is not None and isinstance(FORMATS[whole.format].reader, TreeReader):
        return [whole, *found]

    names = [file.name for file in found if file.format == whole.format]
    if whole.format is None or len(names) < 2:
        return found
    if are_shards(names):
        return [whole, *found]
    return [*found, whole]


def _tree_format(path: Path) -> str | None:
    """Format of a folder or an archive; None if it is of none, or has very many files."""
    if not is_tree(path):
        return None
    try:
        with open_tree(path, _MOST_TREE_FILES) as tree:
            return detect_tree(tree)
    except InputError:
        return None


def _candidates(folder: Path) -> Iterator[Path]:
    entries = 0
    for parent, folders, names in os.walk(folder):
        here = Path(parent)
        if len(here.relative_to(folder).parts) == _DEEPEST:
            folders.clear()
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            # A folder of a million files is not walked to its end.
            entries += 1
            if entries > _MOST_ENTRIES:
                return

            path = here / name
            if name.startswith(".") or path.suffix.lower().removeprefix(".") not in DATA_ENDINGS:
                continue
            if path.is_file() and path.resolve().is_relative_to(folder):
                yield path


def describe_file(path: Path, name: str) -> FoundFile | None:
    """Detect the format of a file, listed as `name`; None if it is unknown and not text."""
    size = path.stat().st_size
    if (whole := _tree_format(path)) is not None:
        return FoundFile(name, size, whole)

    try:
        head = read_head(path)
    except InputError as error:
        return FoundFile(name, size, None, render(error.reason))
    try:
        return FoundFile(name, size, detect_format(path))
    except InputError:
        # Bytes of zero are in no text.
        if b"\0" in head:
            return None
        return FoundFile(name, size, None)


@dataclass(frozen=True, eq=False)
class TableSample:
    """First rows of a table, as text.

    `guesses` are what each column seems to hold, by its name and its values at the start, in the
    middle and at the end, as files are sorted by class; that of a column which becomes concepts is
    the role ``"field"`` and its kind.
    """

    rows: pd.DataFrame
    guesses: dict[str, Guess]

    @property
    def columns(self) -> list[str]:
        """Names of all columns that can be used."""
        return list(map(str, self.rows.columns))


def is_table(input_format: str | None) -> bool:
    """Whether a format is one of tables, whose columns have roles."""
    return input_format in dict(TABLES.items())


def sample_table(path: Path, table_format: str) -> TableSample:
    """Read some rows of a table of any size; `table_format` is a name in `TABLES`.

    Raises
    ------
    InputError
        The table has no header, or the file is damaged.
    """
    with first_part(path, table_format) as file:
        return _sample(file, table_format)


def _sample(path: Path, table_format: str) -> TableSample:
    problems = Problems(str(path), ReadOptions(on_error="skip"))
    is_whole = True
    if table_format == "croissant":
        table = TABLES[table_format].load(path, problems, silent)
    else:
        with TemporaryDirectory(prefix="cobalance-") as folder:
            short = Path(folder) / "sample"
            if table_format == "parquet":
                is_whole = write_sample(path, short, problems, _GUESSED_STORED_ROWS)
                table = HubParquet().load(short, problems, silent, _GUESSED_STORED_ROWS)
            else:
                short.write_bytes(_some_lines(path, table_format))
                is_whole = short.stat().st_size == path.stat().st_size
                table = TABLES[table_format].load(short, problems, silent)

    rows = pa.array(spread_rows(table.n_rows, _GUESSED_ROWS), pa.int64())
    columns = {name: _texts(column.take(rows)) for name, column in table.columns.items()}
    guesses = guess_uses(columns, map_columns(table, ReadOptions(), USUAL_NAMES).of)
    if not is_whole or len(rows) < table.n_rows:
        guesses = {name: guess.of_sample() for name, guess in guesses.items()}
    return TableSample(pd.DataFrame(columns, dtype=object).head(_SHOWN_ROWS), guesses)


def _texts(column: pa.Array) -> list[str | None]:
    return [None if value is None else str(value) for value in column.to_pylist()]


def _some_lines(path: Path, table_format: str) -> bytes:
    """Rows of a file's start, middle and end, as a short file of the same format."""
    size = path.stat().st_size
    if size <= _SAMPLE_BYTES:
        return path.read_bytes()

    piece = _SAMPLE_BYTES // 3
    with path.open("rb") as file:
        lines = file.read(piece) + file.readline(piece)
        for position in ((size - piece) // 2, size - piece):
            file.seek(position)
            # The line that the position is in has lost its start.
            file.readline(piece)
            more = file.read(piece) + file.readline(piece)
            # A text may go over several lines, and then nobody knows where a row begins.
            is_list = lines.lstrip().startswith(b"[")
            if not is_list and all(
                line.count(b'"') % 2 == 0 for line in (lines + more).split(b"\n")
            ):
                lines += more

    if table_format == "list-attr" and lines.count(b"\n") > 1:
        _, names, *rows = lines.split(b"\n")
        # The first line is the number of rows, which are fewer here.
        rows = list(filter(bytes.strip, rows))
        return b"\n".join([str(len(rows)).encode(), names, *rows])
    return lines


def category_names(path: Path, input_format: str) -> list[str]:
    """Names of the categories that may be classes; in the file's order for COCO, else sorted.

    Raises
    ------
    InputError
        The file is not of this format.
    """
    if input_format in ("coco-instances", "lvis"):
        problems = Problems(str(path), ReadOptions(on_error="skip"))
        with first_part(path, input_format) as file:
            categories = decode(file, "instances", {"categories": Category}, problems)["categories"]
        return [category.name for category in categories.items]
    # A reader says which categories there are when it is asked for one that there cannot be.

    options = ReadOptions(class_category={"\n": "any"}, on_error="skip")
    try:
        read_annotations(path, options, input_format)
    except UnknownNameError as error:
        return sorted(error.known)
    return []


def images_by_class(annotations: Annotations) -> pd.DataFrame:
    """Images of each class, and how many of them have no concept."""
    has_concept = np.zeros(len(annotations.images), dtype=bool)
    has_concept[annotations.mentions["image"].to_numpy()] = True

    lacks = pd.Series(~has_concept).groupby(annotations.images["class_name"], observed=True)
    counted = lacks.agg(["size", "sum"]).reset_index()
    counted = counted.set_axis(["class", "images", "without concept"], axis=1)
    return counted.astype({"class": object, "images": int, "without concept": int})


def images_by_concept(annotations: Annotations) -> pd.DataFrame:
    """Images with each concept, the most frequent first."""
    mentions = annotations.mentions
    codes = mentions["concept"].cat.codes.to_numpy()
    names = mentions["concept"].cat.categories

    # Several mentions of a concept in an image count once.
    pairs = pd.unique(mentions["image"].to_numpy() * len(names) + codes)
    images = np.bincount(pairs % max(len(names), 1), minlength=len(names))

    frame = pd.DataFrame({"concept": names.astype(object), "images": images})
    return frame.sort_values(["images", "concept"], ascending=[False, True], ignore_index=True)


def first_images(annotations: Annotations, most: int = 10) -> pd.DataFrame:
    """First images: id, class, concepts, split, uri."""
    mentions = annotations.mentions
    first = mentions[mentions["image"] < most]
    named = first.groupby("image")["concept"].agg(lambda names: list(dict.fromkeys(names)))

    images = annotations.images[["id", "class_name", "split", "uri"]].head(most).astype(object)
    images.insert(2, "concepts", [named.get(row, []) for row in range(len(images))])
    return images.rename(columns={"class_name": "class"})


def skipped_records(annotations: Annotations, most: int = 1000, words: Words = str) -> pd.DataFrame:
    """Malformed records that were skipped: file, record, reason, remedy."""
    rows = [
        (error.file, error.record, render(error.reason, words), render(error.remedy, words))
        for message in annotations.skipped[:most]
        if isinstance(message, SkippedRecord) and (error := message.error)
    ]
    return pd.DataFrame(rows, columns=["file", "record", "reason", "remedy"])
