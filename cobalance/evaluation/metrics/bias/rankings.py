"""Bias of rankings: which groups' images a neutral caption retrieves first."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from pydantic import Field

from cobalance.base import (
    FloatArray,
    IntArray,
    OptionError,
    Options,
    check_known,
    positions_of,
    special,
)
from cobalance.evaluation.metrics.bias.markedness import groups_of_embeddings
from cobalance.evaluation.metrics.bias.ranking_inputs import (
    Ranking,
    Rankings,
    by_ranking,
    groups_of_table,
    read_rankings,
    skew_of_shares,
)
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin
from cobalance.evaluation.metrics.tables import ROUNDING, by_run, mean_score, score_rows

Absent = Literal["skip", "one"]
FairShares = Literal["population", "equal"]
Parity = Mapping[str, float] | FairShares


def max_skew(
    ranked: Ranking | Rankings,
    k: int | None = None,
    *,
    parity: Parity = "population",
    absent: Absent = "skip",
) -> pd.DataFrame:
    """Return MaxSkew@k: the log ratio of the most over-represented group's share to its parity.

    max over groups of ln(share among the k best / parity), averaged over queries. Images of no
    group (None) are left out of the ranking first, as in GenSynth.

    Parameters
    ----------
    ranked : sequence of groups, best first, or one such sequence for each query
        Groups of images, best first; or `Rankings`, of embeddings by `rank_images`.
    k : int, optional
        How many are retrieved; all that are given by default.
    parity : {"population", "equal"} or mapping of group to share
        The shares of a fair ranking: the groups' own among all ranked images (demographic parity),
        the same for all, or given.
    absent : {"skip", "one"}
        A group with no image among the k best is left out, as in the code of [2]_, or counts as
        with one image, a share of 1/k, as in the code of [3]_. The difference is large for rare
        groups: with 1% women and 25 men retrieved, .0101 or 1.3863.

    Returns
    -------
    frame of scores
        ``max_skew@k``, with the interval of the mean over queries, whose number is `n`.

    Raises
    ------
    OptionError
        A group has no parity, or an option cannot be used.

    References
    ----------
    .. [1] Geyik, S. C., Ambler, S. and Kenthapadi, K., *Fairness-aware ranking in search &
       recommendation systems* (KDD 2019), section 3.
    .. [2] Smith, B. et al., *Balancing the picture* (2023), GenSynth.
    .. [3] Berg, H. et al., *A prompt array keeps the bias away* (AACL 2022).

    Examples
    --------
    >>> float(max_skew("MMMF", parity="equal")["value"].round(4).item())
    0.4055
    """
    check_known("absent", [absent], get_args(Absent))

    def skew(groups: list[str], codes: IntArray, best: IntArray) -> float:
        fair = _parity(groups, codes, parity)
        counts = np.bincount(best, minlength=len(fair)).astype(np.float64)
        is_ranked = counts > 0
        if (fair[is_ranked] == 0).any():
            name = groups[int(np.argmax(is_ranked & (fair == 0)))]
            raise OptionError(
                f"parity of the group {name!r} is 0, and it is ranked. Give its share."
            )

        # The logarithm of an absent group's share is infinite, unless it counts as one image.
        if absent == "one":
            used, counts = fair > 0, np.maximum(counts, 1)
        else:
            used = is_ranked
        return float(np.log(counts[used] / len(best) / fair[used]).max())

    return _average_queries("max_skew", ranked, k, skew)


def bias_at_k(
    ranked: Ranking | Rankings, k: int | None = None, *, groups: tuple[str, str]
) -> pd.DataFrame:
    """Return Bias@k: (n₁ - n₂) / (n₁ + n₂) of two groups among the k best, averaged over queries.

    Images of no group take places among the k best; where there are no others, the bias is 0
    (GenSynth, its code).

    Parameters
    ----------
    ranked, k
        As for `max_skew`.
    groups : two group names
        1 means that only the first is retrieved, -1 only the second.

    Returns
    -------
    frame of scores
        ``bias@k`` of the group ``"first - second"``, with the interval of the mean over queries.

    Examples
    --------
    >>> float(bias_at_k(["man", None, "man", "woman"], 3, groups=("man", "woman"))["value"].item())
    1.0
    """
    _check(k)
    rankings, values = read_rankings(ranked), []
    code_of = positions_of(rankings.groups)
    first, second = (code_of.get(str(group), len(code_of)) for group in groups)
    for query in rankings.queries:
        n_first, n_second = int((query[:k] == first).sum()), int((query[:k] == second).sum())
        values.append((n_first - n_second) / max(n_first + n_second, 1))
    group = f"{groups[0]} - {groups[1]}"
    return score_rows([mean_score(_name_metric("bias", k), values, group=group)])


def ndkl(
    ranked: Ranking | Rankings,
    k: int | None = None,
    *,
    parity: Parity = "population",
    absent: Absent = "skip",
) -> pd.DataFrame:
    """Return NDKL: divergence of every prefix of a ranking from parity, averaged over queries.

    (1/Z) Σ_i KL(D_i || D) / log₂(i + 1) over the prefixes of 1 to k images, Z = Σ_i 1 / log₂(i + 1)
    [1]_. 0 is fair; a ranking that ignores groups is above 0, since short prefixes cannot be fair.

    Parameters
    ----------
    ranked, k, parity
        As for `max_skew`.
    absent : {"skip", "one"}
        A ranked group of parity 0 adds nothing, or its parity is taken as one ranked image's share,
        as in the code of [2]_.

    References
    ----------
    .. [1] Geyik, S. C., Ambler, S. and Kenthapadi, K., *Fairness-aware ranking in search &
       recommendation systems* (KDD 2019), section 3.
    .. [2] Berg, H. et al., *A prompt array keeps the bias away* (AACL 2022).

    Examples
    --------
    >>> float(ndkl(["a", "b"])["value"].round(4).item())  # ln 2 / (1 + 1 / log2(3))
    0.425
    """
    check_known("absent", [absent], get_args(Absent))

    def divergence(groups: list[str], codes: IntArray, best: IntArray) -> float:
        fair = _parity(groups, codes, parity)
        if absent == "one":
            fair = np.maximum(fair, 1 / len(codes))
        ranks = np.arange(1, len(best) + 1)
        shares = np.cumsum(best[:, None] == np.arange(len(fair)), axis=0) / ranks[:, None]

        used = fair > 0
        by_prefix = special.xlogy(shares[:, used], shares[:, used] / fair[used]).sum(axis=1)
        weights = 1 / np.log2(ranks + 1)
        return float(by_prefix @ weights / weights.sum())

    return _average_queries("ndkl", ranked, k, divergence)


def _average_queries(
    metric: str,
    ranked: Ranking | Rankings,
    k: int | None,
    score: Callable[[list[str], IntArray, IntArray], float],
) -> pd.DataFrame:
    """Mean over queries of a score of the groups, of all ranked images, and of the k best.

    Images of no group are left out; a query without others is NaN.
    """
    _check(k)
    rankings, values = read_rankings(ranked), []
    for query in rankings.queries:
        codes = query[query >= 0]
        values.append(score(rankings.groups, codes, codes[:k]) if len(codes) else np.nan)
    return score_rows([mean_score(_name_metric(metric, k), values)])


def _name_metric(metric: str, k: int | None) -> str:
    return metric if k is None else f"{metric}@{k}"


def _check(k: int | None) -> None:
    if k is not None and k < 1:
        raise OptionError(f"k is {k}; give the number of images that are retrieved, from 1.")


def _parity(groups: list[str], codes: IntArray, parity: Parity) -> FloatArray:
    """Fair shares of the ranked groups, followed by the groups of which no image is ranked."""
    if not isinstance(parity, Mapping):
        check_known("parity", [parity], get_args(FairShares))
    if parity == "population":
        return np.bincount(codes, minlength=len(groups)) / len(codes)
    if parity == "equal":
        return np.full(len(groups), 1 / len(groups))

    shares = {str(name): float(share) for name, share in parity.items()}
    missing = [name for name in groups if name not in shares]
    if missing:
        raise OptionError(
            f"parity has no share of the group {missing[0]!r}, which is ranked. It has "
            f"{', '.join(shares) or 'none'}."
        )
    if min(shares.values()) < 0 or abs(sum(shares.values()) - 1) > ROUNDING:
        raise OptionError(f"parity is {shares}; give shares from 0 that add up to 1.")

    names = dict.fromkeys([*groups, *shares])
    return np.array([shares[name] for name in names])


class RankingOptions(Options):
    """Options of bias in rankings.

    Parameters
    ----------
    k : int
        How many images are retrieved for each query.
    parity : {"population", "equal"}
        Fair shares: those of all ranked images, or the same for each group.
    absent : {"skip", "one"}
        Groups of which no image is retrieved are left out, or count as one image.
    """

    k: int = Field(default=25, ge=1)
    parity: FairShares = "population"
    absent: Absent = "skip"


class BiasOptions(Options):
    """Options of the metric bias_at_k.

    Parameters
    ----------
    k : int
        How many images are retrieved for each query.
    first, second : str
        The groups that are compared, such as ``man`` and ``woman``.
    """

    k: int = Field(default=10, ge=1)
    first: str = ""
    second: str = ""


def _compute_with(function: Callable[..., pd.DataFrame]) -> Callable[[Inputs, Any], pd.DataFrame]:
    def compute(inputs: Inputs, options: RankingOptions) -> pd.DataFrame:
        if inputs.get("texts") is None and "share" in inputs.need("table"):
            name = "ndkl" if function is ndkl else "max_skew"
            return by_run(inputs.need("table"), lambda rows: skew_of_shares(rows, name))
        return by_ranking(inputs, lambda ranked: function(ranked, **options.model_dump()))

    return compute


def _bias(inputs: Inputs, options: BiasOptions) -> pd.DataFrame:
    if not (options.first and options.second):
        raise OptionError("first and second are empty. Name two groups, such as man and woman.")
    pair = (options.first, options.second)

    if inputs.get("texts") is not None:
        names = _group_names(groups_of_embeddings(inputs).values())
        check_known("group", pair, sorted(names))
    else:
        names = _group_names(groups_of_table(inputs.need("table")))
        # One of the pair may be missing, as no image of it is left; a third group is a mistake.
        if names - {*pair}:
            check_known("group", pair, sorted(names))
    return by_ranking(inputs, lambda ranked: bias_at_k(ranked, options.k, groups=pair))


def _group_names(lists: Iterable[list[str | None]]) -> set[str]:
    return {group for groups in lists for group in groups if group}


RANKED = ("table|texts", "table|embeddings", "table|groups")
"""Scores of images, or embeddings of texts and images, and the images' groups."""

PLUGINS = (
    MetricPlugin(
        "max_skew",
        "MaxSkew@K: the most over-represented group among retrieved images. A table has score and "
        "group, and query; or group, share and parity, and query and k.",
        options=RankingOptions,
        takes=RANKED,
        compute=_compute_with(max_skew),
    ),
    MetricPlugin(
        "ndkl",
        "NDKL@K: how far rankings are from fair shares. A table has score and group, and query; or "
        "group, share and parity for each k from 1.",
        options=RankingOptions,
        takes=RANKED,
        compute=_compute_with(ndkl),
    ),
    MetricPlugin(
        "bias_at_k",
        "Bias@K: which of two groups is retrieved more. A table has score and group, and query.",
        options=BiasOptions,
        takes=RANKED,
        compute=_bias,
    ),
)
