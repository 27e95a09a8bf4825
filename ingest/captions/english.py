"""English around a word: its case, the article before it, and whether a noun follows."""

import re

from ingest.concepts.wording import begins_with_a_vowel

_ARTICLE = re.compile(r"(?<![\w'’-])(an?)(\s+)$", re.IGNORECASE)
_NEXT = re.compile(r"\s+[\"'“‘]?(?P<word>\w+(?:['’-]\w+)*)")
_FUNCTION_WORDS_AND_VERBS = """
    a aboard about above across after again against ago ahead alone along alongside already also
    although am amid among amongst an and another any anything are around as aside asleep at away be
    because been before behind being below beneath beside besides between beyond both but by can
    could did do does doing down during each either enough even ever everything except for forward
    from had has have having he here him himself holds how i if in indoors inside instead into is it
    just like may me might must near nearby never no nor not nothing now of on once onto opposite or
    out outdoors outside over past per ready says she should since sits so some something stands
    still than that the their them themselves then there these they this those through throughout
    till to today together tonight toward towards under underneath underwater unless until up upon
    upright upside us versus via was we wears were what when where whether which while who whom
    whose why will with within without would yet you
"""
_ADJECTIVES_AND_NOUNS_IN_LY = """
    assembly belly bubbly bully butterfly comely costly cuddly curly daily dolly doily early elderly
    family fly friendly gnarly grizzly holly homely hourly jelly jolly lily likely lively lonely
    lovely manly monthly nightly only orderly reply silly smelly supply tally ugly weekly womanly
    woolly wooly wrinkly yearly
"""
_PARTICIPLES_ALSO_BEFORE_NOUNS = """
    bending catching cooking crossing crouching cutting dancing diving drinking driving flying
    hitting jumping kneeling laughing laying reading riding running serving showing skateboarding
    skating skiing sleeping smiling snowboarding squatting stepping surfing swimming swinging
    throwing waiting walking waving working
"""
_PARTICIPLES_BEFORE_OBJECTS = """
    being blowing brushing carrying climbing coming doing eating feeding getting giving going having
    helping holding leaning looking lying making playing pointing posing preparing pulling pushing
    reaching sitting standing taking talking touching trying using watching wearing
"""
_VERBS_BEFORE_A_PERSON_AND_A_VERB = """
    have having help helped helping helps let lets letting make makes making saw see seeing sees
    watch watched watches watching
"""
_NOT_BEFORE_NOUNS = frozenset(_FUNCTION_WORDS_AND_VERBS.split()) | {""}
_BEFORE_NOUNS_IN_LY = frozenset(_ADJECTIVES_AND_NOUNS_IN_LY.split())
_UNTIL_NOUNS = frozenset(_PARTICIPLES_ALSO_BEFORE_NOUNS.split()) | {"all", "next", "off", "too"}
_CAUSING = frozenset(_VERBS_BEFORE_A_PERSON_AND_A_VERB.split())
_DETERMINERS = frozenset({"a", "an", "her", "his", "its", "some", "the", "their", "this"})
_ALWAYS_VERBS = frozenset(_PARTICIPLES_BEFORE_OBJECTS.split())


def stands_before_noun(text: str, end: int) -> bool:
    """Whether the word that ends at `end` stands before a noun, as "her" in "her red coat".

    Told by what follows: not at an end or before punctuation, a preposition, a conjunction, an
    article, an auxiliary, or a participle or adverb that no noun follows; nor between verbs, as in
    "helps her cut the cake". A guess, as words of captions are not parsed.

    Examples
    --------
    >>> [stands_before_noun(text, 3) for text in ("her teeth", "her .", "her while", "her own")]
    [True, False, False, True]
    >>> [stands_before_noun(text, 3) for text in ("her eating a cake", "her riding boots")]
    [False, True]
    """
    found = _NEXT.match(text, end)
    if found is None:
        return False
    word = found["word"].lower()
    if word in _NOT_BEFORE_NOUNS or word in _ALWAYS_VERBS:
        return False
    is_adverb = word.endswith("ly") and word not in _BEFORE_NOUNS_IN_LY
    after = _NEXT.match(text, found.end())
    following = "" if after is None else after["word"].lower()
    if word in _UNTIL_NOUNS or is_adverb:
        return following not in _NOT_BEFORE_NOUNS
    # "helping her cut the cake"
    return not (following in _DETERMINERS and _word_before(text, end) in _CAUSING)


def _word_before(text: str, end: int) -> str:
    """The word before the one that ends at `end`."""
    return next(iter(text[max(0, end - 40) : end].lower().split()[-2:-1]), "")


def like(word: str, example: str) -> str:
    """Write a word in the case of another: lower, capitalised, or in capitals.

    Examples
    --------
    >>> like("woman", "Man"), like("woman", "MAN"), like("woman", "man")
    ('Woman', 'WOMAN', 'woman')
    """
    if not example[:1].isupper():
        return word
    return word.upper() if example.isupper() and len(example) > 1 else capitalised(word)


def capitalised(word: str) -> str:
    """A word with a capital first letter, and the others as they are."""
    return word[:1].upper() + word[1:]


def article_before(text: str, start: int, old: str, new: str) -> tuple[int, int, str] | None:
    """The article that has to change where a word does: its place, and what it becomes.

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
