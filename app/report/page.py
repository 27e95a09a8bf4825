"""The page of a report: what it says, in words, tables and pictures."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from app.concept_graph.colors import CLASS_COLORS
from app.concept_graph.overview import ALL_OTHERS, Axis, of_overview
from app.concept_graph.svg import picture_svg, text
from app.report.contents import MOST, Contents, PlanContents, Source
from app.report.markup import (
    Column,
    Name,
    code,
    document,
    figure,
    folded,
    pairs,
    paragraph,
    section,
    table,
)
from app.report.method import method
from app.report.plots import imbalance_plot
from app.services.findings import (
    describe_disagreements,
    describe_leaning,
    describe_order,
    no_clique,
    not_compared,
    small_classes,
)
from app.services.reports import (
    COUNT_GAP,
    are_unequal,
    change_text,
    change_texts,
    describe_mining,
    describe_summary,
    disagreement_texts,
    effect_texts,
    is_missing,
    q_text,
    rate_texts,
)
from graph.diagnosis.comparison import COUNT_AFTER, COUNT_BEFORE
from graph.diagnosis.evidence import EVIDENCE
from graph.diagnosis.imbalance import COUNT, RATE
from graph.errors import worded
from ingest.concepts.plurals import counted

MAX_CLASSES = 6
"""Classes that have columns; of more, only the one with most images and the one with fewest."""
GRAPH_PX = 740.0, 560.0
"""Width and height of the concept graph between its classes."""
MAX_ROWS = 60
"""Rows of tables that are as long as the dataset has classes, splits or labelled concepts."""


def page(found: Contents) -> str:
    """A report as HTML: the same bytes for the same contents."""
    title = f"Imbalances of {found.dataset}"
    parts = [
        f"<h1>{text(title)}</h1>",
        f'<p class="muted">Made with cobalance on {text(found.date)}</p>',
        *(paragraph(words, "lead" if not at else "") for at, words in enumerate(headline(found))),
        _dataset(found),
        _own(found),
        _largest(found),
        _graph(found),
        _comparison(found),
        _plan(found),
        _evaluation(found),
        _audits(found),
        section("Method", *(paragraph(words) for words in method(found))),
        _versions(found),
        section("Cypher of every number", *_cypher(found.sources)),
    ]
    return document(title, parts)


def headline(found: Contents) -> list[list[str]]:
    """The finding in sentences, and what makes it misleading."""
    sizes = dict(found.mined_sizes)
    warnings = (not_compared(sizes, found.mining.split), small_classes(sizes, found.mining))
    warned = [[warning] for warning in warnings if warning]
    if not found.totals.cliques:
        return [[worded(no_clique(found.dataset, found.mining, sizes))], *warned]
    images: list[str] = []
    for name, n in [*sizes.items()][:MAX_CLASSES]:
        images += [", " if images else "", Name(name), f" {n:,}"]
    more = f" and {len(sizes) - MAX_CLASSES:,} more" if len(sizes) > MAX_CLASSES else ""
    own = len(found.own)
    leaning = describe_leaning(found.totals.leaning, found.totals.unproven)
    said = [f"Of {counted(found.totals.cliques, 'combinations')} of concepts {leaning}"]
    if own:
        least = "at least " if own == MOST else ""
        verb = "stands on its" if own == 1 else "stand on their"
        said.append(f"; {least}{own:,} {verb} own: no smaller one explains them")
    strongest = found.strongest
    first: list[list[str]] = []
    if found.totals.imbalanced or own:
        first.append(_strongest(strongest.iloc[_by_effect(strongest)[0]], sizes))
    return [*first, [*said, ". Images: ", *images, f"{more}."], *warned]


def _by_effect(frame: pd.DataFrame) -> list[int]:
    """Positions of rows, the largest effect of its own first; else as they are."""
    if "own_effect" not in frame:
        return [*range(len(frame))]
    order = frame["own_effect"].reset_index(drop=True).sort_values(ascending=False, kind="stable")
    return [int(at) for at in order.index]


def _strongest(row: "pd.Series[Any]", sizes: Mapping[str, int]) -> list[str]:
    said: list[str] = []
    for name in row["concepts"]:
        said += [" + " if said else "The strongest imbalance is ", Name(name)]
    most, least = row["highest_rate"], row["lowest_rate"]
    if is_missing(most) or is_missing(least):
        return [*said, ": at the same rate in each class, which has other numbers of images."]
    for name, before in ((str(most), ", shown by "), (str(least), " and ")):
        rate = "".join(rate_texts([row[RATE + name]]))
        said += [f"{before}{row[COUNT + name]:,} of {sizes[name]:,} images of ", Name(name)]
        said.append(f" ({rate})")
    disagreement = "" if is_missing(row["disagreement"]) else f" ({row['disagreement']})"
    return [*said, f"{_odds_of_rates(row)}{disagreement}."]


def _odds_of_rates(row: "pd.Series[Any]") -> str:
    """The odds ratio of the class with the highest rate, where it is one of the two compared."""
    name = "log_odds_ratio"
    compared = [row["over_represented"], row["under_represented"]]
    rates = [row["highest_rate"], row["lowest_rate"]]
    one = row.to_frame().T
    if compared == rates[::-1]:  # the class with fewer images has the higher rate
        low, high = -one[f"{name}_high"], -one[f"{name}_low"]
        one = one.assign(**{name: -one[name], f"{name}_low": low, f"{name}_high": high})
    elif compared != rates:
        return ""
    return f"; odds ratio {odds_texts(one)[0]}"


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


def _dataset(found: Contents) -> str:
    sizes = [*found.sizes.items()][:MAX_ROWS]
    names = [name for name, _ in sizes]
    split = {name or "none": n for name, n in [*found.splits.items()][:MAX_ROWS]}
    mined = [found.mined_sizes.get(name, 0) for name in names]
    columns = [
        Column("class", names),
        Column("images", [n for _, n in sizes], True),
        Column("counted", mined, True),
    ]
    facts = [
        ("Name", found.dataset),
        ("Source", found.source or "unknown"),
        ("Images", f"{sum(found.sizes.values()):,} in {counted(len(found.sizes), 'classes')}"),
        ("Concepts", f"{found.concepts:,}, and {found.pairs:,} pairs that share an image"),
        ("Combinations", f"{found.totals.cliques:,}, of {found.totals.concepts:,} concepts"),
        ("Mined", describe_mining(found.mining)),
    ]
    return section(
        "The dataset",
        pairs(facts),
        table("Images of each class, and those in which combinations were counted", columns),
        _rest(len(found.sizes), "classes"),
        table(
            "Images of each split",
            [Column("split", [*split]), Column("images", [*split.values()], True)],
        ),
        _rest(len(found.splits), "splits"),
    )


def _rest(total: int, what: str) -> str:
    more = total - MAX_ROWS
    return paragraph(f"{more:,} more {what} are not listed.", "muted") if more > 0 else ""


def _own(found: Contents) -> str:
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
    first, *rest = _columns(frame, found)
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
        table("What of each imbalance is its own", [first, *rest, *own]),
        paragraph([*about, "."], "muted"),
    )


def _largest(found: Contents) -> str:
    if found.largest.empty:
        return ""
    columns = _columns(found.largest, found)
    pictures = _plot(found.largest, found) if found.own.empty else []
    first, *rest = columns
    frame = found.largest
    effect = Column("rate difference", effect_texts(frame), True)
    gap = Column(COUNT_GAP, frame["gap"].tolist(), True)
    told = [Column(name, words) for name, words in disagreement_texts(frame).items()]
    caption = f"The first {counted(len(frame), 'combinations')} by evidence"
    said = f"{describe_order(EVIDENCE)} {describe_disagreements(frame)}"
    return section(
        "Imbalances by evidence",
        paragraph(said),
        *pictures,
        table(caption, [first, effect, gap, *told, *rest]),
    )


def _columns(frame: pd.DataFrame, found: Contents) -> list[Column]:
    """The concepts, counts, odds ratios and q-values of imbalances; what audits say, if known."""
    columns = [Column("concepts", frame["concepts"].tolist())]
    unequal = are_unequal(dict(found.mined_sizes))
    if len(found.mined_sizes) <= MAX_CLASSES:
        for name in found.mined_sizes:
            columns.append(Column(name, frame[COUNT + name].tolist(), True))
            if unequal:
                columns.append(Column(f"% of {name}", rate_texts(frame[RATE + name]), True))
    else:
        for label, which in (("most in", "over_represented"), ("fewest in", "under_represented")):
            names = [None if is_missing(name) else str(name) for name in frame[which]]
            places = list(zip(frame.to_dict("records"), names, strict=True))
            counts = [None if name is None else row[COUNT + name] for row, name in places]
            rates = [math.nan if name is None else row[RATE + name] for row, name in places]
            columns.append(Column(label, names))
            columns.append(Column("images", counts, True))
            if unequal:
                columns.append(Column("% of it", rate_texts(rates), True))
    columns.append(Column("odds ratio [interval]", odds_texts(frame), True))
    columns.append(Column("q-value", [q_text(q) for q in frame["q_value"]], True))
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


def _graph(found: Contents) -> str:
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


def _comparison(found: Contents) -> str:
    compared, other = found.comparison, found.options.compare
    if compared is None or other is None:
        return ""
    totals = compared.summary.sum(numeric_only=True).astype(int)
    summary = compared.summary
    closed = counted(int(totals.get("solved", 0)), "imbalances")
    names = {"introduced": "opened", "reduced": "smaller", "grown": "larger"}
    names |= {"unchanged": "unchanged", "absent": "absent"}
    others = ", ".join(f"{int(totals.get(name, 0)):,} {label}" for name, label in names.items())
    sums = change_text(totals.get("total_gap_before", 0), totals.get("total_gap_after", 0))
    said = f"{closed} closed, {others}. Sum of gaps: {sums}."
    by_size = [Column("concepts", summary["size"].astype(str).tolist())]
    by_size += [
        Column(label, summary[name].tolist(), True)
        for label, name in (
            ("closed", "solved"),
            ("opened", "introduced"),
            ("smaller", "reduced"),
            ("larger", "grown"),
            ("the same", "unchanged"),
            ("absent", "absent"),
        )
    ]
    gaps = change_texts(summary["total_gap_before"], summary["total_gap_after"])
    by_size.append(Column("sum of gaps", gaps, True))
    rows = compared.cliques
    largest = [Column("concepts", rows["concepts"].tolist())]
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
        *(paragraph(worded(note)) for note in compared.notes),
        table("By number of concepts", by_size),
        table("Combinations whose gaps change most", largest) if len(rows) else "",
    )


def _plan(found: Contents) -> str:
    plan = found.plan
    if plan is None:
        return ""
    total = sum(plan.images.values())
    said = (
        f"The plan {plan.name!r}, by {plan.planner}, asks for {counted(total, 'images')} in "
        f"{counted(plan.queries, 'queries')}."
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


def _evaluation(found: Contents) -> str:
    one, scores = found.evaluation, found.scores
    if one is None:
        return ""
    facts = [
        ("Evaluation", one.id),
        ("Method", one.method + ("" if one.seed is None else f", seed {one.seed}")),
        ("Trained on", " ".join(filter(None, (one.train, one.training_set))) or "unknown"),
        ("Tested on", one.test),
    ]
    outdated = "Images of its datasets have changed since." if one.outdated else ""
    if scores.empty:
        return section("The evaluation", pairs(facts), paragraph("It has no scores yet."))
    intervals = [
        "-" if is_missing(low) or is_missing(high) else f"[{low:.3f}, {high:.3f}]"
        for low, high in zip(scores["low"], scores["high"], strict=True)
    ]
    columns = [
        Column("metric", scores["metric"].astype(object).tolist()),
        Column("group", [name or "all" for name in scores["group"]]),
        Column("value", [float(value) for value in scores["value"]], True),
        Column("95% interval", intervals, True),
        Column("images", [n or None for n in scores["n"].tolist()], True),
    ]
    return section("The evaluation", pairs(facts), paragraph(outdated), table("Scores", columns))


def _audits(found: Contents) -> str:
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
        _rest(len(counts), "rows"),
    )


def _versions(found: Contents) -> str:
    options = {
        "compare": found.options.compare,
        "plan": found.options.plan,
        "evaluation": found.options.evaluation,
    }
    given: Mapping[str, str] = {name: value for name, value in options.items() if value}
    return section(
        "Versions and options",
        pairs([*found.versions.items(), *(given or {"options": "none"}).items()]),
        pairs([("mining", found.mining.to_json())]),
    )


def _cypher(sources: Sequence[Source]) -> Iterator[str]:
    yield paragraph(
        "Saved queries run with `cobalance cypher NAME`, and on the page Cypher. Sums, odds ratios "
        "and what is a combination's own are computed from these counts."
    )
    by_text: dict[tuple[str, str], list[Source]] = {}
    for source in sources:
        by_text.setdefault((source.name, source.text), []).append(source)
    for (name, cypher), asked in by_text.items():
        lines = [
            f"{one.numbers}: {json.dumps(dict(one.parameters), ensure_ascii=False)}"
            for one in asked
        ]
        summary = name or asked[0].numbers
        yield folded(summary, code("\n".join(lines)), code(cypher))
