"""Disambiguate a word by the caption around it, with the rules of english.toml."""

import re
from functools import cache
from importlib.resources import files
from typing import Any

from cobalance.ingest.captions.edits import any_of
from cobalance.ingest.documents import decode_toml

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
    return words.split() if isinstance(words, str) else words


def expand_pattern(pattern: str) -> str:
    """Expand each @name in a pattern."""
    return re.sub(r"@(\w+)", lambda found: _pattern_of(found[1]), pattern)


@cache
def _table(name: str) -> list[tuple[str, re.Pattern[str], re.Pattern[str], re.Pattern[str]]]:
    return [
        (row["says"], *(re.compile(expand_pattern(row.get(*part))) for part in _ANYTHING.items()))
        for row in _english()[name]
    ]


@cache
def _pattern_of(name: str) -> str:
    told = _english()
    if name in told["patterns"]:
        return f"(?:{expand_pattern(told['patterns'][name])})"
    if name not in told["verbs"]:
        return f"(?i:{any_of(list_words(name))})"
    stems = (re.sub(r"(?<!e)e$|y$", "", verb) for verb in told["verbs"][name].split())
    return f"(?:{any_of(stems)}(?:[a-z]?(?:e?s|e?d|e|ing|ies|ied|y|ying))?)"


@cache
def _english() -> dict[str, Any]:
    return decode_toml(
        (files("cobalance.ingest") / "captions" / "english.toml").read_text(encoding="utf-8")
    )
