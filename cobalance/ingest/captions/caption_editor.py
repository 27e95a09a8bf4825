"""Edit captions so that they name another group, or none."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product

from cobalance.base import UnknownNameError
from cobalance.ingest.captions.text_changes import (
    MANY_GROUPS,
    NO_PERSON,
    NOT_RESTORED,
    Change,
    EditedCaption,
    UneditableError,
    any_of,
    apply,
    capitalise,
    like,
    lower_case,
    whole_words,
)
from cobalance.ingest.captions.word_editor import WordEditor
from cobalance.ingest.concepts import EditMode, GroupWords, normal


@dataclass(frozen=True)
class CaptionEditor:
    """Edit captions word by word, with case and articles, her or his by the words around.

    Mode ``"swap"`` edits captions that name exactly one group, and accepts an edit only if editing
    it back restores the caption, to the last space. Mode ``"unify"`` (Pinpoint Counterfactuals,
    section 11) turns the words of all other groups into those of the one, and leaves captions
    without any as they are. An attribute without words of its own is an adjective before each noun
    of the list's ``people``; taking it away has to restore the caption.

    Verbs stay as they are: "she is" becomes "they is" where the list says so.

    Parameters
    ----------
    words : GroupWords
        From `cobalance.ingest.concepts.word_lists.load_group_words`.
    mode : {"swap", "unify"} or None
        None for the list's own.

    Raises
    ------
    OptionError
        The list has neither pairs nor attributes.

    Examples
    --------
    >>> from cobalance.ingest.concepts.word_lists import load_group_words
    >>> editor = CaptionEditor(load_group_words("gensynth"))
    >>> editor.edit("A policeman puts on his coat.", "woman")
    'A policewoman puts on her coat.'
    >>> editor.neutralise("The woman brushes her teeth in the bathroom.")
    'The person brushes their teeth in the bathroom.'
    >>> editor.edit_caption("A man and a woman", "woman").reason
    'captions that name more than one group'
    >>> aged = CaptionEditor(load_group_words("coco-gb").times("age", {"elderly": "elderly"}))
    >>> aged.edit("A man on a bench", "elderly woman")
    'An elderly woman on a bench'
    """

    words: GroupWords
    mode: EditMode | None = None

    def __post_init__(self) -> None:
        self.words.check_editable()

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups that captions can be edited to name."""
        return self.words.groups

    def groups_in(self, caption: str) -> frozenset[str]:
        """Groups that a caption names; a product of groups counts only when named in full.

        A caption need not name a group to be edited: in mode ``"unify"``, and where adjectives
        tell groups.
        """
        named = self._values_in(caption)
        if self.words.own_groups:
            named.append(self._words.groups_in(caption))
        return frozenset(map(" ".join, product(*named)))

    def is_neutral(self, caption: str) -> bool:
        """Whether a caption is as true of any group: it has none of the words that are edited.

        Examples
        --------
        >>> from cobalance.ingest.concepts.word_lists import load_group_words
        >>> editor = CaptionEditor(load_group_words("coco-gb"))
        >>> [editor.is_neutral(text) for text in ("A person on a horse.", "A lady on her horse.")]
        [True, False]
        """
        names_group = self.words.own_groups and any(self._words.find(caption))
        return not names_group and not any(self._values_in(caption))

    def edit(self, caption: str, group: str) -> str | None:
        """The caption with the words of a group; None if `edit_caption` cannot edit it."""
        return self.edit_caption(caption, group).text

    def edit_caption(self, caption: str, group: str) -> EditedCaption:
        """Rewrite a caption for a group, or say why not; UnknownNameError for an unknown group."""
        if group not in self.words.parts:
            raise UnknownNameError("group", group, self.groups)
        values, base = self.words.parts[group]

        try:
            text = caption if base is None else self._words.edit_caption(caption, base)
            # The last attribute is next to the noun.
            for editor, value in reversed([*zip(self._adjectives, values, strict=True)]):
                text = editor.edit_caption(text, value)
        except UneditableError as error:
            return EditedCaption(None, str(error))
        return EditedCaption(text)

    def neutralise(self, caption: str) -> str:
        """Replace the words of all groups in a caption by neutral ones."""
        for editor in self._adjectives:
            caption = editor.without(caption)
        if not self.words.own_groups:
            return caption
        return self._words.neutralise(caption)

    @cached_property
    def _words(self) -> WordEditor:
        return WordEditor(self.words, self.mode or self.words.mode)

    def _values_in(self, caption: str) -> list[frozenset[str]]:
        return [editor.values_in(caption) for editor in self._adjectives]

    @cached_property
    def _adjectives(self) -> "list[AdjectiveEditor]":
        """One editor an attribute."""
        attributes = list(self.words.attributes.values())
        editors = []
        for attribute in attributes:
            others = (other.values() for other in attributes if other is not attribute)
            words = tuple(chain.from_iterable(others))
            editors.append(AdjectiveEditor(attribute, self.words.people, words))
        return editors


_SENTENCE_START = re.compile(r"(?:^|[.!?]\s)[^\w]*$")


@dataclass(frozen=True)
class AdjectiveEditor:
    """Edits the adjectives of one attribute, by its values, before nouns of `people`.

    `others` are adjectives of other attributes, which may stand between adjective and noun.
    """

    adjectives: Mapping[str, str]
    people: tuple[str, ...]
    others: tuple[str, ...] = ()

    def values_in(self, caption: str) -> frozenset[str]:
        """Values whose adjective stands before a noun of people."""
        return frozenset(filter(None, self._find(caption)))

    def edit_caption(self, caption: str, value: str) -> str:
        """The caption with a value's adjective before each noun of people.

        UneditableError where that is impossible.
        """
        values = set(self._find(caption))
        if len(values) != 1:
            raise UneditableError(MANY_GROUPS if values else NO_PERSON)
        (before,) = values
        if before == value:
            return caption

        # An edit that cannot be taken back has changed more than the adjective.
        if before:
            new = self._replace(caption, value)
            back = self._replace(new, before)
        else:
            new = self._insert(caption, value)
            back = self.without(new)
        if back != caption:
            raise UneditableError(NOT_RESTORED)
        return new

    def without(self, caption: str) -> str:
        """The caption without the attribute's adjectives before nouns of people."""

        def change(match: re.Match[str], old: str, noun: str) -> Change | None:
            if not old:
                return None
            if old[0].isupper() and _starts_sentence(caption, match.start()):
                noun = capitalise(noun)
            return Change(match.start(), match.end(), noun)

        return self._change(caption, change)

    def _insert(self, caption: str, value: str) -> str:
        def change(match: re.Match[str], old: str, noun: str) -> Change:
            lower = noun
            if _starts_sentence(caption, match.start()) and not noun.isupper():
                lower = noun[:1].lower() + noun[1:]
            new = like(self.adjectives[value], noun)
            return Change(match.start(), match.end(), f"{new}{old} {lower}")

        return self._change(caption, change)

    def _replace(self, caption: str, value: str) -> str:
        def change(match: re.Match[str], old: str, noun: str) -> Change:  # noqa: ARG001
            return Change(*match.span("adjective"), like(self.adjectives[value], old))

        return self._change(caption, change)

    def _change(
        self, caption: str, change: Callable[[re.Match[str], str, str], Change | None]
    ) -> str:
        changes = list[Change | None]()
        for match in self._pattern.finditer(lower_case(caption)):
            old = caption[slice(*match.span("adjective"))]
            noun = caption[slice(*match.span("noun"))]
            changes.append(change(match, old, noun))
        return apply(caption, filter(None, changes))

    def _find(self, caption: str) -> list[str | None]:
        """Attribute value before each noun of people, or None."""
        return [
            self._value_of.get(normal(match["adjective"] or ""))
            for match in self._pattern.finditer(lower_case(caption))
        ]

    @cached_property
    def _value_of(self) -> dict[str, str]:
        return {normal(word): value for value, word in self.adjectives.items()}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        # "young" may stand between "dark-skinned" and "man".
        between = rf"(?:{any_of(self.others)}\s+)*" if self.others else ""
        adjective = rf"(?:(?P<adjective>{any_of(self._value_of)})\s+)?"
        return whole_words(rf"{adjective}(?P<noun>{between}{any_of(self.people)})")


def _starts_sentence(text: str, start: int) -> bool:
    return _SENTENCE_START.search(text, 0, start) is not None
