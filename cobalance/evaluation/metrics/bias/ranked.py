"""Images in the order in which queries retrieve them, as the groups that they are of."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.evaluation.metrics.bias.markedness import unit_rows
from cobalance.graph.arrays import FloatArray, IntArray
from cobalance.graph.errors import OptionError

Ranking = Sequence[Any] | npt.NDArray[Any]
BLOCK = 256  # queries ranked at a time


@dataclass(frozen=True, eq=False)
class Rankings:
    """Rankings of images by group.

    Parameters
    ----------
    groups : list of str
        Names of the groups.
    queries : iterable of int arrays
        For each query the groups of its images, best first, as positions in `groups`; -1 for an
        image of no group. May be read once.
    """

    groups: list[str]
    queries: Iterable[IntArray]


def rank_images(texts: npt.ArrayLike, images: npt.ArrayLike, groups: Sequence[Any]) -> Rankings:
    """Rank all images for each text by cosine, block by block as the rankings are read.

    Parameters
    ----------
    texts : array, shape (n_texts, n_dimensions)
        Embeddings of captions that name no group.
    images : array, shape (n_images, n_dimensions)
    groups : sequence, length n_images
        The group of each image, None for none.

    Examples
    --------
    >>> ranked = rank_images([(1, 0)], [(0, 1), (1, 1)], ["man", "woman"])
    >>> ranked.groups, [query.tolist() for query in ranked.queries]
    (['man', 'woman'], [[1, 0]])
    """
    of_texts, of_images = unit_rows(texts, "texts"), unit_rows(images, "images")
    if of_texts.shape[1] != of_images.shape[1]:
        raise OptionError(
            f"texts have {of_texts.shape[1]} dimensions and images {of_images.shape[1]}. Embed "
            "both with one model."
        )
    if len(groups) != len(of_images):
        raise OptionError(
            f"{len(groups)} groups are given for {len(of_images)} images. Give one for each."
        )
    codes, names = _coded(groups)
    return Rankings(names, _ranked(of_texts, of_images, codes))


def read_rankings(ranked: Ranking | Rankings) -> Rankings:
    """Rankings from the groups of one query, or of several."""
    if isinstance(ranked, Rankings):
        return ranked
    several = not isinstance(ranked, str) and any(
        isinstance(one, list | tuple | np.ndarray | pd.Series) for one in ranked
    )
    queries = [list(query) for query in (ranked if several else [ranked])]
    codes, names = _coded([one for query in queries for one in query])
    ends = np.cumsum([len(query) for query in queries])[:-1]
    return Rankings(names, np.split(codes, ends))


def _coded(groups: Sequence[Any]) -> tuple[IntArray, list[str]]:
    column = pd.Series(list(groups), dtype=object).map(str, na_action="ignore")
    codes, names = pd.factorize(column, sort=True)
    return np.asarray(codes, dtype=np.int64), [str(name) for name in names]


def _ranked(texts: FloatArray, images: FloatArray, codes: IntArray) -> Iterator[IntArray]:
    for start in range(0, len(texts), BLOCK):
        cosines = texts[start : start + BLOCK] @ images.T
        yield from codes[np.argsort(-cosines, axis=1, kind="stable")]
