"""A scripted language model on loopback: an OpenAI-compatible server."""

import json
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """The server's answer to a request.

    Parameters
    ----------
    text : str
        The reply, or the message of an error.
    status : int
        Of HTTP.
    finish_reason : str
        ``length`` for a reply that is cut off.
    first_tokens : mapping of str to float, or None
        Probabilities of the likeliest first tokens, given where a request asks for them.
    """

    text: str
    status: int = 200
    finish_reason: str = "stop"
    first_tokens: Mapping[str, float] | None = None


@dataclass
class ScriptedEndpoint:
    """A running server: its address, and what it was asked.

    Parameters
    ----------
    url : str
        For `cobalance.annotation.language.endpoint.Endpoint`.
    requests : list of dict
        Bodies, in the order in which they came.
    headers : list of mapping
        Theirs, with names in lower case.
    """

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)


@contextmanager
def scripted_endpoint(
    answer: Callable[[dict[str, Any]], Answer | str],
) -> Iterator[ScriptedEndpoint]:
    """Serve chat completions on a free port of 127.0.0.1 for the length of a ``with`` block.

    Parameters
    ----------
    answer : callable
        Given the body of a request; called by one thread at a time.
    """
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                served.requests.append(body)
                served.headers.append({name.lower(): it for name, it in self.headers.items()})
                given = answer(body)
            one = given if isinstance(given, Answer) else Answer(given)
            content = json.dumps(_body(one, body)).encode()
            self.send_response(one.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("retry-after-ms", "1")  # whoever waits for a script?
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served = ScriptedEndpoint(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _body(one: Answer, request: dict[str, Any]) -> dict[str, Any]:
    if one.status >= 400:
        return {"error": {"message": one.text}}
    asked = json.dumps(request.get("messages", ""))
    told: dict[str, Any] = {}
    if one.first_tokens is not None and request.get("logprobs"):
        likeliest = [
            {"token": token, "logprob": math.log(p)} for token, p in one.first_tokens.items()
        ]
        told["logprobs"] = {"content": [{**likeliest[0], "top_logprobs": likeliest}]}
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": request.get("model", ""),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": one.text},
                "finish_reason": one.finish_reason,
                **told,
            }
        ],
        "usage": {
            "prompt_tokens": len(asked) // 4,
            "completion_tokens": len(one.text) // 4,
            "total_tokens": (len(asked) + len(one.text)) // 4,
        },
    }
