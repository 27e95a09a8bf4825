"""Pilot of a job: some candidates of each query first, and rounds by their acceptance."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TypeVar

import numpy as np
import pandas as pd

from cobalance.base import IntArray, join_names
from cobalance.generation.planning import (
    estimate_acceptance,
    pilot_size,
    sum_to_make,
)
from cobalance.graph import GraphStore, QueryProgress, Rejections, query_id, read_rejections

Counts = TypeVar("Counts", int, IntArray, "pd.Series[int]")

PILOT_ABOVE = 200
"""A job that wants more images than this has a pilot unless it is ordered without one: with fewer,
two rounds take longer than the pilot saves."""


@dataclass(frozen=True)
class Schedule:
    """Candidates of the next round by the acceptance so far.

    Parameters
    ----------
    counts : mapping of int to int
        Candidates of each open query, by its position. While the pilot of any query is to be made,
        the others have 0.
    hopeless : tuple of int
        Positions of the queries that will not be had, and that no person has asked for again.
    expected : tuple of int or None
        The candidates that the job will have at its end, and the limits of their interval; None
        before any is made.
    """

    counts: Mapping[int, int]
    hopeless: tuple[int, ...]
    expected: tuple[int, int, int] | None


def schedule(
    progress: Sequence[QueryProgress], candidates_per_image: int, *, holds_back: bool = True
) -> Schedule:
    """Schedule a job's next round; it follows from the candidates alone.

    Parameters
    ----------
    progress : sequence of QueryProgress
        All queries of the job.
    candidates_per_image : int
        Most candidates of a query for each image that it wants; each retry allows as many again.
    holds_back : bool
        Whether queries that will not be had are held back; without, none counts as hopeless.
    """
    queries = [query for query in progress if query.is_open]
    rows = [
        (query.n, query.accepted, query.made, query.surplus, query.retries) for query in queries
    ]
    n, accepted, candidates, surplus, retries = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    limits = candidate_limit(n, retries, candidates_per_image)
    estimate = estimate_acceptance(n, accepted, candidates, limits, surplus)

    # A pilot makes nothing in vain: at most as many as are wanted.
    unmade_pilot = np.maximum(np.minimum(pilot_size(candidates_per_image), n) - candidates, 0)
    counts = unmade_pilot if unmade_pilot.any() else estimate["next_count"].to_numpy()

    # Who retries a query wants it whatever its acceptance.
    is_hopeless = (
        estimate["is_hopeless"].to_numpy() & (unmade_pilot == 0) & (retries == 0) & holds_back
    )

    expected = None
    n_made = sum(query.made for query in progress)
    if n_made:
        to_make, low, high = sum_to_make(estimate[~is_hopeless])
        expected = n_made + to_make, n_made + low, n_made + high

    positions = np.array([query.position for query in queries], dtype=np.int64)
    return Schedule(
        counts=dict(zip(positions.tolist(), counts.tolist(), strict=True)),
        hopeless=tuple(positions[is_hopeless].tolist()),
        expected=expected,
    )


def candidate_limit(n: Counts, retries: Counts, candidates_per_image: int) -> Counts:
    """Most candidates of a query, or of each of several."""
    return n * candidates_per_image * (retries + 1)


def explain_hopeless(store: GraphStore, job: str, positions: Sequence[int]) -> dict[int, str]:
    """Say why queries will not be had, by position; equal reasons have equal words."""
    ids = {query_id(job, position): position for position in positions}
    rejections = read_rejections(store, list(ids))
    return {ids[query]: describe_rejections(of_query) for query, of_query in rejections.items()}


def describe_rejections(rejections: Rejections) -> str:
    """Describe why a query's candidates are rejected.

    Examples
    --------
    >>> describe_rejections(Rejections(27, [["objects"]] * 26 + [["clip", "objects"]],
    ...                                [["gate"]] * 27, []))
    'It will not be had: the filter objects rejects 27 of 27 candidates, and never finds gate.'
    >>> describe_rejections(Rejections(27, [], [], ["It has no mask."] * 27))
    'It will not be had: 27 of 27 candidates are rejected. It has no mask.'
    """
    begin, n_candidates = "It will not be had:", rejections.made
    by_filter = Counter(name for names in rejections.filters for name in names)
    # Of filters that reject as many, the one that judges first.
    name, n_rejected = max(by_filter.items(), key=itemgetter(1), default=("", 0))
    if len(rejections.reasons) > n_rejected:
        reason, n_rejected = Counter(rejections.reasons).most_common(1)[0]
        return f"{begin} {n_rejected:,} of {n_candidates:,} candidates are rejected. {reason}"

    text = f"{begin} the filter {name} rejects {n_rejected:,} of {n_candidates:,} candidates"

    missing = Counter(concept for concepts in rejections.not_found for concept in concepts)
    never = [concept for concept, count in missing.items() if count == n_candidates]
    if never:
        text += f", and never finds {join_names(never)}"
    return f"{text}."
