"""Rounds: what is generated next, each candidate once, whatever was rejected."""

from collections import Counter
from dataclasses import replace

from hypothesis import given, strategies as st

from cobalance.generation.jobs.rounds import MAX_ROUND, is_complete, next_spans
from cobalance.graph.jobs.rounds import QueryProgress, Round, Span


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(1, 4), st.data())
def test_a_job_ends_with_enough_or_at_its_cap(wanted, per_image, data):
    """Simulated with any verdicts: numbers go on without a gap, and no query is asked too much."""
    accepted, made, state = Counter(), Counter(), dict.fromkeys(range(len(wanted)), "running")
    retries = [data.draw(st.integers(0, 2)) for _ in wanted]
    for _ in range(1000):
        progress = [
            QueryProgress(i, "c", ("k",), n, state[i], accepted[i], made[i], retries[i])
            for i, n in enumerate(wanted)
        ]
        spans, ended = next_spans(progress, per_image)
        state |= dict.fromkeys(ended, "done")
        if not spans:
            break
        for span in spans:
            assert span.first == made[span.query]
            assert 0 < span.count <= wanted[span.query] - accepted[span.query]
            good = data.draw(st.integers(0, span.count))
            made[span.query] += span.count
            accepted[span.query] += good
        assert is_complete(Round(0, 0, tuple(spans)), [
            QueryProgress(i, "c", ("k",), n, "running", accepted[i], made[i])
            for i, n in enumerate(wanted)])  # fmt: skip
    assert set(state.values()) == {"done"}
    for i, n in enumerate(wanted):
        assert accepted[i] == n or made[i] == n * per_image * (1 + retries[i])


def test_a_round_has_only_so_many_images_and_the_next_ones_have_the_rest():
    wanted = [QueryProgress(at, "urban", ("cow",), n, "queued", 0, 0)
              for at, n in enumerate((10, 10**9, 5))]  # fmt: skip
    spans, ended = next_spans(wanted, 4)
    assert spans == [Span(0, 0, 10), Span(1, 0, MAX_ROUND - 10)]
    assert ended == {}
    half = [
        QueryProgress(1, "urban", ("cow",), MAX_ROUND + 5, "running", MAX_ROUND, MAX_ROUND),
        wanted[2],
    ]
    assert next_spans(half, 4)[0] == [Span(1, MAX_ROUND, 5), Span(2, 0, 5)]


def test_a_round_does_not_wait_for_a_query_that_has_ended():
    made = QueryProgress(0, "urban", ("cow",), 3, "running", 3, 3)
    ended = QueryProgress(1, "urban", ("cow",), 3, "done", 1, 1)
    of = Round(0, 0, (Span(0, 0, 3), Span(1, 0, 3)))
    assert is_complete(of, [made, ended])
    assert not is_complete(of, [made, replace(ended, state="running")])


def test_what_is_in_vain_is_not_asked_again_and_says_why():
    wanted = [QueryProgress(at, "urban", ("cow",), 1, "running", 0, 2) for at in range(2)]
    spans, ended = next_spans(wanted, 4, given_up={1: "It has no mask."})
    assert spans == [Span(0, 2, 1)]
    assert ended == {1: "It has no mask."}


def test_the_best_are_chosen_of_as_many_candidates_as_are_asked_for():
    """Whatever the filters accept, and whatever is allowed for each image otherwise."""
    wanted = [
        QueryProgress(0, "urban", ("cow",), 2, "queued", 0, 0),
        QueryProgress(1, "urban", ("cow",), 1, "running", 1, 25),
        QueryProgress(2, "urban", ("cow",), 1, "running", 0, 30),  # waits to be settled
        QueryProgress(3, "urban", ("cow",), 1, "queued", 0, 30, 1, more=30, settled=30),
    ]
    spans, ended = next_spans(wanted, 4, 30)
    assert spans == [Span(0, 0, 60), Span(1, 25, 5), Span(3, 30, 30)]
    assert ended == {}


@given(st.sets(st.integers(0, 12), max_size=12), st.integers(0, 14))
def test_numbers_that_lack_are_made_first(there, room):
    top = max(there, default=-1) + 1
    lacking = sorted(set(range(top)) - there)
    query = QueryProgress(0, "urban", ("cow",), 1, "running", 0, len(there), 1)
    spans, _ = next_spans([query], 4, len(there) + room + 2, {0: lacking})
    made = [index for span in spans for index in range(span.first, span.first + span.count)]
    assert made == [*lacking, *range(top, top + len(made))][: room + 2]
    assert len(made) == room + 2
