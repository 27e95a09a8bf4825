"""Overview of a concept graph: its main concepts and strongest edges."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from cobalance.graph.arrays import FloatArray
from cobalance.graph.database import schema
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.names import check_names
from cobalance.graph.diagnosis.contrasts import skew
from cobalance.graph.errors import OptionError, check_known
from cobalance.graph.queries.concept_counts import ClassSizes, CountedDataset, class_counts

Order = Literal["images", "skew"]
ORDERS: tuple[Order, ...] = ("images", "skew")

_BY_ORDER = {"images": "frequent-concepts", "skew": "skewed-concepts"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Overview(ClassSizes):
    """The part of a dataset's concept graph that fits into a drawing.

    Parameters
    ----------
    concepts : pandas.DataFrame
        ``concept``, ``images``, and ``count_<class>``: the images of each class with it. The
        included ones first, then in the order that was asked for.
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
    order: Order = "images",
    search: str | None = None,
    include: Sequence[str] = (),
    left: Sequence[str] = (),
    right: Sequence[str] = (),
) -> Overview:
    """Read a dataset's main concepts and the strongest edges between them.

    Parameters
    ----------
    max_concepts, max_edges : int
        The most to show, 1 or more.
    order : str
        Which concepts are the main ones: the most frequent (``"images"``), or those whose rates
        on two sides differ most surely (``"skew"``), by the z statistic of two proportions. The
        largest skews alone would be those of concepts with a single image.
    search : str or None
        Only concepts with this in their name, in any case.
    include : sequence of str
        Concepts that are always shown, even if they are more than `max_concepts`.
    left, right : sequences of str
        The classes of the two sides, for the order by skew; by default the first class by name,
        and all others.

    Raises
    ------
    NotFoundError, StaleError
        As from `CountedDataset.of`.
    UnknownNameError
        No such order, class or concept.
    """
    check_known("order", [order], ORDERS)
    if min(max_concepts, max_edges) < 1:
        raise OptionError(
            f"An overview of {max_concepts} concepts and {max_edges} edges; give 1 or more of each."
        )
    counted = CountedDataset.of(store, dataset)
    always = list(dict.fromkeys(include))
    options: dict[str, Any] = {"search": search or "", "always": always, "limit": max_concepts}
    if order == "skew":
        check_known("class", [*left, *right], counted.class_sizes)
        options |= {"left": list(left), "right": list(right)}
    rows = counted.ask(_BY_ORDER[order], **options)
    concepts = counted.concept_frame(rows, ["concept", "images"])
    if missing := set(always).difference(concepts["concept"]):
        check_names(store, dataset, {schema.CONCEPT: sorted(missing)})
    names = concepts["concept"].tolist()
    pairs = counted.ask("edges-between-concepts", concepts=names, limit=max_edges) if names else []
    return Overview(
        concepts=concepts,
        edges=counted.pair_frame(pairs, ["concept_1", "concept_2", "images"]),
        class_sizes=counted.class_sizes,
        pair_class_sizes=counted.pair_class_sizes,
        hidden_concepts=int(rows[0]["found"]) - len(rows) if rows else 0,
    )
