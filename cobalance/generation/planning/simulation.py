"""Simulate a plan: the exact counts after it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from cobalance.base import IntArray, PlannedQuery, check_known, positions_of
from cobalance.counting import Cliques, Incidence, SubsetIndex
from cobalance.generation.planning.plan import Plan, PlannedImages, check_query

# Stands behind the last member of a clique.
PADDING = -1


def add_to_counts(
    index: SubsetIndex, counts: IntArray, members: IntArray, images: IntArray
) -> None:
    """Add new images to counts in place: each set of concepts counts for all its mined subsets.

    Parameters
    ----------
    counts : int64 array, shape (n_cliques, n_classes)
        Changed in place.
    members : int array, shape (n_sets, any width)
        What the images contain: concept codes, ascending, -1 behind the last.
    images : int array, shape (n_sets, n_classes)
        How many of each class.
    """
    for positions, rows in index.subsets(members):
        np.add.at(counts, rows, images[positions])


def simulate(cliques: Cliques, queries: Iterable[PlannedQuery]) -> Cliques:
    """Compute the exact counts after a plan's queries.

    An image made for (class, concepts) contains exactly these concepts: it adds 1 to its class and
    to every mined subset of them, whatever its size. No clique joins or leaves the table.

    Parameters
    ----------
    queries : iterable of PlannedQuery
        Of cliques in the table or not.

    Returns
    -------
    Cliques
        The same cliques with the counts and class sizes after.

    Raises
    ------
    UnknownNameError
        A query names a class or concept that `cliques` does not know.
    OptionError
        A query is not as `check_query` has it.
    """
    return simulate_images(cliques, sets_of(cliques, queries))


def sets_of(cliques: Cliques, queries: Iterable[PlannedQuery]) -> PlannedImages:
    """Convert queries to planned images, a row a query, with the errors of `simulate`."""
    concept_codes, class_codes = positions_of(cliques.concepts), positions_of(cliques.classes)
    queries = tuple(queries)
    width = max((len(query.concepts) for query in queries), default=1)
    members = np.full((len(queries), width), PADDING, dtype=np.int64)
    images = np.zeros((len(queries), len(class_codes)), dtype=np.int64)

    for position, query in enumerate(queries):
        check_query(query)
        (class_code,) = _look_up("class", class_codes, (query.class_name,))
        images[position, class_code] = query.n
        codes = _look_up("concept", concept_codes, query.concepts)
        members[position, : len(codes)] = codes
    return PlannedImages(images, members=members)


def simulate_images(cliques: Cliques, planned: PlannedImages) -> Cliques:
    """Compute the exact counts after a planner's images.

    The same as `simulate` with the queries that `cobalance.generation.planning.plan.queries_of`
    makes of them, without writing them down.
    """
    rows = np.flatnonzero(planned.images.any(axis=1))
    members, images = planned.sets(cliques).members[rows], planned.images[rows]
    # A copy: the counts are added to in place.
    counts = cliques.counts.astype(np.int64)
    add_to_counts(SubsetIndex(cliques.members), counts, members, images)
    return replace(cliques, counts=counts, class_sizes=cliques.class_sizes + images.sum(axis=0))


def _look_up(kind: str, codes: dict[str, int], names: Sequence[str]) -> list[int]:
    check_known(kind, names, codes)
    return [codes[name] for name in names]


def code_names(cliques: Cliques, incidence: Incidence) -> tuple[IntArray, IntArray]:
    """The codes that cliques have for the concepts and the classes of images.

    Returns
    -------
    concepts : int64 array, shape (n_concepts,)
        -1 for a concept that no clique has.
    classes : int64 array, shape (n_classes,)
        -1 for a class that the cliques do not have.
    """
    # Members are padded with -1, which is the last index: one more than there are concepts.
    used = np.zeros(len(cliques.concepts) + 1, dtype=bool)
    used[cliques.members] = True
    code_of = {name: code for code, name in enumerate(cliques.concepts) if used[code]}
    label_of = positions_of(cliques.classes)
    concepts = [code_of.get(name, PADDING) for name in incidence.concepts]
    classes = [label_of.get(name, -1) for name in incidence.classes]
    return np.array(concepts, dtype=np.int64), np.array(classes, dtype=np.int64)


def summarize_plan(cliques: Cliques, plan: Plan) -> pd.DataFrame:
    """Summarise a plan's cost and effect for every mined clique size.

    Sizes that the plan leaves alone are there too: images for pairs change single concepts.

    Returns
    -------
    pandas.DataFrame
        Index ``size``, 1 to the largest mined; all int64. ``cliques``; ``imbalanced_before`` and
        ``imbalanced_after``, those with a gap above 0; ``total_gap_before`` and
        ``total_gap_after``, the sum of their gaps in images; ``images_<class>``, the images that
        the plan asks for with exactly so many concepts.

    Raises
    ------
    UnknownNameError
        The plan names a class or concept that `cliques` does not know.
    """
    planned = sets_of(cliques, plan.queries)
    gaps_before = cliques.gaps()
    gaps_after = simulate_images(cliques, planned).gaps()
    frame = pd.DataFrame(
        {
            "size": cliques.sizes(),
            "cliques": 1,
            "imbalanced_before": (gaps_before > 0).astype(np.int64),
            "imbalanced_after": (gaps_after > 0).astype(np.int64),
            "total_gap_before": gaps_before,
            "total_gap_after": gaps_after,
        }
    )

    planned_sizes = planned.sets(cliques).sizes()
    largest = max(cliques.members.shape[1], planned_sizes.max(initial=0))
    images = np.zeros((largest + 1, len(cliques.classes)), dtype=np.int64)
    np.add.at(images, planned_sizes, planned.images)

    sizes = pd.RangeIndex(1, largest + 1, name="size")
    summary = frame.groupby("size").sum().reindex(sizes, fill_value=0)
    summary[[f"images_{name}" for name in cliques.classes]] = images[1:]
    return summary
