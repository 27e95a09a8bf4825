"""Images in the order in which queries retrieve them, as the groups that they are of."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.evaluation.metrics.bias.markedness import groups_of_embeddings, unit_rows
from cobalance.evaluation.metrics.metric import Inputs, stack
from cobalance.evaluation.metrics.scores import under
from cobalance.evaluation.metrics.tables import by_run
from cobalance.evaluation.shortcuts import NONE
from cobalance.graph.arrays import FloatArray, IntArray
from cobalance.graph.errors import InputError, OptionError

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


def by_ranking(inputs: Inputs, score: Callable[[Any], pd.DataFrame]) -> pd.DataFrame:
    """Scores of the rankings of a table, or of all images by texts for each attribute."""
    if inputs.texts is None:
        return by_run(inputs.need("table"), lambda rows: score(groups_of_table(rows)))
    texts, images = (
        one.drop(columns="image", errors="ignore").to_numpy(np.float64)
        for one in (inputs.texts, inputs.need("embeddings"))
    )
    return stack(
        under(name, score(rank_images(texts, images, groups)))
        for name, groups in groups_of_embeddings(inputs).items()
    )


def groups_of_table(table: pd.DataFrame) -> list[list[str | None]]:
    """Groups of each query's images, best first.

    Parameters
    ----------
    table : frame
        ``score`` and ``group`` of images, and ``query`` where there are several; a group that is
        empty is none.

    Raises
    ------
    InputError
        A column is missing, or a score is not a number.
    """
    for column in ("score", "group"):
        if column not in table:
            reason = f"has no column {column}; its columns: {', '.join(map(str, table))}"
            raise InputError("table", None, reason, "Give score and group, and query for several.")
    scores = pd.to_numeric(table["score"], errors="coerce").astype(np.float64)
    if scores.isna().any():
        row = int(scores.isna().to_numpy().argmax())
        reason = f"score is {table['score'].iloc[row]!r}, which is not a number"
        raise InputError("table", f"row {row + 1}", reason, "Correct it, or leave the row out.")
    query = table["query"] if "query" in table else pd.Series("", index=table.index)
    ordered = table.assign(score=scores, query=query)
    ordered = ordered.sort_values("score", ascending=False, kind="stable")
    return [
        [None if pd.isna(one) or one in ("", NONE) else str(one) for one in rows["group"]]
        for _, rows in ordered.groupby("query", sort=False)
    ]
