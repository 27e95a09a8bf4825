"""Swap the words of groups in captions, or replace them by neutral ones.

The rules of english.toml tell how a word is meant from the caption around it.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from cobalance.base import decode_toml, group_pairs
from cobalance.ingest.captions.text_changes import (
    DOUBTS,
    MANY_GROUPS,
    NO_COUNTERPART,
    NO_GROUP,
    NOT_RESTORED,
    Change,
    UneditableError,
    any_of,
    apply,
    like,
    lower_case,
    whole_words,
)
from cobalance.ingest.concepts import EditMode, GroupWords, WordRow, normal, telling
from cobalance.ingest.names import map_values, without

_APOSTROPHE = re.compile(r"['’](?:(s\b)|(?=\s+\w))", re.IGNORECASE)
_ANYTHING = {"before": "", "word": r"[\s\S]*", "after": ""}


def read_word(table: str, text: str, start: int, end: int) -> str | None:
    """Reading of a word by the first matching rule of a table, or None.

    Parameters
    ----------
    table : {"possessive", "doubt", "first_doubt"}
        "possessive" is for text in lower case.

    Examples
    --------
    >>> [read_word("possessive", text, 0, 3) for text in ("her own", "her .", "her eating cake")]
    [None, 'alone', 'alone']
    """
    for says, before, word, after in _table(table):
        fits = word.fullmatch(text, start, end) and after.match(text, end)
        if fits and before.search(text, 0, start):
            return says
    return None


def list_words(name: str) -> list[str]:
    """The words of a list, or the phrases, of english.toml."""
    words: str | list[str] = (_english()["words"] | _english()["phrases"])[name]
    if isinstance(words, str):
        return words.split()
    return words


def expand_pattern(pattern: str) -> str:
    """Expand each @name in a pattern."""
    return re.sub(r"@(\w+)", lambda name: _pattern_of(name[1]), pattern)


@cache
def _table(name: str) -> list[tuple[str, re.Pattern[str], re.Pattern[str], re.Pattern[str]]]:
    return [
        (row["says"], *(re.compile(expand_pattern(row.get(*part))) for part in _ANYTHING.items()))
        for row in _english()[name]
    ]


@cache
def _pattern_of(name: str) -> str:
    english = _english()
    if name in english["patterns"]:
        return f"(?:{expand_pattern(english['patterns'][name])})"

    if name not in english["verbs"]:
        return f"(?i:{any_of(list_words(name))})"
    stems = (re.sub(r"(?<!e)e$|y$", "", verb) for verb in english["verbs"][name].split())
    return f"(?:{any_of(stems)}(?:[a-z]?(?:e?s|e?d|e|ing|ies|ied|y|ying))?)"


@cache
def _english() -> dict[str, Any]:
    return decode_toml(
        (files("cobalance.ingest") / "captions" / "english.toml").read_text(encoding="utf-8")
    )


_PRONOUNS = frozenset(list_words("pronoun"))
_FUNCTION_WORDS = frozenset(list_words("function"))


@dataclass(frozen=True)
class WordEditor:
    """Edits words of groups; see `cobalance.ingest.captions.caption_editor.CaptionEditor`."""

    words: GroupWords
    mode: EditMode

    def groups_in(self, caption: str, *, by_classes: bool = False) -> frozenset[str]:
        """Groups of which a caption has a word that is theirs alone, or one of their classes."""
        groups_of = self._classes if by_classes else self._telling
        return frozenset().union(*(groups_of.get(normal(m[0]), ()) for m in self.find(caption)))

    def edit_caption(self, caption: str, group: str) -> str:
        """The caption with the words of a group; UneditableError where that is impossible."""
        for match in self.find(caption):
            if match.lastgroup:
                raise UneditableError(DOUBTS[match.lastgroup])

        if self.mode == "unify":
            return self._write(caption, without(self.words.own_groups, [group]), group)

        named = self.groups_in(caption)
        if len(named) != 1:
            raise UneditableError(MANY_GROUPS if named else NO_GROUP)
        (source,) = named
        if source == group:
            return caption

        text = self._write(caption, [source], group)
        if self.groups_in(text) != {group} or self._write(text, [group], source) != caption:
            raise UneditableError(NOT_RESTORED)
        return text

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
        for match in self.find(caption):
            word, (start, end) = normal(match[0]), match.span()
            word_rows = self._rows.get(word, [])
            rows = [row for row in word_rows if word in map(row.keyword, sources)]
            if rows and not any(row.keyword(target or "") == word for row in word_rows):
                # Some doubts hold only where no noun of a group stands before the word.
                tables = ("doubt",) if has_noun else ("doubt", "first_doubt")
                says = (read_word(table, text, start, end) for table in tables)
                doubt = DOUBTS.get(next(filter(None, says), ""))
                is_pronoun = any(row.before_noun is not None for row in rows)
                place = read_word("possessive", lower, start, end) if is_pronoun else None
                if place == "unclear" and target is not None:
                    doubt = doubt or DOUBTS[place]

                # Without a target a word with a doubt stays as it is.
                new = None if doubt else _counterpart(rows, target, place != "alone")
                if new is not None:
                    yield _change(caption, start, end, new)
                elif target is not None:
                    raise UneditableError(doubt or NO_COUNTERPART)

            has_noun = has_noun or word not in _PRONOUNS

    def find(self, caption: str) -> Iterator[re.Match[str]]:
        """Match words of groups, and phrases that exclude a caption; the last group names why."""
        for match in self._all_words.finditer(lower_case(caption).replace("’", "'")):
            is_name = match.lastgroup == "unclear" and caption[match.start()].isupper()
            if match.lastgroup != "kept" and not is_name:
                yield match

    @cached_property
    def _rows(self) -> dict[str, list[WordRow]]:
        """Rows of each keyword."""
        rows_by_word: dict[str, list[WordRow]] = {}
        for row in (*self.words.rows, *self.words.agreeing):
            for word in set(map(row.keyword, row.words)) - {None}:
                rows_by_word.setdefault(str(word), []).append(row)
        return rows_by_word

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

        # The phrases of english.toml are about the words of lists that have "man".
        kept, name, unclear = map(expand_pattern, ("@kept", "@unedited", "@compound"))
        return whole_words(f"(?:(?P<kept>{kept})|(?P<name>{name})|{words}|(?P<unclear>{unclear}))")


def _by_word(classes: Mapping[str, Collection[str]]) -> dict[str, frozenset[str]]:
    pairs = ((normal(word), group) for group, words in classes.items() for word in words)
    return map_values(frozenset, group_pairs(pairs))


def _change(caption: str, start: int, end: int, new: str) -> Change:
    """A word's change, with the apostrophe after it: ladies' becomes gentlemen's, and back."""
    old = caption[start:end]
    word, apostrophe = like(new, old), _APOSTROPHE.match(caption, end)
    # The possessive of a plural in s has an apostrophe alone.
    if apostrophe is not None:
        if apostrophe[1] is None and old[-1] in "sS" and new[-1] != "s":
            return Change(
                start, apostrophe.end(), f"{word}{apostrophe[0]}{'S' if old.isupper() else 's'}"
            )
        if apostrophe[1] and old.lower().endswith(("men", "children", "people")) and new[-1] == "s":
            return Change(start, apostrophe.end(), word + apostrophe[0][0])

    return Change(start, end, word)


def _has_capitals_throughout(caption: str) -> bool:
    """Whether a caption is written like a title, so that capitals tell no names."""
    words = [word for word in re.findall(r"[^\W\d_]+", caption) if word not in _FUNCTION_WORDS][1:]
    # A title may have a few small words, too.
    return len(words) > 1 and sum(word[0].isupper() for word in words) >= 0.8 * len(words)


def _counterpart(rows: list[WordRow], target: str | None, before_noun: bool) -> str | None:
    """The word of the first row that is for this place; else of any row."""
    fitting = [row for row in rows if row.before_noun in (None, before_noun)]
    words = (row.neutral if target is None else row.words.get(target) for row in [*fitting, *rows])
    return next((word for word in words if word is not None), None)
