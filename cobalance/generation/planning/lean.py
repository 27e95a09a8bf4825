"""Lean of cliques in rates: the statistic that plans within a budget bring down."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from cobalance.base import BoolArray, FloatArray, IntArray, sparse, special
from cobalance.counting import Cliques, SubsetIndex
from cobalance.statistics import MAX_Q_VALUE, clique_q_values
from cobalance.statistics.q_values import q_values

WITHOUT_EVIDENCE = 0.3
"""Weight of a clique without evidence: with none it would be pushed over to another class."""
NOT_CHOSEN = 0.1
"""Weight of a clique that is not chosen, unless it leans more than before."""
# A table to look up cliques in has at most so many places, each of four bytes.
_MOST_PLACES = 20_000_000
# Cliques whose rate has less variance than this weigh no more for being rarer.
_LEAST_VARIANCE = 5e-4
# The chi-square test is not the exact one: up to so many times its largest q-value a clique still
# counts as leaning.
_NEAR = 2
# Share of a quantile of chi-square by which it may be off.
_INVERSE_ERROR = 1e-6


def find_leaning(cliques: Cliques) -> BoolArray:
    """Whether each clique leans to a class, q ≤ 0.05 by the test of the imbalance table."""
    return clique_q_values(cliques) <= MAX_Q_VALUE


class CliqueSets:
    """Which cliques concept sets contain, and which a further concept would add.

    Parameters
    ----------
    cliques : Cliques
        Of any sizes; with each clique all of its parts.
    """

    def __init__(self, cliques: Cliques) -> None:
        self.n_cliques, self.n_concepts = len(cliques), len(cliques.concepts)
        added, self._added_rows = _extensions(cliques.members, self.n_concepts)

        # What the empty set becomes with a concept, and what each clique does.
        self._alone, self._added = added[:1], added[1:]

        # Cliques that can be extended come first, as rows are by size; the empty one before them.
        self._n_open = 1 + int((cliques.sizes() < cliques.members.shape[1]).sum())
        entries = added.tocoo()
        keys = entries.row.astype(np.int64) * self.n_concepts + entries.col
        self._next: pd.Index[int] | IntArray = pd.Index(keys)
        if (n_places := self._n_open * self.n_concepts) <= _MOST_PLACES:
            self._next = np.full(n_places + 1, -1, dtype=np.int32)  # -1 is the last place
            self._next[keys] = np.arange(len(keys))

    def find_shown(self, sets: "sparse.csr_matrix") -> "sparse.csr_matrix":
        """Find the cliques that sets contain.

        Parameters
        ----------
        sets : float32 sparse matrix, shape (n_sets, n_concepts)
            1 for a concept of the set.

        Returns
        -------
        float32 sparse matrix, shape (n_sets, n_cliques)
            1 for a clique all of whose members the set has.

        Notes
        -----
        Concept by concept, each clique found so far is looked up with the next: O(cliques found).
        """
        lengths = np.diff(sets.indptr)
        codes = np.full((len(lengths), lengths.max(initial=0)), -1, dtype=np.int64)
        codes[np.arange(codes.shape[1]) < lengths[:, None]] = sets.indices

        # A set is walked to with each of its cliques so far, the empty one at first.
        walks: IntArray = np.arange(len(codes))
        nodes: IntArray = np.zeros(len(codes), dtype=np.int64)
        rows, cliques = [walks[:0]], [walks[:0]]
        for column in codes.T:
            code = column[walks]
            places = self._look_up(np.where(code >= 0, nodes * self.n_concepts + code, -1))
            is_clique = np.flatnonzero(places >= 0)
            larger, row = self._added_rows[places[is_clique]], walks[is_clique]
            rows.append(row)
            cliques.append(larger)

            # Cliques of the largest size lead nowhere.
            open_ = np.flatnonzero(larger + 1 < self._n_open)
            walks = np.concatenate([walks, row[open_]])
            nodes = np.concatenate([nodes, larger[open_] + 1])

        # The rows of the matrix, with their cliques in order.
        keys = np.sort(np.concatenate(rows) * self.n_cliques + np.concatenate(cliques))
        rows_of_keys, cliques_of_keys = np.divmod(keys, self.n_cliques)
        ends = np.searchsorted(rows_of_keys, np.arange(len(lengths) + 1))

        ones = np.ones(len(keys), dtype=np.float32)
        return sparse.csr_matrix((ones, cliques_of_keys, ends), (len(lengths), self.n_cliques))

    def _look_up(self, keys: IntArray) -> IntArray:
        if isinstance(self._next, pd.Index):
            return self._next.get_indexer(pd.Index(keys))
        return self._next[keys]

    def price_concepts(self, worth: FloatArray) -> "ConceptPrices":
        """Price the concepts to add to sets by the worth of cliques: shape (n_cliques,)."""
        values = worth[self._added_rows]
        alone, added = self._alone, self._added
        n_alone = alone.nnz

        return ConceptPrices(
            alone=sparse.csr_matrix((values[:n_alone], alone.indices, alone.indptr), alone.shape),
            added=sparse.csr_matrix((values[n_alone:], added.indices, added.indptr), added.shape),
        )


@dataclass(frozen=True, eq=False)
class ConceptPrices:
    """The worth of the cliques that each concept adds to a set.

    Parameters
    ----------
    alone : float64 sparse matrix, shape (1, n_concepts)
        Of the clique that the concept is by itself.
    added : float64 sparse matrix, shape (n_cliques, n_concepts)
        Of the clique that it makes of each.
    """

    alone: "sparse.csr_matrix"
    added: "sparse.csr_matrix"

    def of_sets(self, shown: "sparse.csr_matrix") -> FloatArray:
        """Sum the worth of the cliques that each concept adds to sets, or would take from them.

        Parameters
        ----------
        shown : sparse matrix, shape (n_sets, n_cliques)
            From `CliqueSets.find_shown`.

        Returns
        -------
        float64 array, shape (n_sets, n_concepts)
        """
        return (shown @ self.added).toarray() + self.alone.toarray()


def match_cliques(cliques: Cliques, members: IntArray) -> "sparse.csr_matrix":
    """Find the cliques of any table that concept sets contain, as `CliqueSets.find_shown` does.

    Parameters
    ----------
    members : int array, shape (n_sets, any width)
        Concept codes, ascending; -1 behind the last.
    """
    pairs = [np.zeros((2, 0), dtype=np.int64)]
    pairs += [np.stack(pair) for pair in SubsetIndex(cliques.members).subsets(members)]
    sets, rows = np.concatenate(pairs, axis=1)
    ones = np.ones(len(sets), dtype=np.float32)
    return sparse.csr_matrix((ones, (sets, rows)), (len(members), len(cliques)))


def _extensions(members: IntArray, n_concepts: int) -> tuple["sparse.csr_matrix", IntArray]:
    """Which clique a clique becomes with a concept, with a first row for the empty set.

    Of shape (1 + n_cliques, n_concepts), followed by the larger clique's row of each entry.
    """
    index, sizes = SubsetIndex(members), (members >= 0).sum(axis=1)
    nothing: IntArray = np.zeros(0, dtype=np.int64)
    smaller, concepts, larger = [nothing], [nothing], [nothing]

    for size in range(1, members.shape[1] + 1):
        rows = np.flatnonzero(sizes == size)
        parts = index.combinations(members[rows, :size])
        for place in range(size):
            # The part of all members but one has all bits but that one's; -1 for the empty set.
            without = parts[:, (1 << size) - 1 ^ 1 << place]
            is_mined = (without >= 0) | (size == 1)
            smaller.append(without[is_mined] + 1)
            concepts.append(members[rows[is_mined], place])
            larger.append(rows[is_mined])

    row = np.concatenate(smaller).astype(np.int64)
    column = np.concatenate(concepts).astype(np.int64)
    # Rows are counted from 1 while they are values, so that no stored value is 0.
    values = np.concatenate(larger) + 1.0
    matrix = sparse.csr_matrix((values, (row, column)), (1 + len(members), n_concepts))
    return matrix, matrix.data.astype(np.int64) - 1


def _differ(chi_squares: FloatArray, freedom: int, level: float) -> BoolArray:
    """Where chi-square statistics have a q-value of at most a level.

    Their p-values are computed only where they can matter: Benjamini and Hochberg's procedure
    finds no more rows than have a p-value of `level`, nor, of n rows, than have one of `level`
    times that number over n, and so on.
    """
    n_rows = len(chi_squares)
    n_before, candidates = -1, np.arange(n_rows)

    while len(candidates) != n_before:
        n_before = len(candidates)
        least = special.chdtri(freedom, level * n_before / max(n_rows, 1))
        # The inverse is not exact to the last bit.
        candidates = np.flatnonzero(chi_squares >= least * (1 - _INVERSE_ERROR))

    differs = np.zeros(n_rows, dtype=np.bool_)
    p_values = special.chdtrc(freedom, chi_squares[candidates])
    differs[candidates] = q_values(p_values, n_rows) <= level

    return differs


class Lean:
    """Weighted sum of the rate differences of cliques between classes, and its change by images.

    For a class of n images, k of which show a clique that all classes together show at the rate p,
    it is Pearson's ``(k - n p)^2 / (n p0 (1 - p0))``, with p0 the rate before any image is added.
    It is summed over classes and cliques, each clique with its weight. As p follows the images that
    are added, the sum over classes is that of ``k^2 / n`` less ``K^2 / N`` of all images.

    Parameters
    ----------
    cliques : Cliques
        With their counts before.
    values : float array, shape (n_cliques,)
        What each clique counts for; 0 where it is only not to be made worse.
    """

    def __init__(self, cliques: Cliques, values: FloatArray) -> None:
        self.counts = cliques.counts.T.astype(np.float64)
        self.sizes = cliques.class_sizes.astype(np.float64)
        self.all_images = self.counts.sum(axis=0)
        self.chosen: BoolArray = values > 0

        rates = self.rates
        self._scale = 1 / np.maximum(rates * (1 - rates), _LEAST_VARIANCE)
        self._scaled = self._scale * np.where(self.chosen, values, 1.0)
        self._before = self._sum_squares()
        self._cliques = cliques

        self.evidence: BoolArray = find_leaning(cliques) & self.chosen
        self._leant = max(int(self.evidence.sum()), 1)
        self.weigh()

    @property
    def rates(self) -> FloatArray:
        """The rate of each clique in all classes together."""
        return self.all_images / max(self.sizes.sum(), 1.0)

    @property
    def share_left(self) -> float:
        """Of the chosen cliques that leant before, the share that still do."""
        return float(self.evidence.sum() / self._leant)

    def weigh(self) -> None:
        """Weigh each clique: by its evidence, or if it is not chosen, by whether it got worse.

        While many lean, those whose rates are furthest apart weigh less, as they take more images
        each: the sum of a concave function of the terms falls, which counts leaning cliques rather
        than how far they lean (Candès, Wakin and Boyd, J. Fourier Analysis and Applications 2008).
        """
        apart = self._sum_squares()
        of_chosen = np.full_like(apart, WITHOUT_EVIDENCE)
        if self.evidence.any():
            terms = (self._scale * apart)[self.evidence]
            falling = (terms + np.median(terms)) ** -self.share_left
            of_chosen[self.evidence] = falling / falling.mean()

        of_others = np.where(apart > self._before, 1.0, NOT_CHOSEN)
        self.weights = self._scaled * np.where(self.chosen, of_chosen, of_others)

    def find_evidence(self) -> None:
        """Find the chosen cliques that still lean: exactly once none of them seems to.

        Those that leant before are looked at by the chi-square test alone, which is quick, up to
        twice the largest q-value; when it finds none, all are tested as in the imbalance table.
        """
        rates = self.rates
        spread = rates * (1 - rates)
        terms = np.divide(self._sum_squares(), spread, out=np.zeros_like(spread), where=spread > 0)
        freedom = int(np.count_nonzero(self.sizes)) - 1
        seems_to_lean = _differ(terms, freedom, _NEAR * MAX_Q_VALUE)
        self.evidence = self.evidence & seems_to_lean

        if not self.evidence.any():
            counts, sizes = self.counts.T.astype(np.int64), self.sizes.astype(np.int64)
            now = replace(self._cliques, counts=counts, class_sizes=sizes)
            self.evidence = find_leaning(now) & self.chosen

    def statistic(self, weights: FloatArray) -> float:
        """The sum, with some weights."""
        return float(weights @ self._sum_squares())

    def _sum_squares(self) -> FloatArray:
        """Of each clique the sum of (k - n p)^2 / n; classes without images take no part."""
        has = self.sizes > 0
        sizes = self.sizes[has, None]
        return ((self.counts[has] - sizes * self.rates) ** 2 / sizes).sum(axis=0)

    def price_sets(self, shown: "sparse.csr_matrix", n: int | IntArray) -> FloatArray:
        """Price sets of concepts: by how much images of them change the sum, exactly.

        Parameters
        ----------
        shown : sparse matrix, shape (n_sets, n_cliques)
            The cliques that each set contains.
        n : int, or int array of shape (n_sets,)
            How many images of each set.

        Returns
        -------
        float64 array, shape (n_sets, n_classes)
        """
        k, sizes, total = self.counts, self.sizes, self.sizes.sum()
        all_images = self.all_images

        # With m images of a set that shows the clique, k^2 / n becomes (k + m)^2 / (n + m); of a
        # set that does not, k^2 / (n + m). The columns are what sets sum over their cliques.
        weighted = np.empty((len(all_images), len(k) + 2), dtype=np.float32)
        for column, counts in enumerate([*k, all_images]):
            weighted[:, column] = self.weights * (2 * counts)
        weighted[:, -1] = self.weights

        sums = np.asarray(shown @ weighted, dtype=np.float64)
        of_classes, of_all_images, weight = sums[:, :-2], sums[:, -2:-1], sums[:, -1:]
        m = np.asarray(n, dtype=np.float64).reshape(-1, 1)
        gains = m * (of_classes + m * weight) / (sizes + m)
        of_all = m * (of_all_images + m * weight) / (total + m)

        # All cliques are diluted, whether the set shows them or not.
        squares = np.divide(k**2 @ self.weights, sizes, out=np.zeros_like(sizes), where=sizes > 0)
        diluted = m / (sizes + m) * squares
        of_all -= m / (total + m) * (all_images**2 @ self.weights) / total
        return gains - diluted - of_all

    def price_cliques(self, codes: Sequence[int], n: int) -> FloatArray:
        """Price each clique in a set for `n` images of some classes: (n_codes, n_cliques)."""
        total = self.sizes.sum()
        of_all_images = (2 * self.all_images + n) / (total + n)
        of_classes = (2 * self.counts[codes] + n) / (self.sizes[codes, None] + n)

        return n * self.weights * (of_classes - of_all_images)

    def price_together(self, code: int, n: int) -> FloatArray:
        """Price each clique that two sets of a class share: shape (n_cliques,)."""
        return 2 * n**2 * self.weights * (1 / (self.sizes[code] + n) - 1 / (self.sizes.sum() + n))

    def add(self, code: int, n: int, counts: FloatArray) -> None:
        """Add `n` images of a class, with their counts of each clique."""
        self.counts[code] += counts
        self.all_images += counts
        self.sizes[code] += n
