"""Have a language model propose attributes of a domain (GELDA, section 3.1)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from annotation.language.chat import ChatModel, Question
from annotation.language.replies import read_list, read_yes_no
from annotation.proposing.asking import ask_for, read_caption
from annotation.proposing.captions import caption_of
from annotation.proposing.cost import calls_of
from annotation.proposing.guards import is_sensitive, perceived
from annotation.proposing.options import ProposeOptions, filled
from annotation.proposing.voting import Voted, vote
from graph.annotations.attributes import Level, ProposedAttribute
from graph.progress import Progress, silent

T = TypeVar("T")
ITEMS = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": {"type": "string"}}},
    "required": ["items"],
    "additionalProperties": False,
}
ANSWER = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "enum": ["yes", "no"]},
        "explanation": {"type": "string"},
    },
    "required": ["answer", "explanation"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Proposal:
    """What a language model proposes.

    Parameters
    ----------
    attributes : tuple of ProposedAttribute
        By category, in the order of votes.
    left_out : tuple of str
        Sensitive categories that it named, and that were not asked for.
    """

    attributes: tuple[ProposedAttribute, ...]
    left_out: tuple[str, ...] = ()


def propose(
    chat: ChatModel, caption: str, options: ProposeOptions, progress: Progress = silent
) -> Proposal:
    """Ask a language model for categories, their attributes, and the level of each category.

    Q1 and each Q2 are asked in all rounds, Q3 once for each category. Sensitive categories are
    left out before the first N are taken, or else called perceived.

    Parameters
    ----------
    caption : str
        Names the domain, such as "a photo of a bird".

    Raises
    ------
    LanguageModelError
        The model gives no reply that can be read in three tries.
    """
    asked = _Asking(chat, options, progress)
    questions = options.questions
    text = filled(questions.categories, n=options.categories, caption=caption)
    named = vote(asked.rounds(text), min_votes=options.min_votes)
    left_out = [] if options.sensitive else [one.name for one in named if is_sensitive(one.name)]
    kept = [one for one in named if one.name not in left_out][: options.categories]
    found: list[ProposedAttribute] = []
    for category in kept:
        text = filled(
            questions.attributes, m=options.attributes, category=category.name, caption=caption
        )
        attributes = vote(asked.rounds(text), options.attributes, options.min_votes)
        if attributes:
            found += _of_category(asked, caption, category.name, attributes)
    progress("ask the language model", asked.done, asked.done)
    return Proposal(tuple(found), tuple(left_out))


def _of_category(
    asked: "_Asking", caption: str, category: str, attributes: list[Voted]
) -> list[ProposedAttribute]:
    options = asked.options
    names = ", ".join(one.name for one in attributes)
    text = filled(options.questions.level, attributes=names)
    level: Level = "object" if asked.one(text, ANSWER, read_yes_no) else "image"
    result = []
    for one in attributes:
        if options.llm_prompts:
            question = getattr(options.questions, f"{level}_caption")
            values = {"caption": caption, "category": category, "attribute": one.name}
            written = asked.one(filled(question, **values), None, read_caption)
        else:
            written = caption_of(options, caption, category, one.name, level)
        name = perceived(category) if is_sensitive(category) else category
        result.append(ProposedAttribute(name, one.name, level, written, one.votes, options.rounds))
    return result


class _Asking:
    """Asks questions, and reports how many of all have a reply."""

    def __init__(self, chat: ChatModel, options: ProposeOptions, progress: Progress) -> None:
        self._chat, self.options, self._progress = chat, options, progress
        self.done, self._total = 0, calls_of(options)

    def rounds(self, text: str) -> list[list[str]]:
        """The lists that all rounds give."""
        return [self.one(text, ITEMS, read_list, at) for at in range(self.options.rounds)]

    def one(
        self, text: str, schema: dict[str, object] | None, read: Callable[[str], T], round_: int = 0
    ) -> T:
        """The reply to a question, as it is read."""
        question = Question(
            text,
            schema if self.options.with_schema else None,
            self.options.temperature,
            round_ + self.options.rounds * self.options.seed,
        )
        self._progress("ask the language model", self.done, self._total)
        reply = ask_for(self._chat, question, read)
        self.done += 1
        return reply
