"""Sections of a report: imbalances, the concept graph, comparison, plan, evaluation, audits."""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from cobalance.base import inflect, render, text_if
from cobalance.statistics import (
    COUNT,
    COUNT_AFTER,
    COUNT_BEFORE,
    EVIDENCE,
    RATE,
    Comparison,
    statuses_of,
)
from cobalance.workflows.cells import (
    cell_text,
    change_texts,
    class_pairs,
    is_missing,
    number_text,
    q_text,
    rate_texts,
)
from cobalance.workflows.compare import cluster_texts, describe_comparison, rates_of
from cobalance.workflows.concept_graph import (
    ALL_OTHERS,
    CLASS_COLORS,
    Axis,
    of_overview,
    picture_svg,
    text,
)
from cobalance.workflows.diagnose import tables
from cobalance.workflows.diagnose.findings import describe_disagreements, describe_order
from cobalance.workflows.report.contents import Contents, PlanContents
from cobalance.workflows.report.making import draw_making
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


def own(contents: Contents) -> str:
    """Section on imbalances that smaller combinations do not explain, in groups."""
    heading = "Imbalances that stand on their own"
    frame = contents.own
    words = tables.describe_summary(len(frame), contents.totals.cliques)
    if frame.empty:
        return section(heading, paragraph(words))

    # Each name is a part of its own, for the direction of its text.
    groups, separator = list[str](), "Groups: "
    for number, names in dict(zip(frame["group"].tolist(), frame["about"], strict=True)).items():
        groups.append(f"{separator}{number} with ")
        for name in names:
            groups += [Name(name), ", "]
        groups.pop()
        separator = "; "

    effects = zip(frame["own_effect"], frame["own_over"].astype(object), strict=True)
    own_columns = [
        Column("own effect", [f"+{effect:.1%} {name}" for effect, name in effects], True),
        Column("by its parts", rate_texts(frame["explained"]), True),
        Column("own q-value", list(map(q_text, frame["own_q_value"])), True),
        Column("group", frame["group"].tolist(), True),
    ]
    return section(
        heading,
        paragraph(words),
        *_plot(frame, contents),
        table("What of each imbalance is its own", [*_columns(frame, contents), *own_columns]),
        paragraph([*groups, "."], "muted"),
    )


def largest(contents: Contents) -> str:
    """Section with the first imbalances by evidence; empty without any."""
    frame = contents.largest
    if frame.empty:
        return ""
    # The other section has the picture where some stand on their own.
    pictures = _plot(frame, contents) if contents.own.empty else []

    columns = _columns(frame, contents)
    columns.append(Column(tables.COUNT_GAP, frame["gap"].tolist(), True))
    for label, name in (("most", "over_represented"), ("too few", "under_represented")):
        columns.append(Column(label, frame[name].astype(object).tolist()))
    for label, texts in tables.disagreement_texts(frame).items():
        columns.append(Column(label, texts))
    return section(
        "Imbalances by evidence",
        paragraph(f"{describe_order(EVIDENCE)} {describe_disagreements(frame)}"),
        *pictures,
        table(f"The first {inflect(len(frame), 'combinations')} by evidence", columns),
    )


def concept_graph(contents: Contents) -> str:
    """Section with the concept graph between two classes, or one and all others."""
    overview = contents.overview
    classes = [*overview.class_sizes]
    if overview.concepts.empty or len(classes) < 2:
        return ""

    right = classes[1] if len(classes) == 2 else ALL_OTHERS
    axis = Axis.between(classes, classes[0], right)
    caption = (
        f"Left: concepts more often in images of {axis.left_name}; right: of {axis.right_name}. "
        "Larger: more images. Lines: images that show both."
    )
    if overview.hidden_concepts:
        caption += f" {overview.hidden_concepts:,} rarer concepts are not drawn."

    picture = of_overview(overview, axis, *GRAPH_PX)
    svg = picture_svg(picture, "Concepts between the classes they lean to")
    return section("The concept graph", figure(caption, svg))


def _columns(frame: pd.DataFrame, contents: Contents) -> list[Column]:
    """Columns of a table of imbalances: concepts, rates, odds ratios, q-values, counts, audits."""
    columns = [
        Column("concepts", frame["concepts"].tolist()),
        Column("rate difference", tables.effect_texts(frame), True),
        Column("odds ratio [interval]", odds_texts(frame), True),
        Column("q-value", list(map(q_text, frame["q_value"])), True),
    ]
    # Columns of many classes would not fit on a page.
    if len(contents.mined_sizes) <= MAX_CLASSES:
        for name, cells in tables.count_columns(frame, contents.mined_sizes).items():
            columns.append(Column(name, list(cells), True))
    else:
        columns += _extreme_columns(frame, contents, "highest in", "highest_rate")
        columns += _extreme_columns(frame, contents, "lowest in", "lowest_rate")

    if "clusters" in frame:
        columns.append(Column("clusters", frame["clusters"].tolist(), True))
    if "audit" in frame:
        columns.append(Column("audit", frame["audit"].astype(object).tolist()))
    return columns


def _extreme_columns(
    frame: pd.DataFrame, contents: Contents, label: str, which: str
) -> Iterator[Column]:
    """The class with the highest or the lowest rate of each row, with its images and its rate."""
    names, counts, rates = list[str | None](), list[Any](), list[float]()
    for row in frame.to_dict("records"):
        name, count, rate = None, None, math.nan
        if not is_missing(row[which]):
            name = str(row[which])
            count, rate = row[COUNT + name], row[RATE + name]
        names.append(name)
        counts.append(count)
        rates.append(rate)

    yield Column(label, names)
    yield Column("images", counts, True)
    if tables.are_unequal(contents.mined_sizes):
        yield Column("% of it", rate_texts(rates), True)


def _plot(frame: pd.DataFrame, contents: Contents) -> list[str]:
    sizes = contents.mined_sizes
    if len(sizes) < 2:
        return []
    names = [*sizes]
    svg = imbalance_plot(frame, sizes, "Skew of each combination")
    if len(sizes) == 2:
        caption = (
            "Difference of the rates of the two classes over their sum: −1 where only images of "
            f"{names[0]} show the combination, +1 where only those of {names[1]} do."
        )
        return [figure(caption, svg)]

    caption = (
        "Difference between a class's rate and that of all other images, over their sum. Disc: "
        "the class with the highest rate of the combination; ring: the one with the lowest."
    )
    extremes = {*frame["highest_rate"], *frame["lowest_rate"]}
    items = ""
    for position, name in enumerate(names):
        if name in extremes:
            items += (
                f'<li><svg class="key" viewBox="0 0 12 12" aria-hidden="true">'
                f'<circle class="f{position % len(CLASS_COLORS)}" cx="6" cy="6" r="5"/></svg> '
                f"<bdi>{text(name)}</bdi></li>"
            )
    return [figure(caption, svg), f'<ul class="legend">{items}</ul>']


def odds_texts(frame: pd.DataFrame) -> list[str]:
    """Odds ratios with their intervals; a dash where one is not defined.

    Examples
    --------
    >>> names = ("log_odds_ratio", "log_odds_ratio_low", "log_odds_ratio_high")
    >>> odds_texts(pd.DataFrame([[0.0, -0.6931, 0.6931], [None] * 3], columns=names))
    ['1.00 [0.50, 2.00]', '-']
    """
    names = ["log_odds_ratio", "log_odds_ratio_low", "log_odds_ratio_high"]
    texts = []
    for row in frame[names].astype(float).to_numpy().tolist():
        value, low, high = map(_exp, row)
        texts.append("-" if "-" in (value, low) else f"{value} [{low}, {high}]")
    return texts


def _exp(number: float) -> str:
    if is_missing(number):
        return "-"
    # Beyond, exp overflows.
    odds = math.exp(min(number, 700.0))
    return f"{odds:,.2f}" if odds < 100 else f"{odds:,.0f}"


def comparison(contents: Contents) -> str:
    """Section that compares the imbalances of two datasets; empty without a second one."""
    compared, other = contents.comparison, contents.options.compare
    if compared is None or other is None:
        return ""
    notes = [paragraph(render(note)) for note in compared.notes]
    largest = ""
    if len(compared.cliques):
        largest = table("Combinations that change most", _change_columns(compared))
    return section(
        f"Before and after: {other}",
        paragraph(describe_comparison(compared)),
        *notes,
        table("By number of concepts", _size_columns(compared)),
        largest,
    )


def _size_columns(compared: Comparison) -> list[Column]:
    """Columns of combinations by their number of concepts: how many have changed, and how."""
    summary = compared.summary
    columns = [Column("concepts", summary["size"].astype(str).tolist())]
    if compared.by == "rates":
        leaning = change_texts(summary["leaning_before"], summary["leaning_after"])
        sums = change_texts(summary["difference_before"], summary["difference_after"], ".2f")
        columns.append(Column("lean to a class", leaning, True))
        columns.append(Column("rate differences of those that leaned", sums, True))
    else:
        gaps = change_texts(summary["total_gap_before"], summary["total_gap_after"])
        columns.append(Column("sum of gaps", gaps, True))

    statuses = [Column(name, summary[name].tolist(), True) for name in statuses_of(compared.by)]
    return [*columns, *statuses]


def _change_columns(compared: Comparison) -> list[Column]:
    """Columns of single combinations before and after, by rates or by counts."""
    rows = compared.cliques
    columns = [Column("concepts", rows["concepts"].tolist())]
    for name, texts in cluster_texts(rows).items():
        columns.append(Column(name, texts, True))

    if compared.by == "rates":
        for name, (before, after) in rates_of(compared).items():
            columns.append(Column(f"% of {name}", change_texts(before, after, ".1%"), True))
        differences = rows["difference_before"], rows["difference_after"]
        columns.append(Column("rate difference", change_texts(*differences, ".1%"), True))
        columns.append(Column("leans to", class_pairs(rows, "highest", "lowest")))
        columns.append(Column("q-value of change", list(map(q_text, rows["q_value"])), True))
    else:
        if len(compared.sizes_before) <= MAX_CLASSES:
            for name in compared.sizes_before:
                counts = change_texts(rows[COUNT_BEFORE + name], rows[COUNT_AFTER + name])
                columns.append(Column(name, counts, True))
        gaps = change_texts(rows["gap_before"], rows["gap_after"])
        columns.append(Column("gap", gaps, True))

    columns.append(Column("imbalance", rows["status"].tolist()))
    return columns


def plan(contents: Contents) -> str:
    """Section on a plan's images and its effect; empty without a plan."""
    plan = contents.plan
    if plan is None:
        return ""

    total = sum(plan.images.values())
    words = (
        f"The plan {plan.name!r}, by {plan.planner}, asks for {inflect(total, 'images')} in "
        f"{inflect(plan.queries, 'queries')}."
    )
    by_class = [Column("class", [*plan.images]), Column("images", [*plan.images.values()], True)]
    return section(
        "The plan",
        paragraph(words),
        table("Images to make of each class", by_class),
        *_remaining(plan),
        *draw_making(plan.jobs, plan.job_queries),
    )


def _remaining(plan: PlanContents) -> Iterator[str]:
    if plan.by_size.empty:
        yield paragraph("It edits images, so that what remains depends on what is kept of them.")
        return

    yield paragraph(plan.effect)
    # The images of each class have a table of their own.
    measures = plan.by_size.iloc[:, :4]
    by_size = [Column(str(name), values.tolist(), True) for name, values in measures.items()]
    yield table("Combinations before and after the plan, by number of concepts", by_size)

    rows = plan.coverage
    if rows.empty:
        return
    by_gap = [
        Column("concepts", list(map(tuple, rows["concepts"]))),
        Column("gap", change_texts(rows["gap"], rows["gap_after"]), True),
        Column("planned images", rows["planned"].tolist(), True),
    ]
    yield table("The largest gaps, and what the plan leaves of them", by_gap)


def evaluation(contents: Contents) -> str:
    """Section with an evaluation's scores; empty without one."""
    run, scores = contents.evaluation, contents.scores
    if run is None:
        return ""
    seed = text_if(run.seed is not None, f", seed {run.seed}")
    facts = [
        ("Evaluation", run.id),
        ("Method", run.method + seed),
        ("Settings", ", ".join(filter(None, run.settings_list)) or "unknown"),
        ("Trained on", " ".join(filter(None, (run.train, run.training_set))) or "unknown"),
        ("Tested on", run.test),
    ]
    if scores.empty:
        return section("The evaluation", pairs(facts), paragraph("It has no scores yet."))

    outdated = text_if(run.outdated, "Images of its datasets have changed since.")
    limits = zip(scores["low"], scores["high"], strict=True)
    columns = [
        Column("metric", scores["metric"].astype(object).tolist()),
        Column("group", [name or "all" for name in scores["group"]]),
        Column("value", scores["value"].astype(float).tolist(), True),
        Column("95% interval", [cell_text(pair) or "-" for pair in limits], True),
        Column("images", [n or None for n in scores["n"].tolist()], True),
    ]
    return section("The evaluation", pairs(facts), paragraph(outdated), table("Scores", columns))


def audits(contents: Contents) -> str:
    """Section on audits of models' labels; empty where people labelled all images."""
    counts = contents.corrections
    if counts is None:
        words = "Models labelled concepts of this dataset, and no audit has checked their labels."
        return text_if(contents.by_models, section("Labels by models", paragraph(words)))

    rows = counts.head(MAX_ROWS)
    corrected, intervals = [], []
    for row in rows.to_dict("records"):
        corrected.append(number_text(row["corrected"], ",.0f"))
        is_known = not is_missing(row["low"])
        intervals.append(f"{row['low']:,.0f} to {row['high']:,.0f}" if is_known else "-")
    columns = [
        Column("concepts", rows["concepts"].tolist()),
        Column("class", rows["class_name"].astype(object).tolist()),
    ]
    if "labelled" in rows:
        columns.append(Column("labelled", rows["labelled"].tolist(), True))
    columns += [
        Column("corrected", corrected, True),
        Column("95% interval", intervals, True),
    ]
    return section(
        "Labels by models",
        paragraph(
            "People checked a sample of what models labelled. The column audit above says which "
            "imbalances their answers support."
        ),
        table("Images with each concept, as labelled and corrected by the audit", columns),
        rest(len(counts), "rows"),
    )
