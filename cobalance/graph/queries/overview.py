"""Overview of a concept graph: its main concepts and strongest edges."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from cobalance.base import FloatArray
from cobalance.graph.database import GraphStore, Row, schema
from cobalance.graph.dataset import check_names
from cobalance.graph.queries.concept_counts import ClassSizes, CountedDataset, class_counts
from cobalance.statistics import skew


@dataclass(frozen=True, eq=False, kw_only=True)
class Overview(ClassSizes):
    """The part of a dataset's concept graph that fits into a drawing.

    Parameters
    ----------
    concepts : pandas.DataFrame
        ``concept``, ``images``, and ``count_<class>``: the images of each class with it. The
        included ones first, then by images.
    edges : pandas.DataFrame
        ``concept_1``, ``concept_2``, ``images`` with both, and ``count_<class>``: the images of
        each class with both, see `pair_class_sizes`. The strongest first.
    hidden_concepts : int
        Further concepts that the search finds; without a search, that the dataset has.
    """

    concepts: pd.DataFrame
    edges: pd.DataFrame
    hidden_concepts: int

    def concept_skew(self, left: Sequence[int], right: Sequence[int]) -> FloatArray:
        """Skew of each concept between two sides of class codes."""
        return skew(class_counts(self.concepts), [*self.class_sizes.values()], left, right)

    def edge_skew(self, left: Sequence[int], right: Sequence[int]) -> FloatArray:
        """Skew of each edge; NaN if it was not mined."""
        return skew(class_counts(self.edges), [*self.pair_class_sizes.values()], left, right)


def read_overview(
    store: GraphStore,
    dataset: str,
    *,
    max_concepts: int = 80,
    max_edges: int = 200,
    include: Sequence[str] = (),
) -> Overview:
    """Read a dataset's most frequent concepts and the strongest edges between them.

    Parameters
    ----------
    max_concepts, max_edges : int
        The most to show, 1 or more.
    include : sequence of str
        Concepts that are always shown, even if they are more than `max_concepts`.

    Raises
    ------
    NotFoundError, StaleError
        As from `CountedDataset.of`.
    UnknownNameError
        No such concept.
    """
    counted = CountedDataset.of(store, dataset)
    always = list(dict.fromkeys(include))
    rows = counted.ask("frequent-concepts", search="", always=always, limit=max_concepts)
    concepts = counted.concept_frame(rows, ["concept", "images"])
    if missing := set(always).difference(concepts["concept"]):
        check_names(store, dataset, {schema.CONCEPT: sorted(missing)})

    names = concepts["concept"].tolist()
    pairs: list[Row] = []
    if names:
        pairs = counted.ask("edges-between-concepts", concepts=names, limit=max_edges)
    n_concepts = int(rows[0]["found"]) if rows else 0
    return Overview(
        concepts=concepts,
        edges=counted.pair_frame(pairs, ["concept_1", "concept_2", "images"]),
        class_sizes=counted.class_sizes,
        pair_class_sizes=counted.pair_class_sizes,
        hidden_concepts=n_concepts - len(rows),
    )
