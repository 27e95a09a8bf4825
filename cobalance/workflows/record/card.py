"""Describe an examination for people: sentences, a section of a data card, a table for the law."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

import numpy as np

from cobalance.base import agree, inflect, join_names
from cobalance.generation import escape_markdown, markdown_list, markdown_table
from cobalance.statistics import COUNT, MAX_Q_VALUE, RATE
from cobalance.workflows.cells import q_text
from cobalance.workflows.diagnose.findings import count_leaning
from cobalance.workflows.diagnose.tables import describe_mining
from cobalance.workflows.record.examination import Difference, Examination

# So many leans are sentences; all of them are records.
_MOST_SENTENCES = 20
# Rows of the card's table.
_MOST_ROWS = 10
# An AUC at least so far from 0.5 is told: a property that tells two of three pairs of images apart.
_LEAST_AUC_DISTANCE = 0.15
_MOST_UNTESTED = 5


def bias_sentences(examined: Examination) -> list[str]:
    """Sentences on leans, the largest difference first, and on other signs of the class."""
    leans = examined.leans
    sentences = [count_leaning(len(leans), len(examined.cliques))]
    sentences += map(_lean_sentence, leans.head(_MOST_SENTENCES).to_dict("records"))

    if len(leans) > _MOST_SENTENCES:
        sentences.append(f"{len(leans) - _MOST_SENTENCES:,} more are in the records bias_leans.")

    sentences += _untested_sentences(examined)

    bits = examined.bits
    if bits is not None:
        unit = "bit" if bits.most == 1 else "bits"
        sentences.append(
            f"Concepts alone tell {bits.value:.2f} of {bits.most:.2g} {unit} of the class of an "
            "image that is held out."
        )

    return [*sentences, *_property_sentences(examined), *_split_sentences(examined)]


def _untested_sentences(examined: Examination) -> Iterator[str]:
    """Concepts that some class never shows, where counting left them out for that."""
    rates = examined.concept_images / np.maximum(examined.cliques.class_sizes, 1)
    classes = examined.cliques.classes
    rows = examined.never_in_some_class
    commonest = sorted(rows, key=lambda row: -rates[row].max())
    for row in commonest[:_MOST_UNTESTED]:
        high, low = int(rates[row].argmax()), int(rates[row].argmin())
        yield (
            f"{examined.concepts[row]} is in {rates[row, high]:.1%} of {classes[high]} and in no "
            f"image of {classes[low]}; it is in none of the combinations that were tested."
        )

    if (n_more := len(rows) - _MOST_UNTESTED) > 0:
        yield f"{n_more:,} more concepts are in no image of some class, and were not tested."


def _lean_sentence(row: Mapping[Hashable, Any]) -> str:
    high, low = row["highest_rate"], row["lowest_rate"]
    name = " + ".join(row["concepts"])
    return (
        f"{name} is in {row[RATE + high]:.1%} of {high} and in {row[RATE + low]:.1%} of {low} "
        f"({row[COUNT + high]:,} and {row[COUNT + low]:,} images; q {q_text(row['q_value'])})."
    )


def _property_sentences(examined: Examination) -> Iterator[str]:
    if examined.properties is None:
        return

    table = examined.properties
    distance = (table["auc"] - 0.5).abs()
    tells = (distance >= _LEAST_AUC_DISTANCE) & (table["q_value"] <= MAX_Q_VALUE)
    for row in table[tells].to_dict("records"):
        yield f"{row['property']} tells {row['class']} from the others (AUC {row['auc']:.2f})."

    if not tells.any():
        yield "No property of the image files tells the classes apart."


def _split_sentences(examined: Examination) -> Iterator[str]:
    if n := examined.n_across:
        verb = agree(n, "stands", "stand")
        yield f"{inflect(n, 'groups')} of related images {verb} in several splits."


def limit_sentences(examined: Examination) -> list[str]:
    """Sentences on the smallest lean that would be seen, and on things that were not examined."""
    sentences = []
    if n_others := len(examined.cliques) - len(examined.leans):
        verb = agree(n_others, "shows", "show")
        sentences.append(
            f"{inflect(n_others, 'combinations')} {verb} no lean: there is none, or it is too "
            "small to be seen in these images."
        )

    sentences += _difference_sentences(examined.smallest_differences())
    if examined.n_absent:
        n = examined.n_absent
        verb = agree(n, "is", "are")
        sentences.append(f"{inflect(n, 'combinations')} {verb} in no image of some class.")

    if examined.properties is None:
        sentences.append("Properties of the image files, such as brightness, were not measured.")
    if examined.bits is None:
        sentences.append("What concepts alone tell of the class was not measured.")
    sentences.append(
        "Concepts are taken as they are annotated: what is not annotated was not examined."
    )
    return sentences


def _difference_sentences(differences: list[Difference]) -> Iterator[str]:
    """One sentence for each pair of classes."""
    for (first, second), parts in groupby(differences, key=lambda part: part.classes):
        points = [
            f"{100 * part.difference:.1f} points in a combination that {part.share:.0%} of all "
            "images show"
            for part in parts
        ]
        yield (
            f"Between {first} and {second}, 80 of 100 such datasets would show a difference of "
            f"{join_names(points)}."
        )


def measure_sentences(examined: Examination) -> list[str]:
    """Sentences on generated and left-out images."""
    sentences = []
    if examined.n_generated:
        n = inflect(examined.n_generated, "images")
        sentences.append(f"{n} were generated for combinations that some class lacked.")
        sentences += [f"{activity['prov:label']}." for activity in examined.activities]

    if examined.n_left_out:
        n = inflect(examined.n_left_out, "images")
        sentences.append(f"{n} are left out of the counts.")
    return sentences


def card_section(examined: Examination) -> str:
    """A section of a data card, in Markdown, with the table of `article_10`."""
    first, *further = bias_sentences(examined)
    # The table has what these sentences say.
    n_in_table = min(len(examined.leans), _MOST_SENTENCES)

    parts = [
        "## Biases",
        _sentences([first]),
        _lean_table(examined),
        _sentences(further[n_in_table:]),
        "### What was not found",
        _sentences(limit_sentences(examined)),
        "### What was done",
        _sentences(measure_sentences(examined) or ["Nothing is recorded."]),
        "### How it was examined",
        f"{escape_markdown(describe_mining(examined.options))} Examined by {examined.made_with}; "
        f"`{examined.query}` gives the numbers again.",
        "### Article 10 of the EU AI Act",
        article_10(examined),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _sentences(sentences: Iterable[str]) -> str:
    return markdown_list(map(escape_markdown, sentences))


def _lean_table(examined: Examination) -> str:
    rows = []
    for row in examined.leans.head(_MOST_ROWS).to_dict("records"):
        high, low = row["highest_rate"], row["lowest_rate"]
        rows.append(
            (
                escape_markdown(" + ".join(row["concepts"])),
                f"{escape_markdown(high)} {row[RATE + high]:.1%}",
                f"{escape_markdown(low)} {row[RATE + low]:.1%}",
                q_text(row["q_value"]),
            )
        )
    return markdown_table(("Combination", "Highest rate", "Lowest rate", "q"), rows) if rows else ""


def article_10(examined: Examination) -> str:
    """Make a table for article 10: a row for each point, with a column for people to fill in.

    Regulation (EU) 2024/1689, article 10, paragraphs 2 to 4, in words of our own.
    """
    sizes = examined.class_images
    smallest = min(sizes, key=lambda name: sizes[name])
    leans, n_absent = len(examined.leans), examined.n_absent

    measures = " ".join(measure_sentences(examined)) or "Nothing is recorded."

    quantity = (
        f"{inflect(examined.n_images, 'images')} in {inflect(len(sizes), 'classes')}, the fewest "
        f"in {smallest} ({sizes[smallest]:,})."
    )

    gaps = (
        f"{inflect(n_absent, 'combinations')} and "
        f"{inflect(len(examined.never_in_some_class), 'untested concepts')} are absent from "
        "some class."
    )

    examination = (
        f"{inflect(len(examined.cliques), 'combinations')} of concepts were tested; {leans:,} "
        f"{agree(leans, 'leans', 'lean')} to a class (q ≤ {MAX_Q_VALUE:g}). See above."
    )

    rows = [
        ("2 (a) design choices", "Classes and concepts as listed.", "Why these were chosen."),
        ("2 (b) collection and origin", f"Read from {examined.source}.", "Who collected them."),
        ("2 (c) preparation", measures, "How they were annotated and cleaned."),
        ("2 (d) assumptions", "Annotations are taken as right.", "What they stand for."),
        ("2 (e) availability and quantity", quantity, "Whether that suits the purpose."),
        ("2 (f) examination for biases", examination, "What they mean for people's rights."),
        ("2 (g) measures against biases", measures, "Further measures, and who decided."),
        ("2 (h) gaps and shortcomings", gaps, "How they will be closed."),
        ("3 relevant, representative", quantity, "Of whom they have to be representative."),
        ("4 place, context and behaviour", "Not in the data.", "Where the system is used."),
    ]
    escaped = [(point, escape_markdown(text), missing) for point, text, missing in rows]
    return markdown_table(("Paragraph", "What the data say", "What people add"), escaped)
