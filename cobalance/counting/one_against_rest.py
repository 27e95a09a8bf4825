"""Cliques counted in the images of some concepts, each against the images without it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cobalance.base.arrays import IntArray
from cobalance.base.errors import check_known
from cobalance.base.records import ALL_IMAGES
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
        all_ = self.cliques
        at, code = all_.classes.index(name), all_.concepts.index(name)
        rows = np.flatnonzero(~(all_.members == code).any(axis=1))
        shown, size = all_.counts[rows, at], int(all_.class_sizes[at])
        counts = np.column_stack([shown, self.images[rows] - shown])
        sizes, classes = np.array([size, self.total - size]), (name, rest_of(name))
        order = sorted((0, 1), key=classes.__getitem__)
        return Cliques(
            all_.members[rows],
            counts[:, order],
            sizes[order],
            all_.concepts,
            (classes[order[0]], classes[order[1]]),
        )


def rest_of(name: str) -> str:
    """The class of the images without a compared concept."""
    return f"no {name}"


def label_by(incidence: Incidence, name: str) -> Incidence:
    """The same images, with the classes of `OneAgainstRest.of` for a concept."""
    classes = sorted((name, rest_of(name)))
    shown = incidence.sum_rows(np.array([one == name for one in incidence.concepts])) > 0
    labels = np.where(shown, classes.index(name), classes.index(rest_of(name)))
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
    at = np.array([incidence.concepts.index(name) for name in compared], dtype=np.int64)
    label_of = np.zeros(len(incidence.concepts), dtype=np.int32)
    label_of[at] = np.arange(1, len(compared) + 1)
    row = np.repeat(np.arange(len(incidence.labels)), np.diff(incidence.indptr))
    label = label_of[incidence.indices]
    again = np.flatnonzero(label)
    every = np.arange(len(incidence.labels))
    copies = incidence.take(row[again])
    # All images of a concept show it: the cliques that hold it need not be counted again.
    own = label_of[copies.indices] == np.repeat(label[again], np.diff(copies.indptr))
    entries = np.append(0, np.cumsum(~own))[copies.indptr]
    expanded = Incidence(
        np.concatenate([incidence.indptr, incidence.indptr[-1] + entries[1:]]),
        np.concatenate([incidence.indices, copies.indices[~own]]),
        np.concatenate([np.zeros(len(every), dtype=np.int32), label[again]]),
        incidence.concepts,
        (ALL_IMAGES, *compared),
    )
    cliques = mine_cliques(expanded, common=(), **options)
    counts, images = cliques.counts[:, 1:].copy(), cliques.counts[:, 0]
    holder, place = np.nonzero(cliques.members >= 0)
    held = label_of[cliques.members[holder, place]]
    counts[holder[held > 0], held[held > 0] - 1] = images[holder[held > 0]]
    named = replace(cliques, counts=counts, class_sizes=cliques.class_sizes[1:], classes=compared)
    return OneAgainstRest(named, images, len(every))
