"""Account of a backend whose images cost something: a budget, and answers that were paid for."""

import threading
from typing import Protocol, runtime_checkable

from cobalance.generation.image_request import GenerationError


class BudgetSpentError(GenerationError):
    """An image that the budget does not allow any more."""


class Account(Protocol):
    """A job's spending, shared by all of its workers, and answers that were paid for.

    For any number of threads. A worker may die at any moment: what it has reserved stays counted,
    and what it has kept is found again.
    """

    def reserve(self, most: int | None) -> bool:
        """Count an image before a server is asked for it; False where `most` were counted."""

    def release(self) -> None:
        """Take back an image that was counted and has surely not been made."""

    def read(self, request: str, name: str) -> bytes | None:
        """Read an answer to a request; None where none was kept."""

    def keep(self, request: str, name: str, answer: bytes) -> None:
        """Keep an answer before the next one is asked for."""


@runtime_checkable
class PaidBackend(Protocol):
    """A backend whose images cost something; whoever opens it for a job gives it an account."""

    account: Account


class OwnAccount:
    """Account of a backend that works for no job: it counts for as long as it is open."""

    def __init__(self) -> None:
        self._asked, self._lock = 0, threading.Lock()

    def reserve(self, most: int | None) -> bool:
        """Count an image, unless `most` were counted."""
        with self._lock:
            if most is not None and self._asked >= most:
                return False
            self._asked += 1
            return True

    def release(self) -> None:
        """Take an image back."""
        with self._lock:
            self._asked -= 1

    def read(self, request: str, name: str) -> bytes | None:  # noqa: ARG002 - see `Account`
        """Read nothing, as nothing is kept."""
        return None

    def keep(self, request: str, name: str, answer: bytes) -> None:
        """Keep nothing: the images are returned to whoever asked for them."""
