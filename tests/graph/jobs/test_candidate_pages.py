"""Pages of candidates with all that was reported."""

from datetime import UTC, datetime, timedelta

from cobalance.graph.jobs.candidate_pages import list_candidates
from cobalance.graph.jobs.candidates import NewCandidate, decide, record_made
from cobalance.graph.jobs.lifecycle import query_id
from tests.graph.jobs.reporting import accepted


def test_candidates_come_with_all_that_was_reported_in_pages(store, job):
    query, other = query_id(job, 0), query_id(job, 1)
    full = NewCandidate(
        f"{query}/0",
        "file:///out/0.png",
        "rejected",
        {"clip": 0.25, "objects": 1.0},
        "the cow is missing",
        "7",
        "cars/7.jpg",
        "masks/7.png",
        -(2**63),
        1.5,
    )
    record_made(store, job, {query: [full]})
    later = {query: [accepted(query, i) for i in range(1, 6)]}
    record_made(store, job, later | {other: [NewCandidate(f"{other}/0", None, "rejected")]})
    (read,) = list_candidates(store, job, per_page=1).candidates
    assert (read.class_name, read.concepts, read.query) == ("a", ("x", "y"), query)
    assert (read.uri, read.source_image, read.source_uri, read.mask_uri) == (
        "file:///out/0.png",
        "7",
        "cars/7.jpg",
        "masks/7.png",
    )
    assert read.scores == {"clip": 0.25, "objects": 1.0}
    assert (read.reason, read.seed, read.seconds) == ("the cow is missing", -(2**63), 1.5)
    assert (read.verdict, read.decided_by) == ("rejected", None)
    pages = [list_candidates(store, job, page=i, per_page=3) for i in (1, 2, 3, 4)]
    assert [len(page.candidates) for page in pages] == [3, 3, 1, 0]
    assert {page.total for page in pages} == {7}
    assert len({c.id for page in pages for c in page.candidates}) == 7
    assert list_candidates(store, job, query=query).total == 6
    assert list_candidates(store, job, query=query, verdict="accepted").total == 5
    assert list_candidates(store, job, verdict="rejected").total == 2
    assert list_candidates(store, "no such job", query=query).total == 0


def test_those_that_people_have_decided_on_since_stay_in_their_page(store, job):
    query = query_id(job, 0)
    record_made(store, job, {query: [accepted(query, i) for i in range(3)]})
    first = list_candidates(store, job).candidates[0].id
    decide(store, first, "rejected", "ann")

    def listed(since: datetime | None) -> list[str]:
        found = list_candidates(store, job, verdict="accepted", decided_since=since)
        assert found.total == len(found.candidates)
        return [one.id for one in found.candidates]

    now, while_ = datetime.now(UTC), timedelta(minutes=5)
    assert first in listed(now - while_)
    assert len(listed(now - while_)) == 3
    for since in (None, now + while_):
        assert first not in listed(since)
        assert len(listed(since)) == 2
