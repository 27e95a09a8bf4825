"""Ask until a reply can be read, three times at most."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from cobalance.annotation.language.chat import ChatModel, LanguageModelError, Question
from cobalance.annotation.language.replies import UnreadableReplyError

T = TypeVar("T")
TRIES = 3


def ask_for(chat: ChatModel, question: Question, read: Callable[[str], T]) -> T:
    """Ask a question, and read its reply.

    What a model thinks aloud before its reply, up to ``</think>``, is not read.

    Raises
    ------
    LanguageModelError
        No reply of three could be read, or the model gave none.
    """
    why: UnreadableReplyError | None = None
    for attempt in range(TRIES):
        reply = chat.ask(replace(question, attempt=attempt))
        try:
            return read(reply.text.rpartition("</think>")[2])
        except UnreadableReplyError as error:
            why = error
    raise LanguageModelError(
        f"No reply of {TRIES} to the question {question.text[:200]!r} can be read. The last: {why} "
        "Replies are kept, so that the same command finds these again: take another model, or "
        "delete the run to ask this one anew."
    )


def read_caption(text: str) -> str:
    r"""The caption in a reply: its first line with words, without quotes.

    Raises
    ------
    UnreadableReplyError
        There is none, or it is too long for one.

    Examples
    --------
    >>> read_caption('\n"A red bird on a branch."\n')
    'A red bird on a branch'
    """
    lines = [line.strip().strip("\"'`*").strip() for line in text.splitlines()]
    found = next((line for line in lines if any(letter.isalpha() for letter in line)), "")
    caption = found.removesuffix(".")
    if not caption or len(caption) > 300:
        raise UnreadableReplyError(f"The model's reply is no caption: {text[:200]!r}.")
    return caption
