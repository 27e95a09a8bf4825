"""Concepts that a language model finds in captions, checked against the captions' words."""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

from cobalance.annotation.language import ChatModel, Question, ask_for, read_list
from cobalance.annotation.proposing.proposal_voting import plain_name
from cobalance.annotation.proposing.propose import ITEMS
from cobalance.ingest import Vocabulary, plural_forms, words_of

QUESTION = (
    "Here is the caption of an image, as a JSON string: {caption}\n"
    "List the concepts that it names: things, places, materials, colors and activities. Take each "
    "from the caption's own words, things in the singular, and infer nothing that it does not "
    'say. Reply with JSON: {{"items": ["...", "..."]}}, and an empty list if there is none.'
)
_read = partial(read_list, may_be_empty=True)


@dataclass(frozen=True)
class Extracted:
    """Concepts that a model finds in a caption.

    Parameters
    ----------
    found : tuple of str
        Concepts whose words stand in the caption, in the model's order.
    inferred : tuple of str
        Those whose words do not: they are no concepts of the image.
    """

    found: tuple[str, ...]
    inferred: tuple[str, ...]


def extract(chat: ChatModel, caption: str) -> Extracted:
    """Ask for the concepts of a caption, and check that it names them; errors as of `ask_for`."""
    quoted = json.dumps(caption, ensure_ascii=False)
    names = ask_for(chat, Question(QUESTION.format(caption=quoted), ITEMS), _read)
    return span_checked(caption, names)


def span_checked(caption: str, names: Sequence[str]) -> Extracted:
    """Divide names into spans of a caption and inferred ones.

    A span is matched as the captions of a dataset are: whole words in any case, hyphens as spaces,
    the last word perhaps in the plural, and no sign in between. A name inside a longer one counts
    by itself. Names without a word are neither.
    """
    is_span: dict[str, bool] = {}
    for name in names:
        words = words_of(plain_name(name))
        if any(word[0].isalnum() for word in words):
            # Words are joined as they are in captions: "dog's", not "dog ' s".
            concept = re.sub(r" (['’]) ", r"\1", " ".join(words))
            is_span[concept] = bool(Vocabulary({concept: [concept]}).find(caption))

    spans = tuple(filter(is_span.get, is_span))
    return Extracted(spans, tuple(concept for concept in is_span if not is_span[concept]))


def singular_names(names: Collection[str]) -> dict[str, str]:
    """The name that each one counts as: its singular, where that is among them, or itself.

    Examples
    --------
    >>> singular_names(["dogs", "dog", "red cars", "glasses"])
    {'dogs': 'dog', 'dog': 'dog', 'red cars': 'red cars', 'glasses': 'glasses'}
    """
    plurals: dict[str, str] = {}
    for name in names:
        start, space, last = name.rpartition(" ")
        plurals |= {start + space + plural: name for plural in plural_forms(last)}
    return {name: plurals.get(name, name) for name in names}
