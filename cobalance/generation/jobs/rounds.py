"""Rounds of a job: report finished chunks, choose the next candidates, end complete queries."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from types import MappingProxyType
from typing import Any

from cobalance.base import group_pairs, inflect
from cobalance.generation.filters import FILTERS
from cobalance.generation.jobs.pilot import candidate_limit, explain_hopeless, schedule
from cobalance.generation.jobs.settings import JobSettings
from cobalance.generation.jobs.settlement import Settler, candidates_wanted, is_unsettled
from cobalance.generation.output.image_files import delete_dropped
from cobalance.generation.output.manifest_rows import Row, scores_by_name
from cobalance.graph import (
    GraphStore,
    NewCandidate,
    QueryProgress,
    Round,
    Span,
    begin_round,
    find_shared_reasons,
    fingerprints,
    finish_queries,
    missing_numbers,
    query_id,
    read_query_progress,
    record_made,
    reject_made,
    reject_surplus,
)
from cobalance.graph.database.sync import BATCH
from cobalance.vision.stored.output_folder import OutputFolder

MAX_ROUND = 16_384
"""Most candidates of a round, which are listed, cut into chunks and queued at once."""

NOT_GENERATED = "It could not be generated: "
"""Begins the reason of a candidate for which a backend failed, which may have been the device's."""

# An edit is given up after so many candidates without a source for the same reason: the source is
# the same with every seed.
_GIVE_UP = 2

_ALL_PROVENANCE = (
    "prompt",
    "chunk",
    "backend",
    "model",
    "revision",
    "weights_sha256",
    "digital_source_type",
    "mask_sha256",
    "sha256",
    "width_px",
    "height_px",
    "made_at",
)


def report_chunk(store: GraphStore, job: str, rows: Sequence[Row]) -> None:
    """Write a chunk's candidates to the graph, and end the queries that it completes.

    A query ends here if all its candidates are in this chunk; the others end with their round.

    Raises
    ------
    NotFoundError
        The job was dropped with its dataset.
    """
    by_query = group_pairs((query_id(job, row["query"]), candidate_of(row)) for row in rows)
    record_made(store, job, by_query, finish=True)


def candidate_of(row: Row) -> NewCandidate:
    """Convert a manifest row into a candidate for the graph."""
    judgements = json.loads(row["scores"])
    provenance: dict[str, Any] = {name: row[name] for name in _ALL_PROVENANCE}
    provenance["settings"] = json.loads(row["settings"])
    provenance["software"] = json.loads(row["software"])
    for name, judgement in judgements.items():
        if judgement["details"]:
            provenance[name] = judgement["details"]

    return NewCandidate(
        row["candidate"],
        row["path"],
        row["verdict"],
        scores=scores_by_name(judgements),
        reason=row["reason"],
        source_image=row["source_image"],
        source_uri=row["source_uri"],
        mask_uri=row["mask_path"],
        seed=row["seed"],
        seconds=row.get("seconds"),
        fingerprint=_fingerprint(judgements),
        rejected_by=[name for name, judged in judgements.items() if not judged["accepted"]],
        not_found=_not_found(judgements),
        provenance=provenance,
        index=row["index"],
    )


def is_complete(of: Round, progress: Sequence[QueryProgress]) -> bool:
    """Whether every candidate of a round is made, or its query has ended."""
    made_of = {query.position: query.made for query in progress if query.is_open}
    return all(
        made_of[span.query] >= span.first + span.count for span in of.spans if span.query in made_of
    )


def next_spans(
    progress: Sequence[QueryProgress],
    candidates_per_image: int,
    best_of: int = 1,
    missing_numbers: Mapping[int, Sequence[int]] = MappingProxyType({}),
    given_up: Mapping[int, str] = MappingProxyType({}),
    counts: Mapping[int, int] | None = None,
) -> tuple[list[Span], dict[int, str]]:
    """Choose the next candidates and the queries to end, with messages for people.

    A round has at most `MAX_ROUND` candidates; queries that get none wait for the next one. Where
    the best of several candidates are chosen, a query makes all of these whatever the filters say,
    and ends when it is settled.

    Parameters
    ----------
    progress : sequence of QueryProgress
        All queries of the job.
    candidates_per_image : int
        Most candidates of a query for each image that it wants; each retry allows as many again.
    best_of : int
        Candidates of each wanted image, of which one is chosen; `candidates_per_image` is not used
        if there are several.
    missing_numbers : mapping of int to sequence of int
        From `cobalance.graph.jobs.rounds.missing_numbers`: these are made first.
    given_up : mapping of int to str
        Queries that end short before their cap, each with its message.
    counts : mapping of int to int, optional
        Candidates of each query in this round, by its position; by default as many as images are
        missing.
    """
    spans, ended, room = list[Span](), dict[int, str](), MAX_ROUND
    for query in progress:
        if not query.is_open:
            continue

        if best_of > 1:
            # Its candidates are judged when all are made.
            if is_unsettled(query, best_of):
                continue
            most = candidates_wanted(query, best_of)
            missing = most - query.made
        else:
            most = candidate_limit(query.n, query.retries, candidates_per_image)
            missing = query.n - query.accepted

        if missing <= 0:
            ended[query.position] = ""
        elif query.position in given_up:
            ended[query.position] = given_up[query.position]
        elif query.made >= most:
            ended[query.position] = (
                f"{query.accepted:,} of {inflect(query.n, 'images')} accepted after {query.made:,} "
                "candidates, the most that the job allows. Look at the rejected ones for why."
            )
        elif room > 0:
            planned = missing if counts is None else counts[query.position]
            count = min(planned, most - query.made, room)
            spans += _spans(query, missing_numbers.get(query.position, ()), count)
            room -= count
    return spans, ended


def _spans(query: QueryProgress, missing: Sequence[int], count: int) -> list[Span]:
    """Next `count` candidates of a query: missing numbers first, then new ones."""
    first = query.made + len(missing)
    again = missing[:count]
    numbers = [*again, *range(first, first + count - len(again))]

    # Numbers that follow each other differ from their places by the same.
    spans = []
    for _, run in groupby(enumerate(numbers), key=lambda item: item[1] - item[0]):
        consecutive = [number for _, number in run]
        spans.append(Span(query.position, consecutive[0], len(consecutive)))
    return spans


def next_round(
    store: GraphStore,
    folder: OutputFolder,
    job: str,
    settings: JobSettings,
    current: Round | None,
) -> Round | None:
    """End a round and begin the next; None if nothing is left to generate.

    Images of a query that repeat an earlier one of another chunk are rejected first; then the best
    candidates of complete queries are chosen, where a job makes several for each image. Any number
    of workers may do this at the same time. `cobalance.graph.jobs.reports.end_job` ends the job,
    once its manifest is written.
    """
    if current is not None:
        _reject_repeated(store, job, settings, current)
    progress = read_query_progress(store, job)
    given_up: dict[int, str] = {}
    counts = expected = None
    if settings.best_of == 1:
        has_pilot = bool(settings.pilot)
        planned = schedule(progress, settings.candidates_per_image, holds_back=has_pilot)
        expected = planned.expected
        if has_pilot:
            # A round without a pilot asks for no more than are missing.
            counts = planned.counts
            _reject_surplus(store, job, progress)
        given_up = explain_hopeless(store, job, planned.hopeless)
        given_up |= _explain_sourceless(store, job, progress)
    elif current is not None:
        settler = Settler(store, folder, job, settings)
        while settler.settle(progress, current.number):
            progress = read_query_progress(store, job)

    spans, ended = next_spans(
        progress,
        settings.candidates_per_image,
        settings.best_of,
        missing_numbers(store, job, progress),
        given_up,
        counts,
    )

    messages = {query_id(job, position): message for position, message in ended.items()}
    finish_queries(store, job, messages, after=None if current is None else current.number)

    if not spans:
        if settings.best_of > 1 and not settings.keep_losers:
            delete_dropped(store, folder, job)
        return None
    number = 0 if current is None else current.number + 1
    return begin_round(store, job, number, spans, best_of=settings.best_of, expected=expected)


def _reject_surplus(store: GraphStore, job: str, progress: Sequence[QueryProgress]) -> None:
    """Reject accepted images beyond the wanted number, the last ones first.

    Which images a job accepts does not depend on how many its rounds ask for.
    """
    queries = [query for query in progress if query.is_open and query.accepted > query.n]
    reject_surplus(store, job, [query_id(job, query.position) for query in queries])


def _explain_sourceless(
    store: GraphStore, job: str, progress: Sequence[QueryProgress]
) -> dict[int, str]:
    """Messages of queries that will never have a source, by position."""
    messages = {}
    by_position = {query.position: query for query in progress}
    for position, reason in find_shared_reasons(store, job, progress, _GIVE_UP).items():
        # Where a backend failed, it may succeed on another device.
        if reason.startswith(NOT_GENERATED):
            continue
        query = by_position[position]
        messages[position] = (
            f"{query.accepted:,} of {inflect(query.n, 'images')} accepted; given up after "
            f"{query.made:,} candidates, all for one reason: {reason}"
        )
    return messages


def _reject_repeated(store: GraphStore, job: str, settings: JobSettings, of: Round) -> None:
    """Reject images that repeat one of an earlier chunk or round of their query."""
    checks = [
        partial(check.find, options=FILTERS.check(name, options))
        for name, options in settings.filter_options().items()
        if (check := FILTERS[name].repeats) is not None
    ]
    if not checks:
        return

    reasons = {}
    for start in range(0, len(of.spans), BATCH):
        queries = [query_id(job, span.query) for span in of.spans[start : start + BATCH]]
        for of_query in fingerprints(store, queries):
            hashes = [candidate.fingerprint for candidate in of_query]
            for candidate, earlier in zip(of_query, checks[0](hashes), strict=True):
                if earlier is not None:
                    other = of_query[earlier].candidate
                    reasons[candidate.candidate] = f"It is nearly the same as candidate {other}."
    reject_made(store, job, reasons)


def _not_found(judgements: Mapping[str, Any]) -> list[str]:
    """The requested concepts that any filter did not find, once each."""
    concepts = dict[str, None]()
    for name, judged in judgements.items():
        detail = FILTERS[name].missing
        if detail is not None:
            concepts |= dict.fromkeys(judged["details"].get(detail, ()))
    return list(concepts)


def _fingerprint(found: Mapping[str, Any]) -> str | None:
    """The fingerprint that the first filter which looks for repetitions gave an image."""
    checks = ((judged, FILTERS[name].repeats) for name, judged in found.items())
    return next((judged["details"].get(check.detail) for judged, check in checks if check), None)
