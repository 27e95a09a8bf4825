"""Words of groups, with their counterparts in other groups."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from types import MappingProxyType
from typing import Literal, cast

from cobalance.base import OptionError

EditMode = Literal["swap", "unify"]


@dataclass(frozen=True)
class WordRow:
    """One meaning in the words of all groups: husband, wife, partner.

    Parameters
    ----------
    words : mapping of str to str
        The word of each group, in lower case.
    neutral : str or None
        The word that tells no group.
    before_noun : bool or None
        Whether the row is for places before a noun ("her coat"), for other places ("beside her"),
        or, None, for both.
    source : str or None
        The group whose word is a keyword; the others' are only what it becomes. None for all.
    """

    words: Mapping[str, str]
    neutral: str | None = None
    before_noun: bool | None = None
    source: str | None = None

    def keyword(self, group: str) -> str | None:
        """The word by which the row recognises a group."""
        if self.source not in (None, group):
            return None
        return self.words.get(group)


@dataclass(frozen=True)
class GroupWords:
    """Words of groups, of any number of them.

    Parameters
    ----------
    name : str
        Name of the list, for messages.
    classes : mapping of str to tuple of str
        Words by which a caption names a class; plurals are listed.
    rows : tuple of WordRow
        What words become in other groups.
    mode : {"swap", "unify"}
        How captions are edited; see `cobalance.ingest.captions.caption_editor.CaptionEditor`.
    adjectives, nouns : mapping of str to str
        For prompts: what a group is called, such as feminine, and woman.
    children : tuple of str
        Words that name children.
    people : tuple of str
        Nouns that an attribute's adjective is put before.
    attributes : mapping of str to (mapping of str to str)
        Adjective of each value of an attribute that has no words of its own:
        ``{"age": {"elderly": "elderly"}}``.
    agreeing : tuple of WordRow
        Rows of another list that captions are edited by as well; `classes` has none of them.
    """

    name: str
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rows: tuple[WordRow, ...] = ()
    mode: EditMode = "swap"
    adjectives: Mapping[str, str] = field(default_factory=dict)
    nouns: Mapping[str, str] = field(default_factory=dict)
    children: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    agreeing: tuple[WordRow, ...] = ()

    @cached_property
    def own_groups(self) -> tuple[str, ...]:
        """Groups with words of their own, in order."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.words))

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """All groups: the products of attributes and of groups with words."""
        return tuple(self.parts)

    @cached_property
    def parts(self) -> Mapping[str, tuple[tuple[str, ...], str | None]]:
        """Values of attributes, and group with words, of each group."""
        values = list(map(tuple, self.attributes.values()))
        word_groups: tuple[str | None, ...] = self.own_groups or (None,)
        parts = {}

        for *chosen, base in product(*values, word_groups):
            name = " ".join(filter(None, (*chosen, base)))
            if name:
                parts[name] = (tuple(cast("list[str]", chosen)), base)
        return parts

    def check_editable(self) -> None:
        """Raise OptionError where the list has neither pairs nor attributes to edit captions by."""
        if not self.groups:
            raise OptionError(
                f"The word list {self.name} has no pairs, by which captions are edited. Name "
                'another one, or add them: pairs = [{ man = "man", woman = "woman" }].'
            )

    def phrase(self, group: str) -> tuple[str, str]:
        """Noun and adjective of a group for prompts; empty where the list has none."""
        values, base = self.parts[group]
        value_words = [adjectives[value] for adjectives in self.attributes.values()
                       for value in values if value in adjectives]  # fmt: skip
        noun = self.nouns.get(base or group, "")
        return noun, " ".join(value_words) or self.adjectives.get(group, "")

    def times(
        self, attribute: str, adjectives: Mapping[str, str], people: tuple[str, ...] = ()
    ) -> "GroupWords":
        """The products of these groups and the values of an attribute.

        Parameters
        ----------
        attribute : str
            Its name, such as ``"age"``.
        adjectives : mapping of str to str
            Adjective of each value.
        people : tuple of str
            Nouns to put them before; by default the list's.

        Raises
        ------
        OptionError
            The list has no ``people`` and no ``nouns`` for adjectives to be put before.
        """
        people = people or self.people or tuple(self.nouns.values())
        if not people:
            raise OptionError(
                f"The word list {self.name} has no nouns to put an adjective before. Add them: "
                'people = ["man", "woman", "person"].'
            )
        values = {attribute: MappingProxyType(dict(adjectives)), **self.attributes}
        return replace(self, people=people, attributes=values)


def normal(word: str) -> str:
    """A word as it is compared: in lower case, with single spaces."""
    return " ".join(word.lower().split())
