"""The same diagnosis of two datasets: which imbalances are solved, and which are new."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from graph.counting.cliques import Cliques
from graph.database.store import GraphStore
from graph.dataset.cliques import load_cliques, mining_of
from graph.dataset.mining import MiningOptions
from graph.dataset.state import dataset_state
from graph.errors import Action, OptionError, Text, UnknownNameError

Clique = tuple[str, ...]

COUNT_BEFORE, COUNT_AFTER = "count_before_", "count_after_"  # before a class's name: its columns

STATUSES = ("solved", "introduced", "reduced", "grown", "unchanged", "absent")
"""What may have become of a clique that is imbalanced in one of the datasets, or in both."""
BALANCED = "balanced"

_MISSING = -1  # the gap of a clique that a dataset does not have


@dataclass(frozen=True, eq=False)
class Comparison:
    """What became of the imbalances of one dataset in another.

    An imbalance is a clique with a gap of at least the smallest one that was asked for. A clique
    that is absent from a dataset has no counts there: one of its concepts is not common to the
    classes, no image shows it, or it was not mined, for lack of support.

    Parameters
    ----------
    cliques : pandas.DataFrame
        Cliques that are imbalanced in either dataset, the largest change of the gap first.
        ``concepts``, ``size``, ``status``, and as Int64, missing where the clique is absent:
        ``gap_before``, ``gap_after``, ``delta`` (after less before), and for each class
        ``count_before_<class>`` and ``count_after_<class>``. The status is

        - ``solved``: no imbalance any more
        - ``introduced``: an imbalance now, and none before, or absent
        - ``reduced``, ``grown``, ``unchanged``: an imbalance in both, by the change of the gap
        - ``absent``: an imbalance before; nobody knows what it is now
    summary : pandas.DataFrame
        A row for each ``size``: cliques that were mined (``mined_before``, ``mined_after``), the
        sum of their gaps (``total_gap_before``, ``total_gap_after``), and how many of those in
        either dataset have each status, with ``balanced`` for those that are imbalanced in none.
    left_out : dict of str to int
        For each status that was asked for, how many cliques `cliques` has no row of.
    sizes_before, sizes_after : dict of str to int
        The images of each class that were mined, by name in ascending order.
    notes : tuple of str
        In what the two were mined differently, and whether the second was rebalanced from other
        images than the first has now, in whole sentences.
    """

    cliques: pd.DataFrame
    summary: pd.DataFrame
    left_out: dict[str, int]
    sizes_before: dict[str, int]
    sizes_after: dict[str, int]
    notes: tuple[Text, ...]


def compare_imbalances(
    store: GraphStore,
    before: str,
    after: str,
    *,
    min_gap: int = 1,
    min_size: int = 1,
    max_size: int | None = None,
    statuses: Sequence[str] = STATUSES,
    limit: int = 1000,
) -> Comparison:
    """Compare the mined cliques of two datasets with the same classes.

    All cliques of both are read, and compared in memory: two seconds for 76,522 in each.

    Parameters
    ----------
    before, after : str
        The datasets.
    min_gap : int
        The smallest gap that is an imbalance, in images; 1 or more.
    min_size, max_size : int
        The sizes to compare. At most those that both were mined up to, which is the default.
    statuses : sequence of str
        Which rows to give; the summary has all.
    limit : int
        At most so many rows.

    Raises
    ------
    DatasetNotFoundError
        No such dataset.
    StaleError
        One has not been mined, or has changed since.
    OptionError
        They have different classes, one was mined to a smaller size than `max_size`, or a number
        is out of range.
    UnknownNameError
        No such status.
    """
    for status in statuses:
        if status not in STATUSES:
            raise UnknownNameError("status", status, STATUSES)
    if min_gap < 1 or limit < 0:
        raise OptionError(
            f"The smallest gap is {min_gap} and the limit {limit}; give 1 or more, and 0 or more."
        )
    states = {name: dataset_state(store, name) for name in (before, after)}
    options = {name: mining_of(state) for name, state in states.items()}
    sizes_before, sizes_after = (dict(states[name].mined_classes) for name in (before, after))
    _check_classes(before, sizes_before, after, sizes_after)
    max_size = _largest_size(options, max_size)
    if min_size > max_size:
        raise OptionError(f"min_size is {min_size}, above max_size, which is {max_size}.")
    mined = [_Counted.of(store, name, min_size, max_size) for name in (before, after)]
    changes = _changes(mined[0].gaps(), mined[1].gaps(), min_gap)
    summary = _summary(changes)
    chosen = changes[changes["status"].isin(statuses)].head(limit)
    given = chosen["status"].value_counts()
    left_out = {name: int(summary[name].sum()) - int(given.get(name, 0)) for name in statuses}
    names = chosen["concepts"].tolist()
    cliques = _with_counts(chosen, list(sizes_before), *(found.counts(names) for found in mined))
    notes: list[Text] = []
    notes += _differences(before, options[before], after, options[after], max_size)
    notes += _of_older_version(store, before, after)
    return Comparison(cliques, summary, left_out, sizes_before, sizes_after, tuple(notes))


def _of_older_version(store: GraphStore, before: str, after: str) -> list[Text]:
    """Note that a dataset was rebalanced before the other one's images became what they are."""
    names = {"before": before, "after": after}
    rows = store.read(_CHANGED_SINCE, **names)
    # All images take a second, so that they are only looked at where it may have been so.
    if not rows or not store.read(_OTHER_IMAGES, **names)[0]["differ"]:
        return []
    return [
        [
            f"{after!r} was made from an older version of {before!r}, whose images have changed "
            "since: the changes are not of the generated images alone. ",
            Action("rebalance", rows[0]["job"], into=after),
            ", and compare again.",
        ]
    ]


_CHANGED_SINCE = """
MATCH (d:Dataset {name: $after}) MATCH (j:Job {id: d.rebalanced_by, dataset: $before})
MATCH (original:Dataset {name: $before}) WHERE original.updated_at > d.updated_at
RETURN j.id AS job"""

_OTHER_IMAGES = """
RETURN EXISTS {
  MATCH (i:Image {dataset: $before})
  WHERE NOT EXISTS { MATCH (copy:Image {dataset: $after, id: i.id}) WHERE copy.digest = i.digest }
} OR EXISTS {
  MATCH (copy:Image {dataset: $after})
  WHERE NOT copy.synthetic AND NOT EXISTS { MATCH (:Image {dataset: $before, id: copy.id}) }
} AS differ"""


def _check_classes(
    before: str, sizes_before: dict[str, int], after: str, sizes_after: dict[str, int]
) -> None:
    if sizes_before.keys() == sizes_after.keys():
        return
    clauses = [
        f"only {dataset!r} has {', '.join(repr(name) for name in only)}"
        for dataset, only in (
            (before, [name for name in sizes_before if name not in sizes_after]),
            (after, [name for name in sizes_after if name not in sizes_before]),
        )
        if only
    ]
    raise OptionError(
        f"{before!r} and {after!r} have different classes: {'; '.join(clauses)}. Compare two "
        "versions of one dataset."
    )


def _largest_size(options: dict[str, MiningOptions], max_size: int | None) -> int:
    name = min(options, key=lambda name: options[name].max_size)
    mined = options[name].max_size
    if max_size is not None and max_size > mined:
        raise OptionError(
            f"{name!r} was mined up to size {mined}, not {max_size}. ",
            Action("mine", name, max_size=max_size),
            ".",
        )
    return max_size or mined


@dataclass(frozen=True, eq=False)
class _Counted:
    """Cliques of a dataset by their names."""

    cliques: Cliques
    rows: dict[Clique, int]

    @classmethod
    def of(cls, store: GraphStore, dataset: str, min_size: int, max_size: int) -> "_Counted":
        cliques = load_cliques(store, dataset, max_size=max_size)
        first = int(np.searchsorted(cliques.sizes(), min_size))  # they are in order of size
        part = cliques.take(slice(first, None))
        return cls(part, {names: row for row, names in enumerate(part.names())})

    def gaps(self) -> dict[Clique, int]:
        return dict(zip(self.rows, self.cliques.gaps().tolist(), strict=True))

    def counts(self, cliques: Sequence[Clique]) -> dict[Clique, dict[str, int]]:
        """Images of each class that contain each of the cliques that there are."""
        known = [clique for clique in cliques if clique in self.rows]
        counts = self.cliques.counts[[self.rows[clique] for clique in known]].tolist()
        return {
            clique: dict(zip(self.cliques.classes, row, strict=True))
            for clique, row in zip(known, counts, strict=True)
        }


def _changes(before: dict[Clique, int], after: dict[Clique, int], min_gap: int) -> pd.DataFrame:
    """Give each clique of either dataset its status, the largest change first."""
    cliques = sorted(before.keys() | after.keys(), key=lambda clique: (len(clique), clique))
    gaps = [
        np.array([found.get(clique, _MISSING) for clique in cliques], dtype=np.int64)
        for found in (before, after)
    ]
    gap_before, gap_after = gaps
    was, now = (gap >= min_gap for gap in gaps)
    status = np.select(
        [
            ~was & ~now,
            ~was,
            gap_after == _MISSING,
            ~now,
            gap_after < gap_before,
            gap_after > gap_before,
        ],
        [BALANCED, "introduced", "absent", "solved", "reduced", "grown"],
        default="unchanged",
    )
    change = np.abs(np.maximum(gap_after, 0) - np.maximum(gap_before, 0))
    order = np.lexsort((-np.maximum(gap_before, gap_after), -change))
    return pd.DataFrame(
        {
            "concepts": pd.Series(cliques, dtype=object),
            "size": np.array([len(clique) for clique in cliques], dtype=np.int64),
            "status": status.astype(object),
            "gap_before": gap_before,
            "gap_after": gap_after,
        }
    ).iloc[order]


def _summary(changes: pd.DataFrame) -> pd.DataFrame:
    totals = {}
    for when in ("before", "after"):
        gaps = changes[f"gap_{when}"]
        totals[f"mined_{when}"] = (gaps != _MISSING).groupby(changes["size"]).sum()
        totals[f"total_gap_{when}"] = gaps.clip(lower=0).groupby(changes["size"]).sum()
    statuses = pd.crosstab(changes["size"], changes["status"])
    statuses = statuses.reindex(columns=pd.Index([*STATUSES, BALANCED]), fill_value=0)
    return pd.DataFrame(totals).join(statuses).astype(np.int64).reset_index()


def _with_counts(
    chosen: pd.DataFrame,
    classes: Sequence[str],
    before: dict[Clique, dict[str, int]],
    after: dict[Clique, dict[str, int]],
) -> pd.DataFrame:
    cliques = chosen.reset_index(drop=True)
    for name in ("gap_before", "gap_after"):
        cliques[name] = cliques[name].astype("Int64").where(cliques[name] != _MISSING)
    cliques["delta"] = cliques["gap_after"] - cliques["gap_before"]
    counts = {
        prefix + name: pd.array(
            [found.get(clique, {}).get(name) for clique in cliques["concepts"]], dtype="Int64"
        )
        for prefix, found in ((COUNT_BEFORE, before), (COUNT_AFTER, after))
        for name in classes
    }
    return pd.concat([cliques, pd.DataFrame(counts)], axis=1)


def _differences(
    before: str, mined_before: MiningOptions, after: str, mined_after: MiningOptions, max_size: int
) -> list[str]:
    """Say what makes an absent clique mean less than it seems."""
    notes = []
    for name, mined in ((before, mined_before), (after, mined_after)):
        if mined.max_size > max_size:
            notes.append(f"Cliques of {name!r} above size {max_size} are not compared.")
    for label, one, other in (
        ("the smallest support", mined_before.min_support, mined_after.min_support),
        ("the split", mined_before.split or "all", mined_after.split or "all"),
        ("the classes to be common to", _all(mined_before), _all(mined_after)),
    ):
        if one != other:
            notes.append(f"They were mined differently: {label} is {one} before and {other} after.")
    return notes


def _all(options: MiningOptions) -> str:
    return "all" if options.common is None else ", ".join(options.common) or "none"
