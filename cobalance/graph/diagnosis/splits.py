"""Which imbalances hold in two splits of a dataset, and which differ."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.counting.incidence import Incidence
from cobalance.graph.counting.splits import split_cliques
from cobalance.graph.diagnosis.association import class_rates, homogeneity_test, q_values
from cobalance.graph.diagnosis.difference import differences
from cobalance.graph.diagnosis.imbalance import COUNT, RATE
from cobalance.graph.errors import OptionError

FIRST, SECOND = "first_", "second_"
"""After ``count_`` or ``rate_`` and before a class's name: the split's columns."""
HOLDS = ("both", "first", "second", "opposite", "none")
MAX_Q_VALUE = 0.05


def compare_splits(
    first: Cliques, second: Cliques, *, max_q_value: float = MAX_Q_VALUE
) -> pd.DataFrame:
    """Compare the imbalances of cliques in two splits: those that differ most surely first.

    Parameters
    ----------
    first, second : Cliques
        From `cobalance.graph.counting.splits.split_cliques`: the same rows and classes.
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
        - the columns of `cobalance.graph.diagnosis.difference.differences`
    """
    splits = (first, second)
    rates = [class_rates(part.counts, part.class_sizes) for part in splits]
    shared = (first.class_sizes > 0) & (second.class_sizes > 0)
    q_first, q_second = (
        q_values(homogeneity_test(part.counts[:, shared], part.class_sizes[shared])[0])
        for part in splits
    )
    same = np.zeros(len(first), dtype=np.bool_)
    if shared.any():
        rate_first, rate_second = (found[:, shared] for found in rates)
        rows = np.arange(len(first))
        over, under = rate_first.argmax(axis=1), rate_first.argmin(axis=1)
        same = rate_second[rows, over] > rate_second[rows, under]
    in_first, in_second = q_first <= max_q_value, q_second <= max_q_value
    holds = np.select([in_first & in_second & same, in_first & in_second, in_first, in_second],
                      [0, 3, 1, 2], default=4)  # fmt: skip
    frame = pd.DataFrame(
        {
            "concepts": pd.Series(first.names(), dtype=object),
            "size": first.sizes(),
            **{
                kind + which + name: values[:, code]
                for kind, tables in ((COUNT, [first.counts, second.counts]), (RATE, rates))
                for which, values in zip((FIRST, SECOND), tables, strict=True)
                for code, name in enumerate(first.classes)
            },
            "q_value_first": q_first,
            "q_value_second": q_second,
            "holds": pd.Categorical.from_codes(holds, pd.Index(list(HOLDS))),
        }
    )
    found = differences(
        first.counts, first.class_sizes, second.counts, second.class_sizes, first.classes
    )
    frame = pd.concat([frame, found], axis=1)
    effect = frame["log_odds_difference"].abs().fillna(0)
    order = np.lexsort((-effect, frame["p_value"]))
    return frame.iloc[order].reset_index(drop=True)


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
        max_size: int,
        min_support: int = 1,
        common: Collection[str] | None = None,
        max_q_value: float = MAX_Q_VALUE,
        max_cliques: int | None = None,
    ) -> "ComparedSplits":
        """Mine the images of two splits together, and compare them; errors as `split_cliques`."""
        if not 0 <= max_q_value <= 1:
            raise OptionError(f"max_q_value is {max_q_value}; give one from 0 to 1")
        found = split_cliques(
            *images,
            max_size=max_size,
            min_support=min_support,
            common=common,
            max_cliques=max_cliques,
        )
        one, other = (
            dict(zip(part.classes, part.class_sizes.tolist(), strict=True)) for part in found
        )
        return cls(
            compare_splits(*found, max_q_value=max_q_value), splits, (one, other), max_q_value
        )
