"""Groups of concepts to filter by: categories of attributes, and communities."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cobalance.base import values_at
from cobalance.counting import Cliques
from cobalance.graph import GraphStore, leaning_concepts, list_attributes, load_cliques
from cobalance.statistics import communities

NAMED = 3
"""Concepts that a group is called by: the most frequent ones."""
_TOGETHER = "together"


@dataclass(frozen=True)
class Facet:
    """A group of concepts, in ascending order.

    `id` is for links, `name` a category or the most frequent of the concepts, and `leaning` how
    many of them lean to a class by themselves.
    """

    id: str
    name: str
    concepts: tuple[str, ...]
    leaning: int


def read_communities(store: GraphStore, dataset: str) -> tuple[Facet, ...]:
    """Communities of concepts among `read_facets`, the largest first."""
    facets = read_facets(store, dataset)
    return tuple(facet for facet in facets if facet.id.startswith(f"{_TOGETHER}:"))


def read_facets(store: GraphStore, dataset: str) -> tuple[Facet, ...]:
    """The categories of a dataset's attributes, then communities of its co-occurrence graph.

    Categories are those of attributes that have become concepts, see `list_attributes`. Communities
    are those of `cobalance.statistics.summary.communities` with two concepts and more, the
    largest first. What is one group of all concepts is left out, as it filters nothing.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    """
    cliques = load_cliques(store, dataset)
    mined = {*cliques.concepts}
    attributes = list_attributes(store, dataset)
    attributes = attributes[attributes["concept"].isin(mined)]
    groups: dict[tuple[str, str], list[str]] = {}
    for category, concept in zip(attributes["category"], attributes["concept"], strict=True):
        groups.setdefault(("category", category), []).append(concept)
    for concepts in _read_communities(cliques):
        groups[_TOGETHER, ", ".join(concepts[:NAMED])] = concepts

    # A group of all concepts would filter nothing.
    facets = {key: concepts for key, concepts in groups.items() if {*concepts} < mined}
    leaning = leaning_concepts(store, dataset) if facets else set()
    return tuple(
        Facet(
            id=f"{kind}:{name}",
            name=name,
            concepts=tuple(sorted({*concepts})),
            leaning=len(leaning.intersection(concepts)),
        )
        for (kind, name), concepts in facets.items()
    )


def _read_communities(cliques: Cliques) -> Iterator[list[str]]:
    """Concepts of each community of two and more, the most frequent first."""
    sizes, images = cliques.sizes(), cliques.counts.sum(axis=1)
    is_pair, is_single = sizes == 2, sizes == 1
    if not is_pair.any():
        return
    frequency = np.zeros(len(cliques.concepts), dtype=np.int64)
    frequency[cliques.members[is_single, 0]] = images[is_single]

    codes = communities(cliques.members[is_pair][:, :2], images[is_pair], len(frequency))
    for code in range(int(codes.max()) + 1):
        members = np.flatnonzero(codes == code)
        if len(members) > 1:
            ordered = members[np.argsort(-frequency[members], kind="stable")]
            yield values_at(cliques.concepts, ordered.tolist())
