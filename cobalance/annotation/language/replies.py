"""Ask until a reply can be read: lists and answers as JSON or a Python literal; nothing is run."""

import ast
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from cobalance.annotation.language.chat import TRIES, ChatModel, LanguageModelError, Question
from cobalance.base import CobalanceError, T

_FENCE = re.compile(r"```[A-Za-z]*\s*\n?(.*?)```", re.DOTALL)
_NUMBERED = re.compile(r"^[ \t]*[*_]*(\d{1,3})[.)][*_]*[ \t]+(\S.*)$", re.MULTILINE)
_YES_NO = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_MOST = 20_000  # characters of a reply that are read
_MOST_BRACKETS = 40  # that are tried, opening and closing
_UNREADABLE = (ValueError, SyntaxError, TypeError, RecursionError, MemoryError)


class UnreadableReplyError(CobalanceError):
    """A reply that cannot be read; the question is asked again."""


def read_list(text: str, *, may_be_empty: bool = False) -> list[str]:
    r"""The list of strings in a reply: JSON, an object around it, a Python list, or numbered lines.

    It may stand in a fence or amid other text; the first list that can be read counts, but no part
    of a list of something else. Without one, lines that are numbered from 1 on do. Items are kept
    as they are, commas and digits included, but for such numbers and asterisks for bold letters.

    Parameters
    ----------
    may_be_empty : bool
        Whether a list without a name is a reply, too.

    Raises
    ------
    UnreadableReplyError
        There is no list of strings.
    """
    for value in _values(text[:_MOST]):
        strings = _strings(value)
        if strings or (may_be_empty and strings is not None):
            return _strip_numbers(strings) or strings

    lines = [match[0] for match in _NUMBERED.finditer(text[:_MOST])]
    numbered = _strip_numbers(lines)
    if numbered:
        return numbered
    raise UnreadableReplyError(f"The model's reply has no list of names: {_shorten(text)}.")


def read_yes_no(text: str) -> bool:
    """Whether a reply says yes: an answer in JSON, or else its first "yes" or "no".

    Raises
    ------
    UnreadableReplyError
        It says neither.

    Examples
    --------
    >>> read_yes_no('{"answer": "no", "explanation": "..."}'), read_yes_no("Yes. They are objects.")
    (False, True)
    """
    for value in _values(text[:_MOST]):
        answer = value.get("answer") if isinstance(value, dict) else None
        if isinstance(answer, bool):
            return answer
        if isinstance(answer, str) and answer.strip().casefold() in ("yes", "no"):
            return answer.strip().casefold() == "yes"

    match = _YES_NO.search(text)
    if match is None:
        raise UnreadableReplyError(f"The model's reply says neither yes nor no: {_shorten(text)}.")
    return match[1].casefold() == "yes"


def _values(text: str) -> Iterator[object]:
    """All values that can be read: of the whole text, of its fences, and from brackets on."""
    for piece in (text.strip(), *_FENCE.findall(text)):
        for read in (json.loads, ast.literal_eval):
            try:
                yield read(piece.strip())
            except _UNREADABLE:
                continue

    decoder, end = json.JSONDecoder(), 0
    for opening in islice(re.finditer(r"[\[{]", text), _MOST_BRACKETS):
        start = opening.start()
        # A part of a value that was read is no value of its own.
        if start < end:
            continue
        try:
            value, end = decoder.raw_decode(text, start)
            yield value
            continue
        except (ValueError, RecursionError):
            pass

        # No JSON: a Python literal may end with any of the closing brackets.
        for closing in islice(re.finditer(r"[\]}]", text[start:]), _MOST_BRACKETS):
            try:
                value = ast.literal_eval(text[start : start + closing.end()])
            except _UNREADABLE:
                continue
            end = start + closing.end()
            yield value
            break


def _strings(value: object) -> list[str] | None:
    """The strings of a list, or of the only list in an object or list; None where it is neither."""
    if isinstance(value, dict):
        lists = [inner for inner in value.values() if isinstance(inner, list | tuple | dict)]
        return _strings(lists[0]) if len(lists) == 1 else None
    if not isinstance(value, list | tuple):
        return None
    if len(value) == 1 and not isinstance(value[0], str):
        return _strings(value[0]) if isinstance(value[0], list | tuple) else None

    strings = [entry for entry in value if isinstance(entry, str)]
    return list(filter(str.strip, strings)) if len(strings) == len(value) else None


def _strip_numbers(lines: Sequence[str]) -> list[str]:
    """Lines without their numbers, if these are 1, 2, 3 and so on and none explains itself."""
    matches = list(filter(None, map(_NUMBERED.fullmatch, lines)))
    numbers = [int(match[1]) for match in matches]
    if numbers != [*range(1, max(len(lines), 2) + 1)]:
        return []

    items = [match[2].strip().strip("*").strip() for match in matches]
    # "**Wings**: long" explains a name, and is none.
    return [] if any("**" in item or ": " in item for item in items) else items


def _shorten(text: str) -> str:
    short = " ".join(text.split())
    return repr(short if len(short) <= 200 else f"{short[:200]}...")


def ask_for(chat: ChatModel, question: Question, read: Callable[[str], T]) -> T:
    """Ask a question, and read its reply.

    What a model thinks aloud before its reply, up to ``</think>``, is not read.

    Raises
    ------
    LanguageModelError
        No reply of three could be read, or the model gave none.
    """
    fault: UnreadableReplyError | None = None
    for attempt in range(TRIES):
        reply = chat.ask(replace(question, attempt=attempt))
        try:
            # What a model thinks before it answers is no part of the reply.
            return read(reply.text.rpartition("</think>")[2])
        except UnreadableReplyError as error:
            fault = error

    raise LanguageModelError(
        f"No reply of {TRIES} to the question {question.text[:200]!r} can be read. The last: "
        f"{fault} Replies are kept, so that the same command finds these again: take another "
        "model, or delete the run to ask this one anew."
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
    lines = (line.strip().strip("\"'`*").strip() for line in text.splitlines())
    first = next((line for line in lines if any(map(str.isalpha, line))), "")
    caption = first.removesuffix(".")
    if not caption or len(caption) > 300:
        raise UnreadableReplyError(f"The model's reply is no caption: {text[:200]!r}.")
    return caption
