"""Compose the HTML page of a report, and write it to a file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from cobalance.base import (
    Progress,
    agree,
    check_new_file,
    group_pairs,
    inflect,
    render,
    replacing,
    silent,
    text_if,
)
from cobalance.graph import GraphStore
from cobalance.statistics import COUNT, MAX_Q_VALUE, RATE, statuses_of
from cobalance.workflows.cells import is_missing, more_text, rate_texts
from cobalance.workflows.compare import STATUS_MEANINGS
from cobalance.workflows.concept_graph import text
from cobalance.workflows.diagnose.findings import (
    describe_leaning,
    mining_warnings,
    no_clique,
)
from cobalance.workflows.diagnose.tables import describe_mining
from cobalance.workflows.report import markup, sections
from cobalance.workflows.report.contents import Contents, ReportOptions, Source, read_contents
from cobalance.workflows.report.sections import MAX_CLASSES


def report(
    store: GraphStore, dataset: str, options: ReportOptions, progress: Progress = silent
) -> bytes:
    """Make the report of a mined dataset as HTML; errors as in `read_contents`."""
    return page(read_contents(store, dataset, options, progress)).encode()


def write_report(
    store: GraphStore,
    dataset: str,
    file: Path,
    options: ReportOptions,
    *,
    overwrite: bool = False,
    progress: Progress = silent,
) -> int:
    """Write the report of a mined dataset; return its size in bytes.

    Raises
    ------
    ConflictError
        The file exists and is not to be overwritten; see also `read_contents`.
    OptionError
        It is a folder.
    CobalanceError
        It cannot be written.
    """
    # Checked before the work, and again after it, when somebody may have made such a file.
    file = file.expanduser()
    check_new_file(file, "report.html", overwrite=overwrite)
    content = report(store, dataset, options, progress)
    check_new_file(file, "report.html", overwrite=overwrite)
    with replacing(file) as part:
        part.write_bytes(content)
    return len(content)


def page(contents: Contents) -> str:
    """A report as HTML: the same bytes for the same contents."""
    title = f"Imbalances of {contents.dataset}"
    lead, *others = headline(contents)
    parts = [
        f"<h1>{text(title)}</h1>",
        f'<p class="muted">Made with cobalance on {text(contents.date)}</p>',
        markup.paragraph(lead, "lead"),
        *map(markup.paragraph, others),
        _dataset(contents),
        sections.own(contents),
        sections.largest(contents),
        sections.concept_graph(contents),
        sections.comparison(contents),
        sections.plan(contents),
        sections.evaluation(contents),
        sections.audits(contents),
        markup.section("Method", *map(markup.paragraph, method(contents))),
        _versions(contents),
        markup.section("Cypher of every number", *_cypher(contents.sources)),
    ]

    return markup.document(title, parts)


def headline(contents: Contents) -> list[list[str]]:
    """The main finding in sentences, with warnings."""
    sizes = dict(contents.mined_sizes)
    totals, n_own = contents.totals, contents.standing
    texts = [
        *mining_warnings(sizes, contents.mining),
        contents.left_out,
        contents.waiting_tags,
    ]
    warnings = [[render(warning)] for warning in filter(None, texts)]
    if not totals.cliques:
        return [[render(no_clique(contents.dataset, contents.mining, sizes))], *warnings]

    leaning = describe_leaning(totals.leaning, totals.unproven)
    finding = [f"Of {inflect(totals.cliques, 'combinations')} of concepts {leaning}"]
    if n_own:
        verb = agree(n_own, "stands on its", "stand on their")
        finding.append(f"; {n_own:,} {verb} own: no smaller one explains them")

    separator = ". Images: "
    for name, n in list(sizes.items())[:MAX_CLASSES]:
        finding += [separator, markup.Name(name), f" {n:,}"]
        separator = ", "
    finding.append(f"{more_text(len(sizes) - MAX_CLASSES)}.")
    if not (totals.imbalanced or n_own):
        return [finding, *warnings]

    strongest, row = contents.strongest, 0
    if "own_effect" in strongest:
        row = int(strongest["own_effect"].argmax())
    return [_strongest(strongest.iloc[row], sizes), finding, *warnings]


def _strongest(row: "pd.Series[Any]", sizes: Mapping[str, int]) -> list[str]:
    words: list[str] = ["The strongest imbalance is "]
    for name in row["concepts"]:
        words += [markup.Name(name), " + "]
    words.pop()
    most, least = row["highest_rate"], row["lowest_rate"]
    if is_missing(most) or is_missing(least):
        return [*words, ": at the same rate in each class, which has other numbers of images."]

    for name, separator in ((str(most), ", shown by "), (str(least), " and ")):
        rate = "".join(rate_texts([row[RATE + name]]))
        images = f"{row[COUNT + name]:,} of {sizes[name]:,} images of "
        words += [separator + images, markup.Name(name), f" ({rate})"]
    disagreement = text_if(not is_missing(row["disagreement"]), f" ({row['disagreement']})")
    odds = sections.odds_texts(row.to_frame().T)[0]
    return [*words, f"; odds ratio {odds}{disagreement}."]


def _dataset(contents: Contents) -> str:
    sizes = dict(list(contents.sizes.items())[: markup.MAX_ROWS])
    mined = [contents.mined_sizes.get(name, 0) for name in sizes]
    of_classes = [
        markup.Column("class", list(sizes)),
        markup.Column("images", list(sizes.values()), True),
        markup.Column("counted", mined, True),
    ]
    splits = dict(list(contents.splits.items())[: markup.MAX_ROWS])
    of_splits = [
        markup.Column("split", [name or "none" for name in splits]),
        markup.Column("images", list(splits.values()), True),
    ]

    totals = contents.totals
    images = f"{sum(contents.sizes.values()):,} in {inflect(len(contents.sizes), 'classes')}"
    facts = [
        ("Name", contents.dataset),
        ("Source", contents.source or "unknown"),
        ("Images", images),
        ("Concepts", f"{contents.concepts:,}"),
        ("Pairs that share an image", f"{contents.pairs:,}, of concepts, or a class and a concept"),
        ("Combinations", f"{totals.cliques:,}, of {totals.concepts:,} concepts"),
        ("Mined", describe_mining(contents.mining)),
    ]

    caption = "Images of each class, and those in which combinations were counted"
    return markup.section(
        "The dataset",
        markup.pairs(facts),
        markup.table(caption, of_classes),
        markup.rest(len(contents.sizes), "classes"),
        markup.table("Images of each split", of_splits),
        markup.rest(len(contents.splits), "splits"),
    )


def _versions(contents: Contents) -> str:
    options = {name: value for name, value in asdict(contents.options).items() if value}
    options.pop("date", None)
    return markup.section(
        "Versions and options",
        markup.pairs([*contents.versions.items(), *(options or {"options": "none"}).items()]),
        markup.pairs([("mining", contents.mining.to_json())]),
    )


def _cypher(sources: Sequence[Source]) -> Iterator[str]:
    yield markup.paragraph(
        "Saved queries run with `cobalance cypher NAME`, and on the page Cypher. Sums, odds ratios "
        "and what is a combination's own are computed from these counts."
    )

    # A query that is asked several times is printed once.
    by_text = group_pairs(((source.name, source.text), source) for source in sources)
    for (name, cypher), same in by_text.items():
        lines = []
        for source in same:
            parameters = json.dumps(dict(source.parameters), ensure_ascii=False)
            lines.append(f"{source.numbers}: {parameters}")
        summary = name or same[0].numbers
        yield markup.details(summary, markup.code("\n".join(lines)), markup.code(cypher))


def method(contents: Contents) -> Iterator[str]:
    """Paragraphs on the method, including comparisons, plans and audits if the report has them."""
    yield (
        "Each combination of concepts is a clique of the concept graph, and its images are counted "
        "exactly in each class (Chakraborty et al., Visual Data Diagnosis and Debiasing with "
        "Concept Graphs, NeurIPS 2024, arXiv:2409.18055, section 3). Its gap is the largest of "
        "these counts less the smallest."
    )

    yield (
        "The odds ratio compares the class with the highest rate of a combination with the class "
        "with the lowest: the odds that an image shows it, with Woolf's "
        f"{contents.mining.confidence:.0%} interval (Annals of Human Genetics 1955), and half an "
        "image added to each cell of a table with an empty one (Haldane 1956, Anscombe 1956)."
    )

    yield (
        "Tables are in the order of evidence: combinations with a q-value of at most "
        f"{MAX_Q_VALUE} first, each part by the largest rate less the smallest, then the others. "
        "The count gap, which ConBias ranks by, has a column. Where classes have different numbers "
        "of images, the class with the fewest images of a combination may not be the one with the "
        "lowest rate, and the row says so."
    )

    tests = sorted({*map(str, contents.largest.get("test", []))} - {"none"})
    tests_text = text_if(tests, f" Tests of the imbalances above: {', '.join(tests)}.")
    yield (
        "p-values are of equal rates in all classes: the chi-square test of homogeneity or, where "
        "an expected count is below five, an exact test (fisher): Fisher's for two classes, that "
        "of Freeman and Halton (Biometrika 1951) for more. Where the tables of more classes are "
        "too many, or images are in clusters, it is of each class against the others, times the "
        "number of classes (fisher each class; Bonferroni). q-values adjust them over all "
        "combinations (Benjamini and Hochberg, Journal of the Royal Statistical Society B "
        f"1995).{tests_text}"
    )

    yield (
        "What is a combination's own: observed less expected rates, where the hierarchical "
        "log-linear model with all interactions but the highest one says what its parts explain "
        "(Bishop, Fienberg and Holland, Discrete Multivariate Analysis, 1975; Agresti, Categorical "
        "Data Analysis, 2013, chapter 9); likelihood-ratio tests, exact ones where counts are "
        "small. Groups are communities of concepts (Leiden; Traag, Waltman and van Eck, Scientific "
        "Reports 2019)."
    )

    if contents.comparison is not None:
        names = statuses_of(contents.comparison.by)
        meanings = "; ".join(f"{name}: {STATUS_MEANINGS[name]}" for name in names)
        yield f"What became of a combination in the other dataset. {meanings}."
    if contents.plan is not None:
        yield (
            "What remains after the plan is simulated: each planned image counts in every "
            "combination of the concepts that it is made for, and shows no others."
        )
    if contents.corrections is not None:
        yield (
            "Corrected counts add up, for each class, the labelled images that show the concept by "
            "the share that people confirm, and the others by the share that people find missed."
        )
