"""Inputs of ranking metrics: groups of ranked images, embeddings, and shares of groups."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import DataError, FloatArray, InputError, IntArray
from cobalance.evaluation.metrics import tables
from cobalance.evaluation.metrics.bias.markedness import groups_of_embeddings, unit_pair
from cobalance.evaluation.metrics.metric import Inputs, stack
from cobalance.evaluation.shortcuts import NONE
from cobalance.evaluation.table_files import missing_column, refuse_rows

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
    text_units, image_units = unit_pair(texts=texts, images=images)
    if len(groups) != len(image_units):
        raise DataError(
            f"{len(groups)} groups are given for {len(image_units)} images. Give one for each."
        )
    codes, names = _code_groups(groups)
    return Rankings(names, _rank_blocks(text_units, image_units, codes))


def read_rankings(ranked: Ranking | Rankings) -> Rankings:
    """Rankings from the groups of one query, or of several."""
    if isinstance(ranked, Rankings):
        return ranked

    kinds = (list, tuple, np.ndarray, pd.Series)
    is_several = not isinstance(ranked, str) and any(isinstance(entry, kinds) for entry in ranked)
    queries = list(map(list, ranked if is_several else [ranked]))
    codes, names = _code_groups(list(chain.from_iterable(queries)))
    ends = np.cumsum(list(map(len, queries)))[:-1]
    return Rankings(names, np.split(codes, ends))


def _code_groups(groups: Sequence[Any]) -> tuple[IntArray, list[str]]:
    column = pd.Series(list(groups), dtype=object).map(str, na_action="ignore")
    codes, names = pd.factorize(column, sort=True)
    return np.asarray(codes, dtype=np.int64), list(map(str, names))


def _rank_blocks(texts: FloatArray, images: FloatArray, codes: IntArray) -> Iterator[IntArray]:
    for start in range(0, len(texts), BLOCK):
        cosines = texts[start : start + BLOCK] @ images.T
        yield from codes[np.argsort(-cosines, axis=1, kind="stable")]


def by_ranking(inputs: Inputs, score: Callable[[Any], pd.DataFrame]) -> pd.DataFrame:
    """Scores of the rankings of a table, or of all images by texts for each attribute."""
    if inputs.get("texts") is None:
        return tables.by_run(inputs.need("table"), lambda rows: score(groups_of_table(rows)))

    texts, images = inputs.vectors("texts"), inputs.vectors("embeddings")
    return stack(
        tables.under(name, score(rank_images(texts, images, groups)))
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
    if "group" not in table:
        raise missing_column("group", table, "table", "the group of each image, and score")
    scores = tables.number_column(table, "score", least=-np.inf)
    query = table["query"] if "query" in table else pd.Series("", index=table.index)

    ordered = table.assign(score=scores, query=query)
    ordered = ordered.sort_values("score", ascending=False, kind="stable")
    groups = ordered["group"].astype(object)
    groups = groups.mask(groups.isin(("", NONE))).map(str, na_action="ignore")
    # Images of no group keep their places.
    groups = groups.astype(object).where(groups.notna(), None)
    return [list(rows) for _, rows in groups.groupby(ordered["query"], sort=False)]


def skew_of_shares(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return ``max_skew`` or ``ndkl`` from the shares of groups among the best images.

    Parameters
    ----------
    table : frame
        ``group``, ``share`` (or counts) and ``parity``, by default the same for all groups; of
        several rankings ``query``, and of several lengths ``k``. ``ndkl`` needs the shares among
        the best 1, 2, ... k. A share of 0 adds nothing.

    Raises
    ------
    InputError
        A column is missing or cannot be used, shares or parities do not add up, or lengths are left
        out.
    """
    groups = tables.text_column(table, "group")
    n_groups = len({*groups})
    frame = pd.DataFrame(
        {
            "group": groups,
            "share": tables.number_column(table, "share"),
            "fair": tables.number_column(table, "parity") if "parity" in table else 1 / n_groups,
            "query": tables.text_column(table, "query") if "query" in table else "",
            "k": tables.count_column(table, "k") if "k" in table else 0,
        }
    )
    refuse_rows(
        frame.duplicated(["query", "k", "group"]),
        "table",
        lambda row: f"the group {groups[row]!r} has a second share",
        "Keep one, or tell rankings apart with query and k.",
    )

    if metric == "ndkl":
        values = [_ndkl(str(query), rows) for query, rows in frame.groupby("query", sort=False)]
        return tables.score_rows([tables.mean_score("ndkl", values)])

    skews: dict[str, list[float]] = {}
    for (k, _), rows in frame.groupby(["k", "query"], sort=False):
        share, fair = _shares(rows)
        name = f"max_skew@{k}" if k else "max_skew"
        skews.setdefault(name, []).append(float(np.log(share / fair).max()))
    return tables.score_rows(map(tables.mean_score, skews, skews.values()))


def _ndkl(query: str, rows: pd.DataFrame) -> float:
    lengths = sorted(rows["k"].unique())
    if lengths != [*range(1, len(lengths) + 1)]:
        reason = f"has no shares among the best 1, 2, ... images{f' of {query!r}' if query else ''}"
        remedy = "Give a column k with each number from 1, or choose max_skew."
        raise InputError("table", None, reason, remedy)

    weights = 1 / np.log2(np.array(lengths) + 1)
    divergences = []
    for _, length_rows in rows.groupby("k"):
        share, fair = _shares(length_rows)
        divergences.append(float(share @ np.log(share / fair)))
    return float(divergences @ weights / weights.sum())


def _shares(rows: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Shares and fair shares of the groups that have images."""
    share, fair = rows["share"].to_numpy(np.float64), rows["fair"].to_numpy(np.float64)
    where = f"row {rows.index[0] + 1}"
    if not 0 < share.sum() < np.inf:
        raise InputError("table", where, "shares add up to nothing", "Give shares or counts.")

    # More than 1 can only be counts. Less may be shares of which some are left out.
    if fair.sum() > 1 + tables.ROUNDING:
        fair = fair / fair.sum()
    is_present = share > 0
    if not (fair[is_present] > 0).all():
        reason = "a group that is there has no parity"
        raise InputError("table", where, reason, "Give fair shares that add up to 1.")

    if abs(share.sum() - 1) > tables.ROUNDING:
        share = share / share.sum()
    return share[is_present], fair[is_present]
