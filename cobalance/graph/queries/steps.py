"""A concept graph step by step: as it is, with planned, accepted and all generated images."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from cobalance.base import positions_of
from cobalance.graph.database import GraphStore, Row
from cobalance.graph.queries import statements
from cobalance.graph.queries.concept_counts import CountedDataset
from cobalance.graph.queries.overview import Overview
from cobalance.statistics import COUNT

StepId = Literal["dataset", "plan", "accepted", "after"]
Images = tuple[str, Sequence[str], int]
"""New images: their class, the concepts that each shows, and how many there are."""

_PAIR = ["concept_1", "concept_2"]


@dataclass(frozen=True, eq=False)
class Step:
    """The counts of a concept graph at one step; all steps have the same concepts and edges.

    Parameters
    ----------
    id : str
        Which step it is.
    overview : Overview
        A concept or edge that the step's dataset lacks has NaN for ``images`` and each count.
    """

    id: StepId
    overview: Overview


def with_images(overview: Overview, added: Iterable[Images]) -> Overview:
    """The counts as they would be with more images.

    Parameters
    ----------
    overview : Overview
        The counts without them. Pairs that were not mined stay uncounted.
    added : iterable of (class, concepts, images)
        Classes and concepts that the overview lacks change nothing in it.
    """
    concepts, edges = overview.concepts.copy(), overview.edges.copy()
    sizes, pair_sizes = dict(overview.class_sizes), dict(overview.pair_class_sizes)
    codes = positions_of(concepts["concept"])
    starts = edges[_PAIR[0]].map(codes).to_numpy(dtype=np.int64)
    ends = edges[_PAIR[1]].map(codes).to_numpy(dtype=np.int64)

    queries = [query for query in added if query[0] in sizes]
    query_classes = np.array([class_name for class_name, _, _ in queries], dtype=object)
    query_images = np.array([n_images for _, _, n_images in queries], dtype=np.float64)
    shows = np.zeros((len(queries), len(codes)))
    for row, (_, names, _) in enumerate(queries):
        shows[row, [codes[name] for name in names if name in codes]] = 1

    for class_name in sizes:
        of_class = query_classes == class_name
        class_shows, class_images = shows[of_class], query_images[of_class]
        # New images with each two concepts; those with one concept are on the diagonal.
        shared = ((class_shows.T * class_images) @ class_shows).astype(np.int64)
        for frame, new_images in ((concepts, shared.diagonal()), (edges, shared[starts, ends])):
            frame["images"] += new_images
            frame[COUNT + class_name] += new_images
        sizes[class_name] += int(class_images.sum())
        pair_sizes[class_name] += int(class_images.sum())
    return replace(
        overview, concepts=concepts, edges=edges, class_sizes=sizes, pair_class_sizes=pair_sizes
    )


def read_steps(
    store: GraphStore, before: str, first: Overview, after: str | None = None
) -> list[Step]:
    """Read the steps from a dataset's concept graph to that of its rebalanced copy.

    Parameters
    ----------
    before : str
        The dataset.
    first : Overview
        What to draw of it.
    after : str or None
        What it is compared with. If a job on `before` made it, the steps between are those of
        this job; without any, those of the newest job on `before` that makes new images.

    Returns
    -------
    list of Step
        The dataset; with all images that the job was asked for; with those that were accepted, if
        there are any; and `after`. Steps that do not exist are left out.

    Raises
    ------
    NotFoundError, StaleError
        As from `CountedDataset.of`.
    """
    steps = [Step("dataset", first)]
    rows = store.read(statements.ASKED_AND_ACCEPTED, before=before, after=after)
    columns: tuple[tuple[StepId, str], ...] = ("plan", "asked"), ("accepted", "accepted")
    for step, column in columns:
        added = [(row["class_name"], row["concepts"], row[column]) for row in rows if row[column]]
        if added:
            steps.append(Step(step, with_images(first, added)))
    if after is not None:
        steps.append(Step("after", _counts_in(store, after, first)))
    return steps


def _counts_in(store: GraphStore, dataset: str, first: Overview) -> Overview:
    """The counts of the same concepts and edges in another dataset, with the same classes."""
    counted = CountedDataset.of(store, dataset)
    names = first.concepts["concept"].tolist()
    concept_rows = counted.ask("concept-counts", concepts=names)
    concepts = counted.concept_frame(concept_rows, ["concept", "images"])

    # Every pair of concepts may be an edge; a limit is 1 or more.
    n_pairs = math.comb(len(names), 2)
    pair_rows: list[Row] = []
    if n_pairs:
        pair_rows = counted.ask("edges-between-concepts", concepts=names, limit=n_pairs)
    edges = counted.pair_frame(pair_rows, [*_PAIR, "images"])

    concept_columns, edge_columns = first.concepts.columns, first.edges.columns
    return replace(
        first,
        concepts=first.concepts[["concept"]].merge(concepts, how="left")[concept_columns],
        edges=first.edges[_PAIR].merge(edges, how="left")[edge_columns],
        class_sizes=counted.class_sizes,
        pair_class_sizes=counted.pair_class_sizes,
    )
