"""Have a language model propose attributes of a domain (GELDA, section 3.1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from cobalance.annotation.language.chat import ChatModel, Question, in_order
from cobalance.annotation.language.replies import ask_for, read_caption, read_list, read_yes_no
from cobalance.annotation.proposing.attribute_flags import is_sensitive, mark_perceived
from cobalance.annotation.proposing.cost import calls_of
from cobalance.annotation.proposing.options import ProposeOptions, caption_of, fill_template
from cobalance.annotation.proposing.proposal_voting import Voted, vote
from cobalance.base.progress import Progress, silent
from cobalance.graph.annotations.attributes import Level, ProposedAttribute

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
    """Attributes that a language model proposes.

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
    chat: ChatModel,
    caption: str,
    options: ProposeOptions,
    progress: Progress = silent,
    *,
    at_once: int = 1,
) -> Proposal:
    """Ask a language model for categories, their attributes, and the level of each category.

    Q1 and each Q2 are asked in all rounds, Q3 once for each category. Sensitive categories are
    left out before the first N are taken, or else called perceived.

    Parameters
    ----------
    caption : str
        Names the domain, such as "a photo of a bird".
    at_once : int
        Questions that the model gets at a time; the result does not depend on it.

    Raises
    ------
    LanguageModelError
        The model gives no reply that can be read in three tries.
    """
    asked = _Asking(chat, options, progress, at_once)
    questions = options.questions
    text = fill_template(questions.categories, n=options.categories, caption=caption)
    (named_in_rounds,) = asked.rounds([text])
    if options.sensitive:  # "gender" and "perceived gender" are one
        named_in_rounds = [
            [mark_perceived(name) if is_sensitive(name) else name for name in names]
            for names in named_in_rounds
        ]
    named = vote(named_in_rounds, min_votes=options.min_votes)
    left_out = [] if options.sensitive else [one.name for one in named if is_sensitive(one.name)]
    kept = [one.name for one in named if one.name not in left_out][: options.categories]
    values = {"m": options.attributes, "caption": caption}
    every = asked.rounds(
        [fill_template(questions.attributes, category=category, **values) for category in kept]
    )
    voted = {
        category: attributes
        for category, said in zip(kept, every, strict=True)
        if (attributes := vote(said, options.attributes, options.min_votes))
    }
    found = _add_captions(asked, caption, voted)
    progress("ask the language model", asked.done, asked.done)
    return Proposal(tuple(found), tuple(left_out))


def _add_captions(
    asked: "_Asking", caption: str, voted: dict[str, list[Voted]]
) -> list[ProposedAttribute]:
    """The attributes of each category, with level and caption."""
    options = asked.options
    named = [", ".join(one.name for one in attributes) for attributes in voted.values()]
    texts = [fill_template(options.questions.level, attributes=names) for names in named]
    answers = asked.each(texts, ANSWER, read_yes_no)
    levels: list[Level] = ["object" if is_object else "image" for is_object in answers]
    each = [
        (category, level, one)
        for (category, attributes), level in zip(voted.items(), levels, strict=True)
        for one in attributes
    ]
    if options.llm_prompts:
        texts = [
            fill_template(
                getattr(options.questions, f"{level}_caption"),
                caption=caption,
                category=category,
                attribute=one.name,
            )
            for category, level, one in each
        ]
        captions = asked.each(texts, None, read_caption)
    else:
        captions = [
            caption_of(options, caption, category, one.name, level) for category, level, one in each
        ]
    return [
        ProposedAttribute(category, one.name, level, written, one.votes, options.rounds)
        for (category, level, one), written in zip(each, captions, strict=True)
    ]


@dataclass
class _Asking:
    """Asks questions, and reports how many of all have a reply."""

    chat: ChatModel
    options: ProposeOptions
    progress: Progress
    at_once: int
    done: int = 0

    def rounds(self, texts: Sequence[str]) -> list[list[list[str]]]:
        """For each text the lists that all rounds give."""
        k = self.options.rounds
        repeated = [text for text in texts for _ in range(k)]
        lists = self.each(repeated, ITEMS, read_list, list(range(k)) * len(texts))
        return [lists[at : at + k] for at in range(0, len(lists), k)]

    def each(
        self,
        texts: Sequence[str],
        schema: dict[str, object] | None,
        read: Callable[[str], T],
        rounds: Sequence[int] | None = None,
    ) -> list[T]:
        """The replies to questions, as they are read."""
        questions = [
            Question(
                text,
                schema if self.options.with_schema else None,
                self.options.temperature,
                round_ + self.options.rounds * self.options.seed,
            )
            for text, round_ in zip(texts, rounds or [0] * len(texts), strict=True)
        ]
        total = calls_of(self.options)
        self.progress("ask the language model", self.done, total)
        result = []
        for reply in in_order(partial(ask_for, self.chat, read=read), questions, self.at_once):
            result.append(reply)
            self.done += 1
            self.progress("ask the language model", self.done, total)
        return result
