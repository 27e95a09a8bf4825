"""Rounds and chunks: what is made next, each image once, whatever was rejected."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.image_request import seed_of
from generation.jobs.chunks import Chunk, chunks_of
from generation.jobs.rounds import MOST, is_made, next_spans
from generation.jobs.settings import DEFAULT_FILTERS, read_job_settings
from graph.errors import OptionError, UnknownNameError
from graph.jobs.rounds import QueryProgress, Round, Span


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), max_size=12),
    st.integers(1, 9),
)
def test_chunks_have_each_image_of_a_round_once_and_in_order(spans, size):
    of = Round(3, 0, tuple(Span(query, first, 5) for query, (first, _) in enumerate(spans)))
    chunks = chunks_of("job", of, size)
    items = [item for chunk in chunks for item in chunk.items]
    assert items == [(s.query, s.first + i) for s in of.spans for i in range(s.count)]
    assert all(len(chunk.items) == size for chunk in chunks[:-1])
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    assert all(chunk.id.startswith("003-") for chunk in chunks)


@given(st.integers(1, 40))
def test_halving_ends_at_single_images(n):
    todo = [Chunk("job", "000-000000", tuple((0, i) for i in range(n)))]
    singles = []
    while todo:
        chunk = todo.pop()
        halves = chunk.halves()
        assert [item for half in halves for item in half.items] == list(chunk.items) or not halves
        if halves:
            todo += halves
        else:
            singles += chunk.items
    assert sorted(singles) == [(0, i) for i in range(n)]


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
        assert is_made(Round(0, 0, tuple(spans)), [
            QueryProgress(i, "c", ("k",), n, "running", accepted[i], made[i])
            for i, n in enumerate(wanted)])  # fmt: skip
    assert set(state.values()) == {"done"}
    for i, n in enumerate(wanted):
        assert accepted[i] == n or made[i] == n * per_image * (1 + retries[i])


def test_seeds_differ_and_fit():
    seeds = {seed_of("job", query, index) for query in range(40) for index in range(40)}
    assert len(seeds) == 1600
    assert all(0 <= seed < 2**63 for seed in seeds)


@pytest.mark.parametrize("backend", DEFAULT_FILTERS)
def test_every_backend_s_usual_filters_are_known(backend):
    settings = read_job_settings({"backend": backend})
    assert tuple(settings.filter_options()) == DEFAULT_FILTERS[backend]


@pytest.mark.parametrize(
    ("values", "error", "said"),
    [
        ({"backend": "x"}, UnknownNameError, "unknown backend 'x'"),
        ({"filters": {"x": {}}}, UnknownNameError, "unknown filter 'x'"),
        ({"chunk_size": 0}, OptionError, "The setting chunk_size is 0"),
        ({"nonsense": 1}, UnknownNameError, "unknown setting 'nonsense'"),
        ({"masks": {"masks": "files"}}, OptionError, "mask_folder"),
        ({"segmenter_options": {"device": "cpu"}}, OptionError, "segmenter names none"),
        ({"making": {"width_px": 33}}, OptionError, "making.width_px is 33"),
    ],
)
def test_settings_that_cannot_be_used(values, error, said):
    with pytest.raises(error, match=said):
        read_job_settings(values)


def test_a_round_has_only_so_many_images_and_the_next_ones_have_the_rest():
    wanted = [QueryProgress(at, "urban", ("cow",), n, "queued", 0, 0)
              for at, n in enumerate((10, 10**9, 5))]  # fmt: skip
    spans, ended = next_spans(wanted, 4)
    assert spans == [Span(0, 0, 10), Span(1, 0, MOST - 10)]
    assert ended == {}
    half = [QueryProgress(1, "urban", ("cow",), MOST + 5, "running", MOST, MOST), wanted[2]]
    assert next_spans(half, 4)[0] == [Span(1, MOST, 5), Span(2, 0, 5)]


def test_a_round_does_not_wait_for_a_query_that_has_ended():
    made = QueryProgress(0, "urban", ("cow",), 3, "running", 3, 3)
    ended = QueryProgress(1, "urban", ("cow",), 3, "done", 1, 1)
    of = Round(0, 0, (Span(0, 0, 3), Span(1, 0, 3)))
    assert is_made(of, [made, ended])
    assert not is_made(of, [made, replace(ended, state="running")])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prompt": "a photo"}, "no place for the concepts"),
        ({"segmenter": "sam2"}, "unknown segmenter"),
        ({"masks": {"masks": "segmenter"}}, "segmenter names none"),
        ({"filters": {"blank": {"threshold": 2}}}, "The filter blank: threshold is 2: input"),
        ({"filters": {"clip": {"text": "a photo"}}}, "no place for the concepts"),
        ({"segmenter": "sam", "segmenter_options": {"dtype": 1}}, "The segmenter sam: dtype is 1"),
    ],
)
def test_settings_that_no_worker_could_use_are_refused_when_ordered(settings, message):
    with pytest.raises(OptionError, match=message):
        read_job_settings(settings)
