"""Load vocabularies from text files and options."""

from cobalance.graph.errors import InputError
from cobalance.graph.names import clean_name
from cobalance.ingest.concepts.vocabulary import Vocabulary, words_of
from cobalance.ingest.names import name_fault
from cobalance.ingest.options import VocabularyOptions
from cobalance.ingest.reader import read_text

_FORM = "Write a concept a line, and variants after a colon: couch: sofa, settee"


def load_vocabulary(options: VocabularyOptions) -> Vocabulary:
    """Load the vocabulary that the options name.

    Raises
    ------
    InputError
        The file, or a line in it, cannot be used.
    """
    if options.file is None:
        where, lines = "the vocabulary", [*options.concepts]
    else:
        where, lines = str(options.file), read_text(options.file).split("\n")
    concepts: dict[str, tuple[str, ...]] = {}
    owner: dict[tuple[str, ...], tuple[str, int]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        place = f"line {number}" if options.file is not None else f"entry {number}"
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
    return Vocabulary(concepts, options.mode)


def _phrases(line: str) -> list[str]:
    name, colon, variants = line.partition(":")
    rest = [clean_name(variant) for variant in variants.split(",")] if colon else []
    return [clean_name(name), *rest]
