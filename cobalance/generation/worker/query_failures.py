"""Failures of a job's queries: repeated ones, and which queries cannot go on."""

from collections.abc import Iterable


class QueryFailures:
    """Counts failures per query; for any number of threads.

    Queries are known by their positions in the job.
    """

    def __init__(self) -> None:
        self._repeats: dict[int, tuple[str, int]] = {}
        self._failed: dict[int, str] = {}
        self._taken: set[int] = set()

    def count(self, query: int, reason: str) -> int:
        """Count a failure; give how many in a row the query has had for this reason."""
        previous, times = self._repeats.get(query, (reason, 0))
        self._repeats[query] = reason, times + 1 if previous == reason else 1
        return self._repeats[query][1]

    def reset(self, queries: Iterable[int]) -> None:
        """Forget the failures in a row of queries that have succeeded."""
        for query in queries:
            self._repeats.pop(query, None)

    def fail(self, queries: Iterable[int], message: str) -> None:
        """Note that queries cannot go on until a person has done what a message says."""
        for query in queries:
            self._failed.setdefault(query, message)

    def take(self) -> dict[str, list[int]]:
        """Give the queries that cannot go on by message; each query is given once."""
        found: dict[str, list[int]] = {}
        for query, message in list(self._failed.items()):
            if query not in self._taken:
                self._taken.add(query)
                found.setdefault(message, []).append(query)
        return found
