"""English around a word: its case, and the article before it."""

import re

from cobalance.ingest.concepts.wording import begins_with_a_vowel

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
    return word.upper() if example.isupper() and len(example) > 1 else capitalise(word)


def capitalise(word: str) -> str:
    """A word with a capital first letter, and the others as they are."""
    return word[:1].upper() + word[1:]


def article_before(text: str, start: int, old: str, new: str) -> tuple[int, int, str] | None:
    """Position and new form of the article that must change with the word after it.

    An article stays as it is if both words begin alike, even if it was wrong.

    Parameters
    ----------
    start : int
        Where the old word starts.
    old, new : str
        The word after the article, before and after the change.

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
    found = _ARTICLE.search(text, max(0, start - 16), start)
    if found is None:
        return None
    article = "an" if wants_an else "a"
    first = found[1][0]
    if first.isupper():
        article = article.upper() if new.isupper() and len(new) > 1 else article.capitalize()
    return found.start(1), found.end(1), article
