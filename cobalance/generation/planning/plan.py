"""Plans: generation queries, their options, and the planner protocol."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import pandas as pd

from cobalance.generation.planning.budget import close_largest_gaps, share_budget
from cobalance.graph.arrays import IntArray
from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.errors import OptionError
from cobalance.graph.records import PlannedQuery


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Options shared by all planners.

    Parameters
    ----------
    min_size : int
        The smallest clique to balance. 2 as Algorithm 1 is printed (``while k > 1``); 1 also
        balances single concepts.
    max_size : int or None
        The largest clique to balance; None for the largest size mined.
    max_per_query : int or None
        At most so many images of one class for one clique; None for as many as it lacks. Planners
        apply it as they go, so that what they plan next counts the images that will be made.
    budget : int or None
        At most so many images in all, shared out as
        `cobalance.generation.planning.budget.share_budget` does; None for as many as it takes.
    largest_first : bool
        Spend the budget on the largest gaps, as
        `cobalance.generation.planning.budget.close_largest_gaps` does. It changes nothing without a
        budget.

    Raises
    ------
    OptionError
        `min_size` is below 1 or above `max_size`; `max_per_query` or `budget` is below 1.
    """

    min_size: int = 2
    max_size: int | None = None
    max_per_query: int | None = None
    budget: int | None = None
    largest_first: bool = False

    def __post_init__(self) -> None:
        for option, images in (("max_per_query", self.max_per_query), ("budget", self.budget)):
            if images is not None and images < 1:
                raise OptionError(
                    f"{option} is {images}; give 1 image or more, or leave it out for no limit"
                )
        if self.min_size < 1:
            raise OptionError(f"min_size is {self.min_size}; the smallest clique has 1 concept")
        if self.max_size is not None and self.max_size < self.min_size:
            raise OptionError(
                f"max_size is {self.max_size}, below min_size, which is {self.min_size}"
            )

    def resolve(self, cliques: Cliques) -> tuple[int, int]:
        """Resolve the smallest and the largest size to balance.

        Raises
        ------
        OptionError
            The cliques were mined up to a smaller size.
        """
        mined = cliques.members.shape[1]
        for option, size in (("max_size", self.max_size), ("min_size", self.min_size)):
            if size is not None and size > mined:
                raise OptionError(
                    f"{option} is {size}, but the cliques were mined up to size {mined}. "
                    f"Mine them up to {size}, or ask for at most {mined}."
                )
        return self.min_size, mined if self.max_size is None else self.max_size

    def rows(self, cliques: Cliques) -> IntArray:
        """Find the rows of the cliques of these sizes, ascending; errors are those of `resolve`."""
        smallest, largest = self.resolve(cliques)
        sizes = cliques.sizes()
        return np.flatnonzero((sizes >= smallest) & (sizes <= largest))

    def cap(self, images: IntArray) -> IntArray:
        """Limit the images of each query to `max_per_query`.

        Examples
        --------
        >>> PlanOptions(max_per_query=5).cap(np.array([3, 8])).tolist()
        [3, 5]
        """
        return images if self.max_per_query is None else np.minimum(images, self.max_per_query)


@dataclass(frozen=True, slots=True)
class Plan:
    """A planner's generation queries with its options.

    Parameters
    ----------
    options : PlanOptions
        With `max_size` filled in.
    queries : tuple of PlannedQuery
        In the order in which to make them: size descending, as Algorithm 1 goes, then concepts,
        then class.
    proven, bound, note
        As in `PlannedImages`; no part of whether plans are equal.

    Raises
    ------
    OptionError
        A query is not as `check_query` has it.
    """

    planner: str
    options: PlanOptions
    queries: tuple[PlannedQuery, ...]
    planner_options: Mapping[str, Any] = field(default_factory=dict)
    proven: bool | None = field(default=None, compare=False)
    bound: float | None = field(default=None, compare=False)
    note: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for query in self.queries:
            check_query(query)

    @property
    def images(self) -> int:
        """Total number of images."""
        return sum(query.n for query in self.queries)

    def write_arguments(self) -> dict[str, Any]:
        """The arguments that `cobalance.graph.dataset.plans.write_plan` takes of a plan."""
        own, limits = dict(self.planner_options), asdict(self.options)
        return {"queries": self.queries, "planner": self.planner, "planner_options": own, **limits}

    def frame(self) -> pd.DataFrame:
        """A row a query: class, concepts, n; also source_image and caption where one is edited."""
        columns = ["class", "concepts", "n"]
        frame = pd.DataFrame([query[:3] for query in self.queries], columns=columns)
        edits = [query.edit for query in self.queries]
        if any(edits):
            frame["source_image"] = [None if one is None else one.source_image for one in edits]
            frame["caption"] = [None if one is None else one.caption for one in edits]
        return frame

    def images_by_class(self) -> dict[str, int]:
        """Count the plan's images per class, by class name; classes without images are left out."""
        totals = Counter[str]()
        for query in self.queries:
            totals[query.class_name] += query.n
        return dict(sorted(totals.items()))


def check_query(query: PlannedQuery) -> None:
    """Raise OptionError unless a query asks for images, of concepts in order or of an edit."""
    class_name, concepts, n, edit = query
    if not (concepts or edit) or any(a >= b for a, b in pairwise(concepts)):
        raise OptionError(
            f"a query for {class_name!r} has the concepts {concepts}; give at least one, in "
            "ascending order, none twice"
        )
    if n < 1:
        raise OptionError(
            f"a query for {class_name!r} with {concepts} asks for {n} images; ask for 1 or more, "
            "or leave the query out"
        )


@dataclass(frozen=True, eq=False)
class PlannedImages:
    """A planner's images, with how good they are known to be.

    Parameters
    ----------
    images : int64 array, shape (n_cliques, n_classes)
        Images of each class that contain exactly each clique; no entry below 0.
    proven : bool or None
        Whether no plan is better, by the planner's own aim; None where it does not say.
    bound : float or None
        The least that any plan can reach of what the planner minimises; None where unknown.
    note : str
        What people should know of it, in sentences.
    """

    images: IntArray
    proven: bool | None = None
    bound: float | None = None
    note: str = ""


class Planner(Protocol):
    """Pure function from clique counts to images; the registry is in `planning.planners`."""

    def __call__(self, cliques: Cliques, options: PlanOptions) -> IntArray | PlannedImages:
        """Return the number of images to generate for each clique and class.

        Returns
        -------
        int64 array, shape (n_cliques, n_classes), or PlannedImages
            No entry below 0.

        Raises
        ------
        OptionError
            The options ask for sizes that were not mined.
        """
        ...


def run_planner(cliques: Cliques, planner: Planner, options: PlanOptions) -> PlannedImages:
    """Run a planner, and apply the limits of the options.

    Returns
    -------
    PlannedImages
        Images to make of each class that contain exactly each clique; none above
        `options.max_per_query`, and their sum not above `options.budget`.
    """
    budget, largest_first = options.budget, options.largest_first
    if largest_first:  # of the whole plan, while some planners have a use of their own for a budget
        options = replace(options, budget=None)
    found = planner(cliques, options)
    result = found if isinstance(found, PlannedImages) else PlannedImages(found)
    images = options.cap(result.images)
    if budget is None or images.sum() <= budget:
        return replace(result, images=images)
    if largest_first:
        kept = close_largest_gaps(cliques, images, budget, options.rows(cliques))
        return PlannedImages(kept)
    return replace(result, images=share_budget(images, budget))


def queries_of(cliques: Cliques, images: IntArray) -> tuple[PlannedQuery, ...]:
    """Convert image counts to queries, ordered by size descending, then concepts, then class.

    Parameters
    ----------
    cliques : Cliques
        What the rows of `images` are.
    images : int array, shape (n_cliques, n_classes)
        Images to make of each class that contain exactly each clique.
    """
    rows, codes = np.nonzero(images)
    # rows ascend within a size by concept codes, which are in order of name
    order = np.argsort(-cliques.sizes()[rows], kind="stable")
    rows, codes = rows[order], codes[order]
    names = cliques.take(rows).names()
    return tuple(
        PlannedQuery(cliques.classes[code], clique, n)
        for clique, code, n in zip(names, codes.tolist(), images[rows, codes].tolist(), strict=True)
    )
