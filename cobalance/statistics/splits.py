"""Count the same cliques in two splits of a dataset: which imbalances hold, and which differ."""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import BoolArray, FloatArray, check_known, positions_of
from cobalance.counting import Cliques, Incidence, build_incidence, mine_cliques
from cobalance.statistics.association import class_rates
from cobalance.statistics.clustered_tests import clustered_p_values
from cobalance.statistics.design_effects import with_clusters
from cobalance.statistics.difference import differences
from cobalance.statistics.imbalance import COUNT, RATE, categorical, class_columns
from cobalance.statistics.q_values import MAX_Q_VALUE, check_q_value, q_values

FIRST, SECOND = "first_", "second_"
"""After ``count_`` or ``rate_`` and before a class's name: the split's columns."""
HOLDS = ("both", "first", "second", "opposite", "none")


def compare_splits(
    first: Cliques, second: Cliques, *, max_q_value: float = MAX_Q_VALUE
) -> pd.DataFrame:
    """Compare the imbalances of cliques in two splits, the surest difference first.

    Parameters
    ----------
    first, second : Cliques
        From `cobalance.statistics.splits.split_cliques`: the same rows and classes.
    max_q_value : float
        Of an imbalance that holds in a split.

    Returns
    -------
    pandas.DataFrame
        - ``concepts`` (tuple of str), ``size``
        - ``count_first_<class>``, ``count_second_<class>``, ``rate_first_<class>``,
          ``rate_second_<class>``: images with the clique, and their share of the class
        - ``q_value_first``, ``q_value_second``: of one rate in all classes, in each split;
          Benjamini-Hochberg over all cliques
        - ``holds`` (category): the splits in which that is at most `max_q_value`: ``both``,
          ``first``, ``second`` or ``none``; ``opposite`` where it is in both, but of the classes
          with the largest and the smallest rate in the first, the former does not have the larger
          one in the second. Classes without images in one of the splits take no part
        - the columns of `cobalance.statistics.difference.differences`
    """
    first_rates = class_rates(first.counts, first.class_sizes)
    second_rates = class_rates(second.counts, second.class_sizes)

    # Classes without images in one of the splits take no part.
    shared = (first.class_sizes > 0) & (second.class_sizes > 0)
    q_first, q_second = _q_values_in(first, shared), _q_values_in(second, shared)
    is_same = np.zeros(len(first), dtype=np.bool_)
    if shared.any():
        rows = np.arange(len(first))
        over, under = first_rates[:, shared].argmax(axis=1), first_rates[:, shared].argmin(axis=1)
        shared_rates = second_rates[:, shared]
        is_same = shared_rates[rows, over] > shared_rates[rows, under]

    # The first condition that holds gives the code.
    in_first, in_second = q_first <= max_q_value, q_second <= max_q_value
    in_both = in_first & in_second
    names = ["both", "opposite", "first", "second"]
    codes = [HOLDS.index(name) for name in names]
    conditions = [in_both & is_same, in_both, in_first, in_second]
    holds = np.select(conditions, codes, default=HOLDS.index("none"))

    frame = pd.DataFrame(
        {
            "concepts": pd.Series(first.names(), dtype=object),
            "size": first.sizes(),
            **class_columns(COUNT + FIRST, first.classes, first.counts),
            **class_columns(COUNT + SECOND, first.classes, second.counts),
            **class_columns(RATE + FIRST, first.classes, first_rates),
            **class_columns(RATE + SECOND, first.classes, second_rates),
            "q_value_first": q_first,
            "q_value_second": q_second,
            "holds": categorical(holds, HOLDS),
        }
    )
    difference = differences(*first.independent(), *second.independent(), first.classes)
    frame = pd.concat([frame, difference], axis=1)

    effect = frame["log_odds_difference"].abs().fillna(0)
    order = np.lexsort((-effect, frame["p_value"]))
    return frame.iloc[order].reset_index(drop=True)


def _q_values_in(cliques: Cliques, classes: BoolArray) -> FloatArray:
    """The q-values of cliques in some classes, as if the others had no images."""
    restricted = replace(cliques, class_sizes=cliques.class_sizes * classes)
    p_values, _ = clustered_p_values(restricted)
    return q_values(p_values)


@dataclass(frozen=True, eq=False)
class ComparedSplits:
    """Two splits compared.

    Parameters
    ----------
    cliques : pandas.DataFrame
        From `compare_splits`.
    splits : pair of str
        The first and the second.
    class_sizes : pair of dict of str to int
        Images of each class, in either.
    max_q_value : float
        Of what holds in a split, and of what differs.
    """

    cliques: pd.DataFrame
    splits: tuple[str, str]
    class_sizes: tuple[dict[str, int], dict[str, int]]
    max_q_value: float

    @classmethod
    def of(
        cls,
        splits: tuple[str, str],
        images: tuple[Incidence, Incidence],
        *,
        max_q_value: float = MAX_Q_VALUE,
        **mining: Any,
    ) -> "ComparedSplits":
        """Mine the images of two splits together, and compare them; errors as `split_cliques`."""
        check_q_value(max_q_value)
        first, second = split_cliques(*images, **mining)
        return cls(
            cliques=compare_splits(first, second, max_q_value=max_q_value),
            splits=splits,
            class_sizes=(first.class_images(), second.class_images()),
            max_q_value=max_q_value,
        )


def split_cliques(
    first: Incidence,
    second: Incidence,
    *,
    min_support: int = 1,
    common: Collection[str] | None = None,
    **mining: Any,
) -> tuple[Cliques, Cliques]:
    """Mine two sets of images together, and count each clique in both of them.

    Parameters
    ----------
    first, second : Incidence
        Of images that are in one set alone. Names may differ; the result has those of both.
    min_support, common, **mining
        As in `mine_cliques`, of the images of both together.

    Returns
    -------
    pair of Cliques
        With the same rows, concepts and classes.

    Raises
    ------
    OptionError, UnknownNameError, TooManyCliquesError
        As `mine_cliques` does.

    Notes
    -----
    One pass over all images, in which a class of the first set and of the second count as two.

    Examples
    --------
    >>> train = build_incidence([0, 0, 1], [0, 1, 0], [0, 1], ("sand", "sea"), ("gull", "wren"))
    >>> val = build_incidence([0], [0], [0], ("sand",), ("gull",))
    >>> one, other = split_cliques(train, val, common=())
    >>> one.names(), one.counts.tolist(), other.counts.tolist()
    ([('sand',), ('sea',), ('sand', 'sea')], [[1, 1], [1, 0], [1, 0]], [[1, 0], [0, 0], [0, 0]])
    """
    concepts = sorted({*first.concepts, *second.concepts})
    classes = sorted({*first.classes, *second.classes})
    check_known("class", common or (), classes)
    together = _put_together(first, second, concepts, classes)

    # What has the support in both sets together has half of it in one of them.
    counts = together.class_concept_counts().reshape(2, len(classes), -1).sum(axis=0)
    is_common = [common is None or name in common for name in classes]
    mined = mine_cliques(
        together.restrict((counts[is_common] > 0).all(axis=0)),
        min_support=math.ceil(min_support / 2),
        common=(),
        **mining,
    )
    counts_by_set = mined.counts.reshape(-1, 2, len(classes))
    supported = counts_by_set.sum(axis=1).max(axis=1, initial=0) >= min_support

    selected = mined.take(supported)
    counts = selected.counts.reshape(-1, 2, len(classes))
    sizes = selected.class_sizes.reshape(2, len(classes))
    in_first, in_second = (
        replace(selected, counts=counts[:, i], class_sizes=sizes[i], classes=tuple(classes))
        for i in range(2)
    )
    return with_clusters(in_first, first), with_clusters(in_second, second)


def _put_together(
    first: Incidence, second: Incidence, concepts: list[str], classes: list[str]
) -> Incidence:
    """The images of both sets, where a class of the first and of the second count as two."""
    concept_code = positions_of(concepts)
    class_code = positions_of(classes)
    images, codes, labels, n_images = [], [], [], 0
    for number, part in enumerate((first, second)):
        new_concepts = np.array([concept_code[name] for name in part.concepts], dtype=np.int64)
        new_classes = np.array([class_code[name] for name in part.classes], dtype=np.int64)
        rows = np.arange(n_images, n_images + len(part.labels))
        images.append(np.repeat(rows, np.diff(part.indptr)))
        codes.append(new_concepts[part.indices])
        labels.append(new_classes[part.labels] + number * len(classes))
        n_images += len(part.labels)

    return build_incidence(
        np.concatenate(images),
        np.concatenate(codes),
        np.concatenate(labels),
        concepts,
        # Names of equal length, so that they ascend as their numbers do.
        [f"{code:09}" for code in range(2 * len(classes))],
    )


def groups_across_splits(images: pd.DataFrame) -> pd.DataFrame:
    """The images of groups that stand in several splits.

    Parameters
    ----------
    images : pandas.DataFrame
        ``what`` (the kind of group), ``group``, ``split``, ``id``. Without a group or a split an
        image stands in none.

    Returns
    -------
    pandas.DataFrame
        ``what``, ``group``, ``splits`` (of the group, in words), ``split``, ``id``, in this order.

    Examples
    --------
    >>> images = pd.DataFrame({"what": "cluster", "group": ["a", "a", "b"],
    ...                        "split": ["train", "test", "test"], "id": ["1", "2", "3"]})
    >>> groups_across_splits(images)["splits"].tolist()
    ['test, train', 'test, train']
    """
    rows = images.dropna(subset=["group", "split"])
    splits = rows.groupby(["what", "group"], observed=True)["split"]

    rows = rows.assign(splits=splits.transform(lambda names: ", ".join(sorted(set(names)))))
    rows = rows[splits.transform("nunique") > 1].sort_values(["what", "group", "split", "id"])
    return rows[["what", "group", "splits", "split", "id"]].reset_index(drop=True)
