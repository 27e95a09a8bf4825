"""Annotations in memory: read from a file of any known format, or from a pandas frame."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from cobalance.base import Annotations, ImageRecord, OptionError, check_known, shorten_list
from cobalance.counting import Incidence, incidence_of
from cobalance.ingest import (
    ReadOptions,
    declared_options,
    fields_table,
    local_path,
    plain_option,
    read_annotations,
    read_frame,
    refine,
)
from cobalance.notebook.announcing import open_progress
from cobalance.notebook.display import Result, card, matching_rows, rows_at, table_html
from cobalance.notebook.remedies import speaks_python
from cobalance.statistics import COUNT
from cobalance.workflows import NAME, urbancars as records

FRAME = "frame"
"""The name of a frame without one, in messages."""
CLASSES = 8
"""Classes that a title names."""


@dataclass(frozen=True, eq=False, repr=False)
class Data(Result):
    """An image dataset's annotations: the class of each image, and the concepts seen in it.

    Its length is the number of images. Iterating gives them as records; ``data["1.jpg"]`` and
    ``data[0]`` are one, ``data[:100]`` is the data of some, as with a list or array of rows.

    Parameters
    ----------
    annotations : Annotations
        As `cobalance` readers give them.
    source : str
        Where they came from.
    file : Path or None
        The file, folder or archive that they were read from.
    """

    annotations: Annotations
    source: str = ""
    file: Path | None = None

    @property
    def images(self) -> pd.DataFrame:
        """A row an image: id, class_name, split, uri, width_px, height_px, synthetic."""
        return self.annotations.images

    @property
    def mentions(self) -> pd.DataFrame:
        """A row for each sighting of a concept in an image, with score and box where known."""
        return self.annotations.mentions

    @property
    def classes(self) -> "pd.Series[int]":
        """Images of each class, by name."""
        sizes = self.images["class_name"].value_counts(sort=False).sort_index()
        return sizes.set_axis(sizes.index.astype(str)).rename_axis("class").rename("images")

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on assumptions of reading, and on records set aside or skipped."""
        annotations = self.annotations
        set_aside = [f"set aside {count:,}: {why}" for why, count in annotations.set_aside.items()]
        return (*annotations.notes, *set_aside, *annotations.skipped)

    @property
    def fields(self) -> pd.DataFrame:
        """Frame of the columns beside class and concepts: a row each, with its use."""
        return fields_table(self.annotations.fields)

    @property
    def frame(self) -> pd.DataFrame:
        """A row a concept: its images, in all and of each class; the most frequent first."""
        frame = concept_counts(self.incidence())
        return frame.sort_values(["images", "concept"], ascending=[False, True], ignore_index=True)

    def to_pandas(self) -> pd.DataFrame:
        """A row an image: ``concepts``, a tuple of names, among the columns of `images`."""
        mentions = self.mentions[["image", "concept"]].astype({"concept": object}).drop_duplicates()
        mentions = mentions.sort_values(["image", "concept"])
        named = mentions.groupby("image")["concept"].agg(tuple)
        images = self.images.copy()
        concepts = [named.get(row, ()) for row in range(len(self))]
        images.insert(2, "concepts", pd.Series(concepts, dtype=object))
        return images

    def query(self, expression: str) -> "Data":
        """The data of the images for which an expression of pandas holds.

        Examples
        --------
        >>> urbancars().query("class_name == 'urban' and concepts.str.len() > 1").title()
        '3,930 images (urban 3,930) with 17 concepts'
        """
        rows = matching_rows(self.to_pandas(), expression)
        return replace(self, annotations=self.annotations.take(rows))

    def __getitem__(self, at: Any) -> Any:
        """The image of an id or a number, or the data of several rows."""
        ids = self.images["id"]
        if isinstance(at, str):
            check_known("image", [at], ids.tolist())
            at = int((ids == at).argmax())

        rows = rows_at(at, len(self), "image")
        annotations = self.annotations.take(np.atleast_1d(rows))
        if np.ndim(rows):
            return replace(self, annotations=annotations)
        return next(annotations.records())

    def __iter__(self) -> Iterator[ImageRecord]:
        return self.annotations.records()

    def __len__(self) -> int:
        return len(self.images)

    def incidence(self, split: str | None = None) -> Incidence:
        """Which image contains which concept, as counting kernels take it.

        Raises
        ------
        UnknownNameError
            No image is of the split.
        """
        annotations = self.annotations
        if split is not None:
            options = ReadOptions(keep_split=(split,))
            annotations = refine(annotations, options, self.source or FRAME)
        return incidence_of(annotations)

    def title(self) -> str:
        """Images, classes and concepts."""
        sizes = shorten_list(map("{} {:,}".format, self.classes.index, self.classes), CLASSES)
        concepts = self.mentions["concept"].nunique()
        return f"{len(self.images):,} images ({sizes}) with {concepts:,} concepts"

    def shown(self) -> pd.DataFrame:
        """Concepts with their images of each class."""
        return self.frame.rename(columns=lambda name: str(name).removeprefix(COUNT))

    @property
    def bars(self) -> tuple[str, ...]:
        """One a class."""
        return tuple(self.classes.index)

    def _repr_html_(self) -> str:
        notes = pd.DataFrame({"note": self.notes})
        return card(self.title(), table_html(self.shown(), self.bars), table_html(notes, rows=5))


def concept_counts(incidence: Incidence) -> pd.DataFrame:
    """A row a concept: ``concept``, ``images``, ``count_<class>``."""
    counts = incidence.class_concept_counts()
    columns = {
        "concept": pd.Series(incidence.concepts, dtype=object),
        "images": counts.sum(axis=0),
    }
    for code, name in enumerate(incidence.classes):
        columns[COUNT + name] = counts[code]
    return pd.DataFrame(columns)


@speaks_python
def read(
    file: str | Path | pd.DataFrame,
    *,
    input_format: str | None = None,
    concept_column: str | int | None = None,
    name: str = "",
    quiet: bool = False,
    id_column: str | int | None = None,
    class_column: str | int | None = None,
    concepts_column: str | int | None = None,
    scores_column: str | int | None = None,
    caption_column: str | int | None = None,
    split_column: str | int | None = None,
    cluster_column: str | int | None = None,
    uri_column: str | int | None = None,
    width_column: str | int | None = None,
    height_column: str | int | None = None,
    concept_columns: Sequence[str] | None = None,
    field: Mapping[str, str] | None = None,
    names: Mapping[str, Mapping[Any, str]] | None = None,
    delimiter: str | None = None,
    split: str | None = None,
    class_category: Mapping[str, str] | Sequence[str] | None = None,
    class_file: str | Path | None = None,
    path_pattern: str | None = None,
    join: str | Path | Sequence[str | Path] | None = None,
    each_row: bool | None = None,
    class_captions: str | Path | None = None,
    class_words: str | None = None,
    captions: str | Path | None = None,
    vocabulary: str | Path | Sequence[str] | None = None,
    match: Literal["words", "substring"] | None = None,
    keep_class: str | Sequence[str] | None = None,
    keep_split: str | Sequence[str] | None = None,
    rename_class: Mapping[str, str] | None = None,
    concept_table: str | Path | None = None,
    min_score: float | None = None,
    min_area_px2: float | None = None,
    on_error: Literal["fail", "skip"] | None = None,
    max_columns: int | None = None,
    max_rows: int | None = None,
    max_mentions: int | None = None,
    max_table_mb: int | None = None,
    max_skipped: int | None = None,
) -> Data:
    """Read an annotation file (CSV, TSV, JSON Lines, Parquet, COCO and others) or a pandas frame.

    Parameters
    ----------
    file : str, Path or DataFrame
        The file, whose format is found from its content, or ``hf://datasets/owner/name`` for the
        Parquet files of the Hugging Face hub. Or a frame: a row for each image, or for
        each image and concept; without a column of ids, its index is taken for them. Concepts are
        lists, tuples, sets or delimited text.
    input_format : str, optional
        The format, where that goes wrong; an unknown one is answered with those there are.
    concept_column : str, optional
        The column of a frame with a concept a row, where an image has several rows (long format);
        missing for an image without concepts.
    name : str, optional
        Of a frame, for messages; by it a store knows the next version of the same data.
    quiet : bool
        Draw no progress in a notebook.

    Of `cobalance.ingest.options.ReadOptions`, with its defaults where they are None:

    id_column, class_column, concepts_column
        Columns of a table; by default those with usual names, such as ``label``. With
        `concept_columns`, those of one concept each, with 0 and 1.
    class_category
        Categories that are classes, or a mapping to the class that each stands for.
    class_file, class_captions, class_words
        A table of image and class; COCO captions, and the word list to search them with.
    path_pattern, join, each_row
        What paths name, such as ``"{context}/{class}/*"``; files of more about the images; whether
        each row of a table is an image.
    vocabulary, match
        A file of concepts to find in captions, or the concepts; how a caption names one.
    captions
        A file of captions to keep.
    split, keep_class, keep_split, rename_class, concept_table
        The split of all images; what to keep; new names of classes and concepts.
    min_score, min_area_px2
        Leave out mentions below.
    on_error
        ``"fail"`` at a malformed record, or ``"skip"`` and note it.
    scores_column, caption_column, split_column, uri_column, width_column, height_column, delimiter
        More columns of a table, and what separates concepts in text.
    field, names
        What columns become, as ``{"age": "bins:18,30:years", "taken": "month"}``, and names of
        codes, as ``{"place": {0: "land", 1: "water"}}``; `fields` says what became of each.
    cluster_column
        What images share that depend on each other, such as a patient or a video.
    max_columns, max_rows, max_mentions, max_table_mb, max_skipped
        Limits, so that no file takes all memory.

    Raises
    ------
    InputError, OptionError
        The file or a record in it, or an option, cannot be used; the message says what to do.

    Examples
    --------
    >>> frame = pd.DataFrame({"label": ["farm", "town"], "objects": [["cow", "road"], ["road"]]})
    >>> print(read(frame, class_column="label", concepts_column="objects").title())
    2 images (farm 1, town 1) with 2 concepts
    """
    # Arguments that are options have their names; no other local name is there yet.
    arguments = locals()
    options: dict[str, Any] = {}
    for option in declared_options():
        if arguments[option] is not None:
            options[option] = plain_option(option, arguments[option])
    reader_options = ReadOptions(**options)

    if isinstance(file, pd.DataFrame):
        if input_format is not None:
            raise OptionError("input_format is of files. Leave it out, or read the file itself.")
        annotations = read_frame(
            file, reader_options, concept_column=concept_column, name=name or FRAME
        )
        return Data(annotations, name)

    if concept_column is not None:
        raise OptionError("concept_column is of frames. Read the file with pandas first.")
    progress = open_progress(quiet=quiet, notebook_only=True)
    path = local_path(file, progress).expanduser()
    annotations = read_annotations(path, reader_options, input_format, progress)
    return Data(annotations, path.name, path)


@speaks_python
def urbancars() -> Data:
    """The annotations of UrbanCars' 8,000 training images, which cobalance carries."""
    return Data(Annotations.from_records(records()), NAME)
