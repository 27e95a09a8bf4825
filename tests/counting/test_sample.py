"""Every clique keeps its first images by priority, and no image is kept without a reason."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.counting import sample
from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import build_incidence
from cobalance.counting.sample import priorities, sample_rows


@pytest.fixture(params=[0, 10**9], ids=["compiled", "NumPy"], scope="module", autouse=True)
def compiled_from(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample, "_COMPILED_FROM", request.param)
        yield


def drawn(n_images, n_concepts, n_classes, seed, rate=0.4):
    generator = np.random.default_rng(seed)
    shown = generator.random((n_images, n_concepts)) < rate
    images, concepts = np.nonzero(shown)
    labels = generator.integers(0, n_classes, n_images)
    names = [f"concept {code}" for code in range(n_concepts)]
    return build_incidence(images, concepts, labels, names, [f"c{k}" for k in range(n_classes)])


def expected_rows(incidence, priority, cliques, per_class):
    shown = [
        {incidence.concepts[code] for code in incidence.indices[start:end]}
        for start, end in zip(incidence.indptr[:-1], incidence.indptr[1:], strict=True)
    ]
    rows = set()
    for names in cliques.names():
        for label in range(len(incidence.classes)):
            having = [
                row
                for row, held in enumerate(shown)
                if incidence.labels[row] == label and held.issuperset(names)
            ]
            rows.update(sorted(having, key=priority.__getitem__)[:per_class])
    return sorted(rows)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 60),
    st.integers(1, 6),
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(0, 2**32),
)
def test_rows_are_those_of_a_search_through_all_images(n, concepts, classes, per_class, seed):
    incidence = drawn(n, concepts, classes, seed)
    priority = priorities([f"image {row}" for row in range(n)], seed)
    cliques = mine_cliques(incidence, max_size=3)
    found = sample_rows(incidence, priority, cliques, per_class).tolist()
    assert found == expected_rows(incidence, priority, cliques, per_class)


def test_rare_cliques_among_many_images_have_all_theirs():
    incidence = drawn(4000, 8, 2, 3, rate=0.1)
    priority = np.linspace(0, 1, 4000, endpoint=False)
    cliques = mine_cliques(incidence, max_size=3)
    assert cliques.counts.min() < 3 < cliques.counts.max()
    found = sample_rows(incidence, priority, cliques, 3).tolist()
    assert found == expected_rows(incidence, priority, cliques, 3)


def test_an_unlucky_order_is_searched_to_its_end():
    """All images of one clique come last, far beyond where its number of images lets expect."""
    n = 5000
    together = np.arange(n) >= n - 500
    images = np.concatenate([np.arange(n), np.flatnonzero(together)])
    concepts = np.concatenate([np.zeros(n, dtype=int), np.ones(together.sum(), dtype=int)])
    incidence = build_incidence(images, concepts, np.zeros(n, dtype=int), ["a", "b"], ["only"])
    priority = np.linspace(0, 1, n, endpoint=False)
    cliques = mine_cliques(incidence, max_size=2)
    assert sample_rows(incidence, priority, cliques, 4).tolist() == [0, 1, 2, 3, *range(4500, 4504)]


@pytest.mark.parametrize("seed", [0, 7, 2**40])
def test_priorities_are_uniform_and_of_the_seed(seed):
    ids = [f"image {row}" for row in range(20_000)]
    found = priorities(ids, seed)
    assert found.min() >= 0
    assert found.max() < 1
    shares = np.histogram(found, bins=10, range=(0, 1))[0] / len(ids)
    assert abs(shares - 0.1).max() < 0.012  # 5 standard deviations of a tenth of 20,000
    assert not np.array_equal(found, priorities(ids, seed + 1))


def test_pairs_cover_what_is_shared():
    incidence = drawn(300, 5, 2, 11)
    priority = priorities([str(row) for row in range(300)], 0)
    cliques = mine_cliques(incidence, max_size=2)
    rows = set(sample_rows(incidence, priority, cliques, 2).tolist())
    assert len(rows) < 4 * len(cliques)
    for pair in combinations(range(5), 2):
        kept = [
            row
            for row in rows
            if set(pair)
            <= set(incidence.indices[incidence.indptr[row] : incidence.indptr[row + 1]])
        ]
        assert len(kept) >= 4


@pytest.mark.parametrize("first_of_parts", [0, 60, 10**6])
def test_parts_together_have_the_rows_of_the_whole(first_of_parts, monkeypatch):
    monkeypatch.setattr(sample, "_FIRST_OF_PARTS", first_of_parts)
    incidence = drawn(900, 6, 3, 5, rate=0.2)
    priority = priorities([f"image {row}" for row in range(900)], 5)
    cliques = mine_cliques(incidence, max_size=3, common=())

    rows = np.arange(900)
    of_parts = []
    for part in (rows[:100], rows[100:550], rows[550:]):
        images = incidence.take(part)
        of_parts += part[sample_rows(images, priority[part], cliques, 4, part=True)].tolist()

    expected = expected_rows(incidence, priority, cliques, 4)
    assert set(expected) <= set(of_parts)
    assert len(of_parts) < 900 or first_of_parts > 900
    together = np.array(sorted(of_parts))
    chosen = sample_rows(incidence.take(together), priority[together], cliques, 4)
    assert together[chosen].tolist() == expected
