"""What cliques' parts explain, against fits and tests by other libraries and by enumeration."""

from itertools import chain, combinations, product
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import fisher_exact
from statsmodels.genmod.families import Poisson
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.stats.multitest import multipletests

from cobalance.base.errors import OptionError
from cobalance.counting.cliques import Cliques, mine_cliques
from cobalance.counting.incidence import build_incidence
from cobalance.statistics.imbalance import imbalance_table
from cobalance.statistics.interaction import INTERACTION_TESTS, exact_interaction, interaction
from cobalance.statistics.own_effect import find_closed, own_effects
from cobalance.statistics.summary import communities, first_of_summary, summarize


def poisson_fit(table):
    """The log-linear model without the highest interaction, as a GLM: fitted table, deviance."""
    cells, n_classes = table.shape
    k = cells.bit_length() - 1
    rows = []
    for mask, c in product(range(cells), range(n_classes)):
        x = [mask >> i & 1 for i in range(k)]
        parts = [
            float(np.prod([x[i] for i in subset]))
            for subset in chain.from_iterable(combinations(range(k), r) for r in range(k + 1))
        ]
        by_class = [p * (c == other) for other in range(1, n_classes) for p in parts[:-1]]
        rows.append(parts + by_class)
    fit = GLM(table.ravel(), np.array(rows), family=Poisson()).fit(tol=1e-12)
    return fit.fittedvalues.reshape(table.shape), fit.deviance


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_fit_and_test_are_those_of_a_poisson_model(k, n_classes):
    from scipy.stats import chi2

    rng = np.random.default_rng(k * 10 + n_classes)
    tables = rng.integers(20, 400, (4, 2**k, n_classes)) * np.arange(1, n_classes + 1)
    found = interaction(tables)
    for i, table in enumerate(tables):
        fitted, deviance = poisson_fit(table)
        assert found.expected[i] == pytest.approx(fitted[-1], rel=1e-6)
        assert found.p_values[i] == pytest.approx(chi2.sf(deviance, n_classes - 1), rel=1e-5)
        assert INTERACTION_TESTS[found.tests[i]] == "likelihood ratio"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=4, max_size=4))
def test_of_single_concepts_in_two_classes_is_fishers(cells):
    table = np.array(cells).reshape(1, 2, 2)
    p_value = exact_interaction(table)[0]
    assert p_value == pytest.approx(fisher_exact(table[0]).pvalue, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 7), min_size=8, max_size=8))
def test_of_pairs_enumerates_all_tables_with_the_same_margins(cells):
    table = np.array(cells).reshape(4, 2)
    sign = np.array([[1, -1], [-1, 1], [-1, 1], [1, -1]])
    tables = [table + d * sign for d in range(-8, 9) if (table + d * sign >= 0).all()]
    weights = [1 / np.prod([float(factorial(n)) for n in t.ravel().tolist()]) for t in tables]
    own = 1 / np.prod([float(factorial(n)) for n in table.ravel().tolist()])
    expected = sum(w for w in weights if w <= own * (1 + 1e-7)) / sum(weights)
    assert exact_interaction(table[None])[0] == pytest.approx(expected, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3), st.integers(2, 6), st.randoms(use_true_random=False))
def test_fit_keeps_margins_and_has_no_interaction(k, n_classes, random):
    cells = [random.choice([0, 0, 1, 3, 50, 9000]) for _ in range(2**k * n_classes)]
    table = np.array(cells).reshape(2**k, n_classes)
    found = interaction(table[None])
    sign = np.array([-1 if (k - mask.bit_count()) % 2 else 1 for mask in range(2**k)])[:, None]
    fitted = table + sign * (found.expected[0] - table[-1])
    assert (fitted >= -1e-6).all()
    assert found.expected[0].sum() == pytest.approx(table[-1].sum(), abs=1e-6)
    assert 0 <= found.p_values[0] <= 1
    if INTERACTION_TESTS[found.tests[0]] == "none":
        assert (fitted == table).all()
        return
    free = [c for c in range(n_classes) if (fitted[:, c] > 1e-3).all()]
    log_odds = (sign * np.log(fitted[:, free])).sum(axis=0)
    assert log_odds == pytest.approx(np.full(len(free), log_odds.mean() if free else 0), abs=1e-3)


def test_rare_combinations_in_many_classes_are_judged_by_a_pair_of_classes():
    table = np.array([[[90, 80, 99], [10, 1, 1]]])
    found = interaction(table)
    pairs = [fisher_exact(table[0][:, pair]).pvalue for pair in ([0, 1], [0, 2], [1, 2])]
    assert INTERACTION_TESTS[found.tests[0]] == "exact pair"
    assert min(1, 3 * min(pairs)) <= found.p_values[0] <= min(1, 3 * max(pairs))
    assert found.p_values[0] == pytest.approx(3 * pairs[1], rel=1e-6)


def test_a_tiny_class_does_not_hide_what_the_others_say():
    """Its rate is furthest from the expected, and the others' differ beyond any doubt."""
    table = np.array([[[700, 950, 16], [300, 50, 4]]])
    found = interaction(table)
    assert INTERACTION_TESTS[found.tests[0]] == "exact pair"
    assert found.p_values[0] < 1e-40


def test_single_concepts_stand_on_their_own_by_the_test_of_one_rate():
    rng = np.random.default_rng(5)
    labels = np.repeat(np.arange(4), [900, 400, 150, 30])
    shown = rng.random((len(labels), 6)) < np.linspace(0.02, 0.4, 6) + 0.1 * (labels == 0)[:, None]
    cliques = mined(shown, labels, 6, ("a", "b", "c", "d"), common=(), max_size=2)
    single = cliques.sizes() == 1
    table, own = imbalance_table(cliques), own_effects(cliques)
    # The grid of an exact test is made for the cliques that are tested together.
    assert own["own_p_value"][single].tolist() == pytest.approx(
        table["p_value"][single].tolist(), rel=0.05
    )
    assert own["own_test"][single].tolist() == table["test"][single].tolist()


def mined(shown, labels, n_concepts, classes, **options):
    pairs = np.argwhere(shown)
    names = tuple(f"c{i}" for i in range(n_concepts))
    incidence = build_incidence(pairs[:, 0], pairs[:, 1], labels, names, classes)
    return mine_cliques(incidence, **options)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(1, 4))
def test_expected_counts_and_closed_cliques_come_from_the_images(seed, n_classes, support):
    rng = np.random.default_rng(seed)
    shown = rng.random((60, 4)) < rng.random(4)
    labels = rng.integers(0, n_classes, 60)
    labels[:n_classes] = np.arange(n_classes)
    cliques = mined(
        shown, labels, 4, tuple("abcdef"[:n_classes]), common=(), min_support=support, max_size=3
    )
    frame = own_effects(cliques)
    sets = [frozenset(row[row >= 0].tolist()) for row in cliques.members]
    assert not frame["own_p_value"].isna().any()  # mined tables have all subsets
    tables = {}
    for i, members in enumerate(sets):
        code = sum(shown[:, m].astype(int) << bit for bit, m in enumerate(sorted(members)))
        table = np.zeros((2 ** len(members), n_classes), dtype=int)
        np.add.at(table, (code, labels), 1)
        tables.setdefault(len(members), []).append((i, table))
        same = [
            j
            for j, other in enumerate(sets)
            if other > members and (cliques.counts[j] == cliques.counts[i]).all()
        ]
        assert frame["closed"].iloc[i] == (not same)
    for of_size in tables.values():
        rows, of_cliques = zip(*of_size, strict=True)
        direct = interaction(np.stack(of_cliques))
        expected = frame.filter(like="expected_").iloc[[*rows]].to_numpy()
        assert expected == pytest.approx(direct.expected, abs=1e-9)
    q = multipletests(frame["own_p_value"], method="fdr_bh")[1] if len(frame) else []
    assert frame["own_q_value"].to_numpy() == pytest.approx(q)


def test_a_missing_part_leaves_the_effect_unknown():
    cliques = Cliques(
        np.array([[0, -1], [0, 1]]), np.array([[5, 2], [3, 1]]), np.array([9, 9]),
        ("lamp", "person"), ("day", "night"),
    )  # fmt: skip
    frame = own_effects(cliques)
    assert frame["own_p_value"].isna().tolist() == [False, True]
    assert frame["own_test"].tolist()[1] == "none"
    assert find_closed(cliques).all()


@pytest.mark.parametrize("sizes", [(0, 0), (9, 0), (9, 4)])
def test_no_cliques_and_classes_without_images(sizes):
    members, counts = np.array([[0, -1]]), np.array([[min(3, n) for n in sizes]])
    cliques = Cliques(members, counts, np.array(sizes), ("lamp",), ("day", "night"))
    assert len(own_effects(cliques)) == 1
    assert own_effects(cliques.take(slice(0))).empty
    assert summarize(cliques.take(slice(0))).empty


def test_summary_names_the_planted_pair_and_leaves_out_what_it_explains():
    rng = np.random.default_rng(7)
    labels = np.repeat([0, 1], 2000)
    shown = rng.random((4000, 6)) < 0.4
    both = (rng.random(4000) < np.where(labels == 0, 0.45, 0.05))[:, None]
    shown[:, :2] = np.where(both, True, shown[:, :2] & ~shown[:, [1, 0]])
    shown[:, 3] = shown[:, 2]  # "c2" never comes without "c3"
    cliques = mined(shown, labels, 6, ("day", "night"), max_size=3)
    table = summarize(cliques, limit=5)
    assert ("c0", "c1") in table["concepts"].tolist()
    row = table[table["concepts"] == ("c0", "c1")].iloc[0]
    assert row["own_over"] == "day"
    assert row["own_q_value"] < 1e-6
    closed = dict(zip(cliques.names(), own_effects(cliques)["closed"], strict=True))
    assert not closed[("c2",)]
    assert closed[("c2", "c3")]
    assert not {("c2",), ("c3",), ("c0", "c1", "c2")} & set(table["concepts"])
    effects = table.groupby("group")["own_effect"].max()
    assert effects.is_monotonic_decreasing
    assert table.equals(summarize(cliques, limit=5))
    whole = summarize(cliques, limit=1000)
    assert len(whole) > 2
    assert first_of_summary(whole, 2).equals(summarize(cliques, limit=2))


def test_communities_are_those_that_are_linked_among_themselves():
    edges = [*combinations(range(4), 2), *combinations(range(4, 7), 2), (3, 4)]
    weights = [10] * (len(edges) - 1) + [1]
    assert communities(edges, weights, 8).tolist() == [0, 0, 0, 0, 1, 1, 1, 2]
    assert communities([], [], 0).tolist() == []


@pytest.mark.parametrize(
    ("option", "told"), [({"limit": 0}, "limit"), ({"max_q_value": 1.5}, "largest q-value is 1.5")]
)
def test_summary_refuses(option, told):
    cliques = Cliques(np.array([[0]]), np.array([[1, 1]]), np.array([2, 2]), ("c",), ("a", "b"))
    with pytest.raises(OptionError, match=told):
        summarize(cliques, **option)
