"""The claim of a process on a dataset, under which it alone writes."""

import uuid
from dataclasses import dataclass
from typing import Any

from cobalance.base import ConflictError
from cobalance.graph.database import statements
from cobalance.graph.database.store import Cypher, GraphStore, Row


@dataclass(frozen=True)
class Claim:
    """A dataset that this process writes.

    The latest claim wins: an older writer's next batch fails, whether its process lives or not.

    Parameters
    ----------
    store : GraphStore
        Where the dataset is.
    dataset : str
        Its name.
    token : str
        Presented by each write as ``$writer``.
    """

    store: GraphStore
    dataset: str
    token: str

    @classmethod
    def take(cls, store: GraphStore, dataset: str) -> "Claim":
        """Claim a dataset."""
        token = uuid.uuid4().hex
        store.write(statements.UPDATE_DATASET, dataset=dataset, values={"writer": token})
        return cls(store, dataset, token)

    def is_held(self) -> bool:
        """Whether no other process has claimed the dataset since."""
        rows = self.store.read(statements.HAS_WRITER, dataset=self.dataset, writer=self.token)
        return bool(rows)

    def write(self, text: Cypher, **parameters: Any) -> list[Row]:
        """Run a write that takes ``$dataset`` and ``$writer``."""
        return self.store.write(text, dataset=self.dataset, writer=self.token, **parameters)

    def write_all(self, text: Cypher, expected: int, **parameters: Any) -> None:
        """Run a write as `GraphStore.write_all` does."""
        self.store.write_all(text, expected, dataset=self.dataset, writer=self.token, **parameters)

    def finish(self, *, guards: str, **values: object) -> None:
        """Record a completed write, and release the claim.

        Parameters
        ----------
        guards : str
            The digest to clear if another process wrote at the same time: ``digest`` or
            ``cliques_digest``.
        **values
            Properties of the dataset to set.

        Raises
        ------
        ConflictError
            Another process has claimed or dropped the dataset meanwhile. The data is then marked
            as incomplete, so that no count of it is shown until it is written again.
        """
        if not self.write(statements.FINISH, values=values):
            raise self.invalidate(guards)

    def invalidate(self, digest: str) -> ConflictError:
        """Clear a digest after concurrent writes, and return the error to raise."""
        self.store.write(statements.UPDATE_DATASET, dataset=self.dataset, values={digest: None})
        return ConflictError(
            f"Another process has written or dropped {self.dataset!r} at the same time. Try again "
            "when the other one has ended."
        )
