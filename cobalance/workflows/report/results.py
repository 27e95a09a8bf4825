"""What a report says of what was done: comparison, plan, evaluation, audits of labels."""

from collections.abc import Iterator

from cobalance.graph.diagnosis.comparison import COUNT_AFTER, COUNT_BEFORE
from cobalance.graph.errors import render
from cobalance.graph.wording import inflect
from cobalance.workflows.cells import cell_text, change_text, change_texts, is_missing
from cobalance.workflows.report.contents import Contents, PlanContents
from cobalance.workflows.report.imbalances import MAX_CLASSES
from cobalance.workflows.report.markup import (
    MAX_ROWS,
    Column,
    pairs,
    paragraph,
    rest,
    section,
    table,
)


def comparison(found: Contents) -> str:
    """What became of each imbalance in the dataset that is compared; nothing without one."""
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
        *(paragraph(render(note)) for note in compared.notes),
        table("By number of concepts", by_size),
        table("Combinations whose gaps change most", largest) if len(rows) else "",
    )


def plan(found: Contents) -> str:
    """Images that a plan asks for, and what it leaves; nothing without a plan."""
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
    """Scores of an evaluation; nothing without one."""
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
    """How far labels by models can be trusted; nothing where people labelled all."""
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
