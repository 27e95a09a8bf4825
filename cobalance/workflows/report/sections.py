"""Sections of a report: imbalances, the concept graph, comparison, plan, evaluation, audits."""

import math
from collections.abc import Iterator

import pandas as pd

from cobalance.base.errors import render
from cobalance.base.plurals import inflect
from cobalance.statistics.comparison import COUNT_AFTER, COUNT_BEFORE
from cobalance.statistics.imbalance import COUNT, RATE
from cobalance.statistics.order import EVIDENCE
from cobalance.workflows.cells import (
    cell_text,
    change_text,
    change_texts,
    is_missing,
    q_text,
    rate_texts,
)
from cobalance.workflows.compare import cluster_texts
from cobalance.workflows.concept_graph.colors import CLASS_COLORS
from cobalance.workflows.concept_graph.overview import ALL_OTHERS, Axis, of_overview
from cobalance.workflows.concept_graph.svg import picture_svg, text
from cobalance.workflows.diagnose import tables
from cobalance.workflows.diagnose.findings import describe_disagreements, describe_order
from cobalance.workflows.report.contents import Contents, PlanContents
from cobalance.workflows.report.markup import (
    MAX_ROWS,
    Column,
    Name,
    figure,
    pairs,
    paragraph,
    rest,
    section,
    table,
)
from cobalance.workflows.report.plots import imbalance_plot

MAX_CLASSES = 6
"""Classes that have columns; of more, only those with the highest and the lowest rate."""
GRAPH_PX = 740.0, 560.0
"""Width and height of the concept graph between its classes."""


def own(found: Contents) -> str:
    """Section on imbalances that smaller combinations do not explain, in groups."""
    heading = "Imbalances that stand on their own"
    if found.own.empty:
        said = tables.describe_summary(0, found.totals.cliques)
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
    """Section with the first imbalances by evidence; empty without any."""
    if found.largest.empty:
        return ""
    pictures = _plot(found.largest, found) if found.own.empty else []
    frame = found.largest
    gap = [Column(tables.COUNT_GAP, frame["gap"].tolist(), True)]
    for label, which in (("most", "over_represented"), ("too few", "under_represented")):
        gap.append(Column(label, frame[which].astype(object).tolist()))
    told = [Column(name, words) for name, words in tables.disagreement_texts(frame).items()]
    caption = f"The first {inflect(len(frame), 'combinations')} by evidence"
    said = f"{describe_order(EVIDENCE)} {describe_disagreements(frame)}"
    return section(
        "Imbalances by evidence",
        paragraph(said),
        *pictures,
        table(caption, [*_columns(frame, found), *gap, *told]),
    )


def concept_graph(found: Contents) -> str:
    """Section with the concept graph between two classes, or one and all others."""
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
    """Columns of a table of imbalances: concepts, rates, odds ratios, q-values, counts, audits."""
    columns = [
        Column("concepts", frame["concepts"].tolist()),
        Column("rate difference", tables.effect_texts(frame), True),
        Column("odds ratio [interval]", odds_texts(frame), True),
        Column("q-value", [q_text(q) for q in frame["q_value"]], True),
    ]
    if len(found.mined_sizes) <= MAX_CLASSES:
        shown = tables.count_columns(frame, found.mined_sizes).items()
        columns += [Column(name, list(cells), True) for name, cells in shown]
    else:
        for label, which in (("highest in", "highest_rate"), ("lowest in", "lowest_rate")):
            names = [None if is_missing(name) else str(name) for name in frame[which]]
            places = list(zip(frame.to_dict("records"), names, strict=True))
            counts = [None if name is None else row[COUNT + name] for row, name in places]
            rates = [math.nan if name is None else row[RATE + name] for row, name in places]
            columns.append(Column(label, names))
            columns.append(Column("images", counts, True))
            if tables.are_unequal(found.mined_sizes):
                columns.append(Column("% of it", rate_texts(rates), True))
    if "clusters" in frame:
        columns.append(Column("clusters", frame["clusters"].tolist(), True))
    if "audit" in frame:
        columns.append(Column("audit", frame["audit"].astype(object).tolist()))
    return columns


def _plot(frame: pd.DataFrame, found: Contents) -> list[str]:
    sizes = found.mined_sizes
    if len(sizes) < 2:
        return []
    names = [*sizes]
    drawn = imbalance_plot(frame, sizes, "Skew of each combination")
    if len(sizes) == 2:
        caption = (
            "Difference of the rates of the two classes over their sum: −1 where only images of "
            f"{names[0]} show the combination, +1 where only those of {names[1]} do."
        )
        return [figure(caption, drawn)]
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
    return [figure(caption, drawn), f'<ul class="legend">{items}</ul>']


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


def comparison(found: Contents) -> str:
    """Section that compares the imbalances of two datasets; empty without a second one."""
    compared, other = found.comparison, found.options.compare
    if compared is None or other is None:
        return ""
    totals = compared.summary.sum(numeric_only=True).astype(int)
    summary = compared.summary
    closed = inflect(int(totals.get("solved", 0)), "imbalances")
    names = {"introduced": "opened", "reduced": "smaller", "grown": "larger"}
    names |= {"unchanged": "unchanged", "absent": "absent"}
    others = ", ".join(f"{int(totals.get(name, 0)):,} {label}" for name, label in names.items())
    sums = change_text(totals.get("total_gap_before", 0), totals.get("total_gap_after", 0))
    said = f"{closed} closed, {others}. Sum of gaps: {sums}."
    by_size = [Column("concepts", summary["size"].astype(str).tolist())]
    heads = {"solved": "closed", **names, "unchanged": "the same"}
    by_size += [Column(head, summary[name].tolist(), True) for name, head in heads.items()]
    gaps = change_texts(summary["total_gap_before"], summary["total_gap_after"])
    by_size.append(Column("sum of gaps", gaps, True))
    rows = compared.cliques
    largest = [Column("concepts", rows["concepts"].tolist())]
    largest += [Column(name, texts, True) for name, texts in cluster_texts(rows).items()]
    if len(compared.sizes_before) <= MAX_CLASSES:
        largest += [
            Column(name, change_texts(rows[COUNT_BEFORE + name], rows[COUNT_AFTER + name]), True)
            for name in compared.sizes_before
        ]
    largest.append(Column("gap", change_texts(rows["gap_before"], rows["gap_after"]), True))
    largest.append(Column("imbalance", rows["status"].tolist()))
    return section(
        f"Before and after: {other}",
        paragraph(said),
        *(paragraph(render(note)) for note in compared.notes),
        table("By number of concepts", by_size),
        table("Combinations whose gaps change most", largest) if len(rows) else "",
    )


def plan(found: Contents) -> str:
    """Section on a plan's images and its effect; empty without a plan."""
    plan = found.plan
    if plan is None:
        return ""
    total = sum(plan.images.values())
    said = (
        f"The plan {plan.name!r}, by {plan.planner}, asks for {inflect(total, 'images')} in "
        f"{inflect(plan.queries, 'queries')}."
    )
    by_class = [Column("class", [*plan.images]), Column("images", [*plan.images.values()], True)]
    return section(
        "The plan",
        paragraph(said),
        table("Images to make of each class", by_class),
        *_remaining(plan),
    )


def _remaining(plan: PlanContents) -> Iterator[str]:
    if plan.summary.empty:
        yield paragraph("It edits images, so that what remains depends on what is kept of them.")
        return
    shown = plan.summary[plan.summary["cliques"] > 0]
    before, after = (int(shown[f"total_gap_{when}"].sum()) for when in ("before", "after"))
    yield paragraph(f"Sum of gaps: {change_text(before, after)}, if all images are made.")
    yield paragraph(plan.balance)
    by_size = [Column("concepts", shown["size"].astype(str).tolist())]
    for label, name in (("imbalanced", "imbalanced"), ("sum of gaps", "total_gap")):
        texts = change_texts(shown[f"{name}_before"], shown[f"{name}_after"])
        by_size.append(Column(label, texts, True))
    yield table("Combinations before and after the plan, by number of concepts", by_size)
    rows = plan.coverage
    yield table(
        "The largest gaps, and what the plan leaves of them",
        [
            Column("concepts", [tuple(names) for names in rows["concepts"]]),
            Column("gap", change_texts(rows["gap"], rows["gap_after"]), True),
            Column("planned images", rows["planned"].tolist(), True),
        ],
    )


def evaluation(found: Contents) -> str:
    """Section with an evaluation's scores; empty without one."""
    one, scores = found.evaluation, found.scores
    if one is None:
        return ""
    facts = [
        ("Evaluation", one.id),
        ("Method", one.method + ("" if one.seed is None else f", seed {one.seed}")),
        ("Settings", ", ".join(filter(None, one.settings_list)) or "unknown"),
        ("Trained on", " ".join(filter(None, (one.train, one.training_set))) or "unknown"),
        ("Tested on", one.test),
    ]
    outdated = "Images of its datasets have changed since." if one.outdated else ""
    if scores.empty:
        return section("The evaluation", pairs(facts), paragraph("It has no scores yet."))
    limits = zip(scores["low"], scores["high"], strict=True)
    columns = [
        Column("metric", scores["metric"].astype(object).tolist()),
        Column("group", [name or "all" for name in scores["group"]]),
        Column("value", [float(value) for value in scores["value"]], True),
        Column("95% interval", [cell_text(pair) or "-" for pair in limits], True),
        Column("images", [n or None for n in scores["n"].tolist()], True),
    ]
    return section("The evaluation", pairs(facts), paragraph(outdated), table("Scores", columns))


def audits(found: Contents) -> str:
    """Section on audits of models' labels; empty where people labelled all images."""
    counts = found.corrections
    if counts is None:
        said = "Models labelled concepts of this dataset, and no audit has checked their labels."
        return section("Labels by models", paragraph(said)) if found.by_models else ""
    shown = counts.head(MAX_ROWS)
    intervals = [
        "-" if is_missing(low) else f"{low:,.0f} to {high:,.0f}"
        for low, high in zip(shown["low"], shown["high"], strict=True)
    ]
    corrected = ["-" if is_missing(n) else f"{n:,.0f}" for n in shown["corrected"]]
    columns = [Column("concepts", shown["concepts"].tolist())]
    columns.append(Column("class", shown["class_name"].astype(object).tolist()))
    if "labelled" in shown:
        columns.append(Column("labelled", shown["labelled"].tolist(), True))
    columns.append(Column("corrected", corrected, True))
    columns.append(Column("95% interval", intervals, True))
    return section(
        "Labels by models",
        paragraph(
            "People checked a sample of what models labelled. The column audit above says which "
            "imbalances their answers support."
        ),
        table("Images with each concept, as labelled and corrected by the audit", columns),
        rest(len(counts), "rows"),
    )
