"""Data card of an export: its contents, how they were made, and their limits."""

import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from cobalance.base import inflect
from cobalance.generation.export.describing.texts import TextCounts
from cobalance.generation.export.tables import TableFile
from cobalance.generation.output.manifest_rows import CONSENT

NAME = "README.md"
# Counts that the table of images shows, so that the list leaves them out.
IN_TABLE = ("real images", "generated images")

LIMITS = (
    "Generated images show how a model pictures the words of a prompt, with the biases of its "
    "training data. They can differ from photographs in ways that a classifier learns instead of "
    "the class.",
    "The concepts of a generated image are those of its prompt. Unless a filter or a person has "
    "checked them, the image may not show them.",
    "Classes are balanced over the planned combinations of concepts, and over no others; what is "
    "not annotated cannot be balanced.",
    "Evaluate models on real images alone.",
)

OF_GROUPS = (
    "The group of a counterfactual is the one that was asked for. It is nobody's identity, and was "
    "not inferred for any real image.",
)
OF_SHORTCUTS = (
    "Real images stand beside counterfactuals of the other groups alone. Where the groups differ "
    "in number, a model can learn the traces of generation as a sign of a group, as the authors of "
    "Resampled Datasets Are Not Enough found (section 3.3). Counterfactuals of every group, "
    "without real images, have these traces in all groups alike.",
)


@dataclass(frozen=True)
class CardFacts:
    """Facts that a data card states.

    Parameters
    ----------
    layout : str
        What is in the folder, in Markdown.
    images : mapping of (str or None, str, bool) to int
        Number of images by split, class, and whether they are generated.
    copied : bool
        Whether the folder contains the real images.
    generated : pandas.DataFrame
        Manifest rows of the generated images.
    patterns : mapping of str to str
        For each split a glob of its files, for the Hugging Face Hub.
    biases : str
        A section on biases of the images, in Markdown.
    """

    name: str
    format: str
    layout: str
    images: Mapping[tuple[str | None, str, bool], int]
    counts: Mapping[str, int]
    copied: bool
    generated: pd.DataFrame
    tables: Sequence[TableFile] = ()
    patterns: Mapping[str, str] = field(default_factory=dict)
    texts: TextCounts = field(default_factory=TextCounts)
    biases: str = ""

    def total(self, *, synthetic: bool) -> int:
        """Number of generated, or of real images."""
        return sum(n for (_, _, made), n in self.images.items() if made == synthetic)


def summary(facts: CardFacts) -> str:
    """Summarise an export in a sentence."""
    real, n_generated = facts.total(synthetic=False), facts.total(synthetic=True)
    if facts.format == "weights":
        return (
            f"Weights of the {inflect(real, 'real images')} of {facts.name} that balance its "
            "classes within combinations of concepts, written by cobalance."
        )

    beside = f" beside {inflect(real, 'real ones')}" if real else " alone"
    images = f"{inflect(n_generated, 'generated images')}{beside}"
    return f"{facts.name}, rebalanced by cobalance: {images}."


def data_card(facts: CardFacts) -> bytes:
    """Write an export's README.md; it starts with metadata for the Hugging Face Hub."""
    counts = sorted(facts.counts.items())
    parts = [
        _front_matter(facts),
        f"# {escape_markdown(facts.name)}",
        escape_markdown(summary(facts)),
        "## Images",
        _images(facts),
        markdown_list(inflect(n, name) for name, n in counts if name not in IN_TABLE),
        "## Where they come from",
        _origin(facts),
        *_texts(facts.texts),
    ]

    if len(facts.generated):
        parts += ["## How images were generated", _generation(facts.generated)]
        if consent := _consent(facts.generated):
            parts += ["## People", consent]
        parts += ["## Filters", _filters(facts.generated)]

    parts += [
        facts.biases.strip(),
        "## Files",
        facts.layout.strip(),
        _files(facts.tables),
        "## Limits",
        markdown_list(_limits(facts)),
        "## Licence",
        _LICENCE,
    ]
    return ("\n\n".join(part for part in parts if part) + "\n").encode("utf-8", "replace")


_LICENCE = """\
None is given here. Real images keep the licence of the dataset that they come from; generated ones
may be bound by that of their model, and by that of the images whose objects they show. Find out
what both allow before you share this folder, and write it here and in `croissant.json`
(`license`)."""


def escape_markdown(text: str) -> str:
    r"""Escape text for Markdown and HTML, and put it on one line.

    Examples
    --------
    >>> escape_markdown("<b>a|b*")
    '&lt;b&gt;a\\|b\\*'
    """
    flat = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text)
    # A name with control characters for right-to-left text must not reverse what follows it.
    flat = re.sub(r"[\u202a-\u202e\u2066-\u2069]", "", flat)
    return re.sub(r"([\\`*_{}\[\]#|~$!])", r"\\\1", html.escape(flat, quote=False))


def _front_matter(facts: CardFacts) -> str:
    """Metadata that the Hugging Face Hub reads."""
    # A JSON string is a YAML one.
    lines = ["---", f"pretty_name: {json.dumps(facts.name)}", "tags:", "- cobalance"]
    if len(facts.generated):
        lines.append("- synthetic")

    if facts.patterns:
        lines += ["configs:", "- config_name: default", "  data_files:"]
        for split, pattern in facts.patterns.items():
            lines += [f"  - split: {json.dumps(split)}", f"    path: {json.dumps(pattern)}"]
    return "\n".join([*lines, "---"])


def _images(facts: CardFacts) -> str:
    """Table of images by split and class, real and generated."""
    cells: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for (split, class_name, synthetic), count in facts.images.items():
        cells[split or "", class_name][synthetic] += count

    rows = [
        (
            escape_markdown(split) or "–",
            escape_markdown(name),
            f"{n[False]:,}",
            f"{n[True]:,}",
            f"{n.total():,}",
        )
        for (split, name), n in sorted(cells.items())
    ]
    real, n_generated = facts.total(synthetic=False), facts.total(synthetic=True)
    rows.append(("all", "", f"{real:,}", f"{n_generated:,}", f"{real + n_generated:,}"))
    return markdown_table(("Split", "Class", "Real", "Generated", "Total"), rows)


def _limits(facts: CardFacts) -> Sequence[str]:
    # Without generated images, only the last two limits hold.
    if not len(facts.generated):
        return LIMITS[2:]
    edited = facts.generated[facts.generated["source_class"].notna()]
    if edited.empty:
        return LIMITS

    has_real = facts.total(synthetic=False) > 0
    if has_real and (edited["source_class"] != edited["class"]).all():
        return (*LIMITS, *OF_GROUPS, *OF_SHORTCUTS)
    return (*LIMITS, *OF_GROUPS)


def _consent(generated: pd.DataFrame) -> str:
    """State the basis on which people were painted, as whoever ordered it gave it."""
    n_images_of = Counter(json.loads(text or "{}").get(CONSENT) for text in generated["settings"])
    return markdown_list(
        f"{inflect(n, 'images')} of people were painted on this basis: "
        f"{escape_markdown(str(basis))}"
        for basis, n in sorted(n_images_of.items(), key=str)
        if basis
    )


def _origin(facts: CardFacts) -> str:
    if not facts.total(synthetic=False):
        return "The real images are not part of this export."
    where = "were copied from" if facts.copied else "stay where they are, by the addresses in"
    left_out = facts.counts.get("real images left out", 0)
    lost = f" {left_out:,} of them could not be read and are left out." if left_out else ""
    return f"The real images {where} the dataset {escape_markdown(facts.name)}.{lost}"


def _texts(texts: TextCounts) -> list[str]:
    """A section about captions and licences, where any are known."""
    sentences = texts.sentences()
    if not sentences:
        return []

    parts = ["## Captions and licences", " ".join(sentences)]
    rows = [
        (escape_markdown(name), f"{real:,}", f"{made:,}")
        for name, real, made in texts.license_rows()
    ]
    if rows:
        parts.append(markdown_table(("Licence", "Real", "Generated"), rows))
    return parts


def _generation(generated: pd.DataFrame) -> str:
    """A list of facts for each model that made images."""
    rows_of: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    names = ("backend", "model", "revision", "weights_sha256", "digital_source_type")
    for row in generated[[*names, "settings", "software"]].to_dict("records"):
        model = tuple(row[name] or "" for name in names)
        rows_of[model].append(row)  # type: ignore[arg-type]

    parts = []
    for model, rows in sorted(rows_of.items()):
        parts.append(
            f"{inflect(len(rows), 'images')}:\n\n{markdown_list(_model_facts(model, rows))}"
        )
    return "\n\n".join([*parts, "`generated.parquet` has prompt, seed and source of each one."])


def _model_facts(model: tuple[str, ...], rows: list[dict[str, Any]]) -> list[str]:
    """State a model, the settings that its images share, and the software that ran it."""
    titles = ("Backend", "Model", "Revision", "SHA-256 of the weights", "Digital source type")
    facts = [
        f"{title}: {escape_markdown(value)}"
        for title, value in zip(titles, model, strict=True)
        if value
    ]
    same, differing = _settings([json.loads(row["settings"] or "{}") for row in rows])
    facts += [
        f"Setting {escape_markdown(key)}: {escape_markdown(value)}" for key, value in same.items()
    ]
    if differing:
        facts.append(f"Settings of each image's own: {escape_markdown(', '.join(differing))}")

    for versions in sorted({row["software"] or "{}" for row in rows}):
        packages = ", ".join(f"{name} {version}" for name, version in json.loads(versions).items())
        if packages:
            facts.append(f"Software: {escape_markdown(packages)}")
    return facts


def _settings(settings: list[dict[str, Any]]) -> tuple[dict[str, str], list[str]]:
    """Split settings into common values and the names of varying ones."""
    same, differing = dict[str, str](), list[str]()
    for key in sorted(set().union(*settings)):
        values = {json.dumps(row.get(key), sort_keys=True, ensure_ascii=False) for row in settings}
        if len(values) == 1:
            same[key] = values.pop()
        else:
            differing.append(key)
    return same, differing


def _filters(generated: pd.DataFrame) -> str:
    """Table of the filters' scores, and who decided on the images."""
    scores_of: dict[str, list[float]] = defaultdict(list)
    overruled: Counter[str] = Counter()
    for text in generated["scores"]:
        for name, judgement in json.loads(text or "{}").items():
            scores_of[name].append(judgement["score"])
            overruled[name] += not judgement["accepted"]
    if not scores_of:
        return "No filter has judged these images."

    rows = []
    for name in sorted(scores_of):
        scores = pd.Series(scores_of[name])
        spread = (f"{value:.4g}" for value in (scores.min(), scores.median(), scores.max()))
        rows.append((escape_markdown(name), f"{len(scores):,}", *spread, f"{overruled[name]:,}"))
    header = ("Filter", "Images", "Lowest score", "Median", "Highest", "Accepted despite it")
    parts = [markdown_table(header, rows)]

    n_of_decider = Counter(generated["decided_by"])
    deciders = sorted((name, n) for name, n in n_of_decider.items() if name)
    if deciders:
        parts.append(
            markdown_list(f"{n:,} decided by {escape_markdown(name)}" for name, n in deciders)
        )
    return "\n\n".join(parts)


def _files(tables: Iterable[TableFile]) -> str:
    parts = []
    for table in tables:
        rows = [(f"`{name}`", column.meaning) for name, column in table.columns.items()]
        parts.append(f"`{table.name}`: {table.meaning}\n\n{markdown_table(('Column', ''), rows)}")
    parts.append("`SHA256SUMS` has a digest for each file: `sha256sum -c SHA256SUMS`.")
    return "\n\n".join(parts)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; its cells are escaped."""
    return "\n".join(f"| {' | '.join(line)} |" for line in [header, ["---"] * len(header), *rows])


def markdown_list(items: Iterable[str]) -> str:
    """A list in Markdown; its items are escaped."""
    return "\n".join(f"- {item}" for item in items)
