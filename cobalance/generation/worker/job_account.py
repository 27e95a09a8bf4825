"""A job's spending in the graph, and the answers that were paid for in the output folder."""

from collections.abc import Iterable
from functools import partial
from pathlib import PurePosixPath

from cobalance.base import StoreError
from cobalance.generation.worker.resources import RetryingStore
from cobalance.graph import release_image, reserve_image
from cobalance.vision.stored.output_folder import OutputFolder, OutputMissingError


def answers_folder(job: str) -> str:
    """Where the answers of a job are, in the output folder, until its images are there."""
    return f"{job}/answers"


class JobAccount:
    """A job's account; see `cobalance.generation.backends.remote.account.Account`."""

    def __init__(self, store: RetryingStore, folder: OutputFolder, job: str) -> None:
        self._store, self._folder, self._job = store, folder, job

    def reserve(self, most: int | None) -> bool:
        """Count an image, unless the job's workers have asked for `most`."""
        # Where the graph was away in between, an image may count twice, and never not at all.
        return self._store.run(partial(reserve_image, job=self._job, most=most))

    def release(self) -> None:
        """Take an image back."""
        # Repeated, it could allow an image too many; left out, it costs one of the budget.
        try:
            self._store.run_once(partial(release_image, job=self._job))
        except StoreError:
            return

    def read(self, request: str, name: str) -> bytes | None:
        """Read an answer, which another worker may have kept."""
        try:
            return self._folder.read(self._place(request, name))
        except OutputMissingError:
            return None

    def keep(self, request: str, name: str, answer: bytes) -> None:
        """Write an answer to the output folder."""
        self._folder.write(self._place(request, name), answer)

    def forget(self, requests: Iterable[str]) -> None:
        """Delete the answers to requests whose images are stored."""
        for request in requests:
            self._folder.delete_folder(self._place(request))

    def _place(self, request: str, name: str = "") -> str:
        candidate = PurePosixPath(request).relative_to(self._job).as_posix().replace("/", "-")
        return str(PurePosixPath(answers_folder(self._job), candidate, name))
