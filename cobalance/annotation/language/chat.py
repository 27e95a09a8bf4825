"""The interface of language models: one question, one reply; several at a time, in order."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from cobalance.base import CobalanceError, R, T
from cobalance.vision import ImageArray


class LanguageModelError(CobalanceError):
    """A language model that cannot be reached, refuses, or gives no usable reply in three tries."""


@dataclass(frozen=True)
class Question:
    """A question to a language model.

    Parameters
    ----------
    text : str
        What is asked.
    schema : mapping or None
        The JSON schema that the reply should have; a model that cannot be held to one ignores it.
    temperature : float
        0 for the likeliest reply.
    round : int
        Tells repetitions of the same question apart, from 0; also the seed where the model takes
        one.
    attempt : int
        Tells further tries of a round apart, after a reply that could not be read.
    images : sequence of uint8 arrays, shape (height, width, 3)
        What it is about; none for a question about words.
    first_token : bool
        Whether the first token of the reply alone counts, with the log probabilities of the
        likeliest ones; only an endpoint tells them.
    """

    text: str
    schema: Mapping[str, Any] | None = None
    temperature: float = 0.0
    round: int = 0
    attempt: int = 0
    images: Sequence[ImageArray] = ()
    first_token: bool = False

    @property
    def seed(self) -> int:
        """One for each round and attempt."""
        return 1000 * self.attempt + self.round


@dataclass(frozen=True)
class Reply:
    """A model's reply, with the tokens read and written; 0 where the model does not tell.

    The likeliest first tokens and their log probabilities are there if the question asked for them.
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    first_tokens: tuple[tuple[str, float], ...] = ()


class ChatModel(Protocol):
    """A language model, with or without eyes."""

    def ask(self, question: Question) -> Reply:
        """Ask a question.

        Raises
        ------
        LanguageModelError
            The model cannot be reached, or refuses, after three tries.
        """

    def describe(self) -> Mapping[str, Any]:
        """Model, revision and settings for provenance; JSON values, and never a key."""


def select_told(described: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Values of a model's description under some names, without missing and empty ones."""
    return {name: described[name] for name in names if described.get(name)}


TRIES = 3
"""Times that a question is put until its reply can be used."""
AT_ONCE = 4
"""Questions that an endpoint gets at a time, unless an option says otherwise."""


def in_order(function: Callable[[T], R], items: Iterable[T], at_once: int = 1) -> Iterator[R]:
    """Results of a function in the order of the items, of which `at_once` are worked on at a time.

    With 1, each is worked on when its result is taken, in the caller's thread. After an error (the
    first one in the items' order is raised), or when no further result is taken, no other item is
    begun; those that were begun are waited for.

    Examples
    --------
    >>> list(in_order(str.upper, "abc", at_once=2))
    ['A', 'B', 'C']
    """
    if at_once == 1:
        yield from map(function, items)
    else:
        with ThreadPoolExecutor(at_once, thread_name_prefix="ask") as pool:
            yield from pool.map(function, items)
