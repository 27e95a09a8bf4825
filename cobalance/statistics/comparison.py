"""Compare the imbalances of two sets of cliques: which are solved, and which are new."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from cobalance.base import DataError, OptionError, Text, check_known
from cobalance.counting import Cliques
from cobalance.statistics.difference import differences
from cobalance.statistics.selection import find_rows

# They stand before a class's name in the names of its columns.
COUNT_BEFORE, COUNT_AFTER = "count_before_", "count_after_"

STATUSES = ("solved", "introduced", "reduced", "grown", "unchanged", "absent")
"""Statuses of a clique that is imbalanced in one of the datasets, or in both."""
BALANCED = "balanced"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Comparison of the imbalances of two datasets.

    An imbalance is a clique with a gap of at least the smallest one that was asked for. A clique
    that is absent from a dataset has no counts there: one of its concepts is not common to the
    classes, no image shows it, or it was not mined, for lack of support.

    Parameters
    ----------
    cliques : pandas.DataFrame
        Cliques that are imbalanced in either dataset, the largest change of the gap first.
        ``concepts``, ``size``, ``status``, and as Int64, missing where the clique is absent:
        ``gap_before``, ``gap_after``, ``delta`` (after less before), and for each class
        ``count_before_<class>`` and ``count_after_<class>``; where images are in clusters,
        ``clusters_before`` and ``clusters_after``, in how many it stands. The status is

        - ``solved``: no imbalance any more
        - ``introduced``: an imbalance now, and none before, or absent
        - ``reduced``, ``grown``, ``unchanged``: an imbalance in both, by the change of the gap
        - ``absent``: an imbalance before, and absent now

        The columns of `cobalance.statistics.difference.differences` say whether the clique
        leans to the classes otherwise than before, with q-values over all cliques that are in both.
        The test takes the datasets for independent samples: where they share images, it is
        cautious.
    summary : pandas.DataFrame
        A row for each ``size``: cliques that were mined (``mined_before``, ``mined_after``), the
        sum of their gaps (``total_gap_before``, ``total_gap_after``), and how many of those in
        either dataset have each status, with ``balanced`` for those that are imbalanced in none.
    left_out : dict of str to int
        For each status that was asked for, how many cliques `cliques` has no row of.
    sizes_before, sizes_after : dict of str to int
        The images of each class that were mined, by name in ascending order.
    notes : tuple of str
        Differences in how the two were mined, and whether the second was rebalanced from other
        images than the first has now, as sentences.
    """

    cliques: pd.DataFrame
    summary: pd.DataFrame
    left_out: dict[str, int]
    sizes_before: dict[str, int]
    sizes_after: dict[str, int]
    notes: tuple[Text, ...]


def check_request(min_gap: int, limit: int, statuses: Sequence[str]) -> None:
    """Raise OptionError for a number out of range, UnknownNameError for an unknown status."""
    check_known("status", statuses, STATUSES)
    if min_gap < 1 or limit < 0:
        raise OptionError(
            f"The smallest gap is {min_gap} and the limit {limit}; give 1 or more, and 0 or more."
        )


def compare_cliques(
    before: Cliques,
    after: Cliques,
    *,
    min_gap: int = 1,
    min_size: int = 1,
    max_size: int | None = None,
    statuses: Sequence[str] = STATUSES,
    limit: int = 1000,
    notes: Sequence[Text] = (),
) -> Comparison:
    """Compare two sets of cliques, and give the imbalance of each a status, such as ``solved``.

    Parameters
    ----------
    before, after : Cliques
        Of two versions of a dataset, with the same classes.
    min_gap : int
        The smallest gap that is an imbalance, in images; 1 or more.
    min_size, max_size : int
        The sizes to compare. At most those that both have columns for, which is the default.
    statuses : sequence of str
        Which rows to give; the summary has all.
    limit : int
        Most rows to return.
    notes : sequence of Text
        Passed on.

    Raises
    ------
    DataError
        They have different classes.
    OptionError
        A number is out of range.
    UnknownNameError
        No such status.

    Examples
    --------
    >>> sizes, classes = np.array([9, 9]), ("bird", "cat")
    >>> one = np.array([[0]], dtype=np.int32)
    >>> before = Cliques(one, np.array([[5, 1]]), sizes, ("sea",), classes)
    >>> after = Cliques(one, np.array([[5, 5]]), sizes, ("sea",), classes)
    >>> compare_cliques(before, after).cliques[["concepts", "status", "delta"]].values.tolist()
    [[('sea',), 'solved', -4]]
    """
    check_request(min_gap, limit, statuses)
    sizes_before, sizes_after = before.class_images(), after.class_images()
    check_classes("before", sizes_before, "after", sizes_after)
    if max_size is None:
        max_size = min(before.members.shape[1], after.members.shape[1])

    changes = _changes(
        _gaps_and_counts(before, min_size, max_size, "before"),
        _gaps_and_counts(after, min_size, max_size, "after"),
        min_gap,
    )
    changes = changes.join(_differences(changes, before, after))
    summary = _summary(changes)

    selected = changes[changes["status"].isin(statuses)].head(limit).reset_index(drop=True)
    n_selected = selected["status"].value_counts()
    left_out = {name: int(summary[name].sum()) - int(n_selected.get(name, 0)) for name in statuses}
    return Comparison(
        cliques=selected,
        summary=summary,
        left_out=left_out,
        sizes_before=sizes_before,
        sizes_after=sizes_after,
        notes=tuple(notes),
    )


def check_classes(
    before: str, sizes_before: dict[str, int], after: str, sizes_after: dict[str, int]
) -> None:
    """Raise DataError unless both datasets have the same classes."""
    if sizes_before.keys() == sizes_after.keys():
        return

    clauses = []
    for dataset, sizes, other_sizes in (
        (before, sizes_before, sizes_after),
        (after, sizes_after, sizes_before),
    ):
        names = [repr(name) for name in sizes if name not in other_sizes]
        if names:
            clauses.append(f"only {dataset!r} has {', '.join(names)}")
    raise DataError(
        f"{before!r} and {after!r} have different classes: {'; '.join(clauses)}. Compare two "
        "versions of one dataset."
    )


def _gaps_and_counts(cliques: Cliques, min_size: int, max_size: int, when: str) -> pd.DataFrame:
    """Cliques of some sizes by their concepts, with their gap and counts as Int64 columns."""
    sizes = cliques.sizes()
    part = cliques.take((sizes >= min_size) & (sizes <= max_size))
    columns = {f"gap_{when}": part.gaps()}
    if part.clustering is not None:
        columns[f"clusters_{when}"] = part.clustering.standing
    for name, counts in sorted(zip(part.classes, part.counts.T, strict=True)):
        columns[f"count_{when}_{name}"] = counts
    concepts = pd.Series(part.names(), dtype=object, name="concepts")
    return pd.concat([concepts, pd.DataFrame(columns).astype("Int64")], axis=1)


def _changes(before: pd.DataFrame, after: pd.DataFrame, min_gap: int) -> pd.DataFrame:
    """Give each clique of either dataset its status, the largest change first."""
    both = before.merge(after, on="concepts", how="outer")
    both["size"] = both["concepts"].map(len).astype(np.int64)
    # The merge has sorted by concepts.
    both = both.sort_values("size", kind="stable")

    # The first condition that holds gives the status.
    gap_before = both["gap_before"].fillna(0).to_numpy(np.int64)
    gap_after = both["gap_after"].fillna(0).to_numpy(np.int64)
    was_imbalanced, is_imbalanced = gap_before >= min_gap, gap_after >= min_gap
    statuses = {
        BALANCED: ~was_imbalanced & ~is_imbalanced,
        "introduced": ~was_imbalanced,
        "absent": both["gap_after"].isna().to_numpy(np.bool_),
        "solved": ~is_imbalanced,
        "reduced": gap_after < gap_before,
        "grown": gap_after > gap_before,
    }
    status = np.select([*statuses.values()], [*statuses], default="unchanged")
    both["status"] = status.astype(object)
    both["delta"] = both["gap_after"] - both["gap_before"]

    first = ["concepts", "size", "status", "gap_before", "gap_after", "delta"]
    order = np.lexsort((-np.maximum(gap_before, gap_after), -np.abs(gap_after - gap_before)))
    return both[[*first, *both.columns.difference(first, sort=False)]].iloc[order]


def _differences(changes: pd.DataFrame, before: Cliques, after: Cliques) -> pd.DataFrame:
    """How the association of each clique that both have differs, by the index of `changes`."""
    both = changes[changes["gap_before"].notna() & changes["gap_after"].notna()]
    names = both["concepts"].tolist()
    first, first_sizes = before.take(find_rows(before, names)).independent()
    second, second_sizes = after.take(find_rows(after, names)).independent()
    frame = differences(first, first_sizes, second, second_sizes, before.classes)
    return frame.set_index(both.index)


def _summary(changes: pd.DataFrame) -> pd.DataFrame:
    """Totals of each size, with the number of cliques of each status."""
    totals = {}
    for when in ("before", "after"):
        gaps = changes[f"gap_{when}"]
        totals[f"mined_{when}"] = gaps.notna().groupby(changes["size"]).sum()
        totals[f"total_gap_{when}"] = gaps.fillna(0).groupby(changes["size"]).sum()
    statuses = pd.crosstab(changes["size"], changes["status"])
    statuses = statuses.reindex(columns=pd.Index([*STATUSES, BALANCED]), fill_value=0)
    return pd.DataFrame(totals).join(statuses).astype(np.int64).reset_index()
