"""Planners and baselines side by side, and images against the imbalance that remains."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import (
    DataError,
    IntArray,
    OptionError,
    Options,
    PluginError,
    Progress,
    Words,
    check_known,
    silent,
)
from cobalance.counting import Cliques, Incidence
from cobalance.generation import (
    BASELINES,
    COUNTS,
    PLANNERS,
    WHOLE_IMAGES,
    Groups,
    PlannedImages,
    PlanOptions,
    group_images,
    has_all,
    measure,
    measure_planner,
    simulate_baseline,
)
from cobalance.graph import GraphStore, dataset_state, read_cliques, require_size
from cobalance.workflows.plan.planners import read_named

TOLERANCES = (0.05, 0.1, 0.2, 0.3, 0.5)
# Of the images that there are.
BUDGET_SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
CURVE = ("images", "leaning", "difference", "widened", "remaining", "gap_after", "widest_gap")
SOLVER = {"seconds": 1.0, "solver_gap": 0.01}
"""Of points of a curve, unless the planner's own options say otherwise."""


def compare_all(
    cliques: Cliques,
    chosen: IntArray,
    options: PlanOptions,
    own: Mapping[str, Mapping[str, Any]] | None = None,
    incidence: Incidence | None = None,
    names: Sequence[str] = (),
    words: Words = str,
) -> pd.DataFrame:
    """Run planners, and baselines that make no image, on the same cliques.

    Parameters
    ----------
    chosen : int array
        Rows of the cliques to balance, ascending.
    own : mapping, optional
        By planner, its own options.
    incidence : Incidence or None
        The images, which baselines repeat, drop or weight and whole-images takes sets from; None
        leaves these out.
    names : sequence of str
        Which planners and baselines; all by default.

    Returns
    -------
    pandas.DataFrame
        As `cobalance.compare_planners` returns it; columns are those of
        `cobalance.generation.planning.effects.measure`, ``dataset`` and ``seconds``. A planner
        whose options leave it no plan is left out; ``attrs["left_out"]`` says why, by name, with
        settings as `words` puts them.

    Raises
    ------
    UnknownNameError
        There is no such planner or baseline.
    """
    baselines = BASELINES if has_all(cliques, incidence) else {}
    check_known("planner", names, [*PLANNERS, *baselines])
    within = np.intersect1d(chosen, options.rows(cliques))

    rows: dict[str, dict[str, Any]] = {}
    left_out: dict[str, str] = {}
    # Plug-ins that cannot be loaded are left out unless they are named.
    for name in names or dict(PLANNERS.items()):
        if name in PLANNERS:
            checked = PLANNERS.check(name, (own or {}).get(name, {}))
            try:
                rows[name] = _planner_row(cliques, within, name, checked, options, incidence)
            except (OptionError, DataError, PluginError) as error:
                left_out[name] = error.render(words)

    selected = [name for name in names or baselines if name in baselines]
    if incidence is not None and selected:
        groups = group_images(cliques.take(within), incidence)
        for name in selected:
            rows[name] = _baseline_row(cliques, within, name, groups, options.budget)

    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("planner")
    frame.insert(1, "dataset", frame.pop("dataset"))
    frame.attrs["left_out"] = left_out
    return frame


def _planner_row(
    cliques: Cliques,
    within: IntArray,
    name: str,
    own: Options,
    options: PlanOptions,
    incidence: Incidence | None,
) -> dict[str, Any]:
    """Measures of a planner's plan, the images that there are with it, and the seconds it took."""
    started = perf_counter()
    planner = PLANNERS.open(name, own)
    row = measure_planner(cliques, within, planner, options, incidence)
    seconds = round(perf_counter() - started, 3)
    images = int(cliques.class_sizes.sum()) + int(row["images"])
    return row | {"dataset": images, "seconds": seconds}


def _baseline_row(
    cliques: Cliques, within: IntArray, name: str, groups: Groups, budget: int | None
) -> dict[str, Any]:
    """Measures of a baseline, which makes no image, and the seconds it took."""
    nothing = PlannedImages(np.zeros_like(cliques.counts))
    started = perf_counter()
    after = simulate_baseline(cliques, groups, name, budget)
    row = measure(cliques, after, nothing, within)
    seconds = round(perf_counter() - started, 3)
    return row | {"dataset": round(after.class_sizes.sum()), "seconds": seconds}


def budget_curve(
    cliques: Cliques,
    chosen: IntArray,
    options: PlanOptions,
    own: Mapping[str, Mapping[str, Any]] | None = None,
    planners: Sequence[str] = (),
    incidence: Incidence | None = None,
) -> pd.DataFrame:
    """Remaining imbalance by number of images, for planners within several budgets.

    The result is that of `cobalance.budget_curve`; the first row of each planner has no image.
    """
    within = np.intersect1d(chosen, options.rows(cliques))
    total = int(cliques.class_sizes.sum())
    budgets = sorted({max(round(total * share), 1) for share in BUDGET_SHARES})
    # Whole images are planned of sets of concepts that images have, so images must be at hand.
    usual = (COUNTS, "minimal") if incidence is None else (WHOLE_IMAGES, COUNTS, "minimal")
    without = measure(cliques, cliques, PlannedImages(np.zeros_like(cliques.counts)), within)

    rows = []
    for name in planners or usual:
        planner = PLANNERS.open(name, _quick(name, (own or {}).get(name, {})))
        rows.append({"planner": name, "budget": 0, **without})
        for budget in budgets:
            limited = replace(options, budget=budget)
            with suppress(OptionError, DataError):
                point = measure_planner(cliques, within, planner, limited, incidence)
                rows.append({"planner": name, "budget": budget, **point})
    return pd.DataFrame(rows, columns=["planner", "budget", *CURVE])


def tolerance_curve(
    cliques: Cliques, chosen: IntArray, options: PlanOptions, own: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Images that the planner minimal needs for several tolerances, without a budget.

    Returns
    -------
    pandas.DataFrame
        A row for each ``tolerance``, with the columns of `budget_curve` but planner and budget;
        tolerances that the caps forbid are left out.
    """
    within = np.intersect1d(chosen, options.rows(cliques))
    unlimited = replace(options, budget=None)
    # The planner's two other allowances would add to each tolerance, or forbid it.
    others = dict(own or {})
    others.pop("gap", None)
    others.pop("significance", None)

    rows = []
    for tolerance in (0.0, *TOLERANCES):
        planner = PLANNERS.open("minimal", _quick("minimal", others) | {"tolerance": tolerance})
        with suppress(OptionError, DataError):
            point = measure_planner(cliques, within, planner, unlimited)
            rows.append({"tolerance": tolerance, **point})
    return pd.DataFrame(rows, columns=["tolerance", *CURVE])


def compare_dataset(
    store: GraphStore,
    dataset: str,
    options: PlanOptions,
    own: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Progress = silent,
    words: Words = str,
) -> pd.DataFrame:
    """Compare planners and baselines on a mined dataset, then budgets and tolerances.

    Returns
    -------
    pandas.DataFrame
        ``planner``; ``setting``, empty for planners as they are, else ``budget=N`` or
        ``tolerance=T``; then the columns of `compare_all`, of which curves have some.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    """
    progress("read cliques", 0, None)
    state = dataset_state(store, dataset)
    state.require_own_classes("Planning")
    require_size(state, options.max_size)
    # All of them, as the test of each goes by how many there are.
    cliques = read_cliques(store, state)
    incidence, _ = read_named(store, state)
    rows = np.arange(len(cliques))

    progress("plan", 0, None)
    planners = compare_all(cliques, rows, options, own, incidence, (), words).reset_index()
    budgets = budget_curve(cliques, rows, options, own, (), incidence)
    budgets = budgets[budgets["budget"] > 0]
    tolerances = tolerance_curve(cliques, rows, options, (own or {}).get("minimal"))

    limits = budgets.pop("budget").map("budget={}".format)
    shares = tolerances.pop("tolerance").map("tolerance={:g}".format)
    tables = [
        planners.assign(setting=""),
        tolerances.assign(planner="minimal", setting=shares),
        budgets.assign(setting=limits),
    ]
    frame = pd.concat(tables, ignore_index=True)
    frame.attrs["left_out"] = planners.attrs["left_out"]

    # Measures but rates are whole numbers, of which curves lack some.
    rates = frame.columns[frame.columns.str.startswith(("difference", "largest"))]
    whole = frame.columns.difference(["planner", "setting", "seconds", *rates])
    frame[whole] = frame[whole].astype("Int64")
    first = ["planner", "setting", *CURVE]
    return frame[[*first, *frame.columns.drop(first)]]


def _quick(name: str, own: Mapping[str, Any]) -> dict[str, Any]:
    fields = PLANNERS[name].options.model_fields
    return {key: value for key, value in SOLVER.items() if key in fields} | dict(own)
