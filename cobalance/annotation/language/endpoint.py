"""Ask a language model behind an OpenAI-compatible URL."""

import base64
import math
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

import openai
from pydantic import SecretStr

from cobalance.annotation.language.chat import TRIES, LanguageModelError, Question, Reply
from cobalance.annotation.language.endpoint_settings import check_url
from cobalance.base import OptionError, Part, Setting, mask_credentials
from cobalance.vision import ImageArray, png

MOST_ANSWER_BYTES = 1 << 22
"""Of an answer, unpacked: ten times what the longest replies of models take."""
TOP_TOKENS = 20
"""Likeliest first tokens that are asked for: the most that servers give."""
_OPTIONAL = ("response_format", "seed", "max_tokens")
"""Left out, in this order, where a server refuses them."""


class Endpoint:
    """A language model behind an OpenAI-compatible URL; see `annotation.language.chat.ChatModel`.

    A reply in the form of a JSON schema is asked for where a question has one; a server that
    refuses it (400 or 422) is asked without. Rate limits, server errors, timeouts and replies that
    are cut off are retried with growing pauses: three tries in all. Nothing of the environment but
    proxies is used. No redirect is followed, and no answer above 4 MiB read. Several threads may
    ask at a time.

    Parameters
    ----------
    url, model, timeout_s, send_images
        As of `annotation.language.endpoint_settings.EndpointSettings`.
    key : SecretStr or None
        Sent with each question, and found nowhere else.

    Raises
    ------
    OptionError
        The URL is none of HTTP, or has a login in it.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: SecretStr | None = None,
        timeout_s: float = 120.0,
        send_images: bool = False,
    ) -> None:
        self.url, self.model = check_url(url), model
        self._key, self._send_images = key, send_images
        self._refused: set[str] = set()
        self._encoded: tuple[ImageArray, str] | None = None
        self._headers: dict[str, Any] = {name: openai.Omit() for name in _AMBIENT}
        if key is None:
            self._headers["Authorization"] = openai.Omit()
        self._client = openai.OpenAI(
            base_url=url,
            api_key=key.get_secret_value() if key else "none",
            timeout=timeout_s,
            http_client=_Client(timeout=timeout_s),
        )

    def ask(self, question: Question) -> Reply:
        """Ask a question.

        Raises
        ------
        LanguageModelError
            The model cannot be reached, refuses, or gives no whole reply in three tries.
        OptionError
            The question has images, and these may not be sent.
        """
        if question.images and not self._send_images:
            raise OptionError(
                f"The images would be sent to {self.url}. If they may leave this machine, say so "
                "with ",
                Setting("send_images", value=True),
                ", or take a model that runs here.",
            )
        request = self._request(question)
        # A copy, as another thread may add to it.
        for name in tuple(self._refused):
            request.pop(name, None)

        dropped: set[str] = set()
        remaining, fault = TRIES, ""
        while remaining > 0:
            try:
                response = self._client.with_options(
                    max_retries=remaining - 1
                ).chat.completions.with_raw_response.create(extra_headers=self._headers, **request)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                # The server may know no schemas or seeds: without them it is asked once more.
                refusable = [name for name in _OPTIONAL if name in request]
                if not refusable:
                    raise self._describe_failure(error) from None
                dropped.add(refusable[0])
                del request[refusable[0]]
                continue
            except openai.APIError as error:
                raise self._describe_failure(error) from None

            remaining -= 1 + response.retries_taken
            try:
                completion = response.parse()
            except ValueError:
                fault = "the answer is not of this API"
                continue
            reply, fault = _read(completion, question)
            if reply is not None:
                self._refused |= dropped
                return self._without_key(reply)
            if fault == _NO_PROBABILITIES:
                raise LanguageModelError(
                    f"The language model {self.model} at {self.url} gives no probabilities of "
                    "tokens (logprobs), and only that of yes as the first token counts. Take a "
                    "server that gives them, or a model that runs here."
                )

        raise LanguageModelError(
            f"The language model {self.model} at {self.url} gave no usable reply in {TRIES} tries: "
            f"{fault}. Raise the server's limit of tokens, or take another model."
        )

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def describe(self) -> Mapping[str, Any]:
        """The model's name and where it is."""
        return {"model": self.model, "url": self.url}

    def _request(self, question: Question) -> dict[str, Any]:
        content: Any = question.text
        if question.images:
            images = [
                {"type": "image_url", "image_url": {"url": self._data_url(image)}}
                for image in question.images
            ]
            content = [*images, {"type": "text", "text": question.text}]
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": content}],
            "temperature": question.temperature,
            "seed": question.seed,
        }

        if question.first_token:
            request |= {"logprobs": True, "top_logprobs": TOP_TOKENS, "max_tokens": 1}
        if question.schema is not None:
            request["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": dict(question.schema)},
            }
        return request

    def _data_url(self, image: ImageArray) -> str:
        """An image as a PNG in a URL; the last one is kept, as several texts are asked about it."""
        last = self._encoded
        if last is None or last[0] is not image:
            content = base64.b64encode(png(image)).decode()
            self._encoded = last = (image, f"data:image/png;base64,{content}")
        return last[1]

    def _describe_failure(self, error: openai.APIError) -> LanguageModelError:
        status = getattr(error, "status_code", None)
        message = " ".join(self._hide_key(error.message).split())[:300]
        parts: tuple[Part, ...]
        if isinstance(error, openai.APITimeoutError):
            parts = (
                f"it gave no answer in {TRIES} tries. Allow more time with ",
                Setting("timeout_s"),
                ", or try again later.",
            )
        elif status in (401, 403):
            parts = (
                f"it refuses the login ({status}: {message}). Give its key with ",
                Setting("key_file"),
                ".",
            )
        else:
            parts = (_reason(error, status, message),)
        return LanguageModelError(f"The language model {self.model} at {self.url}: ", *parts)

    def _hide_key(self, text: str) -> str:
        """A server's text without the key, which some echo."""
        return text.replace(self._key.get_secret_value(), "***") if self._key else text

    def _without_key(self, reply: Reply) -> Reply:
        tokens = tuple((self._hide_key(token), value) for token, value in reply.first_tokens)
        return replace(reply, text=self._hide_key(reply.text), first_tokens=tokens)


class _Client(openai.DefaultHttpxClient):
    """A client that follows no redirect and stops reading an answer that is too long."""

    def send(self, request: Any, **options: Any) -> Any:
        answer = super().send(request, **options | {"stream": True, "follow_redirects": False})
        content = bytearray()
        with closing(answer):
            # Unpacked piece by piece: a small answer may unpack to a very large one.
            for piece in answer.iter_bytes():
                content += piece
                if len(content) > MOST_ANSWER_BYTES:
                    reason = f"its answer is longer than {MOST_ANSWER_BYTES:,} bytes"
                    raise openai.APIConnectionError(message=reason, request=request)

        headers = {name: value for name, value in answer.headers.items() if name not in _PACKING}
        return type(answer)(
            answer.status_code, headers=headers, content=bytes(content), request=request
        )


_PACKING = ("content-encoding", "content-length", "transfer-encoding")
_NO_PROBABILITIES = "the answer has no probabilities of tokens"
_AMBIENT = ("OpenAI-Organization", "OpenAI-Project")
"""Headers that the library would fill from the environment."""


def _read(completion: Any, question: Question) -> tuple[Reply | None, str]:
    """Read the reply from an answer, or the reason why it is unusable."""
    choices = getattr(completion, "choices", None)
    if not isinstance(choices, list) or not choices:
        return None, "the answer has no choices"
    text = getattr(getattr(choices[0], "message", None), "content", None)
    usage = getattr(completion, "usage", None)
    n_read, n_written = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")

    if question.first_token:
        first_tokens = _first_tokens(choices[0])
        if not first_tokens:
            return None, _NO_PROBABILITIES
        return Reply(text if isinstance(text, str) else "", n_read, n_written, first_tokens), ""

    if getattr(choices[0], "finish_reason", None) == "length":
        return None, "the replies are cut off"
    if not isinstance(text, str) or not text.strip():
        return None, "the replies are empty"
    return Reply(text, n_read, n_written), ""


def _reason(error: openai.APIError, status: int | None, message: str) -> str:
    """Reason why a server gave no usable answer, and the remedy."""
    if status is None:
        return f"it cannot be reached or read ({message}). Check that it runs at that address."
    if status < 400:
        target = mask_credentials(error.response.headers.get("Location", ""))  # type: ignore[attr-defined]
        return (
            f"it redirects to {target[:300]}, which is not followed, as questions and images "
            "would go there. If that is the model's address, give it instead."
        )
    if status == 429 or status >= 500:
        return (
            f"it failed in {TRIES} tries ({status}: {message}). Run the same command again later: "
            "what was answered is kept."
        )
    if status == 413:
        return (
            f"a question is too large for it (413: {message}). Raise the server's limit of the "
            "size of requests."
        )
    return f"it refuses the question ({status}: {message}). Check address and model."


def _count(usage: Any, name: str) -> int:
    value = getattr(usage, name, 0)
    return value if isinstance(value, int) else 0


def _first_tokens(choice: Any) -> tuple[tuple[str, float], ...]:
    """Likeliest first tokens and their log probabilities; none where the server gives none."""
    try:
        tokens = [(top.token, top.logprob) for top in choice.logprobs.content[0].top_logprobs]
    except (AttributeError, IndexError, KeyError, TypeError):
        return ()
    # A value that cannot be a log probability is left out.
    return tuple(
        (token, float(value))
        for token, value in tokens
        if isinstance(token, str)
        and isinstance(value, int | float)
        and math.isfinite(value)
        and value <= 0
    )
