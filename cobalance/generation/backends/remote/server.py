"""A server that makes images: requests with limits, and faults by their cost.

No redirect is followed, no answer is unpacked, and none above `MOST_ANSWER_BYTES` is read. The key
goes into one header; a server's words are shown and kept without it.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Condition
from typing import Any, Literal
from weakref import finalize

import httpx

from cobalance.base import CobalanceError, mask_credentials, text_if

MOST_ANSWER_BYTES = 96 << 20
"""Of an answer: a PNG of 4096 × 4096 pixels of noise, in Base64."""
MOST_PAUSE_S = 600.0
"""Of a pause that a server names, or that has grown by doubling."""
_CONNECT_S = 10.0
"""Within which a server has to take a connection."""
_MOST_TEXT = 300
"""Characters of a server's words that people are shown."""

# Statuses with which a server says that it has not begun.
_BUSY = (408, 425, 429, 503)
_NO_ACCESS = (401, 402, 403)
_NO_SUCH_PLACE = (404, 405, 501)


class ServerFaultError(CobalanceError):
    """A request that has brought no usable image; the message is a clause about the server.

    Parameters
    ----------
    remedy : {"retry", "reject", "stop"}
        Whether to ask again, to do without this image, or to stop the job for a person.
    charged : bool
        Whether the server may have made the image.
    pause_s : float or None
        How long it wants to be left alone.
    """

    def __init__(
        self,
        message: str,
        remedy: Literal["retry", "reject", "stop"] = "retry",
        *,
        charged: bool = True,
        pause_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.remedy, self.charged, self.pause_s = remedy, charged, pause_s


@dataclass(frozen=True)
class Reply:
    """A server's answer: its body, and headers by names in lower case."""

    body: bytes
    headers: Mapping[str, str]

    def json(self) -> dict[str, Any]:
        """Parse the body as a JSON object; ServerFaultError for any other."""
        try:
            parsed = json.loads(self.body)
        except (ValueError, RecursionError):
            parsed = None

        if not isinstance(parsed, dict):
            kind = self.headers.get("content-type", "nothing that says what it is")
            raise ServerFaultError(f"answers with {kind[:80]} where JSON was expected")
        return parsed


@dataclass(eq=False)
class Server:
    """A server by its address; for any number of threads.

    Attributes
    ----------
    free_at : float
        The moment, of `time.monotonic`, at which it may be asked again.
    in_flight : int
        How many images it is asked for.
    """

    url: str
    key: str | None
    timeout_s: float
    free_at: float = field(default=0.0, init=False)
    in_flight: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        # Unpacked, a small answer may be a very large one: it is asked for as it is.
        headers = {"Accept-Encoding": "identity"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"

        timeout = httpx.Timeout(self.timeout_s, connect=min(self.timeout_s, _CONNECT_S))
        self._client = httpx.Client(headers=headers, timeout=timeout)
        # Backends are dropped, not closed.
        finalize(self, self._client.close)

    def send(self, method: str, path: str, *, charged: bool, **content: Any) -> Reply:
        """Send a request, and read the answer.

        Parameters
        ----------
        path : str
            Below the server's address.
        charged : bool
            Whether an image may have been made where no answer comes.
        **content
            ``json``, ``data``, ``files`` or ``params``, as `httpx.Client.request` takes them.

        Raises
        ------
        ServerFaultError
            The server cannot be reached, refuses, redirects, or breaks off.
        """
        deadline = time.monotonic() + self.timeout_s
        try:
            with self._client.stream(method, self.url + path, **content) as answer:
                body = self._read(answer, deadline)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            message = f"cannot be reached ({self.hide_key(str(error))})"
            # Nothing was sent.
            raise ServerFaultError(message, charged=False) from None
        except httpx.TimeoutException:
            message = f"gave no answer within {self.timeout_s:g} s"
            raise ServerFaultError(message, charged=charged) from None
        except httpx.HTTPError as error:
            message = f"broke the connection ({self.hide_key(str(error))})"
            raise ServerFaultError(message, charged=charged) from None

        reply = Reply(body, {name.lower(): value for name, value in answer.headers.items()})
        if not answer.is_success:
            raise self._describe_refusal(answer.status_code, reply, path, charged=charged)
        return reply

    def hide_key(self, text: str) -> str:
        """A server's words without the key, which some echo, in one line."""
        if self.key is not None:
            text = text.replace(self.key, "***")
        return " ".join(mask_credentials(text).split())[:_MOST_TEXT]

    def _read(self, answer: httpx.Response, deadline: float) -> bytes:
        packing = answer.headers.get("Content-Encoding", "identity")
        if packing != "identity":
            raise ServerFaultError(f"packs its answer with {packing[:20]}, which was not asked for")

        body = bytearray()
        for piece in answer.iter_raw():
            body += piece
            if len(body) > MOST_ANSWER_BYTES:
                raise ServerFaultError(f"answers with more than {MOST_ANSWER_BYTES >> 20} MiB")

            # A server that sends a byte now and then never times out by itself.
            if time.monotonic() > deadline:
                raise httpx.ReadTimeout("too slow", request=answer.request)
        return bytes(body)

    def _describe_refusal(
        self, status: int, reply: Reply, path: str, *, charged: bool
    ) -> ServerFaultError:
        """The fault of an answer with a status that is no success."""
        words = f"{status}{self._words_of(reply)}"

        if status < 400:
            target = self.hide_key(reply.headers.get("location", "nowhere"))
            return ServerFaultError(
                f"redirects to {target}, which is not followed, as images and key would go there",
                "stop",
                charged=False,
            )
        if status in _NO_ACCESS:
            return ServerFaultError(
                f"refuses the key or its account ({words})", "stop", charged=False
            )
        if status in _NO_SUCH_PLACE:
            return ServerFaultError(f"has no {path} ({words})", "stop", charged=False)

        pause_s = _read_pause(reply.headers.get("retry-after"))
        if status in _BUSY:
            return ServerFaultError(f"is busy ({words})", charged=False, pause_s=pause_s)
        if status < 500:
            return ServerFaultError(f"refuses the image ({words})", "reject", charged=False)
        return ServerFaultError(f"failed ({words})", charged=charged, pause_s=pause_s)

    def _words_of(self, reply: Reply) -> str:
        """Error message of a reply, after a colon; empty for a page of HTML."""
        try:
            parsed = reply.json()
        except ServerFaultError:
            return ""

        # OpenAI's API has an object, FastAPI's errors are texts or lists.
        message = parsed.get("error", parsed.get("detail"))
        if isinstance(message, dict):
            message = message.get("message")
        return text_if(message, f": {self.hide_key(str(message))}")


def _read_pause(header: str | None) -> float | None:
    """Seconds of a header Retry-After, a number or a date; None where it says neither."""
    if header is None:
        return None

    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        # A date without a zone is one of UTC.
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()

    # NaN is no pause either.
    if seconds > 0:
        return min(seconds, MOST_PAUSE_S)
    return 0.0


class ServerPool:
    """Servers that share the work, each with so many requests at once and in a minute.

    Parameters
    ----------
    at_once : int
        Requests that a server has at a time; no more than that times the servers may be under way.
    interval_s : float
        Least time between two requests to a server.
    """

    def __init__(self, servers: Sequence[Server], at_once: int, interval_s: float) -> None:
        self.servers, self.at_once = servers, at_once
        self._interval_s, self._changed = interval_s, Condition()

    @contextmanager
    def use(self) -> Iterator[Server]:
        """Take the server that is free first, once it is."""
        with self._changed:
            while True:
                server = self._find_open()
                wait_s = None if server is None else server.free_at - time.monotonic()
                if server is not None and wait_s is not None and wait_s <= 0:
                    break

                # Another one may be free before.
                self._changed.wait(wait_s)
            server.free_at = time.monotonic() + self._interval_s
            server.in_flight += 1

        try:
            yield server
        finally:
            with self._changed:
                server.in_flight -= 1
                self._changed.notify_all()

    def _find_open(self) -> Server | None:
        """The server to ask next, among the ones with room for a request."""
        servers = [server for server in self.servers if server.in_flight < self.at_once]
        return min(servers, key=lambda server: (server.free_at, server.in_flight), default=None)

    def rest(self, server: Server, pause_s: float) -> None:
        """Leave a server alone for a while, whoever asks."""
        with self._changed:
            server.free_at = max(server.free_at, time.monotonic() + min(pause_s, MOST_PAUSE_S))
