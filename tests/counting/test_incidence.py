"""The incidence and the co-occurrence graph, against hand-computed and brute-force counts."""

import itertools
from collections import Counter

import numpy as np
from hypothesis import given, strategies as st

from cobalance.counting.cooccurrence import cooccurrence
from cobalance.counting.incidence import Incidence, build_incidence

ENTRIES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), max_size=40)


def sets_of(incidence: Incidence) -> list[set[str]]:
    bounds = incidence.indptr.tolist()
    return [
        {incidence.concepts[code] for code in incidence.indices[a:b]}
        for a, b in itertools.pairwise(bounds)
    ]


def build(entries: list[tuple[int, int]], labels: list[int]) -> Incidence:
    rows, codes = zip(*entries, strict=True) if entries else ((), ())
    return build_incidence(rows, codes, labels, list("zyxwvu"), ["q", "p"])


def test_repeated_entries_count_once_and_codes_follow_names() -> None:
    incidence = build_incidence([2, 0, 2, 2], [0, 1, 1, 0], [1, 0, 0], ["sea", "dune"], ["b", "a"])
    assert incidence.concepts == ("dune", "sea")
    assert incidence.classes == ("a", "b")
    assert incidence.labels.tolist() == [0, 1, 1]
    assert incidence.indptr.tolist() == [0, 1, 1, 3]
    assert incidence.indices.tolist() == [0, 0, 1]
    assert [a.dtype.name for a in (incidence.indptr, incidence.indices, incidence.labels)] == [
        "int64",
        "int32",
        "int32",
    ]


def test_names_sort_by_code_point() -> None:
    assert build_incidence([], [], [], ["é", "z", "Z", "a"], []).concepts == ("Z", "a", "z", "é")


@given(entries=ENTRIES)
def test_rows_hold_what_was_entered(entries: list[tuple[int, int]]) -> None:
    incidence = build(entries, [row % 2 for row in range(10)])
    expected: list[set[str]] = [set() for _ in range(10)]
    for row, code in entries:
        expected[row].add("zyxwvu"[code])
    assert sets_of(incidence) == expected
    for start, stop in itertools.pairwise(incidence.indptr.tolist()):
        assert (np.diff(incidence.indices[start:stop]) > 0).all()


@given(entries=ENTRIES)
def test_counts_by_class(entries: list[tuple[int, int]]) -> None:
    incidence = build(entries, [row % 2 for row in range(10)])
    counted = Counter(
        (label, concept)
        for label, held in zip(incidence.labels.tolist(), sets_of(incidence), strict=True)
        for concept in held
    )
    expected = [[counted[label, concept] for concept in incidence.concepts] for label in (0, 1)]
    assert incidence.class_concept_counts().tolist() == expected
    assert incidence.class_sizes().tolist() == [5, 5]


@given(entries=ENTRIES, kept=st.sets(st.sampled_from("zyxwvu")))
def test_restrict_keeps_images_and_drops_concepts(
    entries: list[tuple[int, int]], kept: set[str]
) -> None:
    incidence = build(entries, [0] * 10)
    mask = np.array([name in kept for name in incidence.concepts])
    fewer = incidence.restrict(mask)
    assert fewer.concepts == tuple(sorted(kept))
    assert sets_of(fewer) == [held & kept for held in sets_of(incidence)]


@given(entries=ENTRIES)
def test_cooccurrence_counts_images_with_both(entries: list[tuple[int, int]]) -> None:
    incidence = build(entries, [row % 2 for row in range(10)])
    pairs: Counter[tuple[str, ...]] = Counter()
    edges: Counter[tuple[int, str]] = Counter()
    for label, held in zip(incidence.labels.tolist(), sets_of(incidence), strict=True):
        pairs.update(itertools.combinations(sorted(held), 2))
        edges.update((label, concept) for concept in held)
    graph = cooccurrence(incidence)
    names = incidence.concepts
    assert {
        (names[a], names[b]): images
        for (a, b), images in zip(
            graph.concept_pairs.tolist(), graph.pair_images.tolist(), strict=True
        )
    } == pairs
    assert {
        (label, names[code]): images
        for (label, code), images in zip(
            graph.class_concept.tolist(), graph.class_concept_images.tolist(), strict=True
        )
    } == edges
    assert graph.concept_pairs.tolist() == sorted(graph.concept_pairs.tolist())
    assert graph.class_concept.tolist() == sorted(graph.class_concept.tolist())
