"""A concept graph step by step: as it is, with planned, accepted and all generated images."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from graph.database.store import GraphStore
from graph.diagnosis.imbalance import COUNT
from graph.queries import statements
from graph.queries.concept_counts import CountedDataset
from graph.queries.overview import Overview

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

    Examples
    --------
    >>> columns = {"concept": ["cow"], "images": [3], COUNT + "a": [3], COUNT + "b": [0]}
    >>> edges = pd.DataFrame(columns=[*_PAIR, "images", COUNT + "a", COUNT + "b"])
    >>> before = Overview(class_sizes={"a": 9, "b": 9}, pair_class_sizes={"a": 9, "b": 9},
    ...                   concepts=pd.DataFrame(columns), edges=edges, hidden_concepts=0,
    ...                   hidden_edges=0)
    >>> after = with_images(before, [("b", ["cow", "dog"], 3)])
    >>> after.concepts.values.tolist(), after.class_sizes
    ([['cow', 6, 3, 3]], {'a': 9, 'b': 12})
    """
    concepts, edges = overview.concepts.copy(), overview.edges.copy()
    sizes, pair_sizes = dict(overview.class_sizes), dict(overview.pair_class_sizes)
    rows = {name: row for row, name in enumerate(concepts["concept"])}
    pairs = [
        (row, rows[one], rows[other])
        for row, (one, other) in enumerate(edges[_PAIR].itertuples(index=False))
        if one in rows and other in rows
    ]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 3)
    more = {name: np.zeros(len(concepts), dtype=np.int64) for name in sizes}
    more_pairs = {name: np.zeros(len(edges), dtype=np.int64) for name in sizes}
    for class_name, names, images in added:
        if class_name not in sizes:
            continue
        sizes[class_name] += images
        pair_sizes[class_name] += images
        shown = np.zeros(len(concepts), dtype=bool)
        shown[[rows[name] for name in names if name in rows]] = True
        more[class_name] += images * shown
        both = shown[ends[:, 1]] & shown[ends[:, 2]]
        more_pairs[class_name][ends[both, 0]] += images
    for frame, by_class in ((concepts, more), (edges, more_pairs)):
        frame["images"] += sum(by_class.values(), start=np.zeros(len(frame), dtype=np.int64))
        for name, new in by_class.items():
            frame[COUNT + name] += new
    return replace(
        overview, concepts=concepts, edges=edges, class_sizes=sizes, pair_class_sizes=pair_sizes
    )


def read_steps(
    store: GraphStore, before: str, first: Overview, after: str | None = None
) -> list[Step]:
    """Read the steps from a dataset's concept graph to that of what was made from it.

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
    DatasetNotFoundError, StaleError
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
