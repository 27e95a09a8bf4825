"""The schedule of a pilot, and why queries will not be had."""

from dataclasses import replace

from cobalance.generation.jobs.pilot import describe_rejections, schedule
from cobalance.generation.planning.acceptance import estimate_acceptance
from cobalance.graph.jobs.acceptance import Rejections
from cobalance.graph.jobs.rounds import QueryProgress


def query(position, n, accepted=0, made=0, state="running", **more):
    return QueryProgress(position, "urban", ("cow",), n, state, accepted, made, **more)


def test_a_pilot_makes_no_more_than_is_wanted_and_everything_else_waits_for_it():
    progress = [query(0, 100), query(1, 5), query(2, 100, 20, 27), query(3, 9, 9, 9, "done")]
    planned = schedule(progress, 4)
    assert planned.counts == {0: 27, 1: 5, 2: 0}
    assert planned.hopeless == ()


def test_after_the_pilot_rounds_follow_from_the_acceptance():
    progress = [query(0, 100, 20, 27), query(1, 5, 3, 5), query(2, 100, 0, 27)]
    planned = schedule(progress, 4)
    estimate = estimate_acceptance([100, 5, 100], [20, 3, 0], [27, 5, 27], [400, 20, 400])
    assert planned.counts == dict(enumerate(estimate["next_count"]))
    assert planned.counts[0] == 92  # 80 missing, at most 87% accepted
    assert planned.hopeless == (2,)
    # What is held back makes no more.
    to_make = estimate["to_make"][:2].sum()
    assert planned.expected is not None
    assert planned.expected[0] == 59 + round(to_make)


def test_a_query_that_a_person_retries_is_not_held_back():
    hopeless = query(0, 100, 0, 27)
    assert schedule([hopeless], 4).hopeless == (0,)
    retried = replace(hopeless, made=400, retries=1)
    assert schedule([retried], 4).hopeless == ()
    assert schedule([retried], 4).counts == {0: 400}


def test_nothing_is_expected_before_the_first_candidate():
    assert schedule([query(0, 100)], 4).expected is None
    assert schedule([], 4).counts == {}


def test_the_reason_names_the_filter_that_rejects_most_and_what_it_never_finds():
    filters = [["clip"]] * 3 + [["clip", "objects"]] * 5 + [["objects"]] * 4
    not_found = [[]] * 3 + [["cow", "gate"]] * 5 + [["gate"]] * 4
    assert describe_rejections(Rejections(14, filters, not_found, ["It is black."])) == (
        "It will not be had: the filter objects rejects 9 of 14 candidates."
    )
    everywhere = Rejections(9, [["objects"]] * 9, not_found[3:], [])
    assert describe_rejections(everywhere) == (
        "It will not be had: the filter objects rejects 9 of 9 candidates, and never finds gate."
    )
