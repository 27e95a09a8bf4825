"""Imbalances in a report: what stands on its own, the first by evidence, the concept graph."""

import math

import pandas as pd

from cobalance.graph.diagnosis.evidence import EVIDENCE
from cobalance.graph.diagnosis.imbalance import COUNT, RATE
from cobalance.graph.wording import inflect
from cobalance.workflows.cells import is_missing, q_text, rate_texts
from cobalance.workflows.concept_graph.colors import CLASS_COLORS
from cobalance.workflows.concept_graph.overview import ALL_OTHERS, Axis, of_overview
from cobalance.workflows.concept_graph.svg import picture_svg, text
from cobalance.workflows.diagnose.findings import describe_disagreements, describe_order
from cobalance.workflows.diagnose.tables import (
    COUNT_GAP,
    are_unequal,
    describe_summary,
    disagreement_texts,
    effect_texts,
)
from cobalance.workflows.report.contents import Contents
from cobalance.workflows.report.markup import Column, Name, figure, paragraph, section, table
from cobalance.workflows.report.plots import imbalance_plot

MAX_CLASSES = 6
"""Classes that have columns; of more, only those with the highest and the lowest rate."""
GRAPH_PX = 740.0, 560.0
"""Width and height of the concept graph between its classes."""


def own(found: Contents) -> str:
    """Imbalances that smaller combinations do not explain, in groups."""
    heading = "Imbalances that stand on their own"
    if found.own.empty:
        said = describe_summary(0, found.totals.cliques)
        return section(heading, paragraph(said))
    frame = found.own
    effects = zip(frame["own_effect"], frame["own_over"].astype(object), strict=True)
    groups = dict(zip(frame["group"].tolist(), frame["about"], strict=True))
    about: list[str] = []
    for number, names in groups.items():
        about.append(f"{'; ' if about else 'Groups: '}{number} with ")
        for name in names:
            about += [Name(name), ", "]
        about.pop()
    own = [
        Column("own effect", [f"+{effect:.1%} {name}" for effect, name in effects], True),
        Column("by its parts", rate_texts(frame["explained"]), True),
        Column("own q-value", [q_text(q) for q in frame["own_q_value"]], True),
        Column("group", frame["group"].tolist(), True),
    ]
    return section(
        heading,
        paragraph(
            "What smaller combinations do not explain already, in groups of concepts that occur "
            "together."
        ),
        *_plot(frame, found),
        table("What of each imbalance is its own", [*_columns(frame, found), *own]),
        paragraph([*about, "."], "muted"),
    )


def largest(found: Contents) -> str:
    """The first imbalances by evidence; nothing without any."""
    if found.largest.empty:
        return ""
    pictures = _plot(found.largest, found) if found.own.empty else []
    frame = found.largest
    gap = [Column(COUNT_GAP, frame["gap"].tolist(), True)]
    for label, which in (("most", "over_represented"), ("too few", "under_represented")):
        gap.append(Column(label, frame[which].astype(object).tolist()))
    told = [Column(name, words) for name, words in disagreement_texts(frame).items()]
    caption = f"The first {inflect(len(frame), 'combinations')} by evidence"
    said = f"{describe_order(EVIDENCE)} {describe_disagreements(frame)}"
    return section(
        "Imbalances by evidence",
        paragraph(said),
        *pictures,
        table(caption, [*_columns(frame, found), *gap, *told]),
    )


def concept_graph(found: Contents) -> str:
    """The concept graph between two classes, or one and all others; nothing without concepts."""
    overview = found.overview
    classes = [*overview.class_sizes]
    if overview.concepts.empty or len(classes) < 2:
        return ""
    right = classes[1] if len(classes) == 2 else ALL_OTHERS
    axis = Axis.between(classes, classes[0], right)
    hidden = overview.hidden_concepts
    caption = (
        f"Left: concepts more often in images of {axis.left_name}; right: of {axis.right_name}. "
        "Larger: more images. Lines: images that show both."
        + (f" {hidden:,} rarer concepts are not drawn." if hidden else "")
    )
    drawn = picture_svg(
        of_overview(overview, axis, *GRAPH_PX), "Concepts between the classes they lean to"
    )
    return section("The concept graph", figure(caption, drawn))


def _columns(frame: pd.DataFrame, found: Contents) -> list[Column]:
    """The concepts, rates, odds ratios, q-values and counts of imbalances; what audits say."""
    columns = [
        Column("concepts", frame["concepts"].tolist()),
        Column("rate difference", effect_texts(frame), True),
        Column("odds ratio [interval]", odds_texts(frame), True),
        Column("q-value", [q_text(q) for q in frame["q_value"]], True),
    ]
    unequal = are_unequal(dict(found.mined_sizes))
    if len(found.mined_sizes) <= MAX_CLASSES:
        for name in found.mined_sizes:
            columns.append(Column(name, frame[COUNT + name].tolist(), True))
            if unequal:
                columns.append(Column(f"% of {name}", rate_texts(frame[RATE + name]), True))
    else:
        for label, which in (("highest in", "highest_rate"), ("lowest in", "lowest_rate")):
            names = [None if is_missing(name) else str(name) for name in frame[which]]
            places = list(zip(frame.to_dict("records"), names, strict=True))
            counts = [None if name is None else row[COUNT + name] for row, name in places]
            rates = [math.nan if name is None else row[RATE + name] for row, name in places]
            columns.append(Column(label, names))
            columns.append(Column("images", counts, True))
            if unequal:
                columns.append(Column("% of it", rate_texts(rates), True))
    if "audit" in frame:
        columns.append(Column("audit", frame["audit"].astype(object).tolist()))
    return columns


def _plot(frame: pd.DataFrame, found: Contents) -> list[str]:
    sizes = dict(found.mined_sizes)
    if len(sizes) < 2:
        return []
    names = [*sizes]
    if len(sizes) == 2:
        caption = (
            "Difference of the rates of the two classes over their sum: −1 where only images of "
            f"{names[0]} show the combination, +1 where only those of {names[1]} do."
        )
        return [figure(caption, imbalance_plot(frame, sizes, "Skew of each combination"))]
    caption = (
        "Difference between a class's rate and that of all other images, over their sum. Disc: "
        "the class with the highest rate of the combination; ring: the one with the lowest."
    )
    shown = {*frame["highest_rate"], *frame["lowest_rate"]}
    items = "".join(
        f'<li><svg class="key" viewBox="0 0 12 12" aria-hidden="true">'
        f'<circle class="f{at % len(CLASS_COLORS)}" cx="6" cy="6" r="5"/></svg> '
        f"<bdi>{text(name)}</bdi></li>"
        for at, name in enumerate(names)
        if name in shown
    )
    drawn = figure(caption, imbalance_plot(frame, sizes, "Skew of each combination"))
    return [drawn, f'<ul class="legend">{items}</ul>']


def odds_texts(frame: pd.DataFrame) -> list[str]:
    """Odds ratios with their intervals; a dash where one is not defined.

    Examples
    --------
    >>> names = ("log_odds_ratio", "log_odds_ratio_low", "log_odds_ratio_high")
    >>> odds_texts(pd.DataFrame([[0.0, -0.6931, 0.6931], [None] * 3], columns=names))
    ['1.00 [0.50, 2.00]', '-']
    """
    names = [f"log_odds_ratio{end}" for end in ("", "_low", "_high")]
    said = []
    for row in frame[names].astype(float).to_numpy().tolist():
        value, low, high = (_exp(number) for number in row)
        said.append("-" if value == "-" or low == "-" else f"{value} [{low}, {high}]")
    return said


def _exp(number: float) -> str:
    if is_missing(number):
        return "-"
    odds = math.exp(min(number, 700.0))
    return f"{odds:,.2f}" if odds < 100 else f"{odds:,.0f}"
