"""Cliques counted in the images of some concepts, each against the images without it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cobalance.base import ALL_IMAGES, IntArray, check_known
from cobalance.counting.cliques import Cliques, mine_cliques
from cobalance.counting.incidence import Incidence


@dataclass(frozen=True, eq=False)
class OneAgainstRest:
    """Cliques with their count in the images of each compared concept, which may overlap.

    Parameters
    ----------
    cliques : Cliques
        Their classes are the compared concepts, in the order given.
    images : int64 array, shape (n_cliques,)
        All images with the clique.
    total : int
        All images.
    """

    cliques: Cliques
    images: IntArray
    total: int

    def of(self, name: str) -> Cliques:
        """The cliques without a compared concept, in images with and without it.

        Returns
        -------
        Cliques
            Of two classes, the concept and `rest_of` it, whose images are all images.

        Raises
        ------
        UnknownNameError
            It was not compared.
        """
        check_known("compared concept", [name], self.cliques.classes)
        cliques = self.cliques
        column, code = cliques.classes.index(name), cliques.concepts.index(name)
        rows = np.flatnonzero(~(cliques.members == code).any(axis=1))

        n_with, size = cliques.counts[rows, column], int(cliques.class_sizes[column])
        counts = np.column_stack([n_with, self.images[rows] - n_with])
        sizes, classes = np.array([size, self.total - size]), (name, rest_of(name))
        # Classes are in ascending order of name.
        order = sorted((0, 1), key=classes.__getitem__)
        return Cliques(
            members=cliques.members[rows],
            counts=counts[:, order],
            class_sizes=sizes[order],
            concepts=cliques.concepts,
            classes=(classes[order[0]], classes[order[1]]),
        )


def rest_of(name: str) -> str:
    """The class of the images without a compared concept."""
    return f"no {name}"


def label_by(incidence: Incidence, name: str) -> Incidence:
    """The same images, with the classes of `OneAgainstRest.of` for a concept."""
    classes = sorted((name, rest_of(name)))
    is_compared = np.array([concept == name for concept in incidence.concepts])
    shows_it = incidence.sum_rows(is_compared) > 0
    labels = np.where(shows_it, classes.index(name), classes.index(rest_of(name)))
    return replace(incidence, labels=labels.astype(np.int32), classes=tuple(classes))


def mine_one_against_rest(
    incidence: Incidence, compared: tuple[str, ...], **options: Any
) -> OneAgainstRest:
    """Count every clique in all images, and in the images of each compared concept.

    The kernel of `mine_cliques` counts them all at once: an image is there once for all images,
    and once more for each compared concept that it shows.

    Parameters
    ----------
    incidence : Incidence
        Its classes play no part.
    compared : tuple of str
        Concepts, each once.
    **options
        Of `mine_cliques`, but for ``common``; ``min_support`` is of all images.

    Raises
    ------
    UnknownNameError
        No image shows a compared concept.
    OptionError, TooManyCliquesError
        As `mine_cliques` does.
    """
    check_known("concept", compared, incidence.concepts)
    codes = np.array([incidence.concepts.index(name) for name in compared], dtype=np.int64)
    label_of = np.zeros(len(incidence.concepts), dtype=np.int32)
    label_of[codes] = np.arange(1, len(compared) + 1)

    # Each entry of a compared concept gives a copy of its image, of that concept's class.
    n_images = len(incidence.labels)
    row = np.repeat(np.arange(n_images), np.diff(incidence.indptr))
    label = label_of[incidence.indices]
    entries = np.flatnonzero(label)
    copies = incidence.take(row[entries])

    # All images of a concept show it: the cliques that hold it need not be counted again.
    is_own = label_of[copies.indices] == np.repeat(label[entries], np.diff(copies.indptr))
    indptr = np.append(0, np.cumsum(~is_own))[copies.indptr]
    expanded = Incidence(
        indptr=np.concatenate([incidence.indptr, incidence.indptr[-1] + indptr[1:]]),
        indices=np.concatenate([incidence.indices, copies.indices[~is_own]]),
        labels=np.concatenate([np.zeros(n_images, dtype=np.int32), label[entries]]),
        concepts=incidence.concepts,
        classes=(ALL_IMAGES, *compared),
    )
    cliques = mine_cliques(expanded, common=(), **options)

    # Of a clique that holds a compared concept, all images are that concept's.
    counts, images = cliques.counts[:, 1:].copy(), cliques.counts[:, 0]
    rows, columns = np.nonzero(cliques.members >= 0)
    member_labels = label_of[cliques.members[rows, columns]]
    is_compared = member_labels > 0
    rows = rows[is_compared]
    counts[rows, member_labels[is_compared] - 1] = images[rows]
    sizes = cliques.class_sizes[1:]
    compared_cliques = replace(cliques, counts=counts, class_sizes=sizes, classes=compared)
    return OneAgainstRest(compared_cliques, images, n_images)
