"""Annotations in memory: read from a file of any known format, or from a pandas frame."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

import pandas as pd

from cobalance.display import Result, card, table_html
from cobalance.graph.counting.incidence import Incidence, incidence_of
from cobalance.graph.diagnosis.imbalance import COUNT
from cobalance.graph.records import Annotations
from cobalance.ingest.load import read_annotations, read_frame, refine
from cobalance.ingest.options import ReadOptions
from cobalance.remedies import speaks_python


class ReaderOptions(TypedDict, total=False):
    """Options of `read` and `from_frame`, for type checkers: the fields of `ReadOptions`."""

    id_column: str
    class_column: str
    concepts_column: str
    scores_column: str
    caption_column: str
    split_column: str
    uri_column: str
    width_column: str
    height_column: str
    concept_columns: Sequence[str]
    delimiter: str
    split: str
    class_category: Mapping[str, str] | Sequence[str]
    class_file: str | Path
    class_captions: str | Path
    class_words: str
    captions: str | Path
    vocabulary: str | Path | Sequence[str]
    match: Literal["words", "substring"]
    keep_class: str | Sequence[str]
    keep_split: str | Sequence[str]
    rename_class: Mapping[str, str]
    concept_table: str | Path
    min_score: float
    min_area_px2: float
    on_error: Literal["fail", "skip"]
    max_columns: int
    max_rows: int
    max_mentions: int
    max_table_mb: int
    max_skipped: int


def read_options(function: str, given: ReaderOptions) -> ReadOptions:
    """Make `ReadOptions` of a reader's keywords; None is the default.

    Raises
    ------
    TypeError
        There is no such option.
    """
    unknown = given.keys() - ReaderOptions.__annotations__.keys()
    if unknown:
        known = ", ".join(ReaderOptions.__annotations__)
        raise TypeError(f"{function}() has no option {min(unknown)!r}. Its options: {known}")
    wanted = {name: _convert(name, value) for name, value in given.items() if value is not None}
    return ReadOptions(**wanted)


def _convert(option: str, value: Any) -> Any:
    """A value as `ReadOptions` has it: one name may stand for several, and text for a path."""
    match option:
        case "vocabulary" if not isinstance(value, str | Path):
            return tuple(value)
        case "class_category" if not isinstance(value, Mapping):
            return {name: name for name in _names(value)}
        case "class_file" | "class_captions" | "captions" | "concept_table" | "vocabulary":
            return Path(value)
        case "keep_class" | "keep_split" | "concept_columns":
            return _names(value)
    return value


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


@dataclass(frozen=True, eq=False, repr=False)
class Data(Result):
    """An image dataset's annotations: the class of each image, and the concepts seen in it.

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
        aside = (f"set aside {count:,}: {why}" for why, count in self.annotations.set_aside.items())
        return (*self.annotations.notes, *aside, *self.annotations.skipped)

    @property
    def frame(self) -> pd.DataFrame:
        """A row a concept: its images, in all and of each class; the most frequent first."""
        frame = concept_counts(self.incidence())
        return frame.sort_values(["images", "concept"], ascending=[False, True], ignore_index=True)

    def incidence(self, split: str | None = None) -> Incidence:
        """Which image contains which concept, as counting kernels take it.

        Raises
        ------
        UnknownNameError
            No image is of the split.
        """
        annotations = self.annotations
        if split is not None:
            kept = ReadOptions(keep_split=(split,))
            annotations = refine(annotations, kept, self.source)
        return incidence_of(annotations)

    def title(self) -> str:
        """Images, classes and concepts."""
        sizes = ", ".join(f"{name} {n:,}" for name, n in self.classes.items())
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
    return pd.DataFrame(
        {
            "concept": pd.Series(incidence.concepts, dtype=object),
            "images": counts.sum(axis=0),
            **{COUNT + name: counts[code] for code, name in enumerate(incidence.classes)},
        }
    )


@speaks_python
def read(
    file: str | Path, *, input_format: str | None = None, **options: Unpack[ReaderOptions]
) -> Data:
    """Read an annotation file: CSV, TSV, JSON Lines, Parquet, CelebA's lists, or COCO.

    Parameters
    ----------
    file : str or Path
        The file. Its format is found from its content.
    input_format : str, optional
        The format, where that goes wrong; an unknown one is answered with those there are.
    **options
        The fields of `cobalance.ingest.options.ReadOptions`:

        ``id_column``, ``class_column``, ``concepts_column``
            Columns of a table; by default those with usual names, such as ``label``. With
            ``concept_columns``, those of one concept each, with 0 and 1.
        ``class_category``
            Categories that are classes, or a mapping to the class that each stands for.
        ``class_file``, ``class_captions``, ``class_words``
            A table of image and class; COCO captions, and the word list to search them with.
        ``vocabulary``, ``match``
            A file of concepts to find in captions, or the concepts; how a caption names one.
        ``captions``
            A file of captions to keep.
        ``split``, ``keep_class``, ``keep_split``, ``rename_class``, ``concept_table``
            The split of all images; what to keep; new names of classes and concepts.
        ``min_score``, ``min_area_px2``
            Leave out mentions below.
        ``on_error``
            ``"fail"`` at a malformed record, or ``"skip"`` and note it.
        ``scores_column``, ``caption_column``, ``split_column``, ``uri_column``, ``width_column``,
        ``height_column``, ``delimiter``
            More columns of a table, and what separates concepts in text.
        ``max_columns``, ``max_rows``, ``max_mentions``, ``max_table_mb``, ``max_skipped``
            Limits, so that no file takes all memory.

    Raises
    ------
    InputError, OptionError
        The file or a record in it, or an option, cannot be used; the message says what to do.
    """
    path = Path(file)
    read_with = read_options("read", options)
    return Data(read_annotations(path, read_with, input_format), path.name, path)


@speaks_python
def from_frame(
    frame: pd.DataFrame,
    *,
    concept_column: str | None = None,
    name: str = "frame",
    **options: Unpack[ReaderOptions],
) -> Data:
    """Take annotations from a pandas frame: a row for each image, or for each image and concept.

    Parameters
    ----------
    frame : pandas.DataFrame
        Without a column of ids, its index is taken for them.
    concept_column : str, optional
        The column with a concept a row, where an image has several rows (long format); missing for
        an image without concepts.
    name : str
        What messages call the frame.
    **options
        Those of `read`, above all `class_column` and `concepts_column`, whose cells may be lists,
        tuples or sets of names, or delimited text.

    Raises
    ------
    InputError, OptionError
        As `read`.

    Examples
    --------
    >>> frame = pd.DataFrame({"label": ["farm", "town"], "objects": [["cow", "road"], ["road"]]})
    >>> print(from_frame(frame, class_column="label", concepts_column="objects").title())
    2 images (farm 1, town 1) with 2 concepts
    """
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"from_frame takes a pandas DataFrame, not {type(frame).__name__}")
    read_with = read_options("from_frame", options)
    return Data(read_frame(frame, read_with, concept_column=concept_column, name=name), name)


def urbancars() -> Data:
    """The annotations of UrbanCars' 8,000 training images, which cobalance carries."""
    from cobalance.workflows.demo import NAME, urbancars as records

    return Data(Annotations.from_records(records()), NAME)
