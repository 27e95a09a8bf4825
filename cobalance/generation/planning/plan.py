"""Plans: generation queries, their options, and the planner protocol."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from cobalance.base import (
    DataError,
    IntArray,
    OptionError,
    PlannedQuery,
    Setting,
    is_image_property,
)
from cobalance.counting import Cliques, Incidence
from cobalance.generation.planning.budget import spend_budget

START_SHARE = 0.1
"""Of the dataset's images: a first plan, after which people look and validate."""


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Options shared by all planners.

    Parameters
    ----------
    min_size : int or None
        The smallest clique to balance; 1 also balances single concepts. None for the planner's own:
        2 as Algorithm 1 is printed (``while k > 1``), 1 by whole-images.
    max_size : int or None
        The largest clique to balance; None for the largest size mined.
    max_per_query : int or None
        At most so many images of one class for one clique; None for as many as it lacks. Planners
        apply it as they go, so that what they plan next counts the images that will be made.
    budget : int or None
        At most so many images in all, spent as `cobalance.generation.planning.budget.spend_budget`
        does by planners without a use of their own for it; None for as many as it takes, and by
        whole-images for a tenth of the dataset's. The usual size is that of
        `cobalance.generation.planning.sizes.plan_usual`.

    Raises
    ------
    OptionError
        `min_size` is below 1 or above `max_size`; `max_per_query` or `budget` is below 1.
    """

    min_size: int | None = None
    max_size: int | None = None
    max_per_query: int | None = None
    budget: int | None = None

    def __post_init__(self) -> None:
        for option, images in (("max_per_query", self.max_per_query), ("budget", self.budget)):
            if images is not None and images < 1:
                raise OptionError(
                    f"{option} is {images}; give 1 image or more, or leave it out for no limit"
                )

        if self.min_size is not None and self.min_size < 1:
            raise OptionError(f"min_size is {self.min_size}; the smallest clique has 1 concept")
        if self.max_size is not None and self.max_size < (self.min_size or 1):
            raise OptionError(
                Setting("max_size"),
                f" is {self.max_size}, below ",
                Setting("min_size"),
                f", which is {self.min_size}. Give a larger or a smaller one.",
            )

    def resolve(self, cliques: Cliques) -> tuple[int, int]:
        """Resolve the smallest and the largest size to balance.

        Raises
        ------
        OptionError
            The cliques were mined up to a smaller size.
        """
        mined = cliques.members.shape[1]
        limits = (Setting("max_size"), self.max_size), (Setting("min_size"), self.min_size)
        for option, size in limits:
            if size is not None and size > mined:
                raise OptionError(
                    option,
                    f" is {size}, but the cliques were mined up to size {mined}. "
                    f"Mine them up to {size}, or ask for at most {mined}.",
                )

        largest = mined if self.max_size is None else self.max_size
        smallest = min(2, largest) if self.min_size is None else self.min_size
        return smallest, largest

    def rows(self, cliques: Cliques) -> IntArray:
        """Find the rows of the cliques of these sizes, ascending; raises as `resolve`.

        Those with a property of image files are left out: no prompt asks for it.
        """
        smallest, largest = self.resolve(cliques)
        sizes = cliques.sizes()
        # Properties of image files cannot be asked for; the last entry is that of the padding.
        is_property = np.array([*map(is_image_property, cliques.concepts), False])
        can_make = ~is_property[cliques.members].any(axis=1)
        return np.flatnonzero((sizes >= smallest) & (sizes <= largest) & can_make)

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
        then class; of whole images as they were chosen, so that those that buy most come first.
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
        planner_options, limits = dict(self.planner_options), asdict(self.options)
        return {
            "queries": self.queries,
            "planner": self.planner,
            "planner_options": planner_options,
            **limits,
        }

    def frame(self) -> pd.DataFrame:
        """A row a query: class, concepts, n; sources, or source_image and caption, where known."""
        columns = ["class", "concepts", "n"]
        frame = pd.DataFrame([query[:3] for query in self.queries], columns=columns)
        if any(query.sources for query in self.queries):
            frame["sources"] = [query.sources for query in self.queries]

        edits = [query.edit for query in self.queries]
        if any(edits):
            for column in ("source_image", "caption"):
                # None where a query edits no image.
                frame[column] = [getattr(edit, column, None) for edit in edits]
        return frame

    def images_by_class(self) -> dict[str, int]:
        """Count the plan's images per class, by class name; classes without images are left out."""
        totals = Counter[str]()
        for query in self.queries:
            totals[query.class_name] += query.n
        return dict(sorted(totals.items()))


def check_query(query: PlannedQuery) -> None:
    """Raise OptionError unless a query asks for images, of concepts in order or of an edit."""
    class_name, concepts, n, edit, _ = query

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
    images : int64 array, shape (n_sets, n_classes)
        Images of each class that contain exactly each set of concepts; no entry below 0.
    proven : bool or None
        Whether no plan is better, by the planner's own aim; None where it does not say.
    bound : float or None
        The least that any plan can reach of what the planner minimises; None where unknown.
    note : str
        What people should know of it, in sentences.
    members : int array, shape (n_sets, any width), or None
        The sets: concept codes of the cliques, ascending, -1 behind the last. None for the cliques
        that were given to the planner, in their order.
    sources : int array, shape (n_sets, at most 5), or None
        Real images to make each set's images from, as rows of the incidence; -1 behind the last.
    """

    images: IntArray
    proven: bool | None = None
    bound: float | None = None
    note: str = ""
    members: IntArray | None = None
    sources: IntArray | None = None

    def sets(self, cliques: Cliques) -> Cliques:
        """The sets of concepts as a table with the names of `cliques`, without counts."""
        members = cliques.members if self.members is None else self.members
        return replace(cliques, members=members, counts=np.zeros_like(self.images))


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


@runtime_checkable
class ImagePlanner(Protocol):
    """A planner of concept sets that sees the real images, and all cliques beside the chosen."""

    def plan_images(
        self, cliques: Cliques, chosen: IntArray, options: PlanOptions, images: Incidence
    ) -> PlannedImages:
        """Plan images of sets of its own.

        Parameters
        ----------
        cliques : Cliques
            All of them, with their counts.
        chosen : int array
            Rows of those to balance, ascending.
        images : Incidence
            The real images that were counted, or a sample of them.

        Returns
        -------
        PlannedImages
            With `members`.
        """


def run_planner(
    cliques: Cliques,
    planner: Planner | ImagePlanner,
    options: PlanOptions,
    chosen: IntArray | None = None,
    images: Incidence | None = None,
) -> PlannedImages:
    """Plan for some cliques, and apply the limits of the options.

    Parameters
    ----------
    chosen : int array, optional
        Rows of those to balance, ascending; all by default.
    images : Incidence, optional
        The real images, which an `ImagePlanner` needs.

    Returns
    -------
    PlannedImages
        None above `options.max_per_query`, and their sum not above `options.budget`.

    Raises
    ------
    OptionError
        The planner needs images and there are none, or the options leave it no plan.
    """
    rows = options.rows(cliques)
    chosen = rows if chosen is None else np.intersect1d(chosen, rows)
    if isinstance(planner, ImagePlanner):
        if images is None:
            raise OptionError(
                "Only counts are at hand, and the planner takes concept sets from the images. "
                "Plan with another, such as conbias."
            )
        return planner.plan_images(cliques, chosen, options, images)

    chosen_cliques = cliques.take(chosen)
    result = planner(chosen_cliques, options)
    if not isinstance(result, PlannedImages):
        result = PlannedImages(result)
    if np.shape(result.images) != chosen_cliques.counts.shape:
        raise DataError(
            f"The planner returned images of shape {np.shape(result.images)}, not "
            f"{chosen_cliques.counts.shape}: a row for each clique, a column for each class. "
            "Correct it, or choose another."
        )

    limited = options.cap(result.images)
    if options.budget is not None and limited.sum() > options.budget:
        limited = spend_budget(cliques, chosen, limited, options.budget)
        # A part of a plan has no bound, and is not known to be the best.
        result = PlannedImages(limited)
    return replace(result, images=limited, members=chosen_cliques.members)


def plan_of_images(
    planner: str,
    options: PlanOptions,
    planner_options: Mapping[str, Any],
    cliques: Cliques,
    planned: PlannedImages,
    ids: Sequence[str] = (),
) -> Plan:
    """The plan of a planner's images, with the sizes and options that it was made with.

    Parameters
    ----------
    planner : str
        Its name, and in `planner_options` its own options.
    cliques, planned, ids
        As `queries_of` has them.
    """
    min_size, max_size = options.resolve(cliques)
    return Plan(
        planner=planner,
        options=replace(options, min_size=min_size, max_size=max_size),
        queries=queries_of(cliques, planned, ids),
        planner_options=dict(planner_options),
        proven=planned.proven,
        bound=planned.bound,
        note=planned.note,
    )


def queries_of(
    cliques: Cliques, planned: PlannedImages, ids: Sequence[str] = ()
) -> tuple[PlannedQuery, ...]:
    """Convert planned images to queries.

    They are ordered by size descending, then concepts, then class; those of whole images in the
    order of the plan.

    Parameters
    ----------
    cliques : Cliques
        What the planned images are for.
    ids : sequence of str
        Of the real images, in the incidence's order, for the queries' sources.
    """
    sets, images = planned.sets(cliques), planned.images
    rows, codes = np.nonzero(images)
    if planned.sources is None:
        # Rows ascend within a size by concept codes, which are in order of name.
        order = np.argsort(-sets.sizes()[rows], kind="stable")
        rows, codes = rows[order], codes[order]

    sources: list[tuple[str, ...]] = [()] * len(rows)
    if planned.sources is not None and len(ids):
        for position, places in enumerate(planned.sources[rows].tolist()):
            # -1 stands behind the last source.
            sources[position] = tuple(ids[place] for place in places if place >= 0)

    names = sets.take(rows).names()
    numbers = images[rows, codes].tolist()
    return tuple(
        PlannedQuery(cliques.classes[code], concepts, n, None, sources_of_query)
        for code, concepts, n, sources_of_query in zip(
            codes.tolist(), names, numbers, sources, strict=True
        )
    )
