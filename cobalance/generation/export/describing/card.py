"""Data card of an export: its contents, how they were made, and their limits."""

import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from cobalance.base.plurals import inflect
from cobalance.generation.export.describing.texts import TextCounts
from cobalance.generation.export.tables import TableFile
from cobalance.generation.output.manifest_rows import CONSENT

NAME = "README.md"
IN_TABLE = ("real images", "generated images")  # of the counts

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

    def total(self, *, synthetic: bool) -> int:
        """Number of generated, or of real images."""
        return sum(n for (_, _, made), n in self.images.items() if made == synthetic)


def summary(facts: CardFacts) -> str:
    """Summarise an export in a sentence."""
    real, made = facts.total(synthetic=False), facts.total(synthetic=True)
    if facts.format == "weights":
        return (
            f"Weights of the {inflect(real, 'real images')} of {facts.name} that balance its "
            "classes within combinations of concepts, written by cobalance."
        )
    beside = f" beside {inflect(real, 'real ones')}" if real else " alone"
    what = f"{inflect(made, 'generated images')}{beside}"
    return f"{facts.name}, rebalanced by cobalance: {what}."


def data_card(facts: CardFacts) -> bytes:
    """Write an export's README.md; it starts with metadata for the Hugging Face Hub."""
    parts = [
        _front_matter(facts),
        f"# {escape(facts.name)}",
        escape(summary(facts)),
        "## Images",
        _images(facts),
        _list(inflect(n, name) for name, n in sorted(facts.counts.items()) if name not in IN_TABLE),
        "## Where they come from",
        _origin(facts),
        *_texts(facts.texts),
    ]
    if len(facts.generated):
        parts += ["## How images were generated", _generation(facts.generated)]
        if consent := _consent(facts.generated):
            parts += ["## People", consent]
        parts += ["## Filters", _filters(facts.generated)]
    parts += ["## Files", facts.layout.strip(), _files(facts.tables)]
    parts += ["## Limits", _list(_limits(facts))]
    parts += ["## Licence", _LICENCE]
    return ("\n\n".join(part for part in parts if part) + "\n").encode("utf-8", "replace")


_LICENCE = """\
None is given here. Real images keep the licence of the dataset that they come from; generated ones
may be bound by that of their model, and by that of the images whose objects they show. Find out
what both allow before you share this folder, and write it here and in `croissant.json`
(`license`)."""


def escape(text: str) -> str:
    r"""Escape text for Markdown and HTML, and put it on one line.

    Examples
    --------
    >>> escape("<b>a|b*")
    '&lt;b&gt;a\\|b\\*'
    """
    flat = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text)
    # A name with control characters for right-to-left text must not reverse what follows it.
    flat = re.sub(r"[\u202a-\u202e\u2066-\u2069]", "", flat)
    return re.sub(r"([\\`*_{}\[\]#|~$!])", r"\\\1", html.escape(flat, quote=False))


def _front_matter(facts: CardFacts) -> str:
    # A JSON string is a YAML one.
    lines = ["---", f"pretty_name: {json.dumps(facts.name)}"]
    tags = ["cobalance", *(["synthetic"] if len(facts.generated) else [])]
    lines += ["tags:", *(f"- {tag}" for tag in tags)]
    if facts.patterns:
        lines += ["configs:", "- config_name: default", "  data_files:"]
        for split, pattern in facts.patterns.items():
            lines += [f"  - split: {json.dumps(split)}", f"    path: {json.dumps(pattern)}"]
    return "\n".join([*lines, "---"])


def _images(facts: CardFacts) -> str:
    cells: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for (split, class_name, synthetic), count in facts.images.items():
        cells[split or "", class_name][synthetic] += count
    rows = [
        (escape(split) or "–", escape(name), f"{n[False]:,}", f"{n[True]:,}", f"{n.total():,}")
        for (split, name), n in sorted(cells.items())
    ]
    real, made = facts.total(synthetic=False), facts.total(synthetic=True)
    rows.append(("all", "", f"{real:,}", f"{made:,}", f"{real + made:,}"))
    return _table(("Split", "Class", "Real", "Generated", "Total"), rows)


def _limits(facts: CardFacts) -> Sequence[str]:
    if not len(facts.generated):
        return LIMITS[2:]
    edited = facts.generated[facts.generated["source_class"].notna()]
    if edited.empty:
        return LIMITS
    is_beside = (
        facts.total(synthetic=False) > 0 and (edited["source_class"] != edited["class"]).all()
    )
    return (*LIMITS, *OF_GROUPS, *(OF_SHORTCUTS if is_beside else ()))


def _consent(generated: pd.DataFrame) -> str:
    """State the basis on which people were painted, as whoever ordered it gave it."""
    given = Counter(_mapping(text).get(CONSENT) for text in generated["settings"])
    told = [
        f"{inflect(n, 'images')} of people were painted on this basis: {escape(str(basis))}"
        for basis, n in sorted(given.items(), key=str)
        if basis
    ]
    return _list(told)


def _origin(facts: CardFacts) -> str:
    if not facts.total(synthetic=False):
        return "The real images are not part of this export."
    where = "were copied from" if facts.copied else "stay where they are, by the addresses in"
    left_out = facts.counts.get("real images left out", 0)
    lost = f" {left_out:,} of them could not be read and are left out." if left_out else ""
    return f"The real images {where} the dataset {escape(facts.name)}.{lost}"


def _texts(texts: TextCounts) -> list[str]:
    """A section about captions and licences, where any are known."""
    if not (told := texts.sentences()):
        return []
    rows = [(escape(name), f"{real:,}", f"{made:,}") for name, real, made in texts.license_rows()]
    table = [_table(("Licence", "Real", "Generated"), rows)] if rows else []
    return ["## Captions and licences", " ".join(told), *table]


def _generation(generated: pd.DataFrame) -> str:
    models: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    names = ("backend", "model", "revision", "weights_sha256", "digital_source_type")
    for row in generated[[*names, "settings", "software"]].to_dict("records"):
        models[tuple(_text(row[name]) for name in names)].append(row)  # type: ignore[arg-type]
    parts = []
    titles = ("Backend", "Model", "Revision", "SHA-256 of the weights", "Digital source type")
    for model, rows in sorted(models.items()):
        facts = [
            f"{title}: {escape(value)}" for title, value in zip(titles, model, strict=True) if value
        ]
        same, differing = _settings([_mapping(row["settings"]) for row in rows])
        facts += [f"Setting {escape(key)}: {escape(value)}" for key, value in same.items()]
        if differing:
            facts.append(f"Settings of each image's own: {escape(', '.join(differing))}")
        software = {json.dumps(_mapping(row["software"]), sort_keys=True) for row in rows}
        for versions in sorted(software):
            listed = ", ".join(f"{key} {value}" for key, value in json.loads(versions).items())
            facts += [f"Software: {escape(listed)}"] if listed else []
        parts.append(f"{inflect(len(rows), 'images')}:\n\n{_list(facts)}")
    return "\n\n".join([*parts, "`generated.parquet` has prompt, seed and source of each one."])


def _settings(settings: list[dict[str, Any]]) -> tuple[dict[str, str], list[str]]:
    """Split settings into common values and the names of varying ones."""
    found = {
        key: {json.dumps(one.get(key), sort_keys=True, ensure_ascii=False) for one in settings}
        for key in sorted(set().union(*settings))
    }
    same = {key: next(iter(values)) for key, values in found.items() if len(values) == 1}
    return same, [key for key in found if key not in same]


def _filters(generated: pd.DataFrame) -> str:
    scores_of: dict[str, list[float]] = defaultdict(list)
    overruled: Counter[str] = Counter()
    for text in generated["scores"]:
        for name, judgement in _mapping(text).items():
            if isinstance(judgement, dict) and isinstance(judgement.get("score"), int | float):
                scores_of[name].append(float(judgement["score"]))
                overruled[name] += not judgement.get("accepted", True)
    if not scores_of:
        return "No filter has judged these images."
    rows = []
    for name in sorted(scores_of):
        scores = pd.Series(scores_of[name])
        spread = (f"{value:.4g}" for value in (scores.min(), scores.median(), scores.max()))
        rows.append((escape(name), f"{len(scores):,}", *spread, f"{overruled[name]:,}"))
    header = ("Filter", "Images", "Lowest score", "Median", "Highest", "Accepted despite it")
    decided = Counter(_text(value) for value in generated["decided_by"])
    by = [f"{n:,} decided by {escape(who)}" for who, n in sorted(decided.items()) if who]
    return "\n\n".join(part for part in (_table(header, rows), _list(by)) if part)


def _files(tables: Iterable[TableFile]) -> str:
    parts = []
    for table in tables:
        rows = [(f"`{name}`", column.meaning) for name, column in table.columns.items()]
        parts.append(f"`{table.name}`: {table.meaning}\n\n{_table(('Column', ''), rows)}")
    parts.append("`SHA256SUMS` has a digest for each file: `sha256sum -c SHA256SUMS`.")
    return "\n\n".join(parts)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _mapping(text: object) -> dict[str, Any]:
    try:
        found = json.loads(text) if isinstance(text, str) else {}
    except json.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
