"""Cliques that follow changed images are those of counting all images again."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.counting.changes import MOST_CANDIDATES, find_changes, update_mined
from cobalance.counting.cliques import Cliques, mine_cliques
from cobalance.counting.incidence import Incidence, build_incidence

Image = tuple[str, frozenset[str]]
Options = tuple[int, int, tuple[str, ...] | None]

CLASSES = "abc"
images = st.lists(
    st.tuples(st.sampled_from(CLASSES), st.frozensets(st.sampled_from("uvwxyz"), max_size=4)),
    max_size=4,
)
options = st.tuples(
    st.integers(1, 3), st.integers(1, 4), st.none() | st.sampled_from([(), ("a",), ("a", "c")])
)
BASE = [(name, frozenset(shown)) for name in CLASSES for shown in ("uv", "vw", "uvw", "", "x")]


def incidence_of(some: list[Image]) -> Incidence:
    """Only classes and concepts that an image has, as a dataset has them."""
    concepts = sorted({name for _, shown in some for name in shown})
    classes = sorted({label for label, _ in some})
    entries = [(i, concepts.index(name)) for i, (_, shown) in enumerate(some) for name in shown]
    rows = np.array(entries, dtype=np.int64).reshape(-1, 2)
    labels = [classes.index(label) for label, _ in some]
    return build_incidence(rows[:, 0], rows[:, 1], labels, concepts, classes)


def contents(incidence: Incidence) -> Counter[Image]:
    shown = np.split(
        np.array(incidence.concepts, object)[incidence.indices], incidence.indptr[1:-1]
    )
    labels = [incidence.classes[code] for code in incidence.labels.tolist()]
    return Counter(zip(labels, map(frozenset, shown[: len(labels)]), strict=True))


def mine(incidence: Incidence, chosen: Options) -> Cliques:
    size, support, common = chosen
    return mine_cliques(
        incidence, max_size=size, min_support=support, common=common, engine="numpy"
    )


def update(before: list[Image], after: list[Image], chosen: Options) -> tuple[Cliques, int] | None:
    one, two = incidence_of(before), incidence_of(after)
    size, support, common = chosen
    return update_mined(
        mine(one, chosen), one, two,
        max_size=size, min_support=support, common=common, max_cliques=10_000,
    )  # fmt: skip


def assert_mined(found: Cliques, after: list[Image], chosen: Options) -> None:
    wanted = mine(incidence_of(after), chosen)
    assert (found.concepts, found.classes) == (wanted.concepts, wanted.classes)
    for name in ("members", "counts", "class_sizes"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))


@given(images, images)
def test_the_images_that_changed(before: list[Image], after: list[Image]) -> None:
    added, removed = find_changes(incidence_of(before), incidence_of(after))
    assert contents(added) == Counter(after) - Counter(before)
    assert contents(removed) == Counter(before) - Counter(after)


@settings(max_examples=200)
@given(st.integers(1, 3), images, images, st.integers(0, 7), options)
def test_an_update_equals_a_full_count(
    times: int, first: list[Image], added: list[Image], n_removed: int, chosen: Options
) -> None:
    before = [*first, *BASE * times]
    after = [*before[n_removed:], *added]
    found = update(before, after, chosen)
    if found is None:
        changed = sum(
            ((Counter(before) - Counter(after)) + (Counter(after) - Counter(before))).values()
        )
        assert 4 * changed > len(after)
    else:
        assert_mined(found[0], after, chosen)


@pytest.mark.parametrize("support", [1, 2, 3])
def test_a_concept_that_becomes_common_brings_cliques_of_unchanged_images(support: int) -> None:
    before = [*BASE * 2, ("a", frozenset("uz")), ("a", frozenset("uz")), ("b", frozenset("z"))]
    after = [*before, ("c", frozenset("z"))]
    chosen = (2, support, None)
    assert ("u", "z") not in mine(incidence_of(before), chosen).names()
    found = update(before, after, chosen)
    assert found is not None
    assert found[1] == 1
    assert (("u", "z") in found[0].names()) == (support < 3)
    assert_mined(found[0], after, chosen)


def test_when_all_images_are_to_be_counted() -> None:
    chosen = (2, 1, None)
    assert update(BASE, [*BASE, ("d", frozenset("u"))], chosen) is None, "a new class"
    assert update(BASE, BASE[5:], chosen) is None, "a class has gone"
    assert update(BASE, [*BASE, *BASE], chosen) is None, "half of the images are new"
    many = [frozenset({f"{first}", f"{second}"}) for first in range(40) for second in range(first)]
    assert len(many) > MOST_CANDIDATES
    before = [*BASE * 600, *(("a", frozenset({str(name)})) for name in range(40))]
    after = [*before, *(("a", shown) for shown in many)]
    assert update(before, after, (2, 2, ())) is None, "too many may have become frequent"
    assert update(before, after, (2, 1, ())) is not None


def test_nothing_changed_or_other_order() -> None:
    found = update(BASE, BASE[::-1], (3, 1, None))
    assert found is not None
    assert found[1] == 0
    assert_mined(found[0], BASE, (3, 1, None))
