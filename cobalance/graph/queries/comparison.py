"""Compare the mined imbalances of two datasets, or of two splits of one."""

from collections.abc import Sequence
from typing import Literal

from cobalance.base import (
    Action,
    OptionError,
    PlannedQuery,
    Text,
    UnknownNameError,
    clean_name,
)
from cobalance.counting import MiningOptions
from cobalance.graph.database import GraphStore
from cobalance.graph.dataset import (
    MAX_CLIQUES,
    dataset_state,
    load_incidence,
    mining_of,
    read_cliques,
    require_size,
    split_sizes,
)
from cobalance.graph.queries import statements
from cobalance.statistics import (
    MAX_Q_VALUE,
    ComparedSplits,
    Comparison,
    Measure,
    check_classes,
    check_request,
    compare_cliques,
)

COUNT_PLANNERS = ("conbias", "published")
"""Planners that balance counts, as ConBias does: their plans are judged by counts."""


def compare_imbalances(
    store: GraphStore,
    before: str,
    after: str,
    *,
    by: Measure | None = None,
    min_gap: int | None = None,
    min_size: int = 1,
    max_size: int | None = None,
    statuses: Sequence[str] | None = None,
    limit: int = 1000,
) -> Comparison:
    """Compare the mined cliques of two datasets with the same classes.

    All cliques of both are read, and compared in memory: two seconds for 76,522 in each.

    Parameters
    ----------
    before, after : str
        The datasets.
    by : "rates" or "counts", optional
        By default rates; counts where a smallest gap is given, or a job made the second from the
        first by a plan that balances counts.
    min_gap, min_size, max_size, statuses, limit
        As in `cobalance.statistics.comparison.compare_cliques`. By default, cliques up to the
        largest size that both were mined to.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or one has not been mined or has changed since.
    DataError
        They have different classes.
    OptionError
        One was mined to a smaller size than `max_size`, or a number
        is out of range.
    UnknownNameError
        No such status.
    """
    check_request(min_gap, limit, None, by or "rates")
    state_before, state_after = dataset_state(store, before), dataset_state(store, after)
    mined_before, mined_after = mining_of(state_before), mining_of(state_after)
    sizes_before, sizes_after = dict(state_before.mined_classes), dict(state_after.mined_classes)
    check_classes(before, sizes_before, after, sizes_after)

    if max_size is None:
        max_size = min(mined_before.max_size, mined_after.max_size)
    if min_size > max_size:
        raise OptionError(f"min_size is {min_size}, above max_size, which is {max_size}.")
    for state in (state_before, state_after):
        require_size(state, max_size)

    if by is None:
        by = "counts" if min_gap is not None else usual_measure(store, before, after)

    notes: list[Text] = []
    notes += _differences(before, mined_before, after, mined_after, max_size)
    older_version = _of_older_version(store, before, after)
    # q-values are over all cliques that were mined, as in the imbalance table.
    return compare_cliques(
        read_cliques(store, state_before),
        read_cliques(store, state_after),
        by=by,
        extends=read_copies(store).get(after) == before and not older_version,
        min_gap=min_gap,
        min_size=min_size,
        max_size=max_size,
        statuses=statuses,
        limit=limit,
        notes=[*notes, *older_version],
    )


def usual_measure(store: GraphStore, before: str, after: str) -> Measure:
    """The usual measure: counts where a plan of counts made the second dataset, else rates."""
    rows = store.read(statements.PLANNER_BETWEEN, before=before, after=after)
    return "counts" if any(row["planner"] in COUNT_PLANNERS for row in rows) else "rates"


def read_copies(store: GraphStore) -> dict[str, str]:
    """The original of each dataset that has a job's images, the latest written first."""
    return {row["copy"]: row["original"] for row in store.read(statements.COPIES)}


def read_asked(
    store: GraphStore, before: str, after: str, images: Literal["asked", "accepted"] = "asked"
) -> list[PlannedQuery]:
    """Read the images of the job that made one dataset of another; empty without one.

    `images`: those that were asked for, or the accepted ones of these.
    """
    return [
        PlannedQuery(row["class_name"], tuple(row["concepts"]), row[images])
        for row in store.read(statements.ASKED_AND_ACCEPTED, before=before, after=after)
        if row[images]
    ]


def _of_older_version(store: GraphStore, before: str, after: str) -> list[Text]:
    """Note that a dataset was rebalanced from an older version of the other one."""
    rows = store.read(statements.CHANGED_SINCE, before=before, after=after)
    if not rows:
        return []
    return [
        [
            f"{after!r} was made from an older version of {before!r}, whose images have changed "
            "since: the changes are not of the generated images alone. ",
            Action("rebalance", rows[0]["job"], into=after),
            ", and compare again.",
        ]
    ]


def _differences(
    before: str, mined_before: MiningOptions, after: str, mined_after: MiningOptions, max_size: int
) -> list[str]:
    """Note differences in mining, which may explain why a clique is absent."""
    notes = []
    for name, mined in ((before, mined_before), (after, mined_after)):
        if mined.max_size > max_size:
            notes.append(f"Cliques of {name!r} above size {max_size} are not compared.")

    for label, former, latter in (
        ("the smallest support", mined_before.min_support, mined_after.min_support),
        ("the split", mined_before.split or "all", mined_after.split or "all"),
        ("the classes to be common to", _common_to(mined_before), _common_to(mined_after)),
    ):
        if former != latter:
            difference = f"{label} is {former} before and {latter} after."
            notes.append(f"They were mined differently: {difference}")
    return notes


def _common_to(options: MiningOptions) -> str:
    return "all" if options.common is None else ", ".join(options.common) or "none"


def compare_dataset_splits(
    store: GraphStore,
    dataset: str,
    first: str,
    second: str,
    *,
    max_size: int | None = None,
    max_q_value: float = MAX_Q_VALUE,
) -> ComparedSplits:
    """Compare two splits of a dataset, by the cliques of both together.

    They are mined as the dataset was last, whether or not that was of one split.

    Parameters
    ----------
    first, second : str
        The splits, such as ``train`` and ``val``.
    max_size : int, optional
        Of the cliques; by default as the dataset was mined.
    max_q_value : float
        Of an imbalance that holds in a split.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    UnknownNameError
        It has no image of a split.
    OptionError
        Both are the same split, or a number is out of range.
    TooManyCliquesError
        There are more than a million.
    """
    state = dataset_state(store, dataset)
    state.require_complete()
    first, second = clean_name(first), clean_name(second)
    if first == second:
        raise OptionError(f"{first!r} is named twice. Give two different splits.")

    images = load_incidence(store, dataset, first), load_incidence(store, dataset, second)
    for name, incidence in zip((first, second), images, strict=True):
        if not len(incidence.labels):
            names = [split for split in split_sizes(store, dataset) if split is not None]
            raise UnknownNameError("split", name, names)

    options = state.mining_options()
    return ComparedSplits.of(
        (first, second),
        images,
        max_size=options.max_size if max_size is None else max_size,
        min_support=options.min_support,
        common=options.common,
        max_q_value=max_q_value,
        max_cliques=MAX_CLIQUES,
    )
