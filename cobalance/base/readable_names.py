"""Names of concepts in English: readable words, articles, lists."""

import re
from collections.abc import Iterable, Sequence

LONGEST = 80
"""Most characters of a name; CLIP reads 77 tokens of a whole prompt."""


def join_names(names: Sequence[str]) -> str:
    """Join names into an English list.

    Examples
    --------
    >>> join_names(["a"]), join_names(["a", "b"]), join_names(["a", "b", "c"])
    ('a', 'a and b', 'a, b, and c')
    """
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"


# A hyphen beside a single letter, as in "t-shirt", separates nothing.
_SEPARATORS = re.compile(r"[_/\\|+]+|(?<=\w{2})-(?=\w{2})")
_CAMEL = re.compile(r"(?<=[a-z]{2})(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_NUMBER = re.compile(r"(?:[_\-/.#]+|(?<=[^\W\d_]{3}))#?\d+$")


def readable(name: str) -> str:
    r"""Turn a concept's name into words for people and models.

    Separators become spaces, CamelCase is split, and control characters and final numbers without
    a space before them are dropped. A value comes before its category. The result has at most
    `LONGEST` characters; a name that would become empty is kept.

    Examples
    --------
    >>> readable("weather: rainy"), readable("time_of_day: night")
    ('rainy weather', 'night time of day')
    >>> readable("garage-outdoor"), readable("street_sign"), readable("fire hydrant")
    ('garage outdoor', 'street sign', 'fire hydrant')
    >>> readable("StopSign"), readable("SUVCar"), readable("TV"), readable("t-shirt")
    ('stop sign', 'SUV car', 'TV', 't-shirt')
    >>> readable("bus_03"), readable("cow12"), readable("Boeing 747"), readable("garage/outdoor")
    ('bus', 'cow', 'Boeing 747', 'garage outdoor')
    >>> readable("say \"hi\"\n{0}"), readable("___"), len(readable("long " * 60))
    ('say "hi" {0}', '___', 79)
    """
    category, colon, value = name.partition(": ")
    if colon:
        name = f"{value} {category}"
    printable = "".join(letter if letter.isprintable() else " " for letter in name)

    text = _NUMBER.sub("", printable.strip())
    parts = _CAMEL.split(text)
    # A name without CamelCase keeps its capitals: it may be a proper one.
    if len(parts) > 1:
        text = " ".join(part if part.isupper() else part.lower() for part in parts)
    text = " ".join(_SEPARATORS.sub(" ", text).split()).strip("- ")

    if not any(map(str.isalnum, text)):
        text = " ".join(printable.split())

    if len(text) <= LONGEST:
        return text
    # At a space, unless the first word alone is too long.
    cut = text[: LONGEST + 1].rpartition(" ")[0] or text[:LONGEST]
    return cut.rstrip()


_MASS_NOUNS_AND_PLURALS = """
    air asphalt bacon beef bread broccoli butter cattle cheese children clothing coffee concrete
    cutlery dirt equipment feet fire fog food fruit furniture geese graffiti grass gravel hair hay
    ice jewellery jewelry lightning luggage makeup meat men mice milk money moss mud oxen paper
    pasta people police rain rice salt sand scenery seaweed shade skis smoke snow soap soil steam
    sugar sunlight teeth traffic trash vegetation water weather wheat wildlife wine women wood
"""
_SINGULARS_IN_S = "atlas bias canvas chaos christmas cosmos gas lens pancreas"
_BEFORE_NOUNS = """
    a an the some any this that these those my your his her its our their no each every one two
    three four five six seven eight nine ten several many few
"""
_WITHOUT = frozenset(_MASS_NOUNS_AND_PLURALS.split())
_SINGULAR = frozenset(_SINGULARS_IN_S.split())
_DETERMINERS = frozenset(_BEFORE_NOUNS.split())
_SOUNDS_LIKE_YOU = re.compile(r"uni(?!nt|mp|nh)|use|usu|ut[ei]|ura|uri|uke|ufo|eu|ewe")
_SILENT_H = re.compile(r"hour|honest|honou?r|heir")
_SAID_WITH_A_VOWEL = re.compile(r"8|11(?!\d)|18(?!\d)")


def with_article(name: str) -> str:
    """Put the indefinite article before a readable name, where it takes one.

    Plurals (a last word in s, but not ss, us or is), the mass nouns and plurals of a small table,
    names that begin with a word like "the" or "two", and names in other scripts take none.

    Examples
    --------
    >>> [with_article(name) for name in ("cow", "alley", "hour", "unicorn", "umbrella", "horse")]
    ['a cow', 'an alley', 'an hour', 'a unicorn', 'an umbrella', 'a horse']
    >>> [with_article(name) for name in ("one-way sign", "SUV", "TV", "UFO", "X-ray", "8 ball")]
    ['a one-way sign', 'an SUV', 'a TV', 'a UFO', 'an X-ray', 'an 8 ball']
    >>> [with_article(name) for name in ("trees", "green grass", "the sea", "two dogs", "skis")]
    ['trees', 'green grass', 'the sea', 'two dogs', 'skis']
    >>> [with_article(name) for name in ("bus", "glass", "tennis racket", "wine glass", "gas")]
    ['a bus', 'a glass', 'a tennis racket', 'a wine glass', 'a gas']
    """
    words = re.findall(r"[^\W_]+", name)
    if not words or not words[0].isascii() or name.lower().split()[0] in _DETERMINERS:
        return name

    last = words[-1].lower()
    ends_like_plural = last.endswith("s") and not last.endswith(("ss", "us", "is"))
    is_plural = ends_like_plural and last not in _SINGULAR and len(last) > 2
    if last in _WITHOUT or is_plural:
        return name
    article = "an" if begins_with_a_vowel(words[0]) else "a"
    return f"{article} {name}"


def begins_with_a_vowel(word: str) -> bool:
    """Whether a word starts with a vowel sound; short capitals are spelt out.

    Examples
    --------
    >>> [word for word in ("hour", "unicorn", "elderly", "SUV", "MAN") if begins_with_a_vowel(word)]
    ['hour', 'elderly', 'SUV', 'MAN']
    """
    if word[0].isdigit():
        return _SAID_WITH_A_VOWEL.match(word) is not None
    if word.isupper() and len(word) <= 4:
        # Letters whose names begin with a vowel sound, as in "an SUV".
        return word[0] in "AEFHILMNORSX"

    small = word.lower()
    if small[0] == "h":
        return _SILENT_H.match(small) is not None
    return small[0] in "aeiou" and small != "one" and _SOUNDS_LIKE_YOU.match(small) is None


def shorten_list(names: Iterable[str], most: int = 30) -> str:
    """Join names for a message, cutting a long list short."""
    texts = list(names)
    if len(texts) <= most:
        return ", ".join(texts)
    return f"{', '.join(texts[:most])} and {len(texts) - most} more"
