"""Load vocabularies and word lists from text files, TOML files and options."""

from importlib.resources import files
from pathlib import Path

from graph.errors import InputError, OptionError, UnknownNameError
from ingest.concepts.vocabulary import Vocabulary, words_of
from ingest.documents import decode_toml
from ingest.names import clean_name, name_fault
from ingest.options import VocabularyOptions
from ingest.reader import read_text

_FORM = "Write a concept a line, and variants after a colon: couch: sofa, settee"
_LIST_FORM = 'Write [classes], then a list of words a class: man = ["man", "men"]'
_LISTS = files("ingest") / "word_lists"


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


def word_list_names() -> list[str]:
    """Names of the built-in word lists.

    Examples
    --------
    >>> word_list_names()
    ['coco-gb', 'women-also-snowboard']
    """
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in _LISTS.iterdir()
        if entry.name.endswith(".toml")
    )


def load_word_list(name: str) -> Vocabulary:
    """Load the words of each class: a built-in list, or a TOML file.

    Whole words match exactly as listed; plurals have to be listed, too.

    Raises
    ------
    UnknownNameError
        There is neither a list nor a file of that name.
    InputError
        The file cannot be used.

    Examples
    --------
    >>> load_word_list("coco-gb").names
    ('man', 'woman')
    """
    if name in word_list_names():
        where, text = f"{name}.toml", (_LISTS / f"{name}.toml").read_text(encoding="utf-8")
    elif name.endswith(".toml") or Path(name).is_file():
        where, text = name, read_text(Path(name))
    else:
        raise UnknownNameError("word list", name, word_list_names())
    try:
        content = decode_toml(text)
    except ValueError as error:
        raise InputError(where, None, f"is not valid TOML ({error})", f"{_LIST_FORM}.") from None
    classes = content.get("classes")
    if not isinstance(classes, dict) or len(classes) < 2:
        raise InputError(where, None, "has no [classes] of two or more", f"{_LIST_FORM}.")
    for class_name, words in classes.items():
        if not words or not isinstance(words, list) or not all(map(_is_word, words)):
            place = f"class {class_name!r}"
            raise InputError(where, place, "has no list of words", f"{_LIST_FORM}.")
    try:
        return Vocabulary(classes, plurals=False)
    except OptionError as error:
        raise InputError(where, None, str(error).rstrip("."), "Correct the list.") from None


def _is_word(value: object) -> bool:
    return isinstance(value, str) and bool(words_of(value))
