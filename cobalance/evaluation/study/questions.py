"""Questions of a human study, a person's tasks, and sentences with a gap for the group's name."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from cobalance.ingest import CaptionEditor, GroupWords

GAP = "____"
SENTENCE = f"This is a {GAP}."
"""Where no caption names a group."""
CANNOT_TELL = "cannot tell"
SAME, DIFFERENT = "same", "different"

Shown = Literal["pair", "original", "edited"]
Side = Literal["original", "edited"]


@dataclass(frozen=True)
class Question:
    """A question about a pair, or about one of its images.

    Parameters
    ----------
    key : str
        As answers name it.
    text : str
        What people are asked, and never which image was edited.
    shown : {"pair", "original", "edited"}
        The images that are shown with it.
    choices : tuple of str
        Answers to choose from; empty for the study's groups and `CANNOT_TELL`.
    """

    key: str
    text: str
    shown: Shown
    choices: tuple[str, ...] = ()

    def choices_among(self, groups: Sequence[str]) -> tuple[str, ...]:
        """All answers, in a study of some groups."""
        return self.choices or (*groups, CANNOT_TELL)


_PRONOUNS = ("they", "them", "their", "theirs", "themselves")
_SAME = (SAME, DIFFERENT, CANNOT_TELL)
_WHICH = "Which word fits into the gap?"
QUESTIONS = (
    Question("group_original", _WHICH, "original"),
    Question("group_edited", _WHICH, "edited"),
    Question("objects", "Do both images show the same objects, held or nearby?", "pair", _SAME),
    Question("colours", "Do the objects of both images have the same colours?", "pair", _SAME),
)
"""Of Resampled Datasets (section 3.4 and appendix B.3). The group is asked for one image at a
time, as GenSynth does (appendix D), and before the two are seen together."""


@dataclass(frozen=True)
class Task:
    """A question about a pair, or about one of its images.

    Parameters
    ----------
    pair : int
        Position of the pair.
    question : Question
        What is asked.
    shown : tuple of Side
        The images beside it, from left to right.
    """

    pair: int
    question: Question
    shown: tuple[Side, ...]


def tasks_of(assigned: Iterable[tuple[int, bool]]) -> list[Task]:
    """All tasks of a person.

    The group is asked for one image of each pair, then for the other one of each, so that as many
    images as can be are between twins; only then are both seen together. The image that is on the
    left is also the first to be seen, so that neither tells which one was edited.

    Parameters
    ----------
    assigned : iterable of (int, bool)
        Position of each pair, and whether its original is on the left, see
        `cobalance.base.judges.assign`.

    Examples
    --------
    >>> for task in tasks_of([(7, True), (3, False)]):
    ...     print(task.pair, task.question.key, *task.shown)
    7 group_original original
    3 group_edited edited
    7 group_edited edited
    3 group_original original
    7 objects original edited
    7 colours original edited
    3 objects edited original
    3 colours edited original
    """
    orders: list[tuple[int, tuple[Side, Side]]] = [
        (pair, ("original", "edited") if original_first else ("edited", "original"))
        for pair, original_first in assigned
    ]

    # Each image is asked about alone before anybody sees it beside the other.
    views: list[tuple[int, tuple[Side, ...], Shown]] = []
    for position in (0, 1):
        views += [(pair, (sides[position],), sides[position]) for pair, sides in orders]
    views += [(pair, sides, "pair") for pair, sides in orders]

    return [
        Task(pair, question, sides)
        for pair, sides, shown in views
        for question in QUESTIONS
        if question.shown == shown
    ]


def gap_sentence(caption: str, words: GroupWords) -> str:
    """A caption with gaps for the words that name the group.

    The caption editor puts the gap where it would put a neutral word; other words that have to
    agree with the group, such as pronouns, become neutral. `SENTENCE` where the caption names none.

    Examples
    --------
    >>> from cobalance.ingest.concepts.word_lists import load_group_words
    >>> gap_sentence("A lady and her dog", load_group_words("coco-gb"))
    'A ____ and their dog'
    >>> gap_sentence("A darker-skinned man with a dog.", load_group_words("skin-tone"))
    'A ____ man with a dog.'
    >>> gap_sentence("A dog.", load_group_words("gensynth"))
    'This is a ____.'
    """
    rows = tuple(
        row if row.neutral in _PRONOUNS else replace(row, neutral=GAP) for row in words.rows
    )
    sentence = CaptionEditor(replace(words, rows=rows)).neutralise(caption)

    if not words.own_groups:
        gap = {"gap": MappingProxyType({GAP: GAP})}
        sentence = CaptionEditor(replace(words, attributes=gap)).edit(sentence, GAP) or ""
    return sentence if GAP in sentence else SENTENCE


def blind_sentence(caption: str, words: GroupWords | None, groups: Sequence[str]) -> str:
    """The `gap_sentence` of a caption, or `SENTENCE` where a group's name would be left in it.

    Parameters
    ----------
    words : GroupWords or None
        None where the words are not known, so that no caption can be shown.

    Examples
    --------
    >>> from cobalance.ingest.concepts.word_lists import load_group_words
    >>> words = load_group_words("coco-gb")
    >>> blind_sentence("A man with a dog", words, ["man", "woman"])
    'A ____ with a dog'
    >>> blind_sentence("A man beside an android", words, ["android", "man"])
    'This is a ____.'
    """
    if words is None:
        return SENTENCE

    sentence = gap_sentence(caption, words)
    for group in groups:
        if re.search(rf"(?<!\w){re.escape(group)}(?!\w)", sentence, re.IGNORECASE):
            return SENTENCE
    return sentence
