"""Options of `cobalance.read` and `from_frame`, by keyword."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from cobalance.ingest.options import (
    ClassOptions,
    ReadLimits,
    ReadOptions,
    Refinement,
    TableOptions,
    VocabularyOptions,
)
from cobalance.wording import KEYWORDS


class ReaderOptions(TypedDict, total=False):
    """Options of `read` and `from_frame`; columns that are not set are found by usual names."""

    class_column: str
    concepts: str | Sequence[str]
    id_column: str
    scores_column: str
    caption_column: str
    split_column: str
    uri_column: str
    width_column: str
    height_column: str
    delimiter: str
    split: str
    class_categories: Mapping[str, str] | Sequence[str]
    class_file: str | Path
    class_captions: str | Path
    class_words: str
    captions: str | Path
    vocabulary: str | Path | Sequence[str]
    match: Literal["words", "substring"]
    keep_classes: Sequence[str]
    keep_splits: Sequence[str]
    rename_classes: Mapping[str, str]
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
    """Group the options of a reader by concern.

    Raises
    ------
    TypeError
        There is no such option.
    """
    unknown = given.keys() - ReaderOptions.__annotations__.keys()
    if unknown:
        known = ", ".join(ReaderOptions.__annotations__)
        raise TypeError(f"{function}() has no option {min(unknown)!r}. Its options: {known}")
    groups: dict[str, dict[str, Any]] = {name: {} for name in ("", *_GROUPS)}
    for keyword, value in given.items():
        if value is not None:
            place, value = _placed(keyword, value)
            group, _, name = place.rpartition(".")
            groups[group][name] = value
    parts: dict[str, Any] = {name: make(**groups[name]) for name, make in _GROUPS.items()}
    return ReadOptions(**parts, **groups[""])


_GROUPS = {
    "table": TableOptions,
    "classes": ClassOptions,
    "vocabulary": VocabularyOptions,
    "refine": Refinement,
    "limits": ReadLimits,
}
_PLACES = {
    keyword: place
    for place, keyword in KEYWORDS.items()
    if place.rpartition(".")[0] in ("", *_GROUPS)
}


def _placed(keyword: str, value: Any) -> tuple[str, Any]:
    """The option of `ReadOptions` that a keyword sets, such as ``table.id``, and its value."""
    match keyword:
        case "concepts" if not isinstance(value, str):
            return "table.concept_columns", tuple(value)
        case "vocabulary" if not isinstance(value, str | Path):
            return "vocabulary.concepts", tuple(value)
        case "class_categories" if not isinstance(value, Mapping):
            value = {name: name for name in _names(value)}
        case "class_file" | "class_captions" | "captions" | "concept_table" | "vocabulary":
            value = Path(value)
        case "keep_classes" | "keep_splits":
            value = _names(value)
    return _PLACES[keyword], value


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
