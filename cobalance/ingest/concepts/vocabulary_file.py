"""Load vocabularies from text files and options."""

from pathlib import Path

from cobalance.graph.errors import InputError
from cobalance.graph.names import clean_name
from cobalance.ingest.concepts.vocabulary import Vocabulary, words_of
from cobalance.ingest.names import name_fault
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.reader import read_text

_FORM = "Write a concept a line, and variants after a colon: couch: sofa, settee"


def load_vocabulary(options: ReadOptions) -> Vocabulary:
    """Load the vocabulary that the options name.

    Raises
    ------
    InputError
        The file, or a line in it, cannot be used.
    """
    given = options.vocabulary or ()
    if isinstance(given, Path):
        where, lines, unit = str(given), read_text(given).split("\n"), "line"
    else:
        where, lines, unit = "the vocabulary", [*given], "entry"
    concepts: dict[str, tuple[str, ...]] = {}
    owner: dict[tuple[str, ...], tuple[str, int]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        place = f"{unit} {number}"
        name, *variants = _phrases(line)
        for phrase in (name, *variants):
            fault = name_fault(phrase)
            if fault is None and not words_of(phrase):
                fault = "has no word to look for"
            if fault is not None:
                raise InputError(where, place, f"the phrase {phrase!r} {fault}", f"{_FORM}.")
            other, at = owner.setdefault(tuple(words_of(phrase)), (name, number))
            if other != name or name in concepts:
                raise InputError(
                    where,
                    place,
                    f"{phrase!r} stands for {other!r} on line {at} already",
                    "Leave one of them out.",
                )
        concepts[name] = (name, *variants)
    if not concepts:
        raise InputError(where, None, "names no concept", f"{_FORM}.")
    return Vocabulary(concepts, options.match)


def _phrases(line: str) -> list[str]:
    name, colon, variants = line.partition(":")
    rest = [clean_name(variant) for variant in variants.split(",")] if colon else []
    return [clean_name(name), *rest]
