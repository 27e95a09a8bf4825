"""Swap the words of groups in captions, or replace them by neutral ones."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from ingest.captions.edited import (
    MANY_GROUPS,
    NO_COUNTERPART,
    NO_GROUP,
    NOT_RESTORED,
    Change,
    EditedCaption,
    any_of,
    apply,
    lowered,
    whole_words,
)
from ingest.captions.english import like, stands_before_noun
from ingest.concepts.group_words import EditMode, GroupWords, WordRow, normal


class _NoCounterpartError(Exception):
    """A word of a group has no counterpart."""


@dataclass(frozen=True)
class WordEditor:
    """Edits words of groups; see `ingest.captions.editor.CaptionEditor`."""

    words: GroupWords
    mode: EditMode

    def groups_in(self, caption: str) -> frozenset[str]:
        """Groups whose classes' words are in a caption."""
        found = self._class_words.finditer(lowered(caption))
        return frozenset().union(*(self._groups_of.get(normal(m[0]), ()) for m in found))

    def has_keyword(self, caption: str) -> bool:
        """Whether a word of any group's pairs is in a caption."""
        return self._all_words.search(lowered(caption)) is not None

    def edited(self, caption: str, group: str) -> EditedCaption:
        """The caption with the words of a group, or the reason why there is none."""
        try:
            if self.mode == "unify":
                others = [name for name in self.words.own_groups if name != group]
                return EditedCaption(self._written(caption, others, group))
            named = self.groups_in(caption)
            if len(named) != 1:
                return EditedCaption(None, MANY_GROUPS if named else NO_GROUP)
            (source,) = named
            if source == group:
                return EditedCaption(caption)
            found = self._written(caption, [source], group)
            restored = self.groups_in(found) == {group} and (
                self._written(found, [group], source) == caption
            )
            return EditedCaption(found) if restored else EditedCaption(None, NOT_RESTORED)
        except _NoCounterpartError:
            return EditedCaption(None, NO_COUNTERPART)

    def neutralised(self, caption: str) -> str:
        """The caption with the neutral word of each row; words without one stay."""
        return self._written(caption, self.words.own_groups, None)

    def _written(self, caption: str, sources: Collection[str], target: str | None) -> str:
        return apply(caption, self._changes(caption, sources, target))

    def _changes(
        self, caption: str, sources: Collection[str], target: str | None
    ) -> Iterator[Change]:
        own = self._keywords.get(target or "", frozenset())
        for found in self._all_words.finditer(lowered(caption)):
            word = normal(found[0])
            rows = [
                row
                for row in self._rows.get(word, ())
                if any(row.keyword(source) == word for source in sources)
            ]
            if not rows or word in own:
                continue
            new = _counterpart(rows, target, stands_before_noun(caption, found.end()))
            if new is not None:
                start, end = found.span()
                yield Change(start, end, like(new, caption[start:end]))
            elif target is not None:
                raise _NoCounterpartError

    @cached_property
    def _rows(self) -> dict[str, list[WordRow]]:
        """Rows of each keyword."""
        found: dict[str, list[WordRow]] = {}
        for row in self.words.rows:
            for word in {row.keyword(group) for group in row.words} - {None}:
                found.setdefault(str(word), []).append(row)
        return found

    @cached_property
    def _keywords(self) -> dict[str, frozenset[str]]:
        """Keywords of each group."""
        return {
            group: frozenset(str(row.keyword(group)) for row in self.words.rows)
            for group in self.words.own_groups
        }

    @cached_property
    def _groups_of(self) -> dict[str, frozenset[str]]:
        """Groups whose class has a word."""
        found: dict[str, set[str]] = {}
        for group, words in self.words.classes.items():
            for word in words:
                found.setdefault(normal(word), set()).add(group)
        return {word: frozenset(groups) for word, groups in found.items()}

    @cached_property
    def _class_words(self) -> re.Pattern[str]:
        return whole_words(any_of(self._groups_of))

    @cached_property
    def _all_words(self) -> re.Pattern[str]:
        return whole_words(any_of(self._rows))


def _counterpart(rows: list[WordRow], target: str | None, before_noun: bool) -> str | None:
    """The word of the first row that is for this place; else of any row."""
    fitting = [row for row in rows if row.before_noun in (None, before_noun)]
    words = (row.neutral if target is None else row.words.get(target) for row in [*fitting, *rows])
    return next((word for word in words if word is not None), None)
