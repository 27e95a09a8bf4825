"""A concept graph step by step: as it is, with planned, accepted and all generated images."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from cobalance.graph.database.store import GraphStore
from cobalance.graph.queries import statements
from cobalance.graph.queries.concept_counts import CountedDataset
from cobalance.graph.queries.overview import Overview
from cobalance.statistics.imbalance import COUNT

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
    rows = {name: row for row, name in enumerate(concepts["concept"])}
    ends = [np.array([rows[name] for name in edges[column]], dtype=np.int64) for column in _PAIR]
    known = [query for query in added if query[0] in sizes]
    at = [
        (query, rows[name])
        for query, (_, names, _) in enumerate(known)
        for name in names
        if name in rows
    ]
    shown = np.zeros((len(known), len(rows)))
    shown[tuple(np.array(at, dtype=np.int64).reshape(-1, 2).T)] = 1
    class_of = np.array([query[0] for query in known], dtype=object)
    images = np.array([query[2] for query in known], dtype=np.float64)
    for name in sizes:
        of_class = class_of == name
        some, new = shown[of_class], images[of_class]
        both = (some.T * new) @ some  # images with each two concepts; one on the diagonal
        single, pair = (found.astype(np.int64) for found in (both.diagonal(), both[*ends]))
        for frame, more in ((concepts, single), (edges, pair)):
            frame["images"] += more
            frame[COUNT + name] += more
        sizes[name] += int(new.sum())
        pair_sizes[name] += int(new.sum())
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
    asked = store.read(statements.ASKED_AND_ACCEPTED, before=before, after=after)
    columns: tuple[tuple[StepId, str], ...] = ("plan", "asked"), ("accepted", "accepted")
    for step, column in columns:
        added = [(row["class_name"], row["concepts"], row[column]) for row in asked if row[column]]
        if added:
            steps.append(Step(step, with_images(first, added)))
    if after is not None:
        steps.append(Step("after", _counts_in(store, after, first)))
    return steps


def _counts_in(store: GraphStore, dataset: str, first: Overview) -> Overview:
    """The counts of the same concepts and edges in another dataset, with the same classes."""
    counted = CountedDataset.of(store, dataset)
    names = first.concepts["concept"].tolist()
    concepts = counted.concept_frame(
        counted.ask("concept-counts", concepts=names), ["concept", "images"]
    )
    most = len(names) * (len(names) - 1) // 2
    pairs = counted.ask("edges-between-concepts", concepts=names, limit=most) if most else []
    edges = counted.pair_frame(pairs, [*_PAIR, "images"])
    columns = first.concepts.columns, first.edges.columns
    return replace(
        first,
        concepts=first.concepts[["concept"]].merge(concepts, how="left")[columns[0]],
        edges=first.edges[_PAIR].merge(edges, how="left")[columns[1]],
        class_sizes=counted.class_sizes,
        pair_class_sizes=counted.pair_class_sizes,
    )
