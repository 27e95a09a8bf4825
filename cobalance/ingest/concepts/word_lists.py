"""Word lists: built-in ones, and TOML files of the same form; several as one."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, Field, StrictBool, ValidationError, model_validator

from cobalance.base import (
    InputError,
    OptionError,
    Setting,
    UnknownNameError,
    check_known,
    clean_name,
    decode_toml,
    first_fault,
    group_pairs,
)
from cobalance.ingest.concepts.group_words import EditMode, GroupWords, WordRow, normal
from cobalance.ingest.concepts.vocabulary import Vocabulary, words_of
from cobalance.ingest.names import map_values, name_fault
from cobalance.ingest.reader import read_text

_FOLDER = files("cobalance.ingest") / "word_lists"
_FORM = 'Write [classes], then a list of words a class: man = ["man", "men"]'
_FORMS = {
    "classes": _FORM,
    "pairs": 'Write a row as { man = "husband", woman = "wife", neutral = "partner" }',
    "attributes": 'Write [attributes.age], then an adjective a group: elderly = "elderly"',
}


def word_list_names() -> list[str]:
    """Names of the built-in lists whose words tell classes."""
    return [name for name in group_list_names() if load_group_words(name).classes]


def group_list_names() -> list[str]:
    """Names of all built-in lists."""
    return sorted(file.name[:-5] for file in _FOLDER.iterdir() if file.name.endswith(".toml"))


def load_word_list(name: str) -> Vocabulary:
    """Load the words of each class: a built-in list, or a TOML file.

    Whole words match exactly as listed; plurals have to be listed, too. Errors are those of
    `load_group_words`.

    Examples
    --------
    >>> load_word_list("coco-gb").names
    ('man', 'woman')
    """
    try:
        words = load_group_words(name)
    except UnknownNameError:
        raise UnknownNameError("word list", name, word_list_names()) from None

    if len(words.classes) < 2:
        raise InputError(words.name, None, "has no [classes] of two or more", f"{_FORM}.")

    try:
        return Vocabulary(words.classes, plurals=False)
    except OptionError as error:
        raise InputError(words.name, None, str(error).rstrip("."), "Correct the list.") from None


def load_group_words(name: str) -> GroupWords:
    """Load a built-in list, or a TOML file, with all that it says of its groups.

    A list without ``classes`` takes the words of its rows that belong to one group alone.

    Raises
    ------
    UnknownNameError
        There is neither a list nor a file of that name.
    InputError
        The file cannot be used.

    Examples
    --------
    >>> [row.neutral for row in load_group_words("gensynth").rows[:4]]
    ['person', 'people', 'person', 'people']
    """
    if name in group_list_names():
        where, text = f"{name}.toml", (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    elif name.endswith(".toml") or Path(name).is_file():
        where, text = name, read_text(Path(name))
    else:
        raise UnknownNameError("word list", name, group_list_names())

    try:
        listed = _WordList.model_validate(decode_toml(text))
    except ValidationError as error:
        fault = first_fault(error)
        form = _FORMS.get(fault.place.partition(".")[0].partition("[")[0], "Correct it")
        raise InputError(where, fault.place or None, fault.reason, f"{form}.") from None
    except ValueError as error:
        raise InputError(where, None, f"is not valid TOML ({error})", f"{_FORM}.") from None
    check_known("word list", listed.also, group_list_names())

    rows = tuple(
        WordRow(row.words, row.neutral, row.before_noun, row.source) for row in listed.pairs
    )
    if listed.classes is None and listed.model_fields_set & {"pairs", "attributes"}:
        classes = telling(rows)
    else:
        classes = map_values(tuple, listed.classes or {})
        if len(classes) < 2:
            raise InputError(where, None, "has no [classes] of two or more", f"{_FORM}.")
    others = map(load_group_words, listed.also)
    return GroupWords(
        where,
        classes,
        rows,
        mode=listed.mode,
        adjectives=listed.adjectives,
        nouns=listed.nouns,
        children=tuple(listed.children),
        people=tuple(listed.people),
        attributes=listed.attributes,
        agreeing=tuple(chain.from_iterable(other.rows for other in others)),
    )


def _check_word(text: str) -> str:
    if not words_of(text):
        raise ValueError(f"{text!r} has no word")
    return text


def _check_name(text: str) -> str:
    name = clean_name(text)
    if fault := name_fault(name):
        raise ValueError(f"the name {text!r} {fault}")
    return name


_Name = Annotated[str, AfterValidator(_check_name)]
_Word = Annotated[str, AfterValidator(_check_word)]
_Spelt = Annotated[_Word, AfterValidator(normal)]
_Texts = dict[_Name, _Spelt]


class _Row(BaseModel):
    """A row of pairs, whose other entries are the groups' words."""

    words: Annotated[_Texts, Field(min_length=2)]
    neutral: _Spelt | None = None
    before_noun: StrictBool | None = None
    source: _Name | None = Field(default=None, alias="from")

    @model_validator(mode="before")
    @classmethod
    def _find_words(cls, row: object) -> object:
        if not isinstance(row, dict):
            return row
        words = dict(row)
        options = {
            name: words.pop(name) for name in ("neutral", "before_noun", "from") if name in row
        }
        return {"words": words, **options}

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        if self.source not in (None, *self.words):
            raise ValueError(f"from names the group {self.source!r}, which has no word in it")
        return self


class _WordList(BaseModel):
    """Content of a word list's file."""

    classes: dict[_Name, Annotated[list[_Word], Field(min_length=1)]] | None = None
    pairs: list[_Row] = []
    mode: EditMode = "swap"
    adjectives: _Texts = {}
    nouns: _Texts = {}
    children: list[_Spelt] = []
    people: list[_Spelt] = []
    attributes: dict[str, Annotated[_Texts, Field(min_length=1)]] = {}
    also: list[str] = []

    @model_validator(mode="after")
    def _check_nouns(self) -> Self:
        if self.attributes and not self.people:
            raise ValueError("the attributes have no noun to be put before: it names no people")
        return self


def telling(rows: tuple[WordRow, ...]) -> dict[str, tuple[str, ...]]:
    """The words of each group that belong to no other."""
    groups = group_pairs((row.keyword(name), name) for row in rows for name in row.words)
    own_words = group_pairs(
        (names[0], word)
        for word, names in groups.items()
        if word is not None and len({*names}) == 1
    )
    return map_values(tuple, own_words)


def combine_words(names: Sequence[str]) -> GroupWords:
    """Word lists as one: that with words of groups, and attributes of the others beside them.

    Raises
    ------
    UnknownNameError, InputError
        There is no such list, or its file cannot be used.
    OptionError
        More than one has words of groups, none has any to edit captions with, or an attribute is in
        two.

    Examples
    --------
    >>> combine_words(["coco-gb", "skin-tone"]).groups[:2]
    ('darker-skinned man', 'darker-skinned woman')
    """
    lists = list(map(load_group_words, dict.fromkeys(names)))
    bases = [words for words in lists if words.own_groups]
    if len(bases) > 1:
        raise OptionError(
            f"The word lists {bases[0].name} and {bases[1].name} both have words of groups. Name "
            "one of them with ",
            Setting("plan.words"),
            ", and others that have adjectives alone.",
        )

    base = next(iter(bases), lists[0])
    for words in lists:
        if words is base:
            continue
        for attribute, adjectives in words.attributes.items():
            if attribute in base.attributes:
                raise OptionError(
                    f"Two word lists have the attribute {attribute!r}. Name one of them with ",
                    Setting("plan.words"),
                    ".",
                )
            base = base.times(attribute, adjectives, () if base.people else words.people)
    base.check_editable()
    children = {*chain.from_iterable(words.children for words in lists)}
    return replace(base, children=tuple(sorted(children)))


def phrases_of(words: GroupWords, groups: Sequence[str]) -> dict[str, dict[str, str]]:
    """Noun and adjective of each group for prompts.

    A product's noun has its adjectives, too: an elderly woman is no "woman" alone.

    Examples
    --------
    >>> phrases_of(combine_words(["coco-gb", "age"]), ["elderly woman", "dog"])
    {'elderly woman': {'noun': 'elderly woman', 'adjective': 'elderly'}}
    >>> phrases_of(combine_words(["coco-gb"]), ["woman"])
    {'woman': {'noun': 'woman', 'adjective': 'feminine'}}
    """
    phrases = {}
    # Groups of the words alone come first, so that a product of the same name replaces them.
    for listed in (replace(words, attributes={}), words):
        for group in listed.parts.keys() & set(groups):
            noun, adjective = listed.phrase(group)
            if listed.parts[group][0]:
                noun = f"{adjective} {noun or 'person'}".strip()
            phrases[group] = {"noun": noun, "adjective": adjective}
    return {group: phrases[group] for group in groups if group in phrases}
