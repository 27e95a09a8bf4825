"""How each class differs from the others in the concepts that it shows."""

from dataclasses import dataclass

import numpy as np

from cobalance.base import FloatArray, IntArray, positions_of
from cobalance.graph.database import GraphStore
from cobalance.graph.dataset import class_sizes, dataset_state
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.statistics import Contrast, standardized_residuals, strongest_contrast

MOST_COMPARED = 200
"""Concepts that decide which two classes differ most: those that lean most."""


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Counts and residuals of all concepts in all classes, the furthest from independence first.

    Parameters
    ----------
    class_sizes : dict of str to int
        All images of each class, by name in ascending order.
    concepts : tuple of str
        By their residual that is furthest from 0, then by name.
    counts : int array, shape (n_concepts, n_classes)
        Images of each class that show the concept.
    residuals : float64 array, shape (n_concepts, n_classes)
        See `standardized_residuals`.
    strongest : Contrast or None
        The two classes that differ most in the `MOST_COMPARED` first concepts.
    """

    class_sizes: dict[str, int]
    concepts: tuple[str, ...]
    counts: IntArray
    residuals: FloatArray
    strongest: Contrast | None

    @property
    def pair(self) -> tuple[str, str] | None:
        """Names of the two classes that differ most; None where fewer than two have images."""
        if self.strongest is None:
            return None
        names = list(self.class_sizes)
        return names[self.strongest.first], names[self.strongest.second]


def read_contrasts(store: GraphStore, dataset: str) -> Contrasts:
    """Read the concepts of all images by how far they are from independence of the class.

    Raises
    ------
    NotFoundError, StaleError
        There is none of that name, or an ingest of it did not end.
    """
    dataset_state(store, dataset).require_complete()
    sizes = class_sizes(store, dataset)
    query = CATALOGUE["class-concept-edges"]
    edges = store.read_frame(query, **query.bind({"dataset": dataset}))

    names, rows = np.unique(edges["concept"].to_numpy(dtype=object), return_inverse=True)
    codes = positions_of(sizes)
    counts = np.zeros((len(names), len(codes)), dtype=np.int64)
    counts[rows, [codes[name] for name in edges["class"]]] = edges["images"]

    class_images = np.array([*sizes.values()], dtype=np.int64)
    residuals = standardized_residuals(counts, class_images)
    # Rounded, so that equal residuals stay in the order of names whatever their last digits.
    furthest = np.abs(residuals).max(axis=1, initial=0).round(9)
    order = np.argsort(-furthest, kind="stable")
    return Contrasts(
        class_sizes=sizes,
        concepts=tuple(names[order].tolist()),
        counts=counts[order],
        residuals=residuals[order],
        strongest=strongest_contrast(counts[order[:MOST_COMPARED]], class_images),
    )
