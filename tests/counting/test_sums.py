"""Counts of parts of a dataset add up to those of the whole."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import OptionError, UnknownNameError
from cobalance.counting.cliques import Cliques, mine_cliques
from cobalance.counting.incidence import build_incidence
from cobalance.counting.sums import select_cliques, sum_cliques, update_cliques

CLASSES = ("a", "b", "c")
Image = tuple[str, frozenset[str]]

images = st.lists(
    st.tuples(st.sampled_from(CLASSES), st.frozensets(st.sampled_from("uvwxyz"), max_size=5)),
    max_size=14,
)
conditions = st.tuples(
    st.integers(1, 4), st.none() | st.lists(st.sampled_from(CLASSES), unique=True)
)


def count(
    of: Sequence[Image],
    max_size: int,
    min_support: int = 1,
    common: Sequence[str] | None = (),
    classes: tuple[str, ...] = CLASSES,
) -> Cliques:
    concepts = sorted({name for _, shown in of for name in shown})
    entries = [(i, concepts.index(name)) for i, (_, shown) in enumerate(of) for name in shown]
    rows = np.array(entries, dtype=np.int64).reshape(-1, 2)
    labels = np.array([classes.index(label) for label, _ in of], dtype=np.int64)
    return mine_cliques(
        build_incidence(rows[:, 0], rows[:, 1], labels, concepts, classes),
        max_size=max_size,
        min_support=min_support,
        common=common,
        engine="numpy",
    )


def content(cliques: Cliques) -> tuple[object, ...]:
    rows = list(zip(cliques.names(), cliques.counts.tolist(), strict=True))
    return rows, cliques.class_sizes.tolist(), cliques.classes


@given(st.lists(images, min_size=1, max_size=4), st.integers(1, 4), conditions)
def test_shards_add_up(
    shards: list[list[Image]], max_size: int, condition: tuple[int, list[str] | None]
) -> None:
    whole = count([image for shard in shards for image in shard], max_size, *condition)
    summed = sum_cliques([count(shard, max_size) for shard in shards])
    selected = select_cliques(summed, min_support=condition[0], common=condition[1])
    assert content(selected) == content(whole)


@given(images, st.lists(st.tuples(images, st.integers(0, 5))), st.integers(1, 4), conditions)
def test_updates_equal_a_full_count(
    now: list[Image],
    steps: list[tuple[list[Image], int]],
    max_size: int,
    condition: tuple[int, list[str] | None],
) -> None:
    counted = count(now, max_size)
    for added, n_removed in steps:
        removed, stay = now[:n_removed], now[n_removed:]
        now = [*stay, *added]
        counted = update_cliques(
            counted, added=count(added, max_size), removed=count(removed, max_size)
        )
    selected = select_cliques(counted, min_support=condition[0], common=condition[1])
    assert content(selected) == content(count(now, max_size, *condition))


def test_rare_in_each_part_may_be_frequent_in_the_whole() -> None:
    shards = [[("a", frozenset("xy"))], [("a", frozenset("xy")), ("b", frozenset("x"))]]
    summed = sum_cliques([count(shard, 2) for shard in shards])
    assert select_cliques(summed, min_support=2, common=()).names() == [("x",), ("y",), ("x", "y")]


def test_parts_with_classes_of_their_own() -> None:
    one = count([("a", frozenset("x"))], 2, classes=("a",))
    two = count([("c", frozenset("wx"))], 2, classes=("c",))
    summed = sum_cliques([one, two])
    assert summed.classes == ("a", "c")
    assert dict(zip(summed.names(), summed.counts.tolist(), strict=True)) == {
        ("w",): [0, 1],
        ("x",): [1, 1],
        ("w", "x"): [0, 1],
    }


def test_what_cannot_be_added() -> None:
    some = count([("a", frozenset("x"))], 2)
    more = count([("a", frozenset("x")), ("a", frozenset("x"))], 2)
    with pytest.raises(OptionError, match="more images are removed"):
        update_cliques(some, removed=more)
    with pytest.raises(OptionError, match="same max_size"):
        sum_cliques([some, count([("a", frozenset("x"))], 3)])
    with pytest.raises(OptionError, match="one part or more"):
        sum_cliques([])
    with pytest.raises(OptionError, match="min_support is 0"):
        select_cliques(some, min_support=0)
    with pytest.raises(UnknownNameError):
        select_cliques(some, common=["d"])
