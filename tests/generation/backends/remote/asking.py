"""Backends that ask servers which the tests start, and an account that a test can look into."""

from typing import Any

from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.remote.backend import RemoteBackend

QUICK = {"native_px": 64, "pause_s": 0.001, "timeout_s": 20, "poll_s": 0.01}


def open_remote(name: str, url: str, **options: Any) -> RemoteBackend:
    """Open a backend with short pauses; ``poll_s`` is comfyui's alone."""
    values = {**QUICK, "url": url, **options}
    if name == "http":
        values.pop("poll_s")
    backend = BACKENDS.open(name, values)
    assert isinstance(backend, RemoteBackend)
    return backend


class KeptAnswers:
    """An account in memory, which outlives the backend as a job's does."""

    def __init__(self) -> None:
        self.asked, self.answers = 0, dict[tuple[str, str], bytes]()

    def reserve(self, most: int | None) -> bool:
        if most is not None and self.asked >= most:
            return False
        self.asked += 1
        return True

    def release(self) -> None:
        self.asked -= 1

    def read(self, request: str, name: str) -> bytes | None:
        return self.answers.get((request, name))

    def keep(self, request: str, name: str, answer: bytes) -> None:
        self.answers[request, name] = answer
