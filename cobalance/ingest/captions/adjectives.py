"""Put an attribute's adjective before the nouns of people in captions."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from cobalance.ingest.captions.edits import (
    MANY_GROUPS,
    NO_PERSON,
    NOT_RESTORED,
    Change,
    EditedCaption,
    any_of,
    apply,
    capitalise,
    like,
    lower_case,
    whole_words,
)
from cobalance.ingest.concepts.group_words import normal

_SENTENCE_START = re.compile(r"(?:^|[.!?]\s)[^\w]*$")


@dataclass(frozen=True)
class AdjectiveEditor:
    """Edits the adjectives of one attribute.

    Parameters
    ----------
    adjectives : mapping of str to str
        Adjective of each value of the attribute.
    people : tuple of str
        Nouns that take them.
    others : tuple of str
        Adjectives of other attributes, which may stand between adjective and noun.
    """

    adjectives: Mapping[str, str]
    people: tuple[str, ...]
    others: tuple[str, ...] = ()

    def values_in(self, caption: str) -> frozenset[str]:
        """Values whose adjective stands before a noun of people."""
        return frozenset(filter(None, self._find(caption)))

    def edit_caption(self, caption: str, value: str) -> EditedCaption:
        """The caption with a value's adjective before each noun of people."""
        found = set(self._find(caption))
        if not found:
            return EditedCaption(None, NO_PERSON)
        if len(found) > 1:
            return EditedCaption(None, MANY_GROUPS)
        (before,) = found
        if before == value:
            return EditedCaption(caption)
        new = self._replace(caption, value) if before else self._insert(caption, value)
        back = self._replace(new, before) if before else self.without(new)
        return EditedCaption(new) if back == caption else EditedCaption(None, NOT_RESTORED)

    def without(self, caption: str) -> str:
        """The caption without the attribute's adjectives before nouns of people."""

        def change(found: re.Match[str], old: str, noun: str) -> Change | None:
            if not old:
                return None
            first = old[0].isupper() and _starts_sentence(caption, found.start())
            return Change(found.start(), found.end(), capitalise(noun) if first else noun)

        return self._change(caption, change)

    def _insert(self, caption: str, value: str) -> str:
        def change(found: re.Match[str], old: str, noun: str) -> Change:
            lower = noun
            if _starts_sentence(caption, found.start()) and not noun.isupper():
                lower = noun[:1].lower() + noun[1:]
            new = like(self.adjectives[value], noun)
            return Change(found.start(), found.end(), f"{new}{old} {lower}")

        return self._change(caption, change)

    def _replace(self, caption: str, value: str) -> str:
        def change(found: re.Match[str], old: str, noun: str) -> Change:  # noqa: ARG001
            return Change(*found.span("adjective"), like(self.adjectives[value], old))

        return self._change(caption, change)

    def _change(
        self, caption: str, change: Callable[[re.Match[str], str, str], Change | None]
    ) -> str:
        changes = []
        for found in self._pattern.finditer(lower_case(caption)):
            old = caption[slice(*found.span("adjective"))] if found["adjective"] else ""
            changes.append(change(found, old, caption[slice(*found.span("noun"))]))
        return apply(caption, filter(None, changes))

    def _find(self, caption: str) -> list[str | None]:
        """Attribute value before each noun of people, or None."""
        return [
            self._value_of[normal(found["adjective"])] if found["adjective"] else None
            for found in self._pattern.finditer(lower_case(caption))
        ]

    @cached_property
    def _value_of(self) -> dict[str, str]:
        return {normal(word): value for value, word in self.adjectives.items()}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        between = rf"(?:{any_of(self.others)}\s+)*" if self.others else ""
        adjective = rf"(?:(?P<adjective>{any_of(self._value_of)})\s+)?"
        return whole_words(rf"{adjective}(?P<noun>{between}{any_of(self.people)})")


def _starts_sentence(text: str, start: int) -> bool:
    return _SENTENCE_START.search(text, 0, start) is not None
