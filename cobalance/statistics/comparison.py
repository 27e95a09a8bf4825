"""Compare the imbalances of two sets of cliques: which lost their lean, and which are new."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from cobalance.base import BoolArray, DataError, IntArray, OptionError, Text, check_known
from cobalance.counting import Cliques
from cobalance.statistics.association import rate_differences
from cobalance.statistics.change import change_p_values
from cobalance.statistics.imbalance import categorical
from cobalance.statistics.q_values import MAX_Q_VALUE, q_values
from cobalance.statistics.selection import clique_q_values

# They stand before a class's name in the names of its columns.
COUNT_BEFORE, COUNT_AFTER = "count_before_", "count_after_"

Measure = Literal["rates", "counts"]
"""What makes an imbalance: rates that differ beyond chance, or counts, as ConBias has it."""

STATUSES = ("lost its lean", "weaker", "within noise", "stronger", "new", "absent")
"""Statuses by rates of a clique that leans to a class in one of the datasets, or in both."""
COUNT_STATUSES = ("solved", "introduced", "reduced", "grown", "unchanged", "absent")
"""Statuses by counts of a clique that has a gap in one of the datasets, or in both."""
BALANCED = "balanced"
# Row or class code of a clique that a dataset does not have.
ABSENT = -1


def statuses_of(by: Measure) -> tuple[str, ...]:
    """The statuses of a comparison by rates or by counts."""
    return STATUSES if by == "rates" else COUNT_STATUSES


@dataclass(frozen=True, eq=False)
class Comparison:
    """Comparison of the imbalances of two datasets.

    By rates, an imbalance is a clique that leans to a class, q ≤ 0.05 by the test of the imbalance
    table. By counts it is one with a gap of at least the smallest one that was asked for. A clique
    that is absent from a dataset has no counts there: one of its concepts is not common to the
    classes, no image shows it, or it was not mined, for lack of support.

    Parameters
    ----------
    cliques : pandas.DataFrame
        Cliques that are imbalanced in either dataset, the largest change first: ``concepts``,
        ``size``, ``status``; ``count_before_<class>`` and ``count_after_<class>`` for each class,
        as Int64, missing where the clique is absent; where images are in clusters,
        ``clusters_before`` and ``clusters_after``, in how many it stands.

        By rates also ``highest`` and ``lowest``, the classes that are compared: those of the
        largest rate difference before, or after where the clique is new; ``difference_before`` and
        ``difference_after``, its largest rate differences as shares of a class, ``change``, after
        less before, all NaN where it is absent; ``q_before`` and ``q_after``, of no lean; and
        ``q_value``, of no change of the rates of these two classes, Benjamini-Hochberg over all
        cliques that lean in either dataset, see `cobalance.statistics.change.change_p_values`.
        The status is

        - ``lost its lean``: it leaned, and does not any more
        - ``weaker``, ``stronger``: it leans in both, less or more, and the change is beyond chance,
          q ≤ 0.05
        - ``within noise``: it leans in both, and chance explains the change
        - ``new``: it leans now, and did not, or was absent
        - ``absent``: it leaned, and is absent now

        By counts also ``gap_before``, ``gap_after`` and ``delta``, after less before, as Int64,
        missing where the clique is absent. The status is

        - ``solved``: no gap any more
        - ``introduced``: a gap now, and none before, or absent
        - ``reduced``, ``grown``, ``unchanged``: a gap in both, by its change
        - ``absent``: a gap before, and absent now
    summary : pandas.DataFrame
        A row for each ``size``: cliques that were mined (``mined_before``, ``mined_after``), how
        many in either dataset have each status, with ``balanced`` for those that are imbalanced in
        none. By rates ``leaning_before`` and ``leaning_after``, how many lean;
        ``difference_before`` and ``difference_after``, the sums of the rate differences of those
        that leaned before; ``largest_before``, the largest of these, and ``largest_after``, the
        largest of those that leaned before or lean now. By counts ``total_gap_before`` and
        ``total_gap_after``.
    left_out : dict of str to int
        For each status that was asked for, how many cliques `cliques` has no row of.
    sizes_before, sizes_after : dict of str to int
        The images of each class that were mined, by name in ascending order.
    notes : tuple of str
        Differences in how the two were mined, and whether the second was rebalanced from other
        images than the first has now, as sentences.
    by : "rates" or "counts"
    extends : bool
        Whether the second has all images of the first.
    planned : int or None
        How many cliques the plan foretold to lean, where a job made the second from the first.
    bits : mapping of str to float
        What concepts alone tell of the class, as ``bits_before``, ``bits`` and ``bits_most`` of
        `cobalance.generation.planning.effects.measure_told`; empty where no images are at hand.
    """

    cliques: pd.DataFrame
    summary: pd.DataFrame
    left_out: dict[str, int]
    sizes_before: dict[str, int]
    sizes_after: dict[str, int]
    notes: tuple[Text, ...]
    by: Measure = "rates"
    extends: bool = False
    planned: int | None = None
    bits: Mapping[str, float] = field(default_factory=dict)

    def totals(self) -> dict[str, float]:
        """The summary over all sizes: sums, and of the largest differences the largest."""
        totals: dict[str, float] = {}
        for name, values in self.summary.drop(columns="size").items():
            is_largest = str(name).startswith("largest_")
            totals[str(name)] = values.max() if is_largest and len(values) else values.sum()
        return totals


def check_request(
    min_gap: int | None, limit: int, statuses: Sequence[str] | None, by: Measure
) -> None:
    """Raise OptionError for a number out of range, UnknownNameError for an unknown name."""
    check_known("measure", [by], ("rates", "counts"))
    check_known("status", statuses or (), statuses_of(by))
    if min_gap is not None and min_gap < 1:
        raise OptionError(f"The smallest gap is {min_gap}; give 1 or more.")
    if limit < 0:
        raise OptionError(f"The limit is {limit}; give 0 or more.")


def compare_cliques(
    before: Cliques,
    after: Cliques,
    *,
    by: Measure = "rates",
    extends: bool = False,
    min_gap: int | None = None,
    min_size: int = 1,
    max_size: int | None = None,
    statuses: Sequence[str] | None = None,
    limit: int = 1000,
    notes: Sequence[Text] = (),
) -> Comparison:
    """Compare two sets of cliques, and give the imbalance of each a status, such as ``weaker``.

    Parameters
    ----------
    before, after : Cliques
        Of two versions of a dataset, with the same classes.
    by : "rates" or "counts"
        What makes an imbalance, see `Comparison`.
    extends : bool
        Whether the second has all images of the first and further ones, so that only these tell of
        a change; not where some count is smaller. Otherwise the two are taken for independent
        samples; where they share images, that is cautious.
    min_gap : int
        By counts, the smallest gap that is an imbalance, in images; 1 or more, by default 1.
    min_size, max_size : int
        The sizes to compare. At most those that both have columns for, which is the default.
    statuses : sequence of str, optional
        Which rows to give, by default all; the summary has all.
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
    >>> sizes, classes = np.array([90, 90]), ("bird", "cat")
    >>> one = np.array([[0]], dtype=np.int32)
    >>> before = Cliques(one, np.array([[50, 10]]), sizes, ("sea",), classes)
    >>> after = Cliques(one, np.array([[50, 50]]), np.array([90, 130]), ("sea",), classes)
    >>> print(compare_cliques(before, after).cliques[["concepts", "status", "change"]].round(3))
      concepts  status  change
    0   (sea,)  weaker  -0.274
    >>> compare_cliques(before, after, by="counts").cliques["status"].tolist()
    ['solved']
    """
    check_request(min_gap, limit, statuses, by)
    statuses = statuses_of(by) if statuses is None else statuses
    sizes_before, sizes_after = before.class_images(), after.class_images()
    check_classes("before", sizes_before, "after", sizes_after)
    if max_size is None:
        max_size = min(before.members.shape[1], after.members.shape[1])

    # A q-value is over all cliques of a table, whichever are compared.
    both = _merge(
        _columns_of(before, "before", min_size, max_size, by),
        _columns_of(after, "after", min_size, max_size, by),
    )
    extends = extends and _extends(both, before, after)
    if by == "rates":
        changes = _rate_changes(both, before, after, extends)
    else:
        changes = _gap_changes(both, min_gap or 1)
    summary = _summary(changes, by)

    selected = changes[changes["status"].isin(statuses)].head(limit).reset_index(drop=True)
    n_selected = selected["status"].value_counts()
    left_out = {name: int(summary[name].sum()) - int(n_selected.get(name, 0)) for name in statuses}
    return Comparison(
        cliques=selected.drop(columns=["row_before", "row_after"]),
        summary=summary,
        left_out=left_out,
        sizes_before=sizes_before,
        sizes_after=sizes_after,
        notes=tuple(notes),
        by=by,
        extends=extends,
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


def _columns_of(
    cliques: Cliques, when: str, min_size: int, max_size: int, by: Measure
) -> pd.DataFrame:
    """Cliques of some sizes by their concepts: row in the table, measures and counts."""
    sizes = cliques.sizes()
    rows = np.flatnonzero((sizes >= min_size) & (sizes <= max_size))
    part = cliques.take(rows)
    frame = pd.DataFrame({"concepts": pd.Series(part.names(), dtype=object)})
    frame[f"row_{when}"] = rows
    if by == "rates":
        frame[f"difference_{when}"] = rate_differences(part.counts, part.class_sizes)[0]
        frame[f"q_{when}"] = clique_q_values(cliques)[rows]

    counts: dict[str, IntArray] = {}
    if by == "counts":
        counts[f"gap_{when}"] = part.gaps()
    if part.clustering is not None:
        counts[f"clusters_{when}"] = part.clustering.standing
    for name, of_class in sorted(zip(part.classes, part.counts.T, strict=True)):
        counts[f"count_{when}_{name}"] = of_class
    return pd.concat([frame, pd.DataFrame(counts, index=frame.index).astype("Int64")], axis=1)


def _merge(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Put the cliques of either dataset side by side, by size and then by concepts."""
    both = before.merge(after, on="concepts", how="outer")
    for when in ("before", "after"):
        both[f"row_{when}"] = both[f"row_{when}"].fillna(ABSENT).astype(np.int64)
    both["size"] = both["concepts"].map(len).astype(np.int64)
    # The merge has sorted by concepts.
    return both.sort_values("size", kind="stable", ignore_index=True)


def _extends(both: pd.DataFrame, before: Cliques, after: Cliques) -> bool:
    """Whether no count is smaller afterwards, as none is with further images."""
    common = (both["row_before"] >= 0) & (both["row_after"] >= 0)
    was = before.counts[both["row_before"][common]]
    now = after.counts[both["row_after"][common]]
    sizes_grow = (after.class_sizes >= before.class_sizes).all()
    return bool(sizes_grow and (now >= was).all())


def _rate_changes(
    both: pd.DataFrame, before: Cliques, after: Cliques, extends: bool
) -> pd.DataFrame:
    """Give each clique of either dataset its status by rates, the largest change first."""
    rows_before = both["row_before"].to_numpy()
    rows_after = both["row_after"].to_numpy()
    leaned = (both["q_before"] <= MAX_Q_VALUE).to_numpy()
    leans = (both["q_after"] <= MAX_Q_VALUE).to_numpy()

    # The classes of the lean that there was, or of the one that is new.
    compared = np.full((len(both), 2), ABSENT)
    for cliques, rows, leaning in (
        (before, rows_before, leaned),
        (after, rows_after, leans & ~leaned),
    ):
        counts = cliques.counts[rows[leaning]]
        _, highest, lowest = rate_differences(counts, cliques.class_sizes)
        compared[leaning] = np.stack([highest, lowest], axis=1)

    is_tested = (leaned | leans) & (rows_before >= 0) & (rows_after >= 0)
    tested_before = before.take(rows_before[is_tested])
    tested_after = after.take(rows_after[is_tested])
    p_values = change_p_values(tested_before, tested_after, compared[is_tested], extends=extends)
    q_of_change = np.full(len(both), np.nan)
    q_of_change[is_tested] = q_values(p_values)

    change = (both["difference_after"] - both["difference_before"]).to_numpy()
    is_beyond = q_of_change <= MAX_Q_VALUE
    # The first condition that holds gives the status.
    statuses = {
        BALANCED: ~leaned & ~leans,
        "new": ~leaned,
        "absent": rows_after < 0,
        "lost its lean": ~leans,
        "weaker": is_beyond & (change < 0),
        "stronger": is_beyond & (change > 0),
    }
    both["status"] = _first_of(statuses, "within noise")
    both["highest"] = categorical(compared[:, 0], before.classes)
    both["lowest"] = categorical(compared[:, 1], before.classes)
    both["change"], both["q_value"] = change, q_of_change

    first = ["concepts", "size", "status", "highest", "lowest"]
    first += ["difference_before", "difference_after", "change", "q_before", "q_after", "q_value"]
    largest = both[["difference_before", "difference_after"]].max(axis=1)
    order = np.lexsort((-largest, -np.abs(np.nan_to_num(change, nan=0.0))))
    return both[[*first, *both.columns.difference(first, sort=False)]].iloc[order]


def _gap_changes(both: pd.DataFrame, min_gap: int) -> pd.DataFrame:
    """Give each clique of either dataset its status by counts, the largest change first."""
    gap_before = both["gap_before"].fillna(0).to_numpy(np.int64)
    gap_after = both["gap_after"].fillna(0).to_numpy(np.int64)
    was_imbalanced, is_imbalanced = gap_before >= min_gap, gap_after >= min_gap
    # The first condition that holds gives the status.
    statuses = {
        BALANCED: ~was_imbalanced & ~is_imbalanced,
        "introduced": ~was_imbalanced,
        "absent": both["gap_after"].isna().to_numpy(np.bool_),
        "solved": ~is_imbalanced,
        "reduced": gap_after < gap_before,
        "grown": gap_after > gap_before,
    }
    both["status"] = _first_of(statuses, "unchanged")
    both["delta"] = both["gap_after"] - both["gap_before"]

    first = ["concepts", "size", "status", "gap_before", "gap_after", "delta"]
    order = np.lexsort((-np.maximum(gap_before, gap_after), -np.abs(gap_after - gap_before)))
    return both[[*first, *both.columns.difference(first, sort=False)]].iloc[order]


def _first_of(conditions: Mapping[str, BoolArray], otherwise: str) -> "pd.Series[Any]":
    """Of each row the name of the first condition that holds."""
    names = np.select([*conditions.values()], [*conditions], default=otherwise)
    return pd.Series(names, dtype=object)


def _summary(changes: pd.DataFrame, by: Measure) -> pd.DataFrame:
    """Totals of each size, with the number of cliques of each status."""
    size = changes["size"]
    totals: dict[str, pd.Series[Any]] = {}
    leaned = _leans(changes, "before")
    for when in ("before", "after"):
        totals[f"mined_{when}"] = (changes[f"row_{when}"] >= 0).groupby(size).sum()
        if by == "counts":
            totals[f"total_gap_{when}"] = changes[f"gap_{when}"].fillna(0).groupby(size).sum()
        else:
            leans = _leans(changes, when)
            differences = changes[f"difference_{when}"].fillna(0.0)
            totals[f"leaning_{when}"] = leans.groupby(size).sum()
            totals[f"difference_{when}"] = differences.where(leaned, 0.0).groupby(size).sum()
            totals[f"largest_{when}"] = differences.where(leaned | leans, 0.0).groupby(size).max()

    statuses = pd.crosstab(size, changes["status"])
    statuses = statuses.reindex(columns=pd.Index([*statuses_of(by), BALANCED]), fill_value=0)
    summary = pd.DataFrame(totals).join(statuses)
    whole = summary.columns[~summary.columns.str.startswith(("difference_", "largest_"))]
    return summary.astype(dict.fromkeys(whole, np.int64)).reset_index()


def _leans(changes: pd.DataFrame, when: str) -> "pd.Series[bool]":
    """Whether each clique leans in one of the datasets; by counts none does."""
    if f"q_{when}" not in changes:
        return pd.Series(False, index=changes.index)
    return changes[f"q_{when}"] <= MAX_Q_VALUE
