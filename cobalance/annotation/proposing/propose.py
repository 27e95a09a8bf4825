"""Have a language model propose attributes of a domain (GELDA, section 3.1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from cobalance.annotation.language import (
    ChatModel,
    Question,
    ask_for,
    in_order,
    read_caption,
    read_list,
    read_yes_no,
)
from cobalance.annotation.proposing.attribute_flags import is_sensitive, mark_perceived
from cobalance.annotation.proposing.cost import calls_of
from cobalance.annotation.proposing.options import ProposeOptions, caption_of, fill_template
from cobalance.annotation.proposing.proposal_voting import Voted, vote
from cobalance.base import Progress, T, silent
from cobalance.graph import Level, ProposedAttribute

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
    asking = _Asking(chat, options, progress, at_once)
    questions = options.questions
    text = fill_template(questions.categories, n=options.categories, caption=caption)
    (rounds,) = asking.rounds([text])
    # "gender" and "perceived gender" are one category, which gets the votes of both.
    if options.sensitive:
        rounds = [list(map(_mark_sensitive, names)) for names in rounds]

    names = [category.name for category in vote(rounds, min_votes=options.min_votes)]
    left_out = [] if options.sensitive else list(filter(is_sensitive, names))
    categories = [name for name in names if name not in left_out][: options.categories]

    values = {"m": options.attributes, "caption": caption}
    texts = [
        fill_template(questions.attributes, category=category, **values) for category in categories
    ]
    voted = {}
    for category, rounds in zip(categories, asking.rounds(texts), strict=True):
        if attributes := vote(rounds, options.attributes, options.min_votes):
            voted[category] = attributes

    proposed = _add_captions(asking, caption, voted)
    progress("ask the language model", asking.done, asking.done)
    return Proposal(tuple(proposed), tuple(left_out))


def _mark_sensitive(category: str) -> str:
    return mark_perceived(category) if is_sensitive(category) else category


def _add_captions(
    asking: "_Asking", caption: str, voted: dict[str, list[Voted]]
) -> list[ProposedAttribute]:
    """The attributes of each category, with level and caption."""
    options = asking.options
    texts = []
    for attributes in voted.values():
        names = ", ".join(attribute.name for attribute in attributes)
        texts.append(fill_template(options.questions.level, attributes=names))
    answers = asking.replies(texts, ANSWER, read_yes_no)

    rows: list[tuple[str, Level, Voted]] = []
    for (category, attributes), is_object in zip(voted.items(), answers, strict=True):
        level: Level = "object" if is_object else "image"
        rows += [(category, level, attribute) for attribute in attributes]

    if options.llm_prompts:
        texts = [
            fill_template(
                getattr(options.questions, f"{level}_caption"),
                caption=caption,
                category=category,
                attribute=attribute.name,
            )
            for category, level, attribute in rows
        ]
        captions = asking.replies(texts, None, read_caption)
    else:
        captions = [
            caption_of(options, caption, category, attribute.name, level)
            for category, level, attribute in rows
        ]

    return [
        ProposedAttribute(
            category=category,
            name=attribute.name,
            level=level,
            caption=text,
            votes=attribute.votes,
            rounds=options.rounds,
        )
        for (category, level, attribute), text in zip(rows, captions, strict=True)
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
        n = self.options.rounds
        # Each round has a seed of its own, or it would say the same.
        repeated = [text for text in texts for _ in range(n)]
        lists = self.replies(repeated, ITEMS, read_list, list(range(n)) * len(texts))
        return [lists[start : start + n] for start in range(0, len(lists), n)]

    def replies(
        self,
        texts: Sequence[str],
        schema: dict[str, object] | None,
        read: Callable[[str], T],
        rounds: Sequence[int] | None = None,
    ) -> list[T]:
        """The replies to all texts, as they are read."""
        questions = [
            Question(
                text,
                schema=schema if self.options.with_schema else None,
                temperature=self.options.temperature,
                round=number + self.options.rounds * self.options.seed,
            )
            for text, number in zip(texts, rounds or [0] * len(texts), strict=True)
        ]

        total = calls_of(self.options)
        self.progress("ask the language model", self.done, total)

        replies = []
        for reply in in_order(partial(ask_for, self.chat, read=read), questions, self.at_once):
            replies.append(reply)
            self.done += 1
            self.progress("ask the language model", self.done, total)
        return replies
