"""Pool of embedded images: a job's edited images and their sources, as vectors.

What is counted are the neighbours of *GenSynth* (appendix, A.3 and F): the share of real images
among the neighbours of an edited one, and the share of its group.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import BoolArray, DataError, IntArray
from cobalance.ingest import neighbourhoods

Vector = npt.NDArray[np.float32]


class EmbeddedImage(NamedTuple):
    """An edited image for a pool, with its source.

    The vectors have the shape (d,). The class is the source's own, the group that which the edited
    image was asked to show.
    """

    candidate: str
    group: str
    vector: Vector
    source: str
    source_class: str
    source_vector: Vector


@dataclass(frozen=True, eq=False)
class Pool:
    """Vectors of edited images and of the real images that they were made from.

    Parameters
    ----------
    candidates : tuple of str
        Ids of the edited images, in ascending order.
    sources : tuple of str
        The id of each one's source, one of `real`.
    groups : tuple of str
        The group that each one was asked to show, as which it counts.
    vectors : float32 array, shape (candidates, d)
        Their vectors.
    real : tuple of str
        Ids of the real images, in ascending order.
    real_classes : tuple of str
        Their own classes.
    real_vectors : float32 array, shape (real, d)
        Their vectors.
    """

    candidates: tuple[str, ...]
    sources: tuple[str, ...]
    groups: tuple[str, ...]
    vectors: npt.NDArray[np.float32]
    real: tuple[str, ...]
    real_classes: tuple[str, ...]
    real_vectors: npt.NDArray[np.float32]

    @classmethod
    def of(cls, images: Iterable[EmbeddedImage]) -> "Pool":
        """Collect edited images, each with its source, in any order.

        A source of several images is taken once, with the class and the vector that come with the
        first of them by id: a GPU may give the same crop slightly different vectors.

        Raises
        ------
        DataError
            Vectors differ in length.

        Examples
        --------
        >>> a, b = np.eye(2, dtype=np.float32)
        >>> pool = Pool.of(
        ...     [EmbeddedImage("j/1", "man", a, "7", "man", b),
        ...      EmbeddedImage("j/0", "woman", b, "7", "man", b)]
        ... )
        >>> pool.candidates, pool.groups, pool.real, pool.vectors.tolist()
        (('j/0', 'j/1'), ('woman', 'man'), ('7',), [[0.0, 1.0], [1.0, 0.0]])
        """
        edited = sorted(images, key=lambda image: image.candidate)
        by_source: dict[str, EmbeddedImage] = {}
        for image in edited:
            by_source.setdefault(image.source, image)
        real = dict(sorted(by_source.items()))

        return cls(
            candidates=tuple(image.candidate for image in edited),
            sources=tuple(image.source for image in edited),
            groups=tuple(image.group for image in edited),
            vectors=_stack([image.vector for image in edited]),
            real=tuple(real),
            real_classes=tuple(image.source_class for image in real.values()),
            real_vectors=_stack([image.source_vector for image in real.values()]),
        )


def count_real_neighbours(pool: Pool, k: int) -> tuple[IntArray, int]:
    """How many of each candidate's nearest neighbours are real images.

    The neighbours are the k nearest of all other images of the pool, real and edited, by cosine
    distance; of images at the same distance real ones are nearer, then those with the lower id.
    Where there are fewer than k others, all of them.

    Returns
    -------
    counts : int64 array, shape (candidates,)
        Real images among them.
    n : int
        Neighbours that were looked at: k, or fewer.

    Examples
    --------
    >>> a, b, c = np.array([[1, 0], [0.9, 0.1], [0, 1]], np.float32)
    >>> pool = Pool.of(
    ...     [EmbeddedImage("j/0", "woman", a, "7", "man", b),
    ...      EmbeddedImage("j/1", "woman", c, "7", "man", b)]
    ... )
    >>> count_real_neighbours(pool, 1)
    (array([1, 1]), 1)
    """
    # Real images come first in a neighbourhood's numbers.
    n_real = len(pool.real)
    everyone = np.ones(len(pool.candidates), np.bool_)
    return _count(pool, k, everyone, lambda neighbours, _: neighbours < n_real)


def count_group_neighbours(pool: Pool, k: int, kept: BoolArray) -> tuple[IntArray, int]:
    """How many of each kept candidate's nearest neighbours are of its group.

    As `count_real_neighbours`, but only real images and the candidates in `kept` are neighbours. A
    candidate counts as of the group that it was asked to show, a real image as of its own class.

    Returns
    -------
    counts : int64 array, shape (kept candidates,)
        Images of the same group among the neighbours of each kept candidate.
    n : int
        Neighbours that were looked at: k, or fewer.
    """
    groups = [group for group, is_kept in zip(pool.groups, kept, strict=True) if is_kept]
    codes, _ = pd.factorize(np.array([*pool.real_classes, *groups], dtype=object))
    group_of_query = codes[len(pool.real) :, np.newaxis]
    return _count(
        pool, k, kept, lambda neighbours, queries: codes[neighbours] == group_of_query[queries]
    )


def _count(
    pool: Pool, k: int, kept: BoolArray, is_counted: Callable[[IntArray, slice], BoolArray]
) -> tuple[IntArray, int]:
    """Count neighbours of kept candidates among them and the real images, which come first."""
    queries = pool.vectors[kept]
    points = np.concatenate([pool.real_vectors, queries])
    own_rows = len(pool.real) + np.arange(len(queries))
    counts = np.zeros(len(queries), dtype=np.int64)
    for block, neighbours in neighbourhoods(queries, points, k, own=own_rows):
        counts[block] = is_counted(neighbours, block).sum(axis=1)
    return counts, min(k, max(0, len(points) - 1))


def _stack(vectors: list[Vector]) -> npt.NDArray[np.float32]:
    """Vectors as rows; of the shape (0, 0) without any."""
    if len({vector.shape for vector in vectors}) > 1:
        raise DataError(
            "The vectors of a pool differ in length, as of two models. Embed all images with one."
        )
    return np.array(vectors, dtype=np.float32) if vectors else np.empty((0, 0), np.float32)
