"""Cells, tables and sentences for people: imbalances, plans and comparisons."""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from cobalance.generation.planning.plan import Plan, PlannedImages
from cobalance.graph.dataset.mining_options import MiningOptions
from cobalance.graph.diagnosis.comparison import COUNT_AFTER, COUNT_BEFORE, STATUSES, Comparison
from cobalance.graph.diagnosis.imbalance import COUNT, RATE
from cobalance.graph.diagnosis.splits import FIRST, SECOND, ComparedSplits
from cobalance.graph.safe_text import safe_text
from cobalance.ingest.concepts.plurals import counted

if TYPE_CHECKING:
    from cobalance.app.services.ordering.plans import Planned

COUNT_GAP = "count gap (ConBias)"
DISAGREEMENT = "counts and rates"
"""Columns of imbalance tables for people."""
ARROW = "\N{RIGHTWARDS ARROW}"


def describe_proof(found: Plan | PlannedImages) -> str:
    """What a planner knows of how good its plan is, as a sentence; empty where it says nothing."""
    proven = "Proven: no other plan does better by the planner's aim." if found.proven else ""
    return found.note or proven


def cell_text(value: Any, most: int | None = None) -> str:
    """A value as text: names joined by +, intervals, numbers with separators, - where missing.

    Examples
    --------
    >>> cell_text(("cow", "road")), cell_text(1414), cell_text(None)
    ('cow + road', '1,414', '-')
    >>> cell_text([0.001, 0.05]), cell_text([None, None])
    ('[0.001, 0.050]', '')
    """
    if is_interval(value):
        known = not any(map(is_missing, value))
        return f"[{', '.join(cell_text(limit) for limit in value)}]" if known else ""
    if isinstance(value, (list, tuple)):
        return " + ".join(
            f"{cell_text(part[0], most)} {cell_text(part[1], most)}"
            if isinstance(part, (list, tuple)) and len(part) == 2
            else cell_text(part, most)
            for part in value
        )
    if is_missing(value):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value != 0 and abs(value) < 1e-3:
            return f"{value:.1e}"
        return f"{value:,.3f}"
    return _cut(safe_text(str(value)), most)


def is_interval(value: Any) -> bool:
    """Whether a cell is two limits, each a float or missing."""
    return (
        isinstance(value, (list, tuple))
        and len(value) == 2
        and all(isinstance(limit, float) or is_missing(limit) for limit in value)
    )


def is_missing(value: Any) -> bool:
    """Whether a cell has no value: None, NA or NaN."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _cut(text: str, most: int | None) -> str:
    return text if most is None or len(text) <= most else text[: most - 1] + "…"


def change_text(before: Any, after: Any) -> str:
    """Two counts, before and after; a dash for one that is missing.

    Examples
    --------
    >>> change_text(1700, 0), change_text(17, None)
    ('1,700 → 0', '17 → -')
    """
    texts = ("-" if pd.isna(count) else f"{int(count):,}" for count in (before, after))
    return f" {ARROW} ".join(texts)


def change_texts(before: "pd.Series[Any]", after: "pd.Series[Any]") -> list[str]:
    """`change_text` of each row."""
    return [change_text(*counts) for counts in zip(before, after, strict=True)]


def q_text(q_value: float) -> str:
    """A q-value.

    Examples
    --------
    >>> q_text(0.00002), q_text(0.0312), q_text(float("nan"))
    ('<0.001', '0.031', '-')
    """
    if is_missing(q_value):
        return "-"
    return "<0.001" if q_value < 0.001 else f"{q_value:.3f}"


def log_odds_texts(frame: pd.DataFrame, name: str = "log_odds_ratio") -> list[str]:
    """Log odds ratios of imbalances with their intervals; a dash where one is not defined.

    Examples
    --------
    >>> ratios = pd.DataFrame({
    ...     "log_odds_ratio": [5.531, float("nan")],
    ...     "log_odds_ratio_low": [4.14, float("nan")],
    ...     "log_odds_ratio_high": [6.921, float("nan")],
    ... })
    >>> log_odds_texts(ratios)
    ['+5.53 [4.14, 6.92]', '-']
    """
    return [
        "-" if is_missing(low) else f"{value:+.2f} [{low:.2f}, {high:.2f}]"
        for value, low, high in zip(
            frame[name], frame[f"{name}_low"], frame[f"{name}_high"], strict=True
        )
    ]


def comparison_table(found: Comparison) -> pd.DataFrame:
    """The columns of a comparison that fit a terminal; other formats have all."""
    cliques = found.cliques

    return pd.DataFrame(
        {
            "concepts": cliques["concepts"],
            **{
                name: change_texts(cliques[COUNT_BEFORE + name], cliques[COUNT_AFTER + name])
                for name in found.sizes_before
            },
            "gap": change_texts(cliques["gap_before"], cliques["gap_after"]),
            "change": cliques["delta"],
            "imbalance": cliques["status"],
            "log odds ratio changes": difference_texts(cliques),
            "q-value": [q_text(q) for q in cliques["q_value"]],
        }
    )


def describe_comparison(found: Comparison) -> str:
    """Summarize a comparison in a few sentences."""
    totals = found.summary.sum(numeric_only=True)
    counts = ", ".join(f"{int(totals[name]):,} {name}" for name in STATUSES)
    left_out = sum(found.left_out.values())
    more = f" Smaller changes not listed: {left_out:,} (see --limit)." if left_out else ""
    gaps = change_text(totals["total_gap_before"], totals["total_gap_after"])
    return f"Imbalances: {counts}. Sum of gaps: {gaps}.{more}"


def splits_table(found: ComparedSplits) -> pd.DataFrame:
    """The columns of two compared splits that people read; files have all."""
    cliques = found.cliques
    counts: dict[str, Any] = {}
    for name in found.class_sizes[0]:
        one, other = (COUNT + which + name for which in (FIRST, SECOND))
        counts[name] = change_texts(cliques[one], cliques[other])
        shares = (rate_texts(cliques[RATE + which + name]) for which in (FIRST, SECOND))
        counts[f"% of {name}"] = [f" {ARROW} ".join(pair) for pair in zip(*shares, strict=True)]
    where = dict(zip(("first", "second"), found.splits, strict=True))
    return pd.DataFrame(
        {
            "concepts": cliques["concepts"],
            **counts,
            "holds in": [where.get(name, name) for name in cliques["holds"]],
            "log odds ratio changes": difference_texts(cliques),
            "q-value": [q_text(q) for q in cliques["q_value"]],
        }
    )


def difference_texts(frame: pd.DataFrame) -> list[str]:
    """Differences of log odds ratios with their intervals, and of which two classes.

    Examples
    --------
    >>> difference_texts(pd.DataFrame({"log_odds_difference": [1.5], "rises_in": ["urban"],
    ...     "falls_in": ["country"], "log_odds_difference_low": [0.5],
    ...     "log_odds_difference_high": [2.5]}))
    ['+1.50 [0.50, 2.50] urban vs country']
    """
    texts = log_odds_texts(frame, "log_odds_difference")
    both = zip(texts, _pairs(frame, "rises_in", "falls_in"), strict=True)
    return [text if text == "-" else f"{text} {pair}" for text, pair in both]


def _pairs(frame: pd.DataFrame, first: str, second: str) -> list[str]:
    """Names of two classes in each row; the first alone where the dataset has no others."""
    kind = frame[first].dtype
    two = isinstance(kind, pd.CategoricalDtype) and len(kind.categories) == 2
    pairs = zip(frame[first], frame[second], strict=True)
    return [safe_text(str(one) if two else f"{one} vs {other}") for one, other in pairs]


def describe_splits(found: ComparedSplits) -> str:
    """Say how many imbalances hold in both splits, and how many differ."""
    cliques, (first, second) = found.cliques, found.splits
    holds = cliques["holds"].value_counts()
    differ = int((cliques["q_value"] <= found.max_q_value).sum())
    return (
        f"{len(cliques):,} combinations, {first} {ARROW} {second}: {holds['both']:,} lean to a "
        f"class in both, {holds['first']:,} in {first} alone, {holds['second']:,} in {second} "
        f"alone, {holds['opposite']:,} the other way round; {differ:,} differ between the two at a "
        f"q-value of {found.max_q_value:g}."
    )


def describe_mining(options: MiningOptions) -> str:
    """What was mined, in one sentence.

    Examples
    --------
    >>> describe_mining(MiningOptions())
    'Counted in all images: cliques of up to 4 concepts that every class shows.'
    >>> describe_mining(MiningOptions(2, 5, (), "train"))
    "Counted in split 'train': cliques of up to 2 concepts, in at least 5 images of a class."
    """
    images = "all images" if options.split is None else f"split {options.split!r}"
    shown = "" if options.common == () else " that every class shows"
    if options.common:
        shown = f" that {' and '.join(options.common)} show{'s' * (len(options.common) == 1)}"
    size = counted(options.max_size, "concepts")
    support = counted(options.min_support, "images")
    often = f", in at least {support} of a class" if options.min_support > 1 else ""
    level = "" if options.confidence == 0.95 else f" Intervals of {options.confidence:.4g}."
    return f"Counted in {images}: cliques of up to {size}{shown}{often}.{level}"


def imbalance_table(
    frame: pd.DataFrame, class_sizes: Mapping[str, int] | None = None
) -> pd.DataFrame:
    """The columns of an imbalance table that people read; files have all.

    What counts and rates disagree on has a column where they do.

    Parameters
    ----------
    class_sizes : mapping of str to int, optional
        Images of each class. Where they are unequal, counts have their rates beside them.
    """
    names = [str(name).removeprefix(COUNT) for name in frame if str(name).startswith(COUNT)]
    counts: dict[str, Any] = {}
    for name in names:
        counts[name] = frame[COUNT + name]
        if are_unequal(class_sizes or {}):
            counts[f"% of {name}"] = rate_texts(frame[RATE + name])
    return pd.DataFrame(
        {
            "concepts": frame["concepts"],
            **counts,
            "rate difference": effect_texts(frame),
            "q-value": [q_text(q) for q in frame["q_value"]],
            COUNT_GAP: frame["gap"],
            **({} if len(names) == 2 else {"most": frame["over_represented"].astype(object)}),
            "too few": frame["under_represented"].astype(object),
            **disagreement_texts(frame),
            "log odds ratio": log_odds_texts(frame),
            **(own_texts(frame) if "own_effect" in frame else {}),
        }
    )


def effect_texts(frame: pd.DataFrame) -> list[str]:
    """Differences of rates, the class with the highest and, of many, the lowest; a dash for none.

    Examples
    --------
    >>> effect_texts(pd.DataFrame({"effect": [0.3535, 0.0], "highest_rate": ["country", None],
    ...                            "lowest_rate": ["urban", None]}))
    ['+35.4% country vs urban', '-']
    """
    pairs = zip(frame["effect"], _pairs(frame, "highest_rate", "lowest_rate"), strict=True)
    return [f"+{effect:.1%} {pair}" if effect else "-" for effect, pair in pairs]


def disagreement_texts(frame: pd.DataFrame) -> dict[str, list[str]]:
    """The column of where rates contradict counts, if any row has such words.

    Examples
    --------
    >>> disagreement_texts(pd.DataFrame({"disagreement": [None, "fewer images, higher rate"]}))
    {'counts and rates': ['', 'fewer images, higher rate']}
    """
    if frame["disagreement"].isna().all():
        return {}
    words = frame["disagreement"].astype(object)
    return {DISAGREEMENT: ["" if is_missing(word) else str(word) for word in words]}


def own_texts(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Columns of what is a clique's own, from those of `own_effects` that the frame has."""
    effects = zip(frame["own_effect"], frame["own_over"], strict=True)
    q_values = frame.get("own_q_value")
    return {
        "own effect": [
            "-" if is_missing(over) else f"+{effect:.1%} {safe_text(str(over))}"
            for effect, over in effects
        ],
        "by its parts": rate_texts(frame["explained"]),
        **({} if q_values is None else {"own q-value": [q_text(q) for q in q_values]}),
    }


def summary_table(frame: pd.DataFrame, class_sizes: Mapping[str, int]) -> pd.DataFrame:
    """The columns of `graph.diagnosis.summary.summarize` that people read; files have all.

    Where classes are unequal, counts have their rates beside them.
    """
    counts: dict[str, Any] = {}
    for name in class_sizes:
        counts[name] = frame[COUNT + name]
        if are_unequal(class_sizes):
            counts[f"% of {name}"] = rate_texts(frame[RATE + name])
    return pd.DataFrame(
        {
            "group": [", ".join(names) for names in frame["about"]],
            "concepts": frame["concepts"],
            **counts,
            **own_texts(frame),
        }
    ).rename(columns={"own q-value": "q-value"})


def describe_summary(shown: int, cliques: int) -> str:
    """Say how many cliques of a summary are shown, and what that means.

    Examples
    --------
    >>> print(describe_summary(0, 1200))
    None of 1,200 combinations stands on its own.
    """
    if not shown:
        return f"None of {cliques:,} combinations stands on its own."
    return (
        f"The {shown:,} of {cliques:,} combinations with the largest effects of their own, beyond "
        "what smaller combinations explain, in groups of concepts that occur together."
    )


def are_unequal(class_sizes: Mapping[str, int]) -> bool:
    """Whether counts alone mislead: classes have different numbers of images.

    Examples
    --------
    >>> are_unequal({"cat": 100, "dog": 101}), are_unequal({"cat": 100, "dog": 100})
    (True, False)
    """
    return len({*class_sizes.values()}) > 1


def rate_texts(rates: Iterable[float]) -> list[str]:
    """Shares of a class's images as percentages; a dash where it has none."""
    return ["-" if is_missing(rate) else f"{rate:.1%}" for rate in rates]


def plan_table(planned: "Planned") -> pd.DataFrame:
    """Effect of a plan per clique size, in the columns that fit a terminal."""
    summary = planned.summary.reset_index().query("cliques > 0")
    return pd.DataFrame(
        {
            "size": summary["size"],
            "cliques": summary["cliques"],
            **{
                label: change_texts(summary[f"{name}_before"], summary[f"{name}_after"])
                for label, name in (("imbalanced", "imbalanced"), ("sum of gaps", "total_gap"))
            },
            **{
                f"make {name.removeprefix('images_')}": summary[name]
                for name in planned.summary.columns
                if name.startswith("images_")
            },
        }
    )


def describe_plan(plan: Plan) -> str:
    """Summarize a plan in one sentence."""
    by_class = ", ".join(f"{n:,} {name}" for name, n in plan.images_by_class().items())
    images = counted(plan.images, "images") + (f" ({by_class})" if by_class else "")
    return f"The plan asks for {images} in {counted(len(plan.queries), 'queries')}."
