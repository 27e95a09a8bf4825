"""Edits of a text at some of its words, and their outcome."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from cobalance.base import begins_with_a_vowel

NO_GROUP = "captions that name no group"
MANY_GROUPS = "captions that name more than one group"
NO_COUNTERPART = "captions with a word that has no counterpart"
NO_PERSON = "captions without a noun to put an adjective before"
NOT_RESTORED = "captions that editing there and back does not restore"
DOUBTS = {
    "name": "captions with a name, a title or a fixed phrase",
    "animal": "captions with a word that may be about an animal or a thing",
    "unclear": "captions with a word that can be read in two ways",
}
REASONS = (NO_GROUP, MANY_GROUPS, NO_COUNTERPART, NO_PERSON, NOT_RESTORED, *DOUBTS.values())

# A compound is of the kind of its last part: a police-man is a man, a man-made lake is none.
_BEFORE = r"(?<![\w\u0300-\u036f])"
_AFTER = r"(?![\w\u0300-\u036f])(?![-\u2010\u2011]\w)"
_Tree: TypeAlias = "dict[str, _Tree]"


class UneditableError(Exception):
    """A caption that cannot be edited, with one of `REASONS`."""


@dataclass(frozen=True, slots=True)
class EditedCaption:
    """Edited caption, or None and the reason it cannot be edited: one of `REASONS`, for counts."""

    text: str | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """Replacement of one word of a text, from `start` to `end`, by `new`."""

    start: int
    end: int
    new: str


def apply(text: str, changes: Iterable[Change]) -> str:
    """Write changes, in order of their places, and the articles that have to agree with them.

    Examples
    --------
    >>> apply("A hero and an actor", [Change(2, 6, "heroine"), Change(14, 19, "performer")])
    'A heroine and a performer'
    """
    parts, done = [], 0
    for change in changes:
        # The article before the word may have been written already, with an earlier change.
        article = article_before(
            text, change.start, text[change.start : change.end].strip(), change.new
        )
        if article is not None and article[0] >= done:
            start, end, new = article
            parts += [text[done:start], new]
            done = end

        parts += [text[done : change.start], change.new]
        done = change.end

    return "".join([*parts, text[done:]])


def lower_case(text: str) -> str:
    """Text in lower case, each character in its old place.

    Examples
    --------
    >>> lower_case("İN Rome")
    'in rome'
    """
    return text.replace("İ", "I").lower()


def any_of(words: Iterable[str]) -> str:
    r"""Pattern of any of some words or phrases, for lower-case text; the longest match.

    Words with the same beginning share it, so that a list of hundreds is searched fast.

    Examples
    --------
    >>> any_of(["man", "men", "cabin boy"])
    '(?:cabin\\s+boy|m(?:an|en))'
    """
    root: _Tree = {}
    for word in sorted(set(words)):
        node = root
        for letter in " ".join(word.split()):
            part = re.escape(letter).replace("\\ ", r"\s+")
            node = node.setdefault(part, {})
        node[""] = {}
    return _pattern(root)


def _pattern(node: _Tree) -> str:
    ends = "" in node
    branches = [part + _pattern(below) for part, below in node.items() if part]
    if not branches:
        return ""
    if len(branches) == 1 and not ends:
        return branches[0]
    return f"(?:{'|'.join(branches)}){'?' if ends else ''}"


def whole_words(pattern: str) -> re.Pattern[str]:
    """Compile a pattern so that it matches whole words, and no first part of a compound.

    Examples
    --------
    >>> man = whole_words("man")
    >>> [bool(man.search(text)) for text in ("a man's", "police-man", "man-made", "human")]
    [True, True, False, False]
    """
    return re.compile(f"{_BEFORE}{pattern}{_AFTER}")


_ARTICLE = re.compile(r"(?<![\w'’-])(an?)(\s+)$", re.IGNORECASE)


def like(word: str, example: str) -> str:
    """Write a word in the case of another: lower, capitalised, or in capitals.

    Examples
    --------
    >>> like("woman", "Man"), like("woman", "MAN"), like("woman", "man")
    ('Woman', 'WOMAN', 'woman')
    """
    if not example[:1].isupper():
        return word
    if len(example) > 1 and example.isupper():
        return word.upper()
    return capitalise(word)


def capitalise(word: str) -> str:
    """A word with a capital first letter, and the others as they are."""
    return word[:1].upper() + word[1:]


def article_before(text: str, start: int, old: str, new: str) -> tuple[int, int, str] | None:
    """Position and new form of the article that must change with the word after it.

    An article stays as it is if both words begin alike, even if it was wrong. The word after it is
    `old` before the change, from `start` on, and `new` after.

    Examples
    --------
    >>> article_before("a waiter", 2, "waiter", "attendant")
    (0, 1, 'an')
    >>> article_before("An actor", 3, "actor", "actress") is None
    True
    """
    wants_an = begins_with_a_vowel(new.lower())
    if begins_with_a_vowel(old.lower()) == wants_an:
        return None
    # An article is at most two letters; the rest is white space.
    match = _ARTICLE.search(text, max(0, start - 16), start)
    if match is None:
        return None

    article = "an" if wants_an else "a"
    first = match[1][0]
    if first.isupper():
        article = article.upper() if new.isupper() and len(new) > 1 else article.capitalize()
    return match.start(1), match.end(1), article
