"""Captions that name children, by a word for one or by an age of less than 18."""

import re
from collections.abc import Collection
from functools import cache

from cobalance.ingest.captions.text_changes import any_of, lower_case, whole_words
from cobalance.ingest.concepts import group_list_names, load_group_words

_SPACE = r"[\s\-\u2010\u2011\u2013]*"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|hundred and"
_NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
          "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen")  # fmt: skip
_YEARS = rf"(?:1[0-7]|[0-9]|{'|'.join(_NAMES)})(?:[.,][0-9]{{1,2}}(?![0-9]))?"
_RANGE = r"(?:\s*(?:-|\u2013|to|or)\s*[0-9]{1,2})?"
_AGE = re.compile(
    rf"(?<![\w.,])(?:(?P<tens>{_TENS}){_SPACE})?(?:{_YEARS}{_RANGE}{_SPACE}(?:years?|yrs?|y)"
    rf"|(?:[0-9]+|{'|'.join(_NAMES)}){_SPACE}(?:months?|weeks?|days?))"
    rf"(?:/?o|{_SPACE}(?:olds?|of\s+age))(?!\w)"
    rf"|(?<!\w)ages?d?\s+(?:(?:of|about|around|between|from|just|only)\s+)?{_YEARS}(?!\w|[.,][0-9])"
)


def names_children(caption: str, words: Collection[str] = ()) -> bool:
    """Whether a caption names a child: by a word for one, or by an age ("a 9-year-old").

    Parameters
    ----------
    words : collection of str
        Words for children, plurals listed; those of all built-in word lists by default.

    Examples
    --------
    >>> [names_children(text) for text in ("Two girls.", "A man, 45.", "A 9 year old on a bike.")]
    [True, False, True]
    >>> [names_children(f"Someone {age}.") for age in ("aged 17", "aged 18", "six weeks old")]
    [True, False, True]
    """
    text = lower_case(caption)
    is_child = _pattern(frozenset(words) or _usual()).search(text) is not None
    return is_child or any(age["tens"] is None for age in _AGE.finditer(text))


@cache
def _usual() -> frozenset[str]:
    lists = map(load_group_words, group_list_names())
    return frozenset(word for words in lists for word in words.children)


@cache
def _pattern(words: frozenset[str]) -> re.Pattern[str]:
    return whole_words(any_of(words))
