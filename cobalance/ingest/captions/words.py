"""Swap the words of groups in captions, or replace them by neutral ones."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from cobalance.ingest.captions.edits import (
    DOUBTS,
    MANY_GROUPS,
    NO_COUNTERPART,
    NO_GROUP,
    NOT_RESTORED,
    Change,
    EditedCaption,
    any_of,
    apply,
    like,
    lower_case,
    whole_words,
)
from cobalance.ingest.captions.readings import expand_pattern, list_words, read_word
from cobalance.ingest.concepts.group_words import EditMode, GroupWords, WordRow, normal
from cobalance.ingest.concepts.word_lists import telling

_PRONOUNS = frozenset(list_words("pronoun"))
_FUNCTION_WORDS = frozenset(list_words("function"))
_APOSTROPHE = re.compile(r"['’](?:(s\b)|(?=\s+\w))", re.IGNORECASE)


class _LeftOutError(Exception):
    """The caption is not edited, for a reason."""


@dataclass(frozen=True)
class WordEditor:
    """Edits words of groups; see `cobalance.ingest.captions.editor.CaptionEditor`."""

    words: GroupWords
    mode: EditMode

    def groups_in(self, caption: str, *, by_classes: bool = False) -> frozenset[str]:
        """Groups of which a caption has a word that is theirs alone, or one of their classes."""
        of = self._classes if by_classes else self._telling
        return frozenset().union(*(of.get(normal(m[0]), ()) for m in self.find(caption)))

    def edit_caption(self, caption: str, group: str) -> EditedCaption:
        """Rewrite a caption with the words of a group, or say why that is impossible."""
        for found in self.find(caption):
            if found.lastgroup:
                return EditedCaption(None, DOUBTS[found.lastgroup])
        try:
            if self.mode == "unify":
                others = [name for name in self.words.own_groups if name != group]
                return EditedCaption(self._write(caption, others, group))
            named = self.groups_in(caption)
            if len(named) != 1:
                return EditedCaption(None, MANY_GROUPS if named else NO_GROUP)
            (source,) = named
            if source == group:
                return EditedCaption(caption)
            text = self._write(caption, [source], group)
            restored = self.groups_in(text) == {group} and (
                self._write(text, [group], source) == caption
            )
            return EditedCaption(text) if restored else EditedCaption(None, NOT_RESTORED)
        except _LeftOutError as error:
            return EditedCaption(None, str(error))

    def neutralise(self, caption: str) -> str:
        """The caption with the neutral word of each row; words without one stay."""
        return self._write(caption, self.words.own_groups, None)

    def _write(self, caption: str, sources: Collection[str], target: str | None) -> str:
        return apply(caption, self._changes(caption, sources, target))

    def _changes(
        self, caption: str, sources: Collection[str], target: str | None
    ) -> Iterator[Change]:
        lower, has_noun = lower_case(caption), False
        text = lower if _has_capitals_throughout(caption) else caption
        for found in self.find(caption):
            word, (start, end) = normal(found[0]), found.span()
            known = self._rows.get(word, [])
            rows = [row for row in known if any(row.keyword(name) == word for name in sources)]
            if rows and not any(row.keyword(target or "") == word for row in known):
                tables = ("doubt",) if has_noun else ("doubt", "first_doubt")
                says = (read_word(table, text, start, end) for table in tables)
                doubt = DOUBTS.get(next(filter(None, says), ""))
                is_pronoun = any(row.before_noun is not None for row in rows)
                place = read_word("possessive", lower, start, end) if is_pronoun else None
                if place == "unclear" and target is not None:
                    doubt = doubt or DOUBTS[place]
                new = None if doubt else _counterpart(rows, target, place != "alone")
                if new is not None:
                    yield _change(caption, start, end, new)
                elif target is not None:
                    raise _LeftOutError(doubt or NO_COUNTERPART)
            has_noun = has_noun or word not in _PRONOUNS

    def find(self, caption: str) -> Iterator[re.Match[str]]:
        """Match words of groups, and phrases that exclude a caption; the last group names why."""
        for found in self._all_words.finditer(lower_case(caption).replace("’", "'")):
            is_name = found.lastgroup == "unclear" and caption[found.start()].isupper()
            if found.lastgroup != "kept" and not is_name:
                yield found

    @cached_property
    def _rows(self) -> dict[str, list[WordRow]]:
        """Rows of each keyword."""
        found: dict[str, list[WordRow]] = {}
        for row in (*self.words.rows, *self.words.agreeing):
            for word in {row.keyword(group) for group in row.words} - {None}:
                found.setdefault(str(word), []).append(row)
        return found

    @cached_property
    def _classes(self) -> dict[str, frozenset[str]]:
        """Groups whose class has a word."""
        return _by_word(self.words.classes)

    @cached_property
    def _telling(self) -> dict[str, frozenset[str]]:
        """Groups of each class's word, and the group of each word that is of one group alone."""
        return _by_word(telling((*self.words.rows, *self.words.agreeing))) | self._classes

    @cached_property
    def _all_words(self) -> re.Pattern[str]:
        words = any_of({*self._rows, *self._classes})
        if "man" not in self._rows:
            return whole_words(words)
        kept, name, unclear = (
            expand_pattern(f"@{part}") for part in ("kept", "unedited", "compound")
        )
        return whole_words(f"(?:(?P<kept>{kept})|(?P<name>{name})|{words}|(?P<unclear>{unclear}))")


def _by_word(classes: Mapping[str, Collection[str]]) -> dict[str, frozenset[str]]:
    pairs = [(normal(word), group) for group, words in classes.items() for word in words]
    return {word: frozenset(group for one, group in pairs if one == word) for word, _ in pairs}


def _change(caption: str, start: int, end: int, new: str) -> Change:
    """A word's change, with the apostrophe after it: ladies' becomes gentlemen's, and back."""
    old = caption[start:end]
    word, found = like(new, old), _APOSTROPHE.match(caption, end)
    if found is not None:
        if found[1] is None and old[-1] in "sS" and new[-1] != "s":
            return Change(start, found.end(), f"{word}{found[0]}{'S' if old.isupper() else 's'}")
        if found[1] and old.lower().endswith(("men", "children", "people")) and new[-1] == "s":
            return Change(start, found.end(), word + found[0][0])
    return Change(start, end, word)


def _has_capitals_throughout(caption: str) -> bool:
    """Whether a caption is written like a title, so that capitals tell no names."""
    words = [word for word in re.findall(r"[^\W\d_]+", caption) if word not in _FUNCTION_WORDS][1:]
    return len(words) > 1 and sum(word[0].isupper() for word in words) >= 0.8 * len(words)


def _counterpart(rows: list[WordRow], target: str | None, before_noun: bool) -> str | None:
    """The word of the first row that is for this place; else of any row."""
    fitting = [row for row in rows if row.before_noun in (None, before_noun)]
    words = (row.neutral if target is None else row.words.get(target) for row in [*fitting, *rows])
    return next((word for word in words if word is not None), None)
