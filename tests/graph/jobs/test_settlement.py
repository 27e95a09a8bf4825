"""Settled queries: who is accepted as people decide, and what is left where losers are dropped."""

from random import Random

import pytest

from cobalance.base.errors import ConflictError
from cobalance.base.records import Edit, PlannedQuery
from cobalance.graph.dataset.read import read_annotations
from cobalance.graph.jobs.candidate_pages import list_candidates
from cobalance.graph.jobs.candidates import NewCandidate, decide, record_made
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.reports import start_queries
from cobalance.graph.jobs.rounds import Span, begin_round
from cobalance.graph.jobs.settlement import RankedCandidate, Settlement, read_made, settle_queries
from cobalance.graph.jobs.status import read_job, read_queries
from tests.graph.jobs.reporting import counted, recounted, verdicts_of

MADE = 5


def candidate(query, index, **changes):
    found = NewCandidate(
        f"{query}/{index:06d}", f"{index}.png", "accepted", {"s": 1.0}, index=index
    )
    return NewCandidate(**(vars(found) | changes))


@pytest.fixture
def settle(store, loaded):
    """Order a query for n images, of which the candidates rank in the order of their numbers."""

    def make(n=1, *, keep_losers=True, rejected=()):
        job = create_job(store, loaded, "mine", [("a", ("x",), n)])
        query = query_id(job, 0)
        begin_round(store, job, 0, [Span(0, 0, MADE)], best_of=MADE)
        start_queries(store, job, 0, [query])
        made = [
            candidate(query, index)
            if index not in rejected
            else candidate(query, index, verdict="rejected", reason="blank")
            for index in range(MADE)
        ]
        record_made(store, job, {query: made}, finish=True)
        found = [one.id for one in read_made(store, [query])[query] if one.eligible]
        ranked = [RankedCandidate(name, at, f"Rank {at}.") for at, name in enumerate(found, 1)]
        assert counted(store, job)["pending"] == MADE - len(rejected)
        settle_queries(
            store, job, [Settlement(query, MADE, ranked, "", "short")], keep_losers=keep_losers
        )
        return job

    return make


def chosen(store, job):
    verdicts = verdicts_of(store, job)
    return {int(name[-6:]) for name, found in verdicts.items() if found["verdict"] == "accepted"}


def choose(store, job, index, verdict="accepted"):
    counts = decide(store, f"{job}/000000/{index:06d}", verdict, "ann")
    assert counted(store, job) == recounted(store, job)
    return counts


def test_the_best_is_accepted_and_the_others_are_rejected_with_their_rank(store, settle):
    job = settle(rejected=(0, 3))
    assert chosen(store, job) == {1}
    found = {int(one.id[-6:]): one for one in list_candidates(store, job).candidates}
    assert [found[index].rank for index in range(MADE)] == [None, 1, 2, None, 3]
    assert [found[index].reason for index in range(MADE)] == [
        "blank",
        "",
        "Rank 2.",
        "blank",
        "Rank 3.",
    ]
    queries = read_queries(store, job)
    assert queries.loc[0, ["state", "accepted", "rejected", "pending"]].tolist() == [
        "done",
        1,
        4,
        0,
    ]


def test_whoever_accepts_another_candidate_rejects_the_one_that_was_chosen(store, settle):
    job = settle()
    assert choose(store, job, 3).accepted == 1
    assert chosen(store, job) == {3}
    verdicts = verdicts_of(store, job)
    assert verdicts[f"{job}/000000/000003"]["decided_by"] == "ann"
    displaced = verdicts[f"{job}/000000/000000"]
    assert displaced["reason"] == "Another candidate was chosen by hand."
    assert displaced["decided_by"] is None
    choose(store, job, 4)
    assert chosen(store, job) == {4}
    choose(store, job, 4, "rejected")
    assert chosen(store, job) == {0}  # the best of those that nobody has rejected


def test_an_edited_image_has_one_of_each_group_whatever_people_accept(store, loaded):
    edited = read_annotations(store, loaded).images["id"][0]
    job = create_job(store, loaded, "mine", [PlannedQuery("a", (), 1, Edit(edited))])
    query = query_id(job, 0)
    begin_round(store, job, 0, [Span(0, 0, 2)])
    start_queries(store, job, 0, [query])
    made = [candidate(query, 0, verdict="rejected", reason="blank"), candidate(query, 1)]
    record_made(store, job, {query: made}, finish=True)
    assert chosen(store, job) == {1}
    assert choose(store, job, 0).accepted == 1
    assert chosen(store, job) == {0}
    assert choose(store, job, 0, "rejected").accepted == 0
    assert choose(store, job, 1).accepted == 1
    assert chosen(store, job) == {1}


def test_whoever_rejects_the_chosen_one_accepts_the_next(store, settle):
    job = settle(rejected=(1,))
    for expected in (2, 3, 4):
        (current,) = chosen(store, job)
        assert choose(store, job, current, "rejected").accepted == 1
        assert chosen(store, job) == {expected}
    assert choose(store, job, 4, "rejected").accepted == 0
    assert read_job(store, job).short == 1
    assert read_queries(store, job)["message"][0].startswith("People have rejected what was chosen")
    assert choose(store, job, 1).accepted == 1  # although the filters reject it
    assert read_queries(store, job)["message"][0] == ""


def test_as_many_are_accepted_as_are_wanted_whatever_people_decide(store, settle):
    random = Random(5)
    job = settle(3)
    rejected = set()
    for _ in range(25):
        index, verdict = random.randrange(MADE), random.choice(["accepted", "rejected"])
        choose(store, job, index, verdict)
        rejected = rejected | {index} if verdict == "rejected" else rejected - {index}
        found = chosen(store, job)
        assert len(found) == min(3, MADE - len(rejected))
        assert not found & rejected
        assert verdict == "rejected" or index in found


def test_what_people_decide_before_the_best_are_chosen_stays(store, loaded):
    job = create_job(store, loaded, "mine", [("a", ("x",), 2)])
    query = query_id(job, 0)
    begin_round(store, job, 0, [Span(0, 0, MADE)], best_of=3)
    record_made(store, job, {query: [candidate(query, index) for index in range(MADE)]})
    decide(store, f"{query}/000000", "rejected", "ann")
    decide(store, f"{query}/000004", "accepted", "ann")
    names = [one.id for one in read_made(store, [query])[query] if one.eligible]
    assert [name[-1] for name in names] == ["1", "2", "3", "4"]
    ranked = [RankedCandidate(name, at, f"Rank {at}.") for at, name in enumerate(names, 1)]
    settle_queries(store, job, [Settlement(query, MADE - 1, ranked)])
    assert chosen(store, job) == {4}  # another candidate has come meanwhile
    for _ in range(2):
        settle_queries(store, job, [Settlement(query, MADE, ranked)])
        assert chosen(store, job) == {1, 4}
    assert counted(store, job) == recounted(store, job)


def test_losers_that_are_not_kept_are_counted_and_do_not_come_back(store, settle):
    job = settle(keep_losers=False, rejected=(0,))
    query = query_id(job, 0)
    assert list(verdicts_of(store, job)) == [f"{query}/000001"]
    before = counted(store, job)
    assert (before["accepted"], before["rejected"], before["pending"]) == (1, 4, 0)
    record_made(store, job, {query: [candidate(query, index) for index in range(MADE)]})
    assert counted(store, job) == before == recounted(store, job)
    assert list(verdicts_of(store, job)) == [f"{query}/000001"]
    with pytest.raises(ConflictError, match=f"was not kept.*run `retry\\('{job}', short=True\\)`"):
        decide(store, f"{query}/000003", "accepted", "ann")
    assert choose(store, job, 1, "rejected").accepted == 0
    assert read_job(store, job).short == 1
    assert choose(store, job, 1).accepted == 1


def test_what_is_left_of_a_query_that_is_short_is_kept(store, settle):
    job = settle(3, keep_losers=False, rejected=(0, 1, 4))
    assert len(verdicts_of(store, job)) == MADE
    assert read_queries(store, job)["message"][0] == "short"
