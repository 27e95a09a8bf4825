"""Reader options, each declared once: name, default, label and help of every front end."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field as dataclass_field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

from cobalance.base import OptionError, Setting, clean_name

OnError = Literal["fail", "skip"]
MatchMode = Literal["words", "substring"]

COLUMNS = "More columns of a table (CSV, TSV, Parquet, JSONL)"
FIELDS = "What columns become"
CAPTIONED_CLASSES = "Classes from captions"
CAPTIONED_CONCEPTS = "Concepts from captions"
KEPT = "What to keep"
LIMITS = "Limits, so that no file takes all memory"


@dataclass(frozen=True)
class Option:
    """Wording of an option: label, help, group, and value in usage."""

    title: str
    help: str
    group: str = ""
    metavar: str | None = None


def _column(title: str, content: str, group: str = COLUMNS) -> Option:
    return Option(title, f"Column with {content}.", group, "COLUMN")


def _limit(content: str) -> Option:
    return Option(f"Most {content}", f"Most {content}.", LIMITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How to read an annotation file, and which parts to keep; each field has its help.

    Columns that are not named are found by their usual names, unless `by_name` is off. Cells of
    `concepts_column` are delimited text, or JSON lists of names or of objects with ``concept`` and
    optionally ``score``, ``box`` and ``area``; `scores_column` has as many scores, in the same
    notation. Without a `delimiter`, the first of ``|``, ``;`` and ``,`` that occurs anywhere in the
    column separates concepts.

    The class comes from one place: a column, `class_category`, `class_file`, or captions
    (`class_captions`, or `class_words` alone for the file's own). An image with categories, or
    whose captions have words, of exactly one class gets it; these categories are not concepts, and
    their boxes and outlines are kept under the class's name.

    `vocabulary` is a file, or its lines. `rename_class` comes before `keep_class`; two classes with
    one new name merge. Mentions without a score, or without area and box, stay whatever
    `min_score` and `min_area_px2` say.

    Without `outlines` a reader may leave out the segmentations of objects: nothing that counts
    needs them, and COCO's take half of the memory.

    Raises
    ------
    OptionError
        Options exclude each other, or one is out of its range.

    Examples
    --------
    >>> ReadOptions(class_category={"cat": "cat", "dog": "dog"}).on_error
    'fail'
    """

    on_error: Annotated[
        OnError,
        Option("Malformed records", "Stop at a malformed record, or leave it out and count it."),
    ] = "fail"
    split: Annotated[
        str | None,
        Option(
            "Split of all images",
            "Split to give images: all of them, such as train; overrides the file's.",
        ),
    ] = None
    id_column: Annotated[str | None, _column("Image id", "the image's id", "")] = None
    class_column: Annotated[str | None, _column("Class", "its class", "")] = None
    concepts_column: Annotated[
        str | None, _column("Concepts", "its concepts: delimited text, or a JSON list", "")
    ] = None
    class_category: Annotated[
        Mapping[str, str],
        Option("Category", "Category that is a class; repeat it.", "", "CATEGORY[=CLASS]"),
    ] = dataclass_field(default_factory=dict)
    class_file: Annotated[
        Path | None, Option("Another file", "Table of image id or file name, and class.")
    ] = None
    path_pattern: Annotated[
        str | None,
        Option(
            "Path pattern",
            "What the end of each image's path names: {class}, {split}, {cluster}, or any category "
            "of concepts, with * for the rest of a level and # for a number: "
            "{split}/{context}/{class}/*.",
            "",
            "PATTERN",
        ),
    ] = None
    join: Annotated[
        tuple[Path, ...],
        Option(
            "Files to join",
            "Table or list of more about the images, by id or file name; repeat it.",
            "",
            "FILE",
        ),
    ] = ()
    captions: Annotated[
        Path | None,
        Option(
            "Captions to keep",
            "Captions of the images: COCO captions, or a table of image id or file name, and "
            "caption.",
        ),
    ] = None
    vocabulary: Annotated[
        Path | tuple[str, ...] | None,
        Option(
            "Vocabulary file",
            "File of a concept a line, to find in captions; variants after a colon, such as "
            "couch: sofa, settee.",
        ),
    ] = None
    scores_column: Annotated[str | None, _column("Scores", "the concepts' scores")] = None
    caption_column: Annotated[
        str | None, _column("Captions", "text to search for the vocabulary")
    ] = None
    split_column: Annotated[str | None, _column("Split", "its split")] = None
    cluster_column: Annotated[
        str | None,
        _column("Cluster", "what images share that depend on each other: a video, a patient"),
    ] = None
    uri_column: Annotated[str | None, _column("Picture", "where its pixels are")] = None
    width_column: Annotated[str | None, _column("Width in pixels", "its width in pixels")] = None
    height_column: Annotated[str | None, _column("Height in pixels", "its height in pixels")] = None
    concept_columns: Annotated[
        tuple[str, ...],
        Option(
            "One concept, 0 or 1",
            "Columns of one concept each, with 0 or 1 (also -1, or true and false).",
            COLUMNS,
            "A,B,...",
        ),
    ] = ()
    delimiter: Annotated[
        str | None, Option("Separator of concepts", "Separator of concepts in a column.", COLUMNS)
    ] = None
    each_row: Annotated[
        bool,
        Option(
            "Each row is an image",
            "Take each row for an image, with a number after an id that repeats; else rows of an "
            "image are merged.",
            COLUMNS,
        ),
    ] = False
    by_name: bool = True
    field: Annotated[
        Mapping[str, str],
        Option(
            "What columns become, one a line",
            "What a column becomes: values, flag, two (flag and its absence), bins (of equal "
            "counts), counts:6, widths:5, bins:18,30:years, year, month, weekday, hour, list or "
            "ignore; repeat it. By default its values decide.",
            FIELDS,
            "COLUMN=KIND",
        ),
    ] = dataclass_field(default_factory=dict)
    names: Annotated[
        Mapping[str, Mapping[str, str]],
        Option(
            "Names of codes, a column a line",
            "Names of a column's codes, such as place:0=land,1=water; COLUMN=FILE for a file of a "
            "code and its name a line, or of JSON; repeat it.",
            FIELDS,
            "COLUMN:CODE=NAME,...",
        ),
    ] = dataclass_field(default_factory=dict)
    class_captions: Annotated[
        Path | None,
        Option(
            "Words in a captions file",
            "COCO captions; an image gets the class whose words its captions use.",
            CAPTIONED_CLASSES,
        ),
    ] = None
    class_words: Annotated[
        str | None,
        Option(
            "Words in its captions",
            "Word list of the classes: one that comes with cobalance (coco-gb by default), or a "
            "TOML file.",
            CAPTIONED_CLASSES,
        ),
    ] = None
    match: Annotated[
        MatchMode,
        Option("Match", "Match whole words and plurals, or any text.", CAPTIONED_CONCEPTS),
    ] = "words"
    keep_class: Annotated[
        tuple[str, ...],
        Option(
            "Keep only these classes, one a line",
            "Keep only images of this class, by its new name; repeat it.",
            KEPT,
            "CLASS",
        ),
    ] = ()
    keep_split: Annotated[
        tuple[str, ...],
        Option(
            "Keep only these splits, one a line",
            "Keep only images of this split; repeat it.",
            KEPT,
            "SPLIT",
        ),
    ] = ()
    rename_class: Annotated[
        Mapping[str, str],
        Option(
            "Rename classes, one a line",
            "Rename a class, such as 0=landbird; repeat it.",
            KEPT,
            "OLD=NEW",
        ),
    ] = dataclass_field(default_factory=dict)
    concept_table: Annotated[
        Path | None,
        Option(
            "Concept table",
            "Table of concept and what it becomes; empty drops it, equal ones merge.",
            KEPT,
        ),
    ] = None
    min_score: Annotated[
        float | None, Option("Minimum score of a concept", "Minimum score of a concept.", KEPT)
    ] = None
    min_area_px2: Annotated[
        float | None,
        Option(
            "Minimum area of an object, in square pixels",
            "Minimum area of an instance, in square pixels.",
            KEPT,
        ),
    ] = None
    outlines: bool = True
    max_columns: Annotated[int, _limit("columns of a table or keys of JSON lines")] = 10_000
    max_rows: Annotated[int, _limit("rows of a table or images of a COCO file")] = 5_000_000
    max_mentions: Annotated[
        int,
        _limit("concepts in all rows or captions, or annotations of a COCO file"),
    ] = 20_000_000
    max_table_mb: Annotated[int, _limit("MB of memory for a table")] = 500
    max_skipped: Annotated[int, _limit("malformed records that are left out")] = 100_000

    def __post_init__(self) -> None:
        if self.on_error not in ("fail", "skip"):
            raise OptionError(
                Setting("on_error", self.on_error), " is unknown. Set it to fail or skip."
            )

        if self.split is not None:
            object.__setattr__(self, "split", clean_name(self.split))
            if not self.split:
                raise OptionError("The split is empty. Pass a name such as train.")

        if self.delimiter == "":
            raise OptionError(
                "The delimiter of concepts is empty. Set ", Setting("delimiter"), " to '|'."
            )

        self._check_sources()
        if self.match not in ("words", "substring"):
            raise OptionError(f"The matching mode is {self.match!r}. Pass words or substring.")
        if self.min_score is not None and not 0 <= self.min_score <= 1:
            raise OptionError(f"The minimum score is {self.min_score:g}. Pass one from 0 to 1.")
        if self.min_area_px2 is not None and not self.min_area_px2 >= 0:
            raise OptionError(f"The minimum area is {self.min_area_px2:g}. Pass 0 or more.")

        for limit in ("columns", "rows", "mentions", "table_mb", "skipped"):
            if getattr(self, f"max_{limit}") < 1:
                raise OptionError(
                    "A limit is less than 1. Set ", Setting(f"max_{limit}"), " to 1 or more."
                )

    def _check_sources(self) -> None:
        """Check that concepts, scores and classes each come from one place."""
        if self.concepts_column is not None and self.concept_columns:
            raise OptionError(
                "Concepts come from one column or from one column each, not from both. Set ",
                Setting("concepts_column"),
                " or ",
                Setting("concept_columns"),
                ".",
            )
        if self.class_column is not None and self.class_column == self.concepts_column:
            raise OptionError(
                f"{self.class_column!r} is the column of the class and of the concepts. Set ",
                Setting("class_column"),
                " or ",
                Setting("concepts_column"),
                " to another.",
            )
        if self.scores_column is not None and self.concept_columns:
            raise OptionError(
                "Scores go with a concepts column. Set ", Setting("concepts_column"), "."
            )

        sources = (self.class_category, self.class_file, self.names_class, self.searches_classes)
        if sum(map(bool, sources)) > 1:
            raise OptionError(
                "The class comes from one place. Set one of ",
                Setting("class_category"),
                ", ",
                Setting("class_file"),
                ", {class} in ",
                Setting("path_pattern"),
                ", and ",
                Setting("class_captions"),
                " or ",
                Setting("class_words"),
                ".",
            )

    @property
    def about_columns(self) -> bool:
        """Whether an option is set that only tables have a use for."""
        # These are columns of any format's metadata.
        others = {"class_column", "split_column", "cluster_column"}
        names = [
            name for name in declared_options() if name.endswith("_column") and name not in others
        ]
        names = [*names, "concept_columns", "delimiter", "each_row", "by_name"]

        unset = ReadOptions()
        return any(getattr(self, name) != getattr(unset, name) for name in names)

    @property
    def names_class(self) -> bool:
        """Whether the class is in the path."""
        return "{class}" in (self.path_pattern or "")

    @property
    def classes_come_later(self) -> bool:
        """Whether classes are given after a file was read: by paths, or by a second file."""
        return self.class_file is not None or self.names_class

    @property
    def searches_own_captions(self) -> bool:
        """Whether classes come from the captions of the file itself."""
        return self.class_words is not None and self.class_captions is None

    @property
    def searches_classes(self) -> bool:
        """Whether classes come from captions."""
        return self.class_captions is not None or self.class_words is not None


@cache
def declared_options() -> dict[str, tuple[Any, Option]]:
    """Type and wording of each field of `ReadOptions` that people set."""
    hints = get_type_hints(ReadOptions, include_extras=True)
    return {
        name: arguments
        for name, hint in hints.items()
        if len(arguments := get_args(hint)) == 2 and isinstance(arguments[1], Option)
    }


def code_names(
    given: Iterable[str], read: Callable[[Path], dict[str, str]] | None = None
) -> dict[str, dict[str, str]]:
    """Parse COLUMN:CODE=NAME,... texts; a column may be there more than once.

    With `read`, COLUMN=FILE takes the names that it reads.

    Raises
    ------
    OptionError
        A text has no column, or no names.

    Examples
    --------
    >>> code_names(["place:0=land,1=water"])
    {'place': {'0': 'land', '1': 'water'}}
    """
    names_by_column: dict[str, dict[str, str]] = {}
    for text in given:
        column, equals, file = text.partition("=")
        # A colon before the equals sign says that codes follow, and no file.
        if read is not None and equals and ":" not in column:
            names_by_column.setdefault(column, {}).update(read(Path(file)))
        else:
            column, colon, names = text.partition(":")
            if not (column and colon):
                raise OptionError(
                    f"{text!r} is not COLUMN:CODE=NAME,..., such as y:0=land,1=water."
                )
            names_by_column.setdefault(column, {}).update(pairs(names.split(","), needs_value=True))
    return names_by_column


def plain_option(option: str, value: Any) -> Any:
    """A value as `ReadOptions` has it: one name may stand for several, and text for a path.

    Examples
    --------
    >>> plain_option("class_category", ["cat", "dog"]), plain_option("keep_class", "cat")
    ({'cat': 'cat', 'dog': 'dog'}, ('cat',))
    """
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    match option:
        case "vocabulary" if is_list:
            return tuple(value)
        case "class_category" if is_list or isinstance(value, str):
            names = value if is_list else [value]
            return dict(zip(names, names, strict=True))
        case "class_file" | "class_captions" | "captions" | "concept_table" | "vocabulary":
            return Path(value) if isinstance(value, str) else value
        case "join" if is_list or isinstance(value, str | Path):
            return tuple(map(Path, value if is_list else [value]))
        case "keep_class" | "keep_split" | "concept_columns" if is_list or isinstance(value, str):
            return tuple(value) if is_list else (value,)
    return str(value) if option.endswith("_column") else value


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
    values = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or (equals and not value) or (needs_value and not equals):
            raise OptionError(f"{text!r} is not NAME=VALUE, such as 0=landbird.")
        values[name] = value or name
    return values
