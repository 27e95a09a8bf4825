"""Plans of whole images: concept sets of real images, edited where that evens out more rates."""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from pydantic import Field

from cobalance.base import (
    FloatArray,
    IntArray,
    Options,
    Plugin,
    is_image_property,
    sparse,
    text_if,
)
from cobalance.counting import Cliques, Incidence, sets_matrix
from cobalance.generation.planning.lean import CliqueSets, Lean
from cobalance.generation.planning.plan import START_SHARE, ImagePlanner, PlannedImages, PlanOptions
from cobalance.generation.planning.relaxation import bound_lean
from cobalance.generation.planning.simulation import code_names
from cobalance.generation.planning.weights import weigh_cliques
from cobalance.statistics import MAX_Q_VALUE

# Images of the first queries and of the last: smaller ones leave less lean, in more queries.
LARGEST_QUERY, SMALLEST_QUERY = 8, 2
# The most source images of a query.
SOURCES = 5
# An edit adds a concept only if it shares this many real images with each other concept.
SEEN = 3

# The sample has at most so many concept sets, drawn from at most three times as many images.
_POOL = 20_000
# No planned image shows more concepts than this share of the real images do.
_LARGEST_SHARE = 0.98
# The queries of a budget are chosen in so many steps, and evidence is found anew so many times.
_STEPS, _ROUNDS = 100, 20
# The size of queries falls as this power of the remaining budget: four images each on average.
_FALL = 1.15
# Price of a concept beyond the real mean once no clique leans any more, relative to the gain of a
# concept. A constant price left a third more cliques leaning with twenty classes.
_CONCEPT_PRICE = 0.8
# Where real images show fewer concepts than this, the price is that of images with as many.
_FEW = 4
# Edits change the order of prices, so that a step edits more sets than it takes: half as many again
# and 60, as a large step spends most of its time on them, and in a small step at most four times.
_MORE_EDITED, _MORE_TIMES = 60, 4
# A step takes no set whose price is less than this share of the step's best.
_WORSE = 0.7
# Where a set has few images of its own, its sources are looked for among so many other sets.
_NEAREST_AMONG = 4_000
# A change of the price below this is a rounding error.
_PRICE_ERROR = 1e-9


class WholeImageOptions(Options):
    """Options of the planner whole-images.

    Parameters
    ----------
    edits : int
        Concepts to add to or drop from the set of a real image, at most.
    weights : tuple of str
        What cliques count for, as ``cow + field=2``; all others weigh 1.
    """

    edits: int = Field(default=3, ge=0, le=10)
    weights: tuple[str, ...] = ()


PLUGIN = Plugin(
    "whole-images",
    "Concept sets of real images, edited: the least lean in rates within a budget.",
    options=WholeImageOptions,
)


def open_planner(options: WholeImageOptions) -> "WholeImages":
    """Open the planner."""
    return WholeImages(options)


@dataclass(frozen=True)
class WholeImages(ImagePlanner):
    """Plan images that show the concept set of a real image, with a few concepts changed.

    An image of seven concepts counts in dozens of cliques, so that it evens out more rates than one
    of two concepts, and can be made by editing the image whose set it takes.

    Notes
    -----
    *Aim*: the least `cobalance.generation.planning.lean.Lean` of the chosen cliques. Weights are
    reconsidered after each twentieth of the budget: a clique that leant before and still does
    weighs 1 on average, less the further it leans as long as many do; others 0.3. Own effects need
    no weight: a lean that the parts of a clique explain goes with theirs. Cliques that are not
    chosen weigh 0.1, and 1 once they are further apart than before.

    *Sets*: those of a seeded sample of real images, and what one to three edits make of them, each
    the one that the prices of all concepts call best. A concept is added only to concepts with each
    of which three real images or more show it, and no set grows larger than those of 98% of the
    real images. A concept beyond their mean has a price, which rises as fewer cliques lean, so that
    planned images are not much fuller than real ones; `PlannedImages.note` says how full.

    *Queries* are of 8 images at first and of 2 at last, each priced after those before it; rows of
    the result are in the order in which they were chosen, so that the first rows are a plan for
    fewer images.

    *End*: the budget, or when no chosen clique leans by the test of the imbalance table, or when no
    set brings the statistic down.

    *Bound*: no plan with as many images of each class, of sets of the sample or the plan's, leaves
    less of the statistic than `PlannedImages.bound`; rates of planned images are relaxed to real
    numbers (Frank and Wolfe, Naval Research Logistics Quarterly 1956). It says nothing of other
    sets, of other class sizes, or of how many cliques lean.

    A step costs the cliques of the sample times the classes, whatever the number of images.
    """

    own: WholeImageOptions = field(default_factory=WholeImageOptions)

    def plan_images(
        self, cliques: Cliques, chosen: IntArray, options: PlanOptions, images: Incidence
    ) -> PlannedImages:
        """Plan whole images for the chosen cliques, with the parameters of `ImagePlanner`."""
        values = np.zeros(len(cliques))
        values[chosen] = weigh_cliques(cliques.take(chosen), self.own.weights)
        total = int(cliques.class_sizes.sum())
        budget = round(total * START_SHARE) if options.budget is None else options.budget
        pool = Pool.of(cliques, images)
        search = _Search(cliques, values, pool, self.own.edits, budget, options.max_per_query)
        return search.run()


@dataclass(frozen=True, eq=False)
class Pool:
    """Concept sets of a sample of real images.

    Parameters
    ----------
    cliques : CliqueSets
        The cliques that sets contain.
    sets : float32 sparse matrix, shape (n_sets, n_concepts)
        1 for a concept of the set.
    images : list of int lists
        Of each set a few images that show it, as rows of the incidence.
    labels : int array
        The class of each image of the incidence, by its code in the cliques; -1 for another.
    co_occurs : float32 array, shape (n_concepts, n_concepts)
        1 for two concepts that `SEEN` real images show together, and for each with itself.
    max_concepts : int
        Of a planned set.
    mean_concepts : float
        Of a real image.
    """

    cliques: CliqueSets
    sets: "sparse.csr_matrix"
    images: list[list[int]]
    labels: IntArray
    co_occurs: npt.NDArray[np.float32]
    max_concepts: int
    mean_concepts: float

    @classmethod
    def of(cls, cliques: Cliques, images: Incidence) -> "Pool":
        """Draw the sample, and count pairs in all images, of the concepts that cliques have."""
        codes_of_names, codes_of_classes = code_names(cliques, images)
        can_make = np.array([not is_image_property(name) for name in images.concepts], dtype=bool)
        is_drawn = can_make & (codes_of_names >= 0)
        images = images.restrict(is_drawn)

        # From here on concepts and classes have the codes of the cliques.
        codes = codes_of_names[is_drawn][images.indices]
        labels = codes_of_classes[images.labels]
        lengths = np.diff(images.indptr)

        order = np.random.default_rng(0).permutation(len(lengths))
        drawn = order[(lengths[order] > 0) & (labels[order] >= 0)][: 3 * _POOL]
        images_of_sets = _group_by_set(drawn, images.indptr, codes)

        shows = replace(images, indices=codes, concepts=cliques.concepts).matrix()
        pairs = (shows.T @ shows).toarray()
        co_occurs = (pairs >= SEEN).astype(np.float32)
        np.fill_diagonal(co_occurs, 1)

        first_images = [of_set[0] for of_set in images_of_sets]
        max_concepts, mean_concepts = 0, 0.0
        if len(lengths):
            max_concepts = int(np.quantile(lengths, _LARGEST_SHARE))
            mean_concepts = float(lengths.mean())

        return cls(
            cliques=CliqueSets(cliques),
            sets=shows[first_images],
            images=images_of_sets,
            labels=labels,
            co_occurs=co_occurs,
            max_concepts=max_concepts,
            mean_concepts=mean_concepts,
        )

    @cached_property
    def shown(self) -> "sparse.csr_matrix":
        """The cliques that the sets contain."""
        return self.cliques.find_shown(self.sets)

    def find_sources(self, set_rows: IntArray, codes: IntArray) -> IntArray:
        """Find source images of planned ones: real images of their set, or of the nearest sets.

        Parameters
        ----------
        set_rows : int array, shape (n_queries,)
            The set of each query before it was edited.
        codes : int array, shape (n_queries,)
            The class of each query; images of another class come first.

        Returns
        -------
        int64 array, shape (n_queries, `SOURCES`)
            Rows of the incidence; -1 behind the last.
        """
        nearest = self._find_nearest(set_rows)
        sources = np.full((len(set_rows), SOURCES), -1, dtype=np.int64)

        sets_and_classes = zip(set_rows.tolist(), codes.tolist(), strict=True)
        for query, (row, code) in enumerate(sets_and_classes):
            # The sort is stable: False, which is another class, comes first.
            of_set = sorted(self.images[row], key=lambda image: bool(self.labels[image] == code))
            of_near_sets = [self.images[near][0] for near in nearest.get(row, ())]
            images = list(dict.fromkeys([*of_set, *of_near_sets]))[:SOURCES]
            sources[query, : len(images)] = images
        return sources

    def _find_nearest(self, set_rows: IntArray) -> dict[int, IntArray]:
        """Find the nearest sets of each set that has fewer images than a query has sources."""
        rng = np.random.default_rng(0)
        candidates = np.sort(rng.permutation(len(self.images))[:_NEAREST_AMONG])
        candidate_sets = self.sets[candidates].T.tocsr()
        sizes = np.diff(self.sets.indptr)
        short = [row for row in set_rows.tolist() if len(self.images[row]) < SOURCES]
        pending = np.unique(short).astype(np.int64)

        nearest: dict[int, IntArray] = {}
        # 500 sets at a time: the distances are a dense matrix.
        for part in np.array_split(pending, 1 + len(pending) // 500):
            shared = (self.sets[part] @ candidate_sets).toarray()
            distances = sizes[part, None] + sizes[candidates] - 2 * shared
            last = min(SOURCES, distances.shape[1] - 1)

            closest = np.argpartition(distances, last, axis=1)[:, :SOURCES]
            of_closest = np.take_along_axis(distances, closest, axis=1)
            ranks = np.argsort(of_closest, axis=1, kind="stable")
            rows = candidates[np.take_along_axis(closest, ranks, axis=1)]
            nearest |= zip(part.tolist(), rows, strict=True)
        return nearest


def _group_by_set(drawn: IntArray, indptr: IntArray, codes: IntArray) -> list[list[int]]:
    """Group drawn images by their concept set: at most `_POOL` sets, a few images of each."""
    images_of: dict[bytes, list[int]] = {}
    for image in drawn.tolist():
        key = codes[indptr[image] : indptr[image + 1]].tobytes()
        if key not in images_of and len(images_of) == _POOL:
            continue
        images = images_of.setdefault(key, [])
        # More than SOURCES, so that images of another class can come first.
        if len(images) < 4 * SOURCES:
            images.append(image)
    return list(images_of.values())


def _sparse_sets(members: npt.NDArray[np.float32]) -> "sparse.csr_matrix":
    """Sets as a sparse matrix, from a dense one of zeros and ones."""
    rows, concepts = np.nonzero(members)
    ends = np.searchsorted(rows, np.arange(len(members) + 1))

    ones = np.ones(len(rows), dtype=np.float32)
    return sparse.csr_matrix((ones, concepts, ends), members.shape)


def _concepts(sets: "sparse.csr_matrix", row: int) -> tuple[int, ...]:
    """The concepts of a set, ascending."""
    return tuple(sets.indices[sets.indptr[row] : sets.indptr[row + 1]].tolist())


@dataclass(frozen=True, eq=False)
class _Offer:
    """Queries of one class, each priced after those before it.

    Parameters
    ----------
    price : float
        Of all queries together.
    gain : float
        By how much a query brings the statistic down, on average.
    set_rows : int array, shape (n_queries,)
        The sets of the pool that the queries are edits of.
    sets, shown : sparse matrix, a row a query
        Its concepts, and the cliques that they show.
    """

    code: int
    price: float
    gain: float
    set_rows: IntArray
    sets: "sparse.csr_matrix"
    shown: "sparse.csr_matrix"


class _Search:
    """The greedy search of `WholeImages`.

    A *price* is by how much images of a set change the statistic, plus the price of the concepts
    that the set has beyond the real mean: the lower the better, and below 0 where the set is worth
    its images. It is the sum of *clique prices*, of the cliques that the set contains, and of what
    does not depend on the clique. A *gain* is by how much the statistic alone falls. *Values* are
    what chosen cliques count for, and *weights* what `Lean.weigh` makes of them.
    """

    def __init__(
        self,
        cliques: Cliques,
        values: FloatArray,
        pool: Pool,
        edits: int,
        budget: int,
        largest: int | None,
    ) -> None:
        self.pool, self.edits, self.budget = pool, edits, budget
        self.lean = lean = Lean(cliques, values)
        self.counts, self.weights = lean.counts.copy(), lean.weights

        self.before = lean.statistic(lean.weights)
        self.largest = budget if largest is None else largest
        self.first_size = min(self.largest, LARGEST_QUERY, max(budget // 4, SMALLEST_QUERY))
        self.last_size = min(SMALLEST_QUERY, self.first_size)
        self.concept_price = 0.0
        # Of a diagonal matrix: the column of each clique's row.
        self.diagonal = np.arange(len(cliques) + 1, dtype=np.int32)
        self.images: dict[tuple[int, tuple[int, ...]], int] = defaultdict(int)
        self.set_rows: dict[tuple[int, tuple[int, ...]], int] = {}

    def run(self) -> PlannedImages:
        """Choose queries until one of the ends is reached."""
        if self.budget <= 0:
            return self._result()

        mean_size = (self.first_size + self.last_size) / 2
        step = max(1, round(self.budget / mean_size / _STEPS))
        remaining = last_round = self.budget
        while remaining > 0 and self.lean.evidence.any() and len(self.pool.images):
            larger = (self.first_size - self.last_size) * (remaining / self.budget) ** _FALL
            n = min(remaining, round(self.last_size + larger))
            offer = self._best_offer(n, min(step, remaining // n))
            if not len(offer.set_rows):
                break

            remaining -= self._accept(offer, n)
            self._price_concepts(offer.gain)
            # A test costs all cliques, so that it is made once in a twentieth of the budget.
            if remaining <= last_round - self.budget / _ROUNDS:
                last_round = remaining
                self.lean.find_evidence()
            self.lean.weigh()
        return self._result()

    def _accept(self, offer: _Offer, n: int) -> int:
        """Add `n` images of each query of an offer to the counts; returns how many in all."""
        rows = [row for row in range(len(offer.set_rows)) if self._add(offer, row, n)]
        n_images = n * len(rows)
        counts = np.asarray(offer.shown[rows].sum(axis=0), dtype=np.float64).ravel()
        self.lean.add(offer.code, n_images, n * counts)
        return n_images

    def _price_concepts(self, gain: float) -> None:
        """Set the price of a concept beyond the real mean, which rises as fewer cliques lean."""
        # The cube keeps concepts nearly free while many cliques lean: fuller images even out more.
        share = _CONCEPT_PRICE * (1 - self.lean.share_left) ** 3
        self.concept_price = share * max(0.0, gain) / max(self.pool.mean_concepts, _FEW)

    def _add(self, offer: _Offer, row: int, n: int) -> bool:
        """Add images of a query, unless that makes it larger than any may be."""
        query = offer.code, _concepts(offer.sets, row)
        if self.images[query] + n > self.largest:
            return False
        self.images[query] += n
        self.set_rows.setdefault(query, int(offer.set_rows[row]))
        return True

    def _best_offer(self, n: int, most: int) -> _Offer:
        """The best queries of `n` images, of the two classes where one set buys most."""
        lean, pool = self.lean, self.pool
        prices = lean.price_sets(pool.shown, n) + self._price_fuller(pool.sets)[:, None]

        offers = []
        codes = np.argsort(prices.min(axis=0), kind="stable")[:2].tolist()
        for code, clique_prices in zip(codes, lean.price_cliques(codes, n), strict=True):
            n_edited = min(_MORE_TIMES * (most + 1), most + most // 2 + _MORE_EDITED, len(prices))
            set_rows = np.argpartition(prices[:, code], n_edited - 1)[:n_edited]
            sets, edited_prices = self._edit(set_rows, clique_prices, prices[set_rows, code])
            edited_prices[self._find_full(code, n, sets)] = np.inf

            cliques_of_sets = pool.cliques.find_shown(sets)
            rows, total = self._take(code, n, most, cliques_of_sets, edited_prices)
            gain = 0.0
            if len(rows):
                gain = float((self._price_fuller(sets)[rows] - edited_prices[rows]).mean())

            offers.append(
                _Offer(
                    code=code,
                    price=total,
                    gain=gain,
                    set_rows=set_rows[rows],
                    sets=sets[rows],
                    shown=cliques_of_sets[rows],
                )
            )
        return min(offers, key=lambda offer: offer.price)

    def _price_fuller(self, sets: "sparse.csr_matrix") -> FloatArray:
        """The price of the concepts that sets have beyond the mean of real images."""
        return self.concept_price * np.maximum(0.0, np.diff(sets.indptr) - self.pool.mean_concepts)

    def _take(
        self, code: int, n: int, most: int, shown: "sparse.csr_matrix", prices: FloatArray
    ) -> tuple[IntArray, float]:
        """Take sets one by one, the cheapest first, each priced after those before it."""
        shared_prices = self.lean.price_together(code, n)
        places = self.diagonal
        pair_prices = sparse.csr_matrix((shared_prices, places[:-1], places))
        interactions = (shown @ pair_prices @ shown.T).toarray()
        worst = _WORSE * prices.min()

        total, rows = 0.0, list[int]()
        while len(rows) < most and prices.min() < 0 and prices.min() <= worst:
            best = int(prices.argmin())
            rows.append(best)
            total += float(prices[best])
            prices = prices + interactions[best]
        return np.array(rows, dtype=np.int64), total

    def _find_full(self, code: int, n: int, sets: "sparse.csr_matrix") -> IntArray:
        """Rows of the sets of which a query has as many images as it may have."""
        full = {
            concepts
            for (class_code, concepts), n_made in self.images.items()
            if class_code == code and n_made + n > self.largest
        }

        if not full:
            return np.zeros(0, dtype=np.int64)
        rows = [row for row in range(sets.shape[0]) if _concepts(sets, row) in full]
        return np.array(rows, dtype=np.int64)

    def _edit(
        self, set_rows: IntArray, clique_prices: FloatArray, prices: FloatArray
    ) -> tuple["sparse.csr_matrix", FloatArray]:
        """Add or drop the concept that lowers the price of each set most, a few times."""
        pool, prices = self.pool, prices.copy()
        # 1 where a set has a concept: dense, as most columns are looked at in each round.
        members = pool.sets[set_rows].toarray()
        # Sets that the last round changed: no further edit makes the others cheaper.
        rows = np.arange(len(set_rows))
        sets, cliques_of_sets = pool.sets[set_rows], pool.shown[set_rows]
        concept_prices = pool.cliques.price_concepts(clique_prices)

        for _ in range(self.edits):
            has = members[rows] > 0
            size = has.sum(axis=1, keepdims=True)
            changes = concept_prices.of_sets(cliques_of_sets)
            # A concept may be added where it co-occurs with every concept of the set.
            may_add = (sets @ pool.co_occurs >= size) & (size < pool.max_concepts)
            adding = changes + self.concept_price * (size >= pool.mean_concepts)
            dropping = -changes - self.concept_price * (size > pool.mean_concepts)
            moves = np.where(
                has,
                np.where(size > 1, dropping, np.inf),
                np.where(may_add, adding, np.inf),
            )

            best = moves.argmin(axis=1)
            best_moves = moves[np.arange(len(rows)), best]
            lowers = best_moves < -_PRICE_ERROR
            if not lowers.any():
                break

            rows, concepts = rows[lowers], best[lowers]
            members[rows, concepts] = 1 - members[rows, concepts]
            prices[rows] += best_moves[lowers]

            sets = _sparse_sets(members[rows])
            cliques_of_sets = pool.cliques.find_shown(sets)

        return _sparse_sets(members), prices

    def _result(self) -> PlannedImages:
        """The chosen queries, how good they are, and the images that they follow."""
        queries, pool, lean = list(self.images), self.pool, self.lean
        if not queries:
            return PlannedImages(
                np.zeros((0, len(lean.sizes)), dtype=np.int64),
                note=self._why_nothing(),
                members=np.zeros((0, 1), dtype=np.int64),
            )

        codes = np.array([code for code, _ in queries])
        n = np.array([self.images[query] for query in queries])
        images = np.zeros((len(queries), len(lean.sizes)), dtype=np.int64)
        images[np.arange(len(queries)), codes] = n

        concepts = [of_query for _, of_query in queries]
        lengths = np.array(list(map(len, concepts)))
        members = np.full((len(queries), lengths.max()), -1, dtype=np.int64)
        members[np.arange(members.shape[1]) < lengths[:, None]] = np.concatenate(concepts)

        set_rows = np.array([self.set_rows[query] for query in queries])
        sets = sets_matrix(members, pool.cliques.n_concepts)
        changed = np.asarray(abs(sets - pool.sets[set_rows]).sum(axis=1)).ravel()
        bound = self._bound(sets, images)
        least = f"; no mix of these sets with as many images of each class gets below {bound:,.0f}"
        note = (
            f"The lean statistic falls from {self.before:,.0f} to "
            f"{lean.statistic(self.weights):,.0f}{text_if(round(bound), least)}. Of the concepts "
            f"that were counted, planned images show {n @ lengths / n.sum():.1f} each, real ones "
            f"{pool.mean_concepts:.1f}; {n @ changed / n.sum():.1f} of them differ from the real "
            "image that they follow, and an added one is seen with each of the others in "
            f"{SEEN} real images or more."
        )

        return PlannedImages(
            images,
            proven=None,
            bound=bound,
            note=note,
            members=members,
            sources=pool.find_sources(set_rows, codes),
        )

    def _why_nothing(self) -> str:
        if not self.lean.chosen.any() or np.count_nonzero(self.lean.sizes) < 2:
            return ""
        if not self.pool.images:
            return "No image is planned: no real image shows a concept of these cliques."

        return (
            "No image is planned: no difference between the classes can be told from chance (none "
            f"of these cliques has a q-value of {MAX_Q_VALUE:g} or less)."
        )

    def _bound(self, sets: "sparse.csr_matrix", images: IntArray) -> float:
        """The least lean that is left by sets of the sample and the plan."""
        pool, lean = self.pool, self.lean
        cliques_of_sets = sparse.vstack([pool.shown, pool.cliques.find_shown(sets)], format="csr")
        start = np.zeros((images.shape[1], cliques_of_sets.shape[0]))
        start[:, len(pool.images) :] = images.T
        return bound_lean(self.counts, self.weights, cliques_of_sets, start, lean.sizes)
