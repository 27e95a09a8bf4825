"""Find a vocabulary's concepts in captions, as whole words or as substrings."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from cobalance.base import InputError, IntArray, OptionError, Progress, clean_name, silent, track
from cobalance.ingest.concepts.noun_plurals import plural_forms
from cobalance.ingest.names import Coded, name_fault
from cobalance.ingest.options import MatchMode, ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import read_text

CAPTION = "caption"  # source of mentions found in captions

# A word is a run of letters and digits. White space, hyphens and underscores all separate words
# ("hot-dog", "hot dog"); any other sign is a word of its own, and no phrase matches across it.
_TOKENS = re.compile(r"[^\W_]+|[^\w\s\-\u2010\u2011]")
_CAPTIONS = 20_000  # between two reports of progress

Words = tuple[str, ...]


def words_of(text: str) -> list[str]:
    """Split text into the words and symbols that are matched.

    Examples
    --------
    >>> words_of("Two HOT-dogs, a man's hat_stand")
    ['two', 'hot', 'dogs', ',', 'a', 'man', "'", 's', 'hat', 'stand']
    """
    return _TOKENS.findall(fold(text))


def fold(text: str) -> str:
    """Normalise text for matching: Unicode NFC, case folded."""
    return unicodedata.normalize("NFC", text).casefold()


class Vocabulary:
    """Concepts and the phrases that name them in captions.

    Mode ``"words"`` takes the longest phrase at each word from left to right and continues after
    it, so that "palm tree" does not match "tree". A phrase also matches in the plural, unless that
    is a phrase of another concept. Mode ``"substring"`` finds a concept at most once per caption,
    if any of its phrases occurs anywhere; "palm tree" then also matches "tree", and "woman" "man".

    Case never matters. Scripts without spaces between words need ``"substring"``.

    Parameters
    ----------
    phrases : mapping of str to iterable of str
        Phrases of each concept.
    mode : {"words", "substring"}
        Match whole words or anywhere.
    plurals : bool
        Match plurals of phrases, in mode ``"words"`` only.

    Raises
    ------
    OptionError
        A phrase has no word, or belongs to two concepts.

    Examples
    --------
    >>> vocabulary = Vocabulary({"tree": ["tree"], "palm": ["palm tree", "palm"]})
    >>> found = vocabulary.find("Two palm-trees beside a tree")
    >>> [vocabulary.names[number] for number in found]
    ['palm', 'tree']
    """

    def __init__(
        self,
        phrases: Mapping[str, Iterable[str]],
        mode: MatchMode = "words",
        plurals: bool = True,
    ) -> None:
        self.names = tuple(sorted(phrases))
        self.mode = mode
        numbered = [
            (number, phrase) for number, name in enumerate(self.names) for phrase in phrases[name]
        ]
        self._texts = [(fold(phrase), number) for number, phrase in numbered]

        forms = self._forms(numbered, plurals)
        # First word -> remaining words and concept of each phrase, the longest first.
        self._by_first: dict[str, list[tuple[list[str], int]]] = {}
        for words, number in sorted(forms.items(), key=lambda form: -len(form[0])):
            self._by_first.setdefault(words[0], []).append((list(words[1:]), number))

    def _forms(self, phrases: list[tuple[int, str]], plurals: bool) -> dict[Words, int]:
        forms: dict[Words, int] = {}
        for number, phrase in phrases:
            words = tuple(words_of(phrase))
            if not words:
                raise OptionError(f"The phrase {phrase!r} has no word to look for.")
            if forms.setdefault(words, number) != number:
                raise OptionError(
                    f"The phrase {phrase!r} stands for both {self.names[forms[words]]!r} and "
                    f"{self.names[number]!r}. Leave one out."
                )

        if plurals:
            for words, number in list(forms.items()):
                # A plural that is another concept's phrase stays that one's.
                for plural in plural_forms(words[-1]):
                    forms.setdefault((*words[:-1], plural), number)
        return forms

    def find(self, caption: str) -> list[int]:
        """Positions in `names` of the concepts in a caption, in order of appearance.

        O(words of the caption x phrases with the same first word); in mode ``"substring"``
        O(length of the caption x phrases), in the vocabulary's order.
        """
        if self.mode == "substring":
            text = fold(caption)
            return list(dict.fromkeys(n for phrase, n in self._texts if phrase in text))

        words = words_of(caption)
        numbers = []
        position = 0
        while position < len(words):
            step = 1
            for rest, number in self._by_first.get(words[position], ()):
                if words[position + 1 : position + 1 + len(rest)] == rest:
                    numbers.append(number)
                    step += len(rest)
                    break
            position += step
        return numbers

    def find_all(
        self, captions: Sequence[str | None], problems: Problems, progress: Progress = silent
    ) -> tuple[IntArray, Coded]:
        """Position and concept of each mention in captions; InputError for more than the limit."""
        rows: list[int] = []
        codes: list[int] = []
        for row, caption in track(progress, "search captions", captions, _CAPTIONS):
            if caption:
                numbers = self.find(caption)
                codes += numbers
                rows += [row] * len(numbers)
                problems.within("mentions", len(rows), what="concepts in its captions")

        concept = Coded(np.array(codes, dtype=np.int64), self.names)
        return np.array(rows, dtype=np.int64), concept


_FORM = "Write a concept a line, and variants after a colon: couch: sofa, settee"


def load_vocabulary(options: ReadOptions) -> Vocabulary:
    """Load the vocabulary of the options; InputError if its file, or a line, cannot be used."""
    source = options.vocabulary or ()
    if isinstance(source, Path):
        where, lines, unit = str(source), read_text(source).split("\n"), "line"
    else:
        where, lines, unit = "the vocabulary", [*source], "entry"

    concepts: dict[str, tuple[str, ...]] = {}
    owner: dict[tuple[str, ...], tuple[str, int]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        place = f"{unit} {number}"

        first, colon, others = line.partition(":")
        phrases = [first, *(others.split(",") if colon else ())]

        name, *variants = map(clean_name, phrases)
        for phrase in (name, *variants):
            fault = name_fault(phrase)
            if fault is None and not words_of(phrase):
                fault = "has no word to look for"
            if fault is not None:
                raise InputError(where, place, f"the phrase {phrase!r} {fault}", f"{_FORM}.")

            # The first concept to have a phrase owns it.
            other, first_number = owner.setdefault(tuple(words_of(phrase)), (name, number))
            if other != name or name in concepts:
                raise InputError(
                    where,
                    place,
                    f"{phrase!r} stands for {other!r} on line {first_number} already",
                    "Leave one of them out.",
                )

        concepts[name] = (name, *variants)
    if not concepts:
        raise InputError(where, None, "names no concept", f"{_FORM}.")

    return Vocabulary(concepts, options.match)
