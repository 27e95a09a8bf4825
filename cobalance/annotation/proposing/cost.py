"""Estimate the cost of proposing and labelling beforehand."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cobalance.annotation.language.chat import ChatModel, Question
from cobalance.annotation.proposing.options import ProposeOptions, fill_template
from cobalance.ingest.annotators.annotator import Annotator
from cobalance.ingest.images.arrays import ImageArray

_LETTERS = 4  # of a token, in English
_ITEM = 5  # tokens of a name in a list, with its quotes and comma
_EXPLANATION = 60  # tokens of an answer to Q3
_CAPTION = 20
_NAME = "some example"  # stands for a name that is not known yet


def calls_of(options: ProposeOptions) -> int:
    """Questions: R + R·N + N, and N·M more where the model writes captions; retries apart.

    Examples
    --------
    >>> from cobalance.annotation.proposing.options import read_preset
    >>> calls_of(read_preset("gelda")), calls_of(read_preset("gelda", {"llm_prompts": True}))
    (65, 115)
    """
    n, m, r = options.categories, options.attributes, options.rounds
    return r + r * n + n + (n * m if options.llm_prompts else 0)


@dataclass(frozen=True)
class ChatCost:
    """Highest cost of proposing; a model may name less than it is asked for.

    Parameters
    ----------
    calls : int
    tokens_in, tokens_out : int
        Estimated from the questions, four letters a token.
    """

    calls: int
    tokens_in: int
    tokens_out: int


def chat_cost(options: ProposeOptions, caption: str) -> ChatCost:
    """Estimate the cost of proposing attributes of a domain."""
    n, m, r = options.categories, options.attributes, options.rounds
    asked = options.questions
    values = {
        "n": n, "m": m, "caption": caption, "category": _NAME, "attribute": _NAME,
        "attributes": ", ".join([_NAME] * m),
    }  # fmt: skip
    each = [
        (r, asked.categories, _ITEM * n),
        (r * n, asked.attributes, _ITEM * m),
        (n, asked.level, _EXPLANATION),
    ]
    if options.llm_prompts:
        each.append((n * m, asked.image_caption, _CAPTION))
    tokens_in = sum(k * -(-len(fill_template(text, **values)) // _LETTERS) for k, text, _ in each)
    return ChatCost(calls_of(options), tokens_in, sum(k * out for k, _, out in each))


def measure_chat(
    chat: ChatModel,
    options: ProposeOptions,
    caption: str,
    at_once: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Seconds that proposing will take, from two questions that are asked now, one after the other.

    The first, for categories, warms up; all others go at the pace of the second, for attributes of
    a category, `at_once` at a time.

    Raises
    ------
    LanguageModelError
        The model cannot be reached, or refuses.
    """
    asked = options.questions
    values = {"n": options.categories, "m": options.attributes, "caption": caption}
    times = [clock()]
    for text in (asked.categories, asked.attributes):
        chat.ask(
            Question(fill_template(text, category=_NAME, **values), temperature=options.temperature)
        )
        times.append(clock())
    first, second = times[1] - times[0], times[2] - times[1]
    return first + second * -(-(calls_of(options) - 1) // at_once)


def measure_seconds(
    annotator: Annotator,
    images: Sequence[ImageArray],
    texts: Sequence[str],
    total: int,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Seconds that scoring `total` images will take, from two batches.

    The first one warms up and encodes the texts; the rest of the images go at the second's pace.

    Parameters
    ----------
    images : sequence of uint8 arrays, shape (height, width, 3)
        Two batches of them, one for each half.
    """
    half = max(1, len(images) // 2)
    times = [clock()]
    for batch in (images[:half], images[half:] or images[:half]):
        annotator.score(batch, texts)
        times.append(clock())
    first, second = times[1] - times[0], times[2] - times[1]
    pace = second / len(images[half:] or images[:half])
    return first + second + max(0, total - len(images)) * pace
