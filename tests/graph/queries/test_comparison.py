"""What became of each imbalance is what the cliques of both datasets say, one by one."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, fisher_exact

from cobalance.base.errors import (
    DataError,
    NotFoundError,
    OptionError,
    StaleError,
    UnknownNameError,
    render,
)
from cobalance.base.records import Annotations, ImageRecord, Mention, PlannedQuery
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.plans import write_plan
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.rebalance import AcceptedImage, write_rebalanced
from cobalance.graph.jobs.status import read_job
from cobalance.graph.queries.comparison import compare_imbalances
from cobalance.statistics.comparison import (
    BALANCED,
    COUNT_AFTER,
    COUNT_BEFORE,
    COUNT_STATUSES,
    STATUSES,
)
from cobalance.statistics.selection import clique_q_values


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


@pytest.fixture
def leaning_annotations():
    """Seeded images of three unequal classes, of which most concepts are in some more often."""

    def make(n_images, seed):
        rng = np.random.default_rng(seed)
        labels = rng.choice(3, n_images, p=[0.6, 0.3, 0.1])
        # Of all seeds alike, but for one concept that leans to another class in each.
        rates = np.random.default_rng(0).uniform(0.02, 0.5, (3, 8))
        rates[seed % 3, 0] = 0.9
        shows = rng.random((n_images, 8)) < rates[labels]
        return Annotations.from_records(
            ImageRecord(
                f"image {row}",
                "abc"[label],
                tuple(Mention(f"concept {code}") for code in np.flatnonzero(shows[row])),
            )
            for row, label in enumerate(labels)
        )

    return make


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
def test_every_clique_has_the_status_that_its_gaps_give(store, load, random_annotations, min_gap):
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
        for status in (*COUNT_STATUSES, BALANCED):
            assert summary.loc[size, status] == sum(
                len(names) == size and value == status for names, value in expected.items()
            )
        for when, own in zip(("before", "after"), counts, strict=True):
            gaps = [np.ptp(value) for names, value in own.items() if len(names) == size]
            assert summary.loc[size, f"mined_{when}"] == len(gaps)
            assert summary.loc[size, f"total_gap_{when}"] == sum(gaps)
    assert not any(found.left_out.values())
    assert found.notes == ()


def status_by_rates(before, after, p_value, others):
    """The status by definition: leans before and after, differences, and the p-value's rank."""
    (was, difference_before), (now, difference_after) = before, after
    if not was and not now:
        return BALANCED
    if not was:
        return "new"
    if difference_after is None:
        return "absent"
    if not now:
        return "lost its lean"
    # Benjamini-Hochberg: some rank, at or above this p-value, is below its share of 5%.
    ranked = sorted(others)
    limits = [p for rank, p in enumerate(ranked, 1) if p <= 0.05 * rank / len(ranked)]
    if not limits or p_value > max(limits) or difference_after == difference_before:
        return "within noise"
    return "weaker" if difference_after < difference_before else "stronger"


def two_rates(first, first_size, second, second_size):
    """p-value of one rate in two sets, by scipy."""
    if first + second in (0, first_size + second_size):
        return 1.0
    cells = [[first, first_size - first], [second, second_size - second]]
    by_chance = chi2_contingency(cells, correction=False)
    return fisher_exact(cells).pvalue if by_chance.expected_freq.min() < 5 else by_chance.pvalue


def test_every_clique_has_the_status_that_its_rates_give(store, load, leaning_annotations):
    options = MiningOptions(max_size=2, min_support=3)
    names = (
        load(leaning_annotations(900, seed=1), options),
        load(leaning_annotations(700, seed=2), options, second=True),
    )
    facts = []
    for name in names:
        cliques = load_cliques(store, name)
        sizes = cliques.class_sizes
        q_values = clique_q_values(cliques)
        rates = cliques.counts / sizes
        facts.append(
            {
                concepts: (bool(q <= 0.05), float(np.ptp(rate)), rate, counts, sizes)
                for concepts, q, rate, counts in zip(
                    cliques.names(), q_values, rates, cliques.counts, strict=True
                )
            }
        )

    before, after = facts
    leaning = [
        concepts
        for concepts in before.keys() | after.keys()
        if any(concepts in fact and fact[concepts][0] for fact in facts)
    ]
    p_values = {}
    for concepts in leaning:
        if concepts in before and concepts in after:
            rates = (before if before[concepts][0] else after)[concepts][2]
            pair = np.argmax(rates), np.argmin(rates)
            both = [fact[concepts] for fact in facts]
            tests = [
                two_rates(*(part[code] for fact in both for part in fact[3:])) for code in pair
            ]
            p_values[concepts] = min(1, 2 * min(tests))
    expected = {
        concepts: status_by_rates(
            before.get(concepts, (False, None))[:2],
            after.get(concepts, (False, None))[:2],
            p_values.get(concepts),
            p_values.values(),
        )
        for concepts in leaning
    }

    found = compare_imbalances(store, *names, limit=10**6)
    assert dict(zip(found.cliques["concepts"], found.cliques["status"], strict=True)) == expected
    assert len(set(expected.values())) >= 3
    for row in found.cliques.to_dict("records"):
        for when, fact in zip(("before", "after"), facts, strict=True):
            held = fact.get(row["concepts"])
            if held is None:
                assert np.isnan(row[f"difference_{when}"])
            else:
                assert row[f"difference_{when}"] == pytest.approx(held[1])
    totals = found.totals()
    was = [fact for fact in before.values() if fact[0]]
    assert totals["leaning_before"] == len(was)
    assert totals["leaning_after"] == sum(fact[0] for fact in after.values())
    assert totals["difference_before"] == pytest.approx(sum(fact[1] for fact in was))
    assert totals["difference_after"] == pytest.approx(
        sum(after[name][1] for name, fact in before.items() if fact[0] and name in after)
    )
    assert sum(totals[status] for status in STATUSES) == len(leaning)


def test_every_status_by_counts_by_hand(store, load):
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
    found = compare_imbalances(store, before, after, by="counts")
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


@pytest.mark.parametrize("by", ["rates", "counts"])
def test_limits_leave_out_the_smallest_changes_and_count_them(store, load, leaning_annotations, by):
    before = load(leaning_annotations(900, seed=1), MiningOptions(max_size=2))
    after = load(leaning_annotations(900, seed=2), MiningOptions(max_size=2), second=True)
    compare = partial(compare_imbalances, store, before, after, by=by)
    whole, some = compare(), compare(limit=5)
    pd.testing.assert_frame_equal(some.cliques, whole.cliques.head(5))
    pd.testing.assert_frame_equal(some.summary, whole.summary)
    assert sum(some.left_out.values()) == len(whole.cliques) - 5
    status = whole.cliques["status"].iloc[0]
    of_one = compare(statuses=[status], limit=2)
    assert set(of_one.cliques["status"]) == {status}
    n_of_one = (whole.cliques["status"] == status).sum()
    assert of_one.left_out == {status: n_of_one - len(of_one.cliques)}
    pairs = compare(min_size=2)
    assert set(pairs.summary["size"]) == {2}
    none = compare(limit=0)
    assert len(none.cliques) == 0
    assert list(none.cliques.columns) == list(whole.cliques.columns)


def test_a_dataset_compared_with_itself_is_unchanged(store, load, leaning_annotations):
    name = load(leaning_annotations(900, seed=1), MiningOptions(max_size=2))
    by_counts = compare_imbalances(store, name, name, by="counts")
    assert set(by_counts.cliques["status"]) == {"unchanged"}
    assert not by_counts.cliques["delta"].any()
    by_rates = compare_imbalances(store, name, name)
    assert set(by_rates.cliques["status"]) == {"within noise"}
    assert not by_rates.cliques["change"].any()


@pytest.mark.parametrize(
    ("plan", "planner", "by"),
    [
        ("conbias", None, "counts"),
        ("published", None, "counts"),
        ("mine", "conbias", "counts"),
        ("mine", "whole-images", "rates"),
        ("conbias", "whole-images", "rates"),
        ("mine", None, "rates"),
    ],
)
def test_counts_are_the_measure_where_a_plan_of_counts_made_a_copy(
    store, load, dataset, plan, planner, by
):
    before, after = load(records_of({"x": (4, 1)}), MiningOptions(max_size=1)), f"{dataset} renamed"
    if planner is not None:
        query = PlannedQuery("b", ("x",), 1)
        write_plan(store, before, plan, [query], planner=planner, min_size=1)
    job = create_job(store, before, plan, [("b", ("x",), 1)])
    made = AcceptedImage("generated/1", "b", (Mention("x"),), job=job)
    write_rebalanced(store, read_job(store, job), after, [made])
    mine_dataset(store, after, MiningOptions(max_size=1), max_cliques=100)
    found = compare_imbalances(store, before, after)
    assert (found.by, found.extends) == (by, True)
    assert compare_imbalances(store, before, after, by="rates").by == "rates"
    assert compare_imbalances(store, before, after, min_gap=2).by == "counts"


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
    with pytest.raises(UnknownNameError, match="Known: absent, lost its lean"):
        compare_imbalances(store, before, before, statuses=["better"])
    with pytest.raises(OptionError, match="smallest gap is 0"):  # before anything is read
        compare_imbalances(store, before, f"{before} renamed again", min_gap=0)
    with pytest.raises(OptionError, match="min_size is 3"):
        compare_imbalances(store, before, before, min_size=3)
