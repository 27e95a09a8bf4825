"""Estimate the cost of proposing and labelling beforehand."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter

from cobalance.annotation.annotators.annotator import Annotator
from cobalance.annotation.language import ChatModel, Question
from cobalance.annotation.proposing.options import ProposeOptions, fill_template
from cobalance.vision import ImageArray

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
    n_captions = n * m if options.llm_prompts else 0
    return r + r * n + n + n_captions


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
    values = {
        "n": n,
        "m": m,
        "caption": caption,
        "category": _NAME,
        "attribute": _NAME,
        "attributes": ", ".join([_NAME] * m),
    }

    # How often each template is asked, and the tokens of an answer.
    templates = options.questions
    questions = [
        (r, templates.categories, _ITEM * n),
        (r * n, templates.attributes, _ITEM * m),
        (n, templates.level, _EXPLANATION),
    ]
    if options.llm_prompts:
        questions.append((n * m, templates.image_caption, _CAPTION))

    tokens_in = tokens_out = 0
    for times, template, answer in questions:
        tokens_in += times * math.ceil(len(fill_template(template, **values)) / _LETTERS)
        tokens_out += times * answer
    return ChatCost(calls_of(options), tokens_in, tokens_out)


def measure_chat(chat: ChatModel, options: ProposeOptions, caption: str, at_once: int = 1) -> float:
    """Seconds that proposing will take, from two questions that are asked now, one after the other.

    The first, for categories, warms up; all others go at the pace of the second, for attributes of
    a category, `at_once` at a time. Errors are those of `ChatModel.ask`.
    """
    values = {"n": options.categories, "m": options.attributes, "caption": caption}
    texts = (
        fill_template(template, category=_NAME, **values)
        for template in (options.questions.categories, options.questions.attributes)
    )
    first, second = _time(
        partial(chat.ask, Question(text, temperature=options.temperature)) for text in texts
    )
    # The first one warms up.
    return first + second * math.ceil((calls_of(options) - 1) / at_once)


def measure_seconds(
    annotator: Annotator, images: Sequence[ImageArray], texts: Sequence[str], total: int
) -> float:
    """Seconds that scoring `total` images will take, from two batches.

    The first one warms up and encodes the texts; the rest of the images go at the second's pace.

    Parameters
    ----------
    images : sequence of uint8 arrays, shape (height, width, 3)
        Two batches of them, one for each half.
    """
    half = max(1, len(images) // 2)
    batches = images[:half], images[half:] or images[:half]
    first, second = _time(partial(annotator.score, batch, texts) for batch in batches)
    return first + second + max(0, total - len(images)) * second / len(batches[1])


def _time(calls: Iterable[Callable[[], object]]) -> Iterator[float]:
    """Seconds that each call takes."""
    for call in calls:
        start = perf_counter()
        call()
        yield perf_counter() - start
