"""Chunks: each candidate of a round once and in order, however often they are halved."""

from hypothesis import given, strategies as st

from cobalance.generation.jobs.chunks import Chunk, cut_round
from cobalance.graph.jobs.rounds import Round, Span


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), max_size=12),
    st.integers(1, 9),
)
def test_chunks_have_each_image_of_a_round_once_and_in_order(spans, size):
    of = Round(3, 0, tuple(Span(query, first, 5) for query, (first, _) in enumerate(spans)))
    chunks = cut_round("job", of, size)
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
