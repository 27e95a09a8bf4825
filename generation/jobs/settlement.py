"""Settle complete queries of a job: rank their candidates, and choose the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from generation.jobs.settings import JobSettings
from generation.output.folder import OutputFolder
from generation.output.settlement_records import SettlementRecord
from generation.ranking import rank_candidates, sum_ranks
from graph.database.store import GraphStore
from graph.jobs.lifecycle import query_id
from graph.jobs.rounds import QueryProgress
from graph.jobs.settlement import (
    EligibleCandidate,
    RankedCandidate,
    Settlement,
    read_eligible,
    settle_queries,
)
from ingest.concepts.plurals import counted

_QUERIES = 100  # whose candidates are read and settled at once


def candidates_wanted(query: QueryProgress, best_of: int) -> int:
    """How many candidates a query makes before the best of them are chosen."""
    return query.n * best_of + query.more


def is_unsettled(query: QueryProgress, best_of: int) -> bool:
    """Whether an open query has all its candidates, and the best are to be chosen."""
    has_all = query.made >= candidates_wanted(query, best_of)
    return query.is_open and has_all and query.settled < query.made


@dataclass(frozen=True, eq=False)
class Settler:
    """Settles the queries of a job that a round has completed.

    Any number of workers may do so at once, and each may be killed at any moment: what is written
    follows from the candidates alone. First the record is written, then the graph, a few queries
    at a time.
    """

    store: GraphStore
    folder: OutputFolder
    job: str
    settings: JobSettings

    def settle(self, progress: Sequence[QueryProgress], round_number: int) -> bool:
        """Settle the queries that are complete; return whether there were any.

        Parameters
        ----------
        progress : sequence of QueryProgress
            All queries of the job.
        """
        best_of = self.settings.best_of
        complete = [query for query in progress if is_unsettled(query, best_of)]
        settlements = [
            settlement
            for start in range(0, len(complete), _QUERIES)
            for settlement in self._rank(complete[start : start + _QUERIES])
        ]
        record = SettlementRecord(self.folder, self.job, round_number)
        record.add(
            {
                ranked.id: {"verdict": "rejected", "rank": ranked.rank, "reason": ranked.reason}
                for settlement in settlements
                for ranked in settlement.ranked
            }
        )
        settle_queries(self.store, self.job, settlements)
        return bool(complete)

    def _rank(self, queries: Sequence[QueryProgress]) -> list[Settlement]:
        ids = [query_id(self.job, query.position) for query in queries]
        eligible = read_eligible(self.store, ids)
        return [
            rank_query(
                identity, query.made, query.n, eligible.get(identity, []), self.settings.rank_by
            )
            for identity, query in zip(ids, queries, strict=True)
        ]


def rank_query(
    query: str,
    made: int,
    n: int,
    eligible: Sequence[EligibleCandidate],
    rank_by: Mapping[str, float],
) -> Settlement:
    """Rank the candidates of a query by the weighted sum of their ranks.

    A score that a candidate does not have, or that is NaN, ranks last, and is told.

    Parameters
    ----------
    made, n : int
        How many candidates it has in all, and the images wanted.
    eligible : sequence of EligibleCandidate
        Those that may be chosen, in any order.
    rank_by : mapping of str to float
        The weights of the scores.
    """
    ordered = sorted(eligible, key=lambda candidate: (len(candidate.id), candidate.id))
    names, weights = list(rank_by), list(rank_by.values())
    found = [[one.scores.get(name, np.nan) for name in names] for one in ordered]
    scores = np.array(found, dtype=np.float64).reshape(len(ordered), len(names))
    order = rank_candidates(scores, weights).tolist()
    sums = sum_ranks(scores, weights).tolist()
    ranked = []
    for rank, at in enumerate(order, 1):
        missing = [name for name, score in zip(names, scores[at], strict=True) if np.isnan(score)]
        reason = (
            f"Rank {rank} of {len(order)}: the sum of its ranks is {sums[at]:g}, that of the best "
            f"{sums[order[0]]:g}."
        )
        if missing:
            reason += f" It has no score {', '.join(missing)}, and is last by that."
        ranked.append(RankedCandidate(ordered[at].id, rank, reason))
    unknown = [
        f"{n_missing:,} of {counted(len(order), 'candidates')} have no score {name}, and are last "
        "by that."
        for name, n_missing in zip(names, np.isnan(scores).sum(axis=0).tolist(), strict=True)
        if n_missing
    ]
    short = (
        f"The filters accept {len(order):,} of {counted(made, 'candidates')}, of {n:,} that are "
        "wanted. Look at the rejected ones for why, or queue the query again for more."
    )
    return Settlement(query, made, ranked, " ".join(unknown), " ".join([short, *unknown]))
