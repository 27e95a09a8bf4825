"""Whole images: what a plan leaves, how full it is, where it ends, and a bound that holds."""

from collections import Counter
from itertools import combinations, combinations_with_replacement, pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_matrix

from cobalance.base.errors import OptionError, UnknownNameError
from cobalance.counting.cliques import Cliques, mine_cliques
from cobalance.counting.incidence import Incidence, build_incidence
from cobalance.generation.planning.effects import measure
from cobalance.generation.planning.plan import PlanOptions, queries_of, run_planner
from cobalance.generation.planning.planners import PLANNERS, plan
from cobalance.generation.planning.relaxation import bound_lean
from cobalance.generation.planning.simulation import simulate_images
from cobalance.notebook.data import urbancars
from cobalance.statistics.association import homogeneity_test
from cobalance.statistics.q_values import q_values
from tests.support.counted import count_cliques

NAMES = ["day bed", "c_one", "cow", "road", "sign"]


def draw(class_sizes, n_concepts, seed, *, shuffled=False) -> Incidence:
    """Images of unequal classes with strong, weak and no leans."""
    rng = np.random.default_rng(seed)
    base = np.clip(rng.lognormal(-3.3, 0.9, n_concepts), 0.004, 0.5)
    lift = np.exp(rng.normal(0, 0.35, (len(class_sizes), n_concepts)))
    for of_class in lift:
        of_class[rng.choice(n_concepts, 4, replace=False)] *= 6
    labels = np.repeat(np.arange(len(class_sizes)), class_sizes)
    shows = rng.random((len(labels), n_concepts)) < np.clip(base * lift, 0, 0.8)[labels]
    if shuffled:
        labels = rng.permutation(labels)
    images, codes = np.nonzero(shows)
    concepts = [f"concept {code:03d}" for code in range(n_concepts)]
    classes = [f"class_{code:02d}" for code in range(len(class_sizes))]
    return build_incidence(images, codes, labels, concepts, classes)


def planned(images: Incidence, cliques: Cliques, budget=None, chosen=None, **own):
    planner = PLANNERS.open("whole-images", own)
    return run_planner(cliques, planner, PlanOptions(1, budget=budget), chosen, images)


def leaning(cliques: Cliques):
    p_values, _ = homogeneity_test(cliques.counts, cliques.class_sizes)
    return q_values(p_values) <= 0.05


SIX = (2100, 1300, 700, 400, 175, 90)


@pytest.fixture(scope="module")
def six():
    images = draw(SIX, 80, seed=3)
    return images, mine_cliques(images, max_size=2)


def test_a_fifth_of_the_images_leaves_few_leans_and_they_are_not_overfull(six):
    images, cliques = six
    found = planned(images, cliques, budget=953)
    after = simulate_images(cliques, found)
    n = found.images.sum(axis=1)
    assert n.sum() == 953
    assert leaning(cliques).sum() > 300
    assert leaning(after).sum() <= 0.4 * leaning(cliques).sum()
    shown = n @ (found.members >= 0).sum(axis=1) / n.sum()
    assert shown <= 1.7 * np.diff(images.indptr).mean()
    assert n.sum() / len(n) >= 3
    assert len(n) <= 500
    assert (
        f"; no mix of these sets with as many images of each class gets below {found.bound:,.0f}. "
        in (found.note)
    )
    assert f"Of the concepts that were counted, planned images show {shown:.1f} each" in found.note


def test_a_bound_of_0_says_nothing_and_is_not_told():
    labels = np.repeat([0, 1], 50)
    concepts = np.concatenate([[0] * 40 + [1] * 10, [0] * 10 + [1] * 40])
    images = build_incidence(np.arange(100), concepts, labels, ["cow", "road"], ["x", "y"])
    found = planned(images, mine_cliques(images), budget=500)
    assert found.bound == pytest.approx(0, abs=0.4)
    assert found.images.sum() > 0
    assert "no mix" not in found.note
    assert "falls from 72 to 0. Of the concepts" in found.note


def test_sets_are_edits_of_their_source_by_concepts_that_are_seen_with_it(six):
    images, cliques = six
    found = planned(images, cliques, budget=300)
    names = np.array(images.concepts, dtype=object)[images.indices].tolist()
    compared = {name for clique in cliques.names() for name in clique}  # that all classes show
    held = [compared.intersection(names[a:b]) for a, b in pairwise(images.indptr.tolist())]
    pairs = Counter(pair for shown in held for pair in combinations(sorted(shown), 2))
    for members, sources in zip(found.members.tolist(), found.sources.tolist(), strict=True):
        wanted = {cliques.concepts[code] for code in members if code >= 0}
        assert len(wanted ^ held[sources[0]]) <= 3
        added = wanted - held[sources[0]]
        assert all(
            pairs[pair] >= 3 for pair in combinations(sorted(wanted), 2) if added.intersection(pair)
        )
        real = [source for source in sources if source >= 0]
        assert 2 <= len(set(real)) == len(real) <= 5
    plain = planned(images, cliques, budget=300, edits=0)
    kinds = {tuple(sorted(shown)) for shown in held}
    assert {*plain.sets(cliques).names()} <= kinds


def test_queries_name_their_sources_in_the_order_of_the_plan(six):
    images, cliques = six
    ids = [f"image {row}" for row in range(len(images.labels))]
    found = planned(images, cliques, budget=100)
    queries = queries_of(cliques, found, ids)
    assert [query.n for query in queries] == found.images.sum(axis=1).tolist()
    assert queries[0].sources == tuple(ids[at] for at in found.sources[0] if at >= 0)
    first = run_planner(
        cliques, PLANNERS.open("whole-images"), PlanOptions(1, None, 3, 100), None, images
    )
    assert first.images.max() <= 3


def test_the_order_of_the_images_does_not_matter(six):
    images, cliques = six
    other = images.take(np.random.default_rng(0).permutation(len(images.labels)))
    one, two = (queries_of(cliques, planned(some, cliques, 200)) for some in (images, other))
    assert one == two


def test_chosen_cliques_are_served_and_no_other_is_made_worse(six):
    images, cliques = six
    differences = np.ptp(cliques.counts / cliques.class_sizes, axis=1)
    chosen = np.sort(np.argsort(-differences * leaning(cliques))[:5])
    found = planned(images, cliques, budget=400, chosen=chosen)
    after = simulate_images(cliques, found)
    left = np.ptp(after.counts / after.class_sizes, axis=1)
    assert left[chosen].sum() < 0.9 * differences[chosen].sum()
    assert (leaning(after) & ~leaning(cliques)).sum() <= 0.01 * len(cliques)
    assert leaning(after).sum() < leaning(cliques).sum()
    of_all = simulate_images(cliques, planned(images, cliques, budget=400))
    assert pearson(after, cliques)[chosen].sum() < pearson(of_all, cliques)[chosen].sum()


def pearson(cliques: Cliques, before: Cliques):
    """What differs between classes, by the variance before."""
    rates = cliques.counts.sum(axis=1) / cliques.class_sizes.sum()
    usual = before.counts.sum(axis=1) / before.class_sizes.sum()
    apart = (cliques.counts - rates[:, None] * cliques.class_sizes) ** 2 / cliques.class_sizes
    return apart.sum(axis=1) / np.maximum(usual * (1 - usual), 5e-4)


def test_weights_change_what_is_served(six):
    images, cliques = six
    differences = np.ptp(cliques.counts / cliques.class_sizes, axis=1)
    row = int(np.argmax(differences * leaning(cliques)))
    name = " + ".join(cliques.names()[row])
    plain, heavy = (
        simulate_images(cliques, planned(images, cliques, 200, weights=weights))
        for weights in ((), (f"{name}=50",))
    )
    left = [np.ptp(after.counts[row] / after.class_sizes) for after in (plain, heavy)]
    assert left[1] < left[0]
    with pytest.raises(OptionError, match="names a clique that is not to be balanced"):
        planned(images, cliques, 200, weights=("nothing=2",))


def test_urbancars_is_evened_out_with_fewer_images_than_algorithm_1():
    images = urbancars().incidence()
    cliques = mine_cliques(images, max_size=2)
    found = planned(images, cliques, budget=7308)
    assert found.images.sum() <= 7308
    assert leaning(simulate_images(cliques, found)).sum() == 0
    assert plan(cliques, "conbias", PlanOptions(1)).images == 7308


@pytest.mark.parametrize("seed", range(6))
def test_labels_at_random_ask_for_next_to_nothing(seed):
    images = draw(SIX, 80, seed, shuffled=True)
    found = planned(images, mine_cliques(images, max_size=2))
    assert found.images.sum() <= 0.015 * len(images.labels)


def test_without_evidence_it_says_why():
    images = build_incidence([0, 1, 2], [0, 0, 1], [0, 0, 1, 1], ["cow", "road"], ["x", "y"])
    found = planned(images, mine_cliques(images, common=()))
    assert found.images.size == 0
    assert "can be told from chance" in found.note


def test_bad_input(six):
    images, cliques = six
    with pytest.raises(OptionError, match="Only counts are at hand"):
        plan(cliques, "whole-images")
    with pytest.raises(OptionError, match="edits is -1"):
        planned(images, cliques, edits=-1)
    with pytest.raises(UnknownNameError, match="unknown planner"):
        plan(cliques, "whole_images")
    empty = images.take(np.zeros(0, dtype=np.int64))
    nothing = planned(empty, cliques, 50)
    assert nothing.images.size == 0
    assert "no real image" in nothing.note
    one = images.take(np.flatnonzero(images.labels == 0))
    of_one = mine_cliques(one, common=(), max_size=2)
    assert planned(one, of_one, 50).images.size == 0
    without = cliques.counts.copy()
    without[:, 5] = 0
    sizes = cliques.class_sizes.copy()
    sizes[5] = 0
    missing = Cliques(cliques.members, without, sizes, cliques.concepts, cliques.classes)
    some = planned(images.take(np.flatnonzero(images.labels != 5)), missing, 60)
    assert 0 < some.images.sum() <= 60


SETS = st.frozensets(st.sampled_from(NAMES), min_size=1, max_size=4)
KINDS = st.dictionaries(st.tuples(st.sampled_from("xyz"), SETS), st.integers(1, 40), min_size=2)


@settings(max_examples=60)
@given(kinds=KINDS, budget=st.sampled_from([1, 2, 7, 60, 400]), size=st.integers(1, 3))
def test_counts_afterwards_are_those_of_all_images(kinds, budget, size):
    """Recounted image by image; no measure of all cliques together gets worse."""
    cliques = count_cliques(kinds, size, common=False)
    found = planned(as_incidence(kinds), cliques, budget)
    made = Counter(dict(kinds))
    for class_name, concepts, n, *_ in queries_of(cliques, found):
        made[class_name, frozenset(concepts)] += n
    after, expected = simulate_images(cliques, found), count_cliques(made, size, common=False)
    rows = [expected.names().index(name) for name in cliques.names()]
    assert after.counts.tolist() == expected.counts[rows].tolist()
    assert after.class_sizes.tolist() == expected.class_sizes.tolist()
    assert found.images.sum() <= budget
    measured = measure(cliques, after, found, np.arange(len(cliques)))
    assert measured["leaning_before"] or not measured["images"]


def as_incidence(kinds) -> Incidence:
    rows = [(label, held) for (label, held), n in kinds.items() for _ in range(n)]
    classes = sorted({label for label, _ in rows})
    concepts = sorted(set().union(*(held for _, held in rows)))
    entries = [(at, concepts.index(name)) for at, (_, held) in enumerate(rows) for name in held]
    labels = [classes.index(label) for label, _ in rows]
    return build_incidence(*map(list, zip(*entries, strict=True)), labels, concepts, classes)


@settings(max_examples=40)
@given(
    counts=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=4),
    made=st.integers(1, 4),
    data=st.data(),
)
def test_the_bound_is_never_above_the_optimum(counts, made, data):
    """Of all ways to make so many images of the first class from three sets, by hand."""
    n_cliques = len(counts)
    cells = st.lists(st.integers(0, 1), min_size=n_cliques, max_size=n_cliques)
    shown = np.array([data.draw(cells) for _ in range(3)], dtype=float)
    k = np.array(counts, dtype=float).T
    weights = np.array(
        data.draw(st.lists(st.integers(1, 5), min_size=n_cliques, max_size=n_cliques))
    )
    sizes = np.array([10 + made, 10])

    def left(images) -> float:
        after = k + np.array([shown[list(images)].sum(axis=0), np.zeros(n_cliques)])
        expected = sizes[:, None] * after.sum(axis=0) / sizes.sum()
        return float(weights @ ((after - expected) ** 2 / sizes[:, None]).sum(axis=0))

    best = min(left(images) for images in combinations_with_replacement(range(3), made))
    start = np.zeros((2, 3))
    start[0, data.draw(st.integers(0, 2))] = made
    bound = bound_lean(k, weights.astype(float), csr_matrix(shown), start, sizes.astype(float))
    assert bound <= best + 1e-9
