"""The page of a report: what it says, in words, tables and pictures."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from cobalance.graph.diagnosis.imbalance import COUNT, RATE
from cobalance.graph.errors import render
from cobalance.graph.wording import inflect
from cobalance.workflows.cells import is_missing, rate_texts
from cobalance.workflows.concept_graph.svg import text
from cobalance.workflows.diagnose.findings import (
    describe_leaning,
    no_clique,
    not_compared,
    small_classes,
)
from cobalance.workflows.diagnose.tables import describe_mining
from cobalance.workflows.report import imbalances, results
from cobalance.workflows.report.contents import MOST, Contents, Source
from cobalance.workflows.report.imbalances import MAX_CLASSES
from cobalance.workflows.report.markup import (
    MAX_ROWS,
    Column,
    Name,
    code,
    document,
    folded,
    pairs,
    paragraph,
    rest,
    section,
    table,
)
from cobalance.workflows.report.method import method


def page(found: Contents) -> str:
    """A report as HTML: the same bytes for the same contents."""
    title = f"Imbalances of {found.dataset}"
    parts = [
        f"<h1>{text(title)}</h1>",
        f'<p class="muted">Made with cobalance on {text(found.date)}</p>',
        *(paragraph(words, "lead" if not at else "") for at, words in enumerate(headline(found))),
        _dataset(found),
        imbalances.own(found),
        imbalances.largest(found),
        imbalances.concept_graph(found),
        results.comparison(found),
        results.plan(found),
        results.evaluation(found),
        results.audits(found),
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
        return [[render(no_clique(found.dataset, found.mining, sizes))], *warned]
    images: list[str] = []
    for name, n in [*sizes.items()][:MAX_CLASSES]:
        images += [", " if images else "", Name(name), f" {n:,}"]
    more = f" and {len(sizes) - MAX_CLASSES:,} more" if len(sizes) > MAX_CLASSES else ""
    own = len(found.own)
    leaning = describe_leaning(found.totals.leaning, found.totals.unproven)
    said = [f"Of {inflect(found.totals.cliques, 'combinations')} of concepts {leaning}"]
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
    odds = imbalances.odds_texts(row.to_frame().T)[0]
    return [*said, f"; odds ratio {odds}{disagreement}."]


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
        ("Images", f"{sum(found.sizes.values()):,} in {inflect(len(found.sizes), 'classes')}"),
        ("Concepts", f"{found.concepts:,}, and {found.pairs:,} pairs that share an image"),
        ("Combinations", f"{found.totals.cliques:,}, of {found.totals.concepts:,} concepts"),
        ("Mined", describe_mining(found.mining)),
    ]
    return section(
        "The dataset",
        pairs(facts),
        table("Images of each class, and those in which combinations were counted", columns),
        rest(len(found.sizes), "classes"),
        table(
            "Images of each split",
            [Column("split", [*split]), Column("images", [*split.values()], True)],
        ),
        rest(len(found.splits), "splits"),
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
