"""Chunk identity: which candidates of a job are generated together."""

from dataclasses import dataclass

from cobalance.graph import Round, query_id


@dataclass(frozen=True)
class Chunk:
    """Candidates of a job that are generated together.

    Parameters
    ----------
    id : str
        Unique within the job: round and number, then ``.0`` or ``.1`` for each halving.
    items : tuple of (int, int)
        For each candidate its query's position in the job and its number within the query.
    """

    job: str
    id: str
    items: tuple[tuple[int, int], ...]

    def halves(self) -> tuple["Chunk", ...]:
        """Split it in two; a single candidate cannot be split and gives none.

        Examples
        --------
        >>> [half.id for half in Chunk("5f1c", "000-000003", ((0, 0), (0, 1), (1, 0))).halves()]
        ['000-000003.0', '000-000003.1']
        """
        middle = (len(self.items) + 1) // 2
        if len(self.items) < 2:
            return ()
        return (
            Chunk(self.job, f"{self.id}.0", self.items[:middle]),
            Chunk(self.job, f"{self.id}.1", self.items[middle:]),
        )

    def candidates(self) -> list[str]:
        """Candidate ids, in order."""
        return [candidate_id(self.job, query, index) for query, index in self.items]


def candidate_id(job: str, query: int, index: int) -> str:
    """The id of a candidate.

    Examples
    --------
    >>> candidate_id("5f1c", 16, 3)
    '5f1c/000016/000003'
    """
    return f"{query_id(job, query)}/{index:06d}"


def cut_round(job: str, of: Round, size: int) -> list[Chunk]:
    """Cut a round into chunks of `size` candidates, in order."""
    items: list[tuple[int, int]] = []
    for span in of.spans:
        items += ((span.query, index) for index in range(span.first, span.first + span.count))
    return [
        Chunk(job, f"{of.number:03d}-{number:06d}", tuple(items[start : start + size]))
        for number, start in enumerate(range(0, len(items), size))
    ]
