"""Imbalances, plans and comparisons as tables and sentences for people."""

from typing import TYPE_CHECKING

import pandas as pd

from app.services.cells import change_text, change_texts, log_odds_texts, q_text
from generation.planning.plan import Plan
from graph.diagnosis.comparison import COUNT_AFTER, COUNT_BEFORE, STATUSES, Comparison
from graph.diagnosis.imbalance import COUNT
from ingest.concepts.plurals import counted

if TYPE_CHECKING:
    from app.services.plans import Planned


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


def imbalance_table(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns of an imbalance table that people read; files have all."""
    counts = [str(name) for name in frame.columns if str(name).startswith(COUNT)]
    return pd.DataFrame(
        {
            "concepts": frame["concepts"],
            **{name.removeprefix(COUNT): frame[name] for name in counts},
            "gap": frame["gap"],
            "too few": frame["under_represented"].astype(object),
            "log odds ratio": log_odds_texts(frame),
            "q-value": [q_text(q) for q in frame["q_value"]],
        }
    )


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
