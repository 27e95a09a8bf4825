"""Word lists: built-in ones, and TOML files of the same form; several as one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast, get_args

from cobalance.graph.errors import InputError, OptionError, Setting, UnknownNameError, check_known
from cobalance.graph.names import clean_name
from cobalance.ingest.concepts.group_words import EditMode, GroupWords, WordRow, normal
from cobalance.ingest.concepts.vocabulary import Vocabulary, words_of
from cobalance.ingest.documents import decode_toml
from cobalance.ingest.names import name_fault
from cobalance.ingest.reader import read_text

_FOLDER = files("cobalance.ingest") / "word_lists"
_FORM = 'Write [classes], then a list of words a class: man = ["man", "men"]'
_ROW_FORM = 'Write a row as { man = "husband", woman = "wife", neutral = "partner" }'
_NEUTRAL, _BEFORE_NOUN, _FROM = "neutral", "before_noun", "from"


def word_list_names() -> list[str]:
    """Names of the built-in lists whose words tell classes.

    Examples
    --------
    >>> word_list_names()
    ['coco-gb', 'gensynth', 'pinpoint', 'women-also-snowboard']
    """
    return [name for name in group_list_names() if load_group_words(name).classes]


def group_list_names() -> list[str]:
    """Names of all built-in lists.

    Examples
    --------
    >>> group_list_names()
    ['age', 'coco-gb', 'gensynth', 'pinpoint', 'skin-tone', 'women-also-snowboard']
    """
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
        content = decode_toml(text)
    except ValueError as error:
        raise InputError(where, None, f"is not valid TOML ({error})", f"{_FORM}.") from None
    return _Content(where, content).words()


@dataclass(frozen=True)
class _Content:
    """Content of a word list's file, with its checks."""

    where: str
    content: dict[str, Any]

    def words(self) -> GroupWords:
        rows, others = self._rows(), self._word_list("also")
        check_known("word list", others, group_list_names())
        return GroupWords(
            self.where,
            self._classes(rows),
            rows,
            self._mode(),
            self._texts("adjectives"),
            self._texts("nouns"),
            self._word_list("children"),
            self._word_list("people"),
            self._attributes(),
            tuple(row for name in others for row in load_group_words(name).rows),
        )

    def _classes(self, rows: tuple[WordRow, ...]) -> dict[str, tuple[str, ...]]:
        classes = self.content.get("classes")
        if classes is None and ("pairs" in self.content or "attributes" in self.content):
            return telling(rows)
        if not isinstance(classes, dict) or len(classes) < 2:
            raise self._fault(None, "has no [classes] of two or more", f"{_FORM}.")
        for class_name, words in classes.items():
            self._check_name("class", class_name)
            if not words or not isinstance(words, list) or not all(map(_is_word, words)):
                raise self._fault(f"class {class_name!r}", "has no list of words", f"{_FORM}.")
        return {clean_name(name): tuple(words) for name, words in classes.items()}

    def _rows(self) -> tuple[WordRow, ...]:
        given = self.content.get("pairs", [])
        if not isinstance(given, list):
            raise self._fault("pairs", "is not a list of rows", f"{_ROW_FORM}.")
        return tuple(self._row(number, row) for number, row in enumerate(given, start=1))

    def _row(self, number: int, row: object) -> WordRow:
        place = f"row {number} of pairs"
        if not isinstance(row, dict):
            raise self._fault(place, "is not a row of words", f"{_ROW_FORM}.")
        special = {name: row.get(name) for name in (_NEUTRAL, _BEFORE_NOUN, _FROM)}
        words = {name: word for name, word in row.items() if name not in special}
        for name, word in [*words.items(), (_NEUTRAL, special[_NEUTRAL] or "none")]:
            self._check_name("group", name)
            if not _is_word(word):
                raise self._fault(place, f"has no word for {name!r}", f"{_ROW_FORM}.")
        if not isinstance(special[_BEFORE_NOUN], bool | None):
            raise self._fault(place, f"{_BEFORE_NOUN} is not true or false", "Correct it.")
        source = special[_FROM]
        if source is not None and source not in words:
            raise self._fault(
                place, f"from names the group {source!r}, which has no word in it", "Correct it."
            )
        if len(words) < 2:
            raise self._fault(place, "has words of fewer than two groups", f"{_ROW_FORM}.")
        spelt = {clean_name(name): normal(word) for name, word in words.items()}
        neutral = special[_NEUTRAL]
        return WordRow(
            MappingProxyType(spelt),
            None if neutral is None else normal(neutral),
            special[_BEFORE_NOUN],
            source,
        )

    def _mode(self) -> EditMode:
        mode = self.content.get("mode", "swap")
        if mode not in get_args(EditMode):
            raise self._fault("mode", f"{mode!r} is unknown", "Write swap or unify.")
        return cast("EditMode", mode)

    def _texts(self, key: str) -> dict[str, str]:
        given = self.content.get(key, {})
        if not isinstance(given, dict) or not all(map(_is_word, given.values())):
            raise self._fault(key, "has no word for each group", f'Write [{key}], then man = "…".')
        return {clean_name(name): normal(word) for name, word in given.items()}

    def _word_list(self, key: str) -> tuple[str, ...]:
        given = self.content.get(key, [])
        if not isinstance(given, list) or not all(map(_is_word, given)):
            raise self._fault(key, "is not a list of words", f'Write {key} = ["…", "…"].')
        return tuple(map(normal, given))

    def _attributes(self) -> dict[str, Mapping[str, str]]:
        given = self.content.get("attributes", {})
        form = 'Write [attributes.age], then an adjective a group: elderly = "elderly".'
        if not isinstance(given, dict):
            raise self._fault("attributes", "has no attribute", form)
        found: dict[str, Mapping[str, str]] = {}
        for name, values in given.items():
            if not (values and isinstance(values, dict) and all(map(_is_word, values.values()))):
                raise self._fault(f"attributes.{name}", "has no adjective a group", form)
            for value in values:
                self._check_name("group", value)
            found[name] = {clean_name(value): normal(word) for value, word in values.items()}
        if found and not self.content.get("people"):
            raise self._fault(
                "attributes",
                "have no noun to be put before",
                'Write people = ["man", "woman", "person"].',
            )
        return found

    def _check_name(self, kind: str, name: str) -> None:
        fault = name_fault(clean_name(name))
        if fault is not None:
            raise self._fault(f"{kind} {name!r}", fault, "Give it a readable name.")

    def _fault(self, place: str | None, reason: str, remedy: str) -> InputError:
        return InputError(self.where, place, reason, remedy)


def telling(rows: tuple[WordRow, ...]) -> dict[str, tuple[str, ...]]:
    """The words of each group that belong to no other."""
    groups: dict[str, set[str]] = {}
    for row in rows:
        for name in row.words:
            if (word := row.keyword(name)) is not None:
                groups.setdefault(word, set()).add(name)
    found: dict[str, list[str]] = {}
    for word, names in groups.items():
        if len(names) == 1:
            (name,) = names
            found.setdefault(name, []).append(word)
    return {name: tuple(words) for name, words in found.items()}


def _is_word(value: object) -> bool:
    return isinstance(value, str) and bool(words_of(value))


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
    lists = [load_group_words(name) for name in dict.fromkeys(names)]
    bases = [words for words in lists if words.own_groups]
    if len(bases) > 1:
        raise OptionError(
            f"The word lists {bases[0].name} and {bases[1].name} both have words of groups. Name "
            "one of them with ",
            Setting("plan.words"),
            ", and others that have adjectives alone.",
        )
    base = bases[0] if bases else lists[0]
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
    return replace(base, children=tuple(sorted({one for each in lists for one in each.children})))


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
    found = {}
    for known in (replace(words, attributes={}), words):
        for group in known.parts.keys() & set(groups):
            noun, adjective = known.phrase(group)
            if known.parts[group][0]:
                noun = f"{adjective} {noun or 'person'}".strip()
            found[group] = {"noun": noun, "adjective": adjective}
    return {group: found[group] for group in groups if group in found}
