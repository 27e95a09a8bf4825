"""Settle complete queries of a job: rank their candidates, and choose the best."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from cobalance.base import inflect
from cobalance.generation.filters import FILTERS
from cobalance.generation.filters.pool import Pool
from cobalance.generation.jobs.settings import JobSettings
from cobalance.generation.output.chunk_records import read_vectors
from cobalance.generation.output.image_files import delete_dropped
from cobalance.generation.output.manifest_rows import judgement_values, scores_by_name
from cobalance.generation.output.settlement_records import Settled, add_settled
from cobalance.generation.ranking import rank_candidates, sum_ranks
from cobalance.graph import (
    GraphStore,
    MadeCandidate,
    QueryProgress,
    RankedCandidate,
    Settlement,
    judge_made,
    query_id,
    read_made,
    settle_queries,
)
from cobalance.vision.stored.output_folder import OutputFolder

# The candidates of so many queries are read and settled at once.
_QUERIES = 100


def candidates_wanted(query: QueryProgress, best_of: int) -> int:
    """Number of candidates of a query, of which the best are chosen."""
    return query.n * best_of + query.more


def is_unsettled(query: QueryProgress, best_of: int) -> bool:
    """Whether an open query has all its candidates, and the best are to be chosen."""
    has_all = query.made >= candidates_wanted(query, best_of)
    return query.is_open and has_all and query.settled < query.made


Judged = Mapping[str, Mapping[str, Any]]
"""Judgements of one candidate by filter, as the manifest has them; JSON values."""


def judge_pool(folder: OutputFolder, job: str, settings: JobSettings) -> dict[str, Judged]:
    """Judge all images of a job by the filters that look at all of them; by candidate.

    The vectors of a filter are all in memory at once, in 32 bits: 20,000 images of 512 numbers, and
    as many sources, take 80 MB twice.
    """
    judged: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, options in settings.filter_options().items():
        judge = FILTERS[name].judge_pool
        if judge is None:
            continue

        pool = Pool.of(read_vectors(folder, job, name))
        if not pool.candidates:
            continue
        for candidate, judgement in judge(pool, FILTERS.check(name, options)).items():
            judged[candidate][name] = judgement_values(judgement)
    return dict(judged)


def apply_judgements(candidate: MadeCandidate, judged: Judged) -> MadeCandidate:
    """A candidate with the scores, and no longer eligible where a filter rejects it.

    What people have decided stays.
    """
    # A filter's scores are its name, or begin with it.
    other_scores = {
        name: score
        for name, score in candidate.scores.items()
        if name.partition(" ")[0] not in judged
    }
    scored = replace(candidate, scores=other_scores | scores_by_name(judged))

    reasons = [values["reason"] for values in judged.values() if not values["accepted"]]
    # What a person has decided, a filter does not change.
    if not reasons or not candidate.eligible or candidate.decided_by is not None:
        return scored
    return replace(scored, eligible=False, reason=" ".join(reasons))


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

        With a filter that looks at all images of the job, none is settled before all are made.

        Parameters
        ----------
        progress : sequence of QueryProgress
            All queries of the job.
        """
        best_of = self.settings.best_of
        complete = [query for query in progress if is_unsettled(query, best_of)]
        judged: dict[str, Judged] = {}
        filters = self.settings.filter_options()
        if complete and any(FILTERS[name].judge_pool is not None for name in filters):
            # These filters compare all images of the job, so that they wait for the last one.
            pending = (query for query in progress if query.is_open)
            if any(query.made < candidates_wanted(query, best_of) for query in pending):
                return False
            judged = judge_pool(self.folder, self.job, self.settings)

        for start in range(0, len(complete), _QUERIES):
            self._settle(complete[start : start + _QUERIES], judged, round_number)
        if complete and not self.settings.keep_losers:
            positions = {query.position for query in complete}
            delete_dropped(self.store, self.folder, self.job, positions)
        return bool(complete)

    def _settle(
        self,
        queries: Sequence[QueryProgress],
        judged: Mapping[str, Judged],
        round_number: int,
    ) -> None:
        """Rank the candidates of some queries, and write the outcome to folder and graph."""
        ids = [query_id(self.job, query.position) for query in queries]
        candidates_of = read_made(self.store, ids)
        if judged:
            candidates_of = {
                query: self._judge(candidates, judged)
                for query, candidates in candidates_of.items()
            }

        settlements = []
        ranked: dict[str, RankedCandidate] = {}
        for identity, query in zip(ids, queries, strict=True):
            candidates = candidates_of.get(identity, [])
            settlement = rank_query(
                identity, query.made, query.n, candidates, self.settings.rank_by
            )
            settlements.append(settlement)
            ranked |= {candidate.id: candidate for candidate in settlement.ranked}

        # The record is written before the graph, which may keep the winners alone.
        settled = {
            candidate.id: _settled_row(candidate, ranked.get(candidate.id), judged)
            for candidate in chain.from_iterable(candidates_of.values())
        }
        add_settled(self.folder, self.job, round_number, queries[0].position, settled)
        settle_queries(self.store, self.job, settlements, keep_losers=self.settings.keep_losers)

    def _judge(
        self, candidates: Sequence[MadeCandidate], judged: Mapping[str, Judged]
    ) -> list[MadeCandidate]:
        """Apply the judgements to candidates, and write those that change them to the graph."""
        after, changes = [], {}
        for old in candidates:
            new = apply_judgements(old, judged.get(old.id, {}))
            after.append(new)
            if new != old:
                is_rejected = old.eligible and not new.eligible
                changes[new.id] = new.scores, new.reason if is_rejected else ""

        judge_made(self.store, self.job, changes)
        return after


def _settled_row(
    candidate: MadeCandidate, ranked: RankedCandidate | None, judged: Mapping[str, Judged]
) -> Settled:
    """The outcome of a candidate, as the output folder has it."""
    row: Settled = {"verdict": "rejected", "rank": None, "reason": candidate.reason}
    if ranked is not None:
        row["rank"], row["reason"] = ranked.rank, ranked.reason
    if candidate.decided_by is not None:
        row["decided_by"] = candidate.decided_by
    if candidate.id in judged:
        row["judged"] = judged[candidate.id]
    return row


def rank_query(
    query: str,
    made: int,
    n: int,
    candidates: Sequence[MadeCandidate],
    rank_by: Mapping[str, float],
) -> Settlement:
    """Rank the candidates of a query by the weighted sum of their ranks.

    A score that a candidate does not have, or that is NaN, ranks last, and is told.

    Parameters
    ----------
    made, n : int
        How many candidates it has in all, and the images wanted.
    candidates : sequence of MadeCandidate
        In any order; those that may not be chosen are not ranked.
    rank_by : mapping of str to float
        The weights of the scores.
    """
    eligible = [candidate for candidate in candidates if candidate.eligible]
    # Shorter ids come first, so that number 10 follows 9.
    ordered = sorted(eligible, key=lambda candidate: (len(candidate.id), candidate.id))
    names, weights = list(rank_by), list(rank_by.values())
    scores = np.full((len(ordered), len(names)), np.nan)
    for row, candidate in enumerate(ordered):
        scores[row] = [candidate.scores.get(name, np.nan) for name in names]
    order = rank_candidates(scores, weights).tolist()
    sums = sum_ranks(scores, weights).tolist()

    ranked = []
    for rank, row in enumerate(order, 1):
        missing = [names[column] for column in np.flatnonzero(np.isnan(scores[row]))]
        reason = (
            f"Rank {rank} of {len(order)}: the sum of its ranks is {sums[row]:g}, that of the best "
            f"{sums[order[0]]:g}."
        )
        if missing:
            reason += f" It has no score {', '.join(missing)}, and is last by that."
        ranked.append(RankedCandidate(ordered[row].id, rank, reason))

    unknown = [
        f"{n_missing:,} of {inflect(len(order), 'candidates')} have no score {name}, and are last "
        "by that."
        for name, n_missing in zip(names, np.isnan(scores).sum(axis=0).tolist(), strict=True)
        if n_missing
    ]
    short = (
        f"{len(order):,} of {inflect(n, 'images')} accepted after {made:,} candidates, the most "
        "that the job allows. Look at the rejected ones for why, or queue the query again for more."
    )
    return Settlement(query, made, ranked, " ".join(unknown), " ".join([short, *unknown]))
