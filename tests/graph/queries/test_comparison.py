"""What became of each imbalance is what the cliques of both datasets say, one by one."""

import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import (
    DataError,
    NotFoundError,
    OptionError,
    StaleError,
    UnknownNameError,
    render,
)
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.rebalance import AcceptedImage, write_rebalanced
from cobalance.graph.jobs.status import read_job
from cobalance.graph.queries.comparison import compare_imbalances
from cobalance.statistics.comparison import BALANCED, COUNT_AFTER, COUNT_BEFORE, STATUSES


@pytest.fixture
def load(store, dataset):
    """Write into the first or the second of two datasets, and mine it."""

    def write(annotations, options=None, *, second=False):
        name = f"{dataset} renamed" if second else dataset
        write_annotations(store, name, annotations, source="a test")
        if options is not None:
            mine_dataset(store, name, options, max_cliques=10**6)
        return name

    return write


def records_of(counts):
    """Images of the classes a and b with the given sets of concepts."""
    records = [
        ImageRecord(f"{concepts} {label} {i}", label, tuple(map(Mention, concepts.split())))
        for concepts, by_class in counts.items()
        for label, images in zip("ab", by_class, strict=True)
        for i in range(images)
    ]
    return Annotations.from_records(records)


def status_of(before, after, min_gap):
    """The status by definition, from the counts of a clique or None where it is absent."""
    was, now = (counts is not None and np.ptp(counts) >= min_gap for counts in (before, after))
    if not was and not now:
        return BALANCED
    if not was:
        return "introduced"
    if after is None:
        return "absent"
    if not now:
        return "solved"
    change = np.ptp(after) - np.ptp(before)
    return "unchanged" if change == 0 else "grown" if change > 0 else "reduced"


@pytest.mark.parametrize("min_gap", [1, 4])
def test_every_clique_has_the_status_that_its_counts_give(store, load, random_annotations, min_gap):
    before = load(random_annotations(200, seed=1), MiningOptions(max_size=3, min_support=3))
    after = load(
        random_annotations(150, seed=2), MiningOptions(max_size=3, min_support=3), second=True
    )
    counts = []
    for name in (before, after):
        cliques = load_cliques(store, name)
        counts.append(dict(zip(cliques.names(), cliques.counts.tolist(), strict=True)))
    expected = {
        names: status_of(counts[0].get(names), counts[1].get(names), min_gap)
        for names in counts[0].keys() | counts[1].keys()
    }
    found = compare_imbalances(store, before, after, min_gap=min_gap, limit=10**6)
    rows = found.cliques.to_dict("records")
    assert {row["concepts"]: row["status"] for row in rows} == {
        names: status for names, status in expected.items() if status != BALANCED
    }
    assert len(rows) == len(found.cliques["concepts"].unique())
    for row in rows:
        for prefix, own, gap in zip(
            (COUNT_BEFORE, COUNT_AFTER), counts, ("gap_before", "gap_after"), strict=True
        ):
            given = [row[prefix + name] for name in found.sizes_before]
            if row["concepts"] in own:
                assert given == own[row["concepts"]]
                assert row[gap] == np.ptp(given)
            else:
                assert all(value is pd.NA for value in (*given, row[gap], row["delta"]))
    changes = [
        abs(
            (0 if row["gap_after"] is pd.NA else row["gap_after"])
            - (0 if row["gap_before"] is pd.NA else row["gap_before"])
        )
        for row in rows
    ]
    assert changes == sorted(changes, reverse=True)
    summary = found.summary.set_index("size")
    for size in (1, 2, 3):
        for status in (*STATUSES, BALANCED):
            assert summary.loc[size, status] == sum(
                len(names) == size and value == status for names, value in expected.items()
            )
        for when, own in zip(("before", "after"), counts, strict=True):
            gaps = [np.ptp(value) for names, value in own.items() if len(names) == size]
            assert summary.loc[size, f"mined_{when}"] == len(gaps)
            assert summary.loc[size, f"total_gap_{when}"] == sum(gaps)
    assert not any(found.left_out.values())
    assert found.notes == ()


def test_every_status_by_hand(store, load):
    options = MiningOptions(max_size=2, common=())
    counts_before = {
        "solved": (5, 1),
        "grown": (2, 1),
        "reduced": (9, 1),
        "same": (3, 1),
        "balanced": (2, 2),
        "gone": (4, 0),
        "evened": (2, 2),
    }
    counts_after = {
        "solved": (5, 5),
        "grown": (2, 8),
        "reduced": (9, 6),
        "same": (1, 3),
        "balanced": (3, 3),
        "new": (0, 2),
        "evened": (7, 2),
    }
    before = load(records_of(counts_before), options)
    after = load(records_of(counts_after), options, second=True)
    found = compare_imbalances(store, before, after)
    rows = found.cliques.set_index("concepts")
    assert rows["status"].to_dict() == {
        ("solved",): "solved",
        ("grown",): "grown",
        ("reduced",): "reduced",
        ("same",): "unchanged",
        ("gone",): "absent",
        ("new",): "introduced",
        ("evened",): "introduced",
    }
    assert rows["delta"].dropna().to_dict() == {
        ("solved",): -4,
        ("grown",): 5,
        ("reduced",): -5,
        ("same",): 0,
        ("evened",): 5,
    }
    assert found.summary[
        ["size", "balanced", "mined_before", "mined_after"]
    ].to_numpy().tolist() == [[1, 1, 7, 7]]
    assert found.sizes_before == {"a": 27, "b": 8}


def test_limits_leave_out_the_smallest_changes_and_count_them(store, load, random_annotations):
    before = load(random_annotations(150, seed=1), MiningOptions(max_size=2))
    after = load(random_annotations(150, seed=2), MiningOptions(max_size=2), second=True)
    whole = compare_imbalances(store, before, after)
    some = compare_imbalances(store, before, after, limit=5)
    pd.testing.assert_frame_equal(some.cliques, whole.cliques.head(5))
    pd.testing.assert_frame_equal(some.summary, whole.summary)
    assert sum(some.left_out.values()) == len(whole.cliques) - 5
    grown = compare_imbalances(store, before, after, statuses=["grown"], limit=2)
    assert set(grown.cliques["status"]) == {"grown"}
    assert grown.left_out == {"grown": (whole.cliques["status"] == "grown").sum() - 2}
    pairs = compare_imbalances(store, before, after, min_size=2)
    assert set(pairs.cliques["size"]) == set(pairs.summary["size"]) == {2}
    none = compare_imbalances(store, before, after, limit=0)
    assert len(none.cliques) == 0
    assert list(none.cliques.columns) == list(whole.cliques.columns)


def test_a_dataset_compared_with_itself_is_unchanged(store, load, random_annotations):
    name = load(random_annotations(100), MiningOptions(max_size=2))
    found = compare_imbalances(store, name, name)
    assert set(found.cliques["status"]) == {"unchanged"}
    assert not found.cliques["delta"].any()


def test_different_mining_is_said(store, load, random_annotations):
    before = load(random_annotations(150), MiningOptions(max_size=3))
    after = load(
        random_annotations(150),
        MiningOptions(max_size=2, min_support=5, split="train", common=("class 0",)),
        second=True,
    )
    found = compare_imbalances(store, before, after)
    assert set(found.summary["size"]) == {1, 2}
    assert len(found.notes) == 4
    assert found.notes[0] == f"Cliques of {before!r} above size 2 are not compared."
    assert "the smallest support is 1 before and 5 after" in found.notes[1]
    assert found.sizes_before != found.sizes_after
    with pytest.raises(OptionError, match="mined up to size 2, not 3"):
        compare_imbalances(store, before, after, max_size=3)


def test_a_copy_of_an_older_version_is_noted(store, load, dataset):
    counts = {"x": (4, 1), "y": (2, 2)}
    before = load(records_of(counts), MiningOptions(max_size=1))
    after = f"{dataset} renamed"
    job = create_job(store, before, "mine", [("b", ("x",), 1)])
    made = AcceptedImage("generated/1", "b", (Mention("x"),), job=job)
    note = f"'{after}' was made from an older version of '{before}'"

    def notes():
        mine_dataset(store, after, MiningOptions(max_size=1), max_cliques=100)
        return compare_imbalances(store, before, after).notes

    def copy():
        write_rebalanced(store, read_job(store, job), after, [made])

    copy()
    assert notes() == ()
    changed = records_of(counts | {"x": (4, 2)})  # one more
    load(changed, MiningOptions(max_size=1))
    said = render(*notes())
    assert said.startswith(note)
    assert f"Run `rebalance({job!r}, into={after!r})`, and compare again." in said
    copy()
    assert notes() == ()
    relabelled = changed.images.assign(
        class_name=changed.images["class_name"].where(changed.images["id"] != "y b 0", "a")
    )
    load(Annotations(relabelled, changed.mentions), MiningOptions(max_size=1))
    assert render(notes()[0]).startswith(note)
    copy()
    fewer = records_of({"x": (4, 1), "y": (2, 1)})
    write_annotations(store, before, fewer, source="a test", if_exists="replace")
    mine_dataset(store, before, MiningOptions(max_size=1), max_cliques=100)
    assert render(notes()[0]).startswith(note)
    # Another dataset than that it was made for has nothing to do with it.
    assert compare_imbalances(store, after, before).notes == ()


def test_what_cannot_be_compared_is_refused(store, load, random_annotations):
    before = load(random_annotations(60), MiningOptions(max_size=2))
    with pytest.raises(NotFoundError):
        compare_imbalances(store, before, f"{before} renamed")
    after = load(random_annotations(60, n_classes=4), second=True)
    with pytest.raises(StaleError, match="not been mined"):
        compare_imbalances(store, before, after)
    mine_dataset(store, after, MiningOptions(max_size=2), max_cliques=10**6)
    with pytest.raises(DataError, match=r"only .* renamed' has 'class 3'"):
        compare_imbalances(store, before, after)
    with pytest.raises(UnknownNameError, match="Known: absent"):
        compare_imbalances(store, before, before, statuses=["better"])
    with pytest.raises(OptionError, match="smallest gap is 0"):  # before anything is read
        compare_imbalances(store, before, f"{before} renamed again", min_gap=0)
    with pytest.raises(OptionError, match="min_size is 3"):
        compare_imbalances(store, before, before, min_size=3)
