"""Guess the roles of a table's columns from their names and first values, for a file's preview.

A load goes by options and usual names alone, see `cobalance.ingest.tables.columns`.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from cobalance.ingest.names import map_values, split_named, without
from cobalance.ingest.tables.columns import USUAL_NAMES, usual_column
from cobalance.ingest.tables.concept_cells import (
    delimited_parts,
    starts_list,
    words_in_each,
)

IMAGE_FILE = re.compile(r"\S\.(jpe?g|png|webp|bmp|gif|tiff?)([?#]\S*)?$", re.IGNORECASE)
_DECIMAL = re.compile(r"[+-]?\d*\.\d+(e[+-]?\d+)?$", re.IGNORECASE)
_NUMBERS = re.compile(r"[\s\d.,;|+-]*$")
_MOST_CLASSES = 100
_MOST_RIVALS = 2
_CAPTION_WORDS = 5.0
_JOINED = "Some rows have the same: together they are one image."


@dataclass(frozen=True)
class Guess:
    """Guessed roles of a column.

    Parameters
    ----------
    roles : tuple of str
        As in `USUAL_NAMES`; ``id`` and ``uri`` may share a column; empty for nothing known.
    why : str
        For people, where the values decided or are in doubt; a sentence or two, else empty.
    rivals : tuple of str
        Columns that would do as well.
    contested : str
        The role that they would have.
    """

    roles: tuple[str, ...] = ()
    why: str = ""
    rivals: tuple[str, ...] = ()
    contested: str = ""


def guess_columns(
    columns: Mapping[str, Sequence[str | None]],
    named: Mapping[str, str],
    indicators: Collection[str] = (),
) -> dict[str, Guess]:
    """Guess the roles of each column.

    Names come first. Where none is usual, values that differ in every row are ids, few values are
    classes, lists are concepts, names of picture files are pictures, and sentences are captions.

    Parameters
    ----------
    columns : mapping of str to sequence of str or None
        The first values of each column, as text.
    named : mapping of str to str
        Columns by role, as their names say.
    indicators : collection of str
        Columns of one concept each, with 0 and 1: none of them is a class.
    """
    search = _Search(map_values(_Values, columns), dict(named))
    search.guess(indicators)
    return {name: search.guess_of(name) for name in columns}


class _Values:
    """Statistics of a column's first values."""

    def __init__(self, values: Sequence[str | None]) -> None:
        self.texts = [text for value in values if (text := (value or "").strip())]
        self.filled, self.rows = len(self.texts), len(values)
        self.distinct = len(set(self.texts))

    @cached_property
    def is_unique(self) -> bool:
        return 1 < self.rows == self.filled == self.distinct and not self.is_decimal

    @cached_property
    def is_picture(self) -> bool:
        return self._mostly(IMAGE_FILE.search)

    @cached_property
    def is_place(self) -> bool:
        """Whether the values can lead to a file."""
        return self.is_picture or any("/" in text or "\\" in text for text in self.texts)

    @cached_property
    def is_decimal(self) -> bool:
        return any(map(_DECIMAL.match, self.texts))

    @cached_property
    def is_number(self) -> bool:
        return self._mostly(_NUMBERS.match)

    @cached_property
    def is_split(self) -> bool:
        return self.filled > 0 and all(map(split_named, self.texts))

    @cached_property
    def words(self) -> float:
        """Words in a value, on average."""
        return words_in_each(self.texts)

    @cached_property
    def is_several(self) -> bool:
        """Whether values are lists of names, some of which are in several."""
        if self.is_picture or not self.texts:
            return False
        if starts_list(self.texts[0]):
            return True
        mark, parts = delimited_parts(self.texts)
        repeat = len(set(parts)) < len(parts) or self.filled == 1
        is_short = words_in_each(parts) <= 3
        return mark is not None and repeat and is_short and not all(map(_NUMBERS.match, parts))

    @cached_property
    def is_caption(self) -> bool:
        return self.words >= _CAPTION_WORDS and 2 * self.distinct > self.filled

    @cached_property
    def is_class(self) -> bool:
        """Whether a few names repeat."""
        # Names of classes repeat: at least two rows each, on average.
        most = max(2, min(_MOST_CLASSES, self.filled // 2))

        other = self.is_several or self.is_picture or self.is_split or self.is_decimal
        return 2 <= self.distinct <= most and self.words <= 4 and not other

    def _mostly(self, fits: Callable[[str], object]) -> bool:
        return self.filled > 0 and sum(map(bool, map(fits, self.texts))) >= 0.9 * self.filled


class _Search:
    """The roles found so far, and why."""

    def __init__(self, columns: Mapping[str, _Values], named: dict[str, str]) -> None:
        self.columns, self.of = columns, named
        self.why: dict[str, str] = {}
        self.rivals: dict[str, tuple[str, list[str]]] = {}

    def guess_of(self, name: str) -> Guess:
        roles = filter(lambda role: self.of.get(role) == name, USUAL_NAMES)
        contested, rivals = self.rivals.get(name, ("", []))
        return Guess(tuple(roles), self.why.get(name, ""), tuple(rivals), contested)

    def guess(self, indicators: Collection[str]) -> None:
        """Guess from the surest signs on: a column that one role takes is free for no other."""
        self._doubt_names()
        self._take(
            "concepts", self._fitting(lambda values: values.is_several), "Its values are lists."
        )
        self._take("split", self._fitting(lambda values: values.is_split))

        # One column may be both: names of picture files are ids, too.
        ids = self.of.get("id")
        if "uri" not in self.of and ids is not None and self.columns[ids].is_picture:
            self.of["uri"] = ids
        self._take("uri", self._fitting(lambda values: values.is_picture))
        picture = self.of.get("uri")
        if "id" not in self.of and picture is not None and self.columns[picture].is_unique:
            self.of["id"] = picture
        names = self._fitting(
            lambda values: values.is_unique and not (values.is_caption or values.is_several)
        )
        self._take("id", names, "Its values differ in every row.")
        if "id" not in self.of and picture is not None:
            self.of["id"] = picture
            self.why[picture] = _JOINED

        names = without(self._fitting(lambda values: values.is_class), indicators)
        names.sort(key=lambda name: self.columns[name].is_number)
        self._take("class", names, "{} different values.")
        self._take("caption", self._fitting(lambda values: values.is_caption))

    def _doubt_names(self) -> None:
        """Correct roles that the values contradict, and note doubts."""
        picture, label, ids = map(self.of.get, ("uri", "class", "id"))
        if picture is not None and picture == ids and not self.columns[picture].is_place:
            del self.of["uri"]
        if label is not None:
            self._doubt_class(label)
        if ids is not None and (rows := self.columns[ids]).distinct < rows.filled:
            self.why[ids] = _JOINED

    def _doubt_class(self, label: str) -> None:
        """Take a column that is named like a class for concepts, or note what speaks against it."""
        values = self.columns[label]
        if values.is_several and "concepts" not in self.of:
            del self.of["class"]
            self.of["concepts"] = label
            self.why[label] = "Named like a class, but its values are lists."
        elif values.distinct > max(_MOST_CLASSES, values.filled // 2, 2) or values.is_decimal:
            self.why[label] = (
                f"Named like a class, but {values.distinct:,} values differ "
                f"in the first {values.filled:,} rows."
            )
        else:
            rival = usual_column("class", self._fitting(lambda _: True))
            if rival is not None:
                self.why[label] = "Not the only one that is named like a class."
                self.rivals[label] = "class", [rival]

    def _take(self, role: str, candidates: Sequence[str], why: str = "") -> None:
        """Give a role that no column has yet to the first candidate, and name the others."""
        if role in self.of or not candidates:
            return

        first, *others = candidates
        self.of[role] = first
        if why:
            self.why[first] = why.format(self.columns[first].distinct)

        if others:
            self.rivals[first] = role, others[:_MOST_RIVALS]

    def _fitting(self, fits: Callable[[_Values], bool]) -> list[str]:
        """Columns without a role whose values fit."""
        has_role = self.of.values()
        return [
            name for name, values in self.columns.items() if name not in has_role and fits(values)
        ]
