"""Keep all questions and replies by hash, and ask nothing twice."""

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cobalance.annotation.language.chat import ChatModel, Question, Reply, select_told
from cobalance.base import inflect
from cobalance.vision import sha256_of
from cobalance.vision.stored.output_folder import OutputFolder, OutputMissingError

_IDENTITY = ("model", "url", "revision", "weights_sha256", "dtype")


@dataclass
class Usage:
    """Number of new and kept replies, and their tokens; thread-safe.

    Any number of threads may count.
    """

    asked: int = 0
    kept: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def describe(self) -> str:
        """A sentence for people."""
        return (
            f"{inflect(self.asked, 'replies')} asked for, {self.kept:,} kept from before, with "
            f"{self.tokens_in:,} tokens in and {self.tokens_out:,} out."
        )

    def add(self, reply: Reply, *, kept: bool) -> None:
        """Count a reply and its tokens."""
        with self._lock:
            self.kept += kept
            self.asked += not kept
            self.tokens_in += reply.tokens_in
            self.tokens_out += reply.tokens_out


class Transcript:
    """A language model whose requests and replies are kept, one JSON file for each; thread-safe.

    A question that was asked before (of the same model, with the same schema, temperature, round,
    attempt and images) has its kept reply.

    Parameters
    ----------
    chat : ChatModel
        Model to ask when no reply is stored.
    place : str
        Path in the folder, such as ``annotations/0a1b/replies``.

    Attributes
    ----------
    usage : Usage
    """

    def __init__(self, chat: ChatModel, folder: OutputFolder, place: str) -> None:
        self._chat, self._folder, self._place = chat, folder, place
        self._model = select_told(chat.describe(), *_IDENTITY)
        self.usage = Usage()

    def ask(self, question: Question) -> Reply:
        """Return the kept reply, or else ask; errors as in `ChatModel.ask`."""
        request = {**self._model, **_as_json(question)}
        text = json.dumps(request, ensure_ascii=False, sort_keys=True)
        path = f"{self._place}/{hashlib.sha256(text.encode()).hexdigest()}.json"
        stored = self._read(path)
        if stored is not None:
            self.usage.add(stored, kept=True)
            return stored

        reply = self._chat.ask(question)
        self.usage.add(reply, kept=False)
        # Replies without first tokens are written as they were before there were any.
        values = {name: value for name, value in vars(reply).items() if value != ()}
        content = {"request": request, "reply": values}
        self._folder.write(path, json.dumps(content, ensure_ascii=False, indent=1).encode())
        return reply

    def describe(self) -> Mapping[str, Any]:
        """The model's own description."""
        return self._chat.describe()

    def _read(self, path: str) -> Reply | None:
        # A reply that is missing or damaged is asked for again.
        try:
            reply = json.loads(self._folder.read(path))["reply"]
            tokens = reply.get("first_tokens", ())
            return Reply(
                text=str(reply["text"]),
                tokens_in=int(reply["tokens_in"]),
                tokens_out=int(reply["tokens_out"]),
                first_tokens=tuple((str(token), float(value)) for token, value in tokens),
            )
        except (OutputMissingError, ValueError, KeyError, TypeError):
            return None


def _as_json(question: Question) -> dict[str, Any]:
    """A question as JSON values; with a SHA-256 for each image."""
    # A flag that is off is left out: the digests of older questions stay the same.
    values = {name: value for name, value in vars(question).items() if value is not False}
    return values | {"images": list(map(sha256_of, question.images))}
