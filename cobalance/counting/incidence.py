"""Image-by-concept incidence matrix in sparse form, the input of all counting."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cobalance.base import Annotations, BoolArray, IntArray, MentionRows, sparse


@dataclass(frozen=True, eq=False)
class Incidence:
    """Images by concepts as compressed sparse rows, with the class of each image.

    `build_incidence` makes one from unordered entries.

    Parameters
    ----------
    indptr : int64 array, shape (n_images + 1,)
        Row i holds ``indices[indptr[i]:indptr[i + 1]]``.
    indices : int32 array, shape (n_entries,)
        Concept codes, strictly ascending within a row.
    labels : int32 array, shape (n_images,)
        Class codes.
    concepts, classes : tuple of str
        Names by code, both in ascending order of name (Unicode code points).
    clusters : int array, shape (n_images,), or None
        Codes of images that depend on each other, -1 for an image on its own; None where all are.
    """

    indptr: IntArray
    indices: IntArray
    labels: IntArray
    concepts: tuple[str, ...]
    classes: tuple[str, ...]
    clusters: IntArray | None = None

    def class_sizes(self) -> IntArray:
        """Count the images of each class: int64 array, shape (n_classes,)."""
        return np.bincount(self.labels, minlength=len(self.classes))

    def without_concepts(self) -> IntArray:
        """Count the images of each class that show no concept: int64 array, shape (n_classes,)."""
        empty = self.labels[np.diff(self.indptr) == 0]
        return np.bincount(empty, minlength=len(self.classes))

    def class_concept_counts(self) -> IntArray:
        """Count the images of each class with each concept: int64, (n_classes, n_concepts)."""
        shape = len(self.classes), len(self.concepts)
        first_of_row = np.repeat(self.labels * np.int64(shape[1]), np.diff(self.indptr))
        cells = np.bincount(first_of_row + self.indices, minlength=shape[0] * shape[1])
        return cells.reshape(shape)

    def concepts_of_all(self, classes: Collection[str] | None) -> BoolArray:
        """Whether each of these classes, None for all, shows the concept: shape (n_concepts,)."""
        is_named = [classes is None or name in classes for name in self.classes]
        return np.asarray((self.class_concept_counts()[is_named] > 0).all(axis=0), dtype=np.bool_)

    def sum_rows(self, values: IntArray | BoolArray) -> IntArray:
        """Sum a value of each concept over every image: int64 array, shape (n_images,)."""
        # Sums of large numbers wrap around, and so do their differences.
        sums = np.append(0, np.cumsum(values[self.indices]))
        return np.diff(sums[self.indptr])

    def matrix(self) -> "sparse.csr_matrix":
        """Return a sparse matrix of 1s: float32, shape (n_images, n_concepts)."""
        ones = np.ones(len(self.indices), dtype=np.float32)
        shape = len(self.labels), len(self.concepts)
        return sparse.csr_matrix((ones, self.indices, self.indptr), shape)

    def take(self, rows: IntArray) -> "Incidence":
        """Return the images at some positions, with the same names by code."""
        lengths = np.diff(self.indptr)[rows]
        indptr = np.append(0, np.cumsum(lengths))
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], lengths)

        clusters = None if self.clusters is None else self.clusters[rows]
        return replace(
            self,
            indptr=indptr,
            indices=self.indices[entries],
            labels=self.labels[rows],
            clusters=clusters,
        )

    def restrict(self, kept: BoolArray) -> "Incidence":
        """Return the same images with a subset of the concepts, renumbered.

        Parameters
        ----------
        kept : bool array, shape (n_concepts,)
            True for a concept to keep.

        Examples
        --------
        >>> incidence = build_incidence([0, 0, 1], [0, 1, 1], [0, 0], ["sand", "sea"], ["gull"])
        >>> only_sea = incidence.restrict(np.array([False, True]))
        >>> only_sea.concepts, only_sea.indptr.tolist(), only_sea.indices.tolist()
        (('sea',), [0, 1, 2], [0, 0])
        """
        stays = kept[self.indices]
        n_before = np.append(0, np.cumsum(stays))
        new_codes = (np.cumsum(kept) - 1).astype(np.int32)
        return replace(
            self,
            indptr=n_before[self.indptr],
            indices=new_codes[self.indices[stays]],
            concepts=tuple(self.concepts[code] for code in np.flatnonzero(kept)),
        )


def build_incidence(
    images: npt.ArrayLike,
    concept_codes: npt.ArrayLike,
    labels: npt.ArrayLike,
    concepts: Sequence[str],
    classes: Sequence[str],
) -> Incidence:
    """Build the incidence from (image, concept) entries in any order; repeats count once.

    Names may come in any order too: codes are changed so that names ascend.

    Parameters
    ----------
    images : int array, shape (n_entries,)
        The image of each entry, as a position in `labels`.
    concept_codes : int array, shape (n_entries,)
        The concept of each entry, as a position in `concepts`.
    labels : int array, shape (n_images,)
        The class of each image, as a position in `classes`.
    concepts, classes : sequence of str
        Distinct names.

    Notes
    -----
    Complexity: O(n log n) time in the number of entries.

    Examples
    --------
    >>> incidence = build_incidence([1, 0, 1, 1], [0, 0, 1, 0], [0, 1], ["sea", "dune"], ["a", "b"])
    >>> incidence.concepts, incidence.indptr.tolist(), incidence.indices.tolist()
    (('dune', 'sea'), [0, 1, 3], [1, 0, 1])
    """
    image = np.asarray(images, dtype=np.int64)
    concept = np.asarray(concept_codes, dtype=np.int64)
    label = np.asarray(labels, dtype=np.int64)
    concept_names, concept_recode = _ascending(concepts)
    class_names, class_recode = _ascending(classes)

    width = max(1, len(concepts))
    # Entries mostly come in order, which this sort takes in one pass; np.unique hashes each.
    entries = np.sort(image * width + concept_recode[concept], kind="stable")
    entries = entries[np.diff(entries, prepend=-1) != 0]
    row, column = np.divmod(entries, width)
    return Incidence(
        indptr=np.searchsorted(row, np.arange(len(label) + 1)),
        indices=column.astype(np.int32),
        labels=class_recode[label].astype(np.int32),
        concepts=concept_names,
        classes=class_names,
    )


def incidence_of(annotations: Annotations) -> Incidence:
    """Build the incidence matrix of annotations, without a store, block by block."""
    image = annotations.mentions["image"].to_numpy()
    concept, label = annotations.mentions["concept"].cat, annotations.images["class_name"].cat
    codes, labels = concept.codes.to_numpy(), label.codes.to_numpy()

    blocks = [
        build_incidence(
            image[rows] - first,
            codes[rows].astype(np.int64),
            labels[first:end],
            tuple(concept.categories),
            tuple(label.categories),
        )
        for first, end, rows in MentionRows.of(annotations).blocks()
    ]

    return replace(join_images(blocks), clusters=annotations.cluster_codes())


def join_images(blocks: Sequence[Incidence]) -> Incidence:
    """Put images one after the other; all blocks have the same names."""
    lengths = np.concatenate([np.diff(block.indptr) for block in blocks])
    return Incidence(
        indptr=np.append(0, np.cumsum(lengths)),
        indices=np.concatenate([block.indices for block in blocks]),
        labels=np.concatenate([block.labels for block in blocks]),
        concepts=blocks[0].concepts,
        classes=blocks[0].classes,
    )


def _ascending(names: Sequence[str]) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """Return names in ascending order, and the new code of each old one."""
    order = sorted(range(len(names)), key=names.__getitem__)
    recode = np.empty(len(order), dtype=np.int64)
    recode[order] = np.arange(len(order))
    return tuple(names[old] for old in order), recode
