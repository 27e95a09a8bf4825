"""Reader options, grouped by concern."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

from cobalance.graph.errors import OptionError, Setting
from cobalance.graph.names import clean_name

OnError = Literal["fail", "skip"]
MatchMode = Literal["words", "substring"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """Columns of a table by role; None finds them by their usual names.

    Parameters
    ----------
    id, class_name, split, uri, width, height : str or None
        Names of columns.
    concepts : str or None
        Column with the concepts of an image: delimited text, or a JSON list of names or of objects
        with ``concept`` and optionally ``score``, ``box`` and ``area``.
    scores : str or None
        Column with the concepts' scores, as many as concepts and in the same notation.
    caption : str or None
        Column with text to search for the vocabulary's concepts.
    concept_columns : tuple of str
        Columns of one concept each, holding 0 or 1 (also -1, or true and false).
    delimiter : str or None
        Delimiter of concepts in text; None for the first of ``|``, ``;`` and ``,`` that occurs
        anywhere in the column.
    by_name : bool
        Find what is not given by its usual names; otherwise the table does not have it.
    """

    id: str | None = None
    class_name: str | None = None
    concepts: str | None = None
    scores: str | None = None
    caption: str | None = None
    split: str | None = None
    uri: str | None = None
    width: str | None = None
    height: str | None = None
    concept_columns: tuple[str, ...] = ()
    delimiter: str | None = None
    by_name: bool = True

    def __post_init__(self) -> None:
        if self.delimiter == "":
            raise OptionError(
                "The delimiter of concepts is empty. Set ", Setting("table.delimiter"), " to '|'."
            )
        if self.concepts is not None and self.concept_columns:
            raise OptionError(
                "Concepts come from one column or from one column each, not from both. Set ",
                *(Setting("table.concepts"), " or ", Setting("table.concept_columns"), "."),
            )
        if self.scores is not None and self.concept_columns:
            raise OptionError(
                "Scores go with a concepts column. Set ", Setting("table.concepts"), "."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassOptions:
    """Sources of an image's class where the file has no class column.

    At most one of `categories`, `file` and `captions` (or `words`).

    Parameters
    ----------
    categories : mapping of str to str
        Class of each annotated category that defines one. An image with categories of exactly one
        class gets it; these categories are not concepts, and their boxes and outlines are kept
        under the class's name.
    file : Path or None
        Second table, with image id or file name and class.
    captions : Path or None
        COCO captions file, searched for the words of each class. An image whose captions name
        exactly one class gets it.
    words : str or None
        Word list by name, or the path of a TOML file like those in ``ingest/word_lists``; by
        default ``"coco-gb"``. Without `captions` the captions of the file itself are searched.
    """

    categories: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None
    captions: Path | None = None
    words: str | None = None

    def __post_init__(self) -> None:
        given = [bool(self.categories), self.file is not None, self.from_captions]
        if sum(given) > 1:
            raise OptionError(
                "The class comes from one place. Set one of ",
                *(Setting("classes.categories"), ", ", Setting("classes.file"), ", and "),
                *(Setting("classes.captions"), " or ", Setting("classes.words"), "."),
            )

    @property
    def own_captions(self) -> bool:
        """Whether classes come from the captions of the file itself."""
        return self.words is not None and self.captions is None

    @property
    def from_captions(self) -> bool:
        """Whether classes come from captions."""
        return self.captions is not None or self.words is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class VocabularyOptions:
    """Concepts to search captions for.

    Parameters
    ----------
    file : Path or None
        Text file with one concept per line, and variants after a colon: ``couch: sofa, settee``.
    concepts : tuple of str
        Such lines, instead of a file.
    mode : {"words", "substring"}
        Match whole words only, or also inside of words (``man`` in ``woman``).
    """

    file: Path | None = None
    concepts: tuple[str, ...] = ()
    mode: MatchMode = "words"

    def __post_init__(self) -> None:
        if self.file is not None and self.concepts:
            raise OptionError("The vocabulary comes from a file or from a list, not from both.")
        if self.mode not in ("words", "substring"):
            raise OptionError(f"The matching mode is {self.mode!r}. Pass words or substring.")

    def __bool__(self) -> bool:
        return self.file is not None or bool(self.concepts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """Filters and renaming applied after reading.

    Parameters
    ----------
    min_score : float or None
        Drop mentions with a lower score; those without a score stay.
    min_area_px2 : float or None
        Drop mentions with a smaller area (of the box if the area is unknown); those without
        either stay.
    concept_table : Path or None
        File that renames, merges and drops concepts.
    class_names : mapping of str to str
        New names of classes, such as ``{"0": "landbird"}``; classes with the same name merge.
    classes, splits : tuple of str
        Keep only images of these classes (by their new names) and splits; empty for all.
    """

    min_score: float | None = None
    min_area_px2: float | None = None
    concept_table: Path | None = None
    class_names: Mapping[str, str] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.min_score is not None and not 0 <= self.min_score <= 1:
            raise OptionError(f"The minimum score is {self.min_score:g}. Pass one from 0 to 1.")
        if self.min_area_px2 is not None and not self.min_area_px2 >= 0:
            raise OptionError(f"The minimum area is {self.min_area_px2:g}. Pass 0 or more.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """Limits on what a file may hold, so that a small one cannot take all memory.

    Parameters
    ----------
    columns : int
        Columns of a table, or distinct keys of JSON lines.
    rows : int
        Rows of a table, or images of a COCO file.
    mentions : int
        Concepts in all rows of a table or in all captions, captions of a table, or annotations of a
        COCO file.
    table_mb : int
        Size of a table's columns in memory, in MB.
    skipped : int
        Malformed records that are left out and listed.
    """

    columns: int = 10_000
    rows: int = 5_000_000
    mentions: int = 20_000_000
    table_mb: int = 500
    skipped: int = 100_000

    def __post_init__(self) -> None:
        for field_ in fields(self):
            if getattr(self, field_.name) < 1:
                setting = Setting(f"limits.{field_.name}")
                raise OptionError("A limit is less than 1. Set ", setting, " to 1 or more.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """All options for reading one file.

    Parameters
    ----------
    table, classes, vocabulary, refine, limits
        By concern.
    split : str or None
        Split of all images, overriding the file's.
    on_error : {"fail", "skip"}
        Raise at a malformed record, or skip and report it.
    captions : Path or None
        Second file with captions to keep: COCO captions, or a table of image id or file name and
        caption.

    Examples
    --------
    >>> ReadOptions(classes=ClassOptions(categories={"cat": "cat", "dog": "dog"})).on_error
    'fail'
    """

    table: TableOptions = TableOptions()
    classes: ClassOptions = ClassOptions()
    vocabulary: VocabularyOptions = VocabularyOptions()
    refine: Refinement = Refinement()
    limits: ReadLimits = ReadLimits()
    split: str | None = None
    on_error: OnError = "fail"
    captions: Path | None = None

    def __post_init__(self) -> None:
        if self.on_error not in ("fail", "skip"):
            raise OptionError(
                Setting("on_error", self.on_error), " is unknown. Set it to fail or skip."
            )
        if self.split is not None:
            object.__setattr__(self, "split", clean_name(self.split))
            if not self.split:
                raise OptionError("The split is empty. Pass a name such as train.")


def pairs(given: Iterable[str], *, needs_value: bool = False) -> dict[str, str]:
    """Parse NAME=VALUE texts; a name alone stands for itself.

    Raises
    ------
    OptionError
        A text has no name or no value, or is a name alone where that is not allowed.

    Examples
    --------
    >>> pairs(["0=landbird", "1"])
    {'0': 'landbird', '1': '1'}
    """
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or (equals and not value) or (needs_value and not equals):
            raise OptionError(f"{text!r} is not NAME=VALUE, such as 0=landbird.")
        found[name] = value or name
    return found
