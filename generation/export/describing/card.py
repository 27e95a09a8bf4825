"""The data card of an export: what is in it, how it was made, and what it is not good for."""

import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from generation.export.writing.tables import TableFile
from ingest.concepts.plurals import counted

NAME = "README.md"

LIMITS = (
    "Generated images show what a model takes the words of a prompt to look like, with the biases "
    "of the data that it was trained on. They can differ from photographs in ways that a "
    "classifier learns instead of the class.",
    "The concepts of a generated image are those that it was asked to show. Where no filter or "
    "person has checked them, the image may not show them.",
    "Classes are balanced over the combinations of concepts that were planned for, and over no "
    "others; what is not annotated cannot be balanced.",
    "Measure a model on real images alone.",
)


@dataclass(frozen=True)
class CardFacts:
    """What a data card says.

    Parameters
    ----------
    name : str
        The dataset's.
    format : str
        The export's.
    layout : str
        What is in the folder, in Markdown.
    images : mapping of (str or None, str, bool) to int
        How many images there are of each split and class, real ones (False) and generated (True).
    counts : mapping of str to int
        What else was counted.
    copied : bool
        Whether real images are in the folder.
    generated : pandas.DataFrame
        The generated images' rows of the manifest.
    tables : sequence of TableFile
        With their columns.
    patterns : mapping of str to str
        For the Hugging Face Hub, the files of each split.
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

    def total(self, *, synthetic: bool) -> int:
        """How many real or generated images there are."""
        return sum(n for (_, _, made), n in self.images.items() if made == synthetic)


def summary(facts: CardFacts) -> str:
    """Say in a sentence or two what an export is."""
    real, made = facts.total(synthetic=False), facts.total(synthetic=True)
    if facts.format == "weights":
        return (
            f"Weights of the {counted(real, 'real images')} of {facts.name} that balance its "
            "classes within combinations of concepts, written by cobalance."
        )
    beside = f" beside {counted(real, 'real ones')}" if real else " alone"
    what = f"{counted(made, 'generated images')}{beside}"
    return f"{facts.name}, rebalanced by cobalance: {what}."


def data_card(facts: CardFacts) -> bytes:
    """Write an export's README.md: its first lines are metadata for the Hugging Face Hub."""
    parts = [
        _front_matter(facts),
        f"# {escaped(facts.name)}",
        escaped(summary(facts)),
        "## Images",
        _images(facts),
        _left_out(facts),
        "## Where they come from",
        _origin(facts),
    ]
    if len(facts.generated):
        parts += ["## How images were generated", _making(facts.generated)]
        parts += ["## Filters", _filters(facts.generated)]
    parts += ["## Files", facts.layout.strip(), _files(facts.tables)]
    parts += ["## Limits", _list(LIMITS if len(facts.generated) else LIMITS[2:])]
    parts += ["## Licence", _LICENCE]
    return ("\n\n".join(part for part in parts if part) + "\n").encode("utf-8", "replace")


_LICENCE = """\
None is given here. Real images keep the licence of the dataset that they come from; generated ones
may be bound by that of their model, and by that of the images whose objects they show. Find out
what both allow before this folder goes anywhere, and write it here and in `croissant.json`
(`license`)."""


def escaped(text: str) -> str:
    r"""Give text that Markdown and HTML show as it is, on one line.

    Examples
    --------
    >>> escaped("<b>a|b*")
    '&lt;b&gt;a\\|b\\*'
    """
    flat = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text)
    # A name that turns the direction of writing must not turn that of what follows.
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
        (escaped(split) or "–", escaped(name), f"{n[False]:,}", f"{n[True]:,}", f"{n.total():,}")
        for (split, name), n in sorted(cells.items())
    ]
    real, made = facts.total(synthetic=False), facts.total(synthetic=True)
    rows.append(("all", "", f"{real:,}", f"{made:,}", f"{real + made:,}"))
    return _table(("Split", "Class", "Real", "Generated", "Together"), rows)


def _left_out(facts: CardFacts) -> str:
    said = {"real images", "generated images"}
    return _list(counted(n, name) for name, n in sorted(facts.counts.items()) if name not in said)


def _origin(facts: CardFacts) -> str:
    if not facts.total(synthetic=False):
        return "The real images are not part of this export."
    where = "were copied from" if facts.copied else "stay where they are, by the addresses in"
    left_out = facts.counts.get("real images left out", 0)
    lost = f" {left_out:,} of them could not be read and are left out." if left_out else ""
    return f"The real images {where} the dataset {escaped(facts.name)}.{lost}"


def _making(generated: pd.DataFrame) -> str:
    makers: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    names = ("backend", "model", "revision", "weights_sha256", "digital_source_type")
    for row in generated[[*names, "settings", "software"]].to_dict("records"):
        makers[tuple(_text(row[name]) for name in names)].append(row)  # type: ignore[arg-type]
    parts = []
    for maker, rows in sorted(makers.items()):
        said = zip(
            ("Backend", "Model", "Revision", "SHA-256 of the weights", "Digital source type"),
            maker,
            strict=True,
        )
        facts = [f"{what}: {escaped(value)}" for what, value in said if value]
        same, differing = _settings([_mapping(row["settings"]) for row in rows])
        facts += [f"Setting {escaped(key)}: {escaped(value)}" for key, value in same.items()]
        if differing:
            facts.append(f"Settings of each image's own: {escaped(', '.join(differing))}")
        software = {json.dumps(_mapping(row["software"]), sort_keys=True) for row in rows}
        for versions in sorted(software):
            listed = ", ".join(f"{key} {value}" for key, value in json.loads(versions).items())
            facts += [f"Software: {escaped(listed)}"] if listed else []
        parts.append(f"{counted(len(rows), 'images')}:\n\n{_list(facts)}")
    return "\n\n".join([*parts, "`generated.parquet` has prompt, seed and source of each one."])


def _settings(settings: list[dict[str, Any]]) -> tuple[dict[str, str], list[str]]:
    """Give the settings that all images share, and the names of the others."""
    keys = sorted(set().union(*settings))
    same, differing = {}, []
    for key in keys:
        values = {json.dumps(one.get(key), sort_keys=True, ensure_ascii=False) for one in settings}
        if len(values) == 1:
            same[key] = values.pop()
        else:
            differing.append(key)
    return same, differing


def _filters(generated: pd.DataFrame) -> str:
    found: dict[str, list[float]] = defaultdict(list)
    against: Counter[str] = Counter()
    for text in generated["scores"]:
        for name, judgement in _mapping(text).items():
            if isinstance(judgement, dict) and isinstance(judgement.get("score"), int | float):
                found[name].append(float(judgement["score"]))
                against[name] += not judgement.get("accepted", True)
    if not found:
        return "No filter has judged these images."
    rows = []
    for name in sorted(found):
        scores = pd.Series(found[name])
        spread = (f"{value:.4g}" for value in (scores.min(), scores.median(), scores.max()))
        rows.append((escaped(name), f"{len(scores):,}", *spread, f"{against[name]:,}"))
    header = ("Filter", "Images", "Least score", "Median", "Greatest", "Accepted all the same")
    decided = Counter(_text(value) for value in generated["decided_by"])
    by = [f"{n:,} decided by {escaped(who)}" for who, n in sorted(decided.items()) if who]
    return "\n\n".join(part for part in (_table(header, rows), _list(by)) if part)


def _files(tables: Iterable[TableFile]) -> str:
    parts = []
    for table in tables:
        rows = [(f"`{name}`", column.meaning) for name, column in table.columns.items()]
        parts.append(f"`{table.name}`: {table.meaning}\n\n{_table(('Column', ''), rows)}")
    parts.append("`SHA256SUMS` has a digest for each file: `sha256sum --check SHA256SUMS`.")
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
