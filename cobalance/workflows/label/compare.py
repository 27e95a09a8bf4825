"""Compare the attributes of generated images with those of real ones."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from cobalance.annotation.labelling.labels import label_summary, read_labels
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.annotation.labelling.settings import LabelSettings
from cobalance.base.errors import ConflictError, DataError, OptionError
from cobalance.evaluation.metrics.attributes import COUNTS, shift_table
from cobalance.graph.annotations.attributes import list_attributes
from cobalance.graph.annotations.runs import AnnotationRun, read_run
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.read import load_incidence
from cobalance.vision.stored.output_folder import OutputFolder

UNCATEGORISED = "concepts"
SHOWN = 10  # names in a note
"""The category of concepts that are no attributes of any."""


class _Frequencies(NamedTuple):
    """In how many of some images each concept is, and its category where that is known."""

    counts: Mapping[str, int]
    images: int
    categories: Mapping[str, str]


class GeneratorComparison(NamedTuple):
    """A generated dataset compared with its training set.

    Parameters
    ----------
    table : pandas.DataFrame
        From `cobalance.evaluation.metrics.attributes.shift_table`.
    notes : tuple of str
        Concepts that only one of two runs has looked for, and what may make a difference that the
        generator does not: how two runs label differently, or concepts that only one dataset knows.
    """

    table: pd.DataFrame
    notes: tuple[str, ...]


def compare_generator(
    store: GraphStore,
    folder: OutputFolder,
    real: str,
    generated: str,
    *,
    real_run: str | None = None,
    generated_run: str | None = None,
    confidence: float = 0.95,
) -> GeneratorComparison:
    """Compare how often attributes are in a generated dataset and in its training set.

    Parameters
    ----------
    real, generated : str
        Datasets.
    real_run, generated_run : str or None
        Labelling runs whose labels are compared, accepted or not; None for the concepts of both
        datasets. With labels of the same annotator its errors are in both frequencies.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset or run, or a dataset is not complete.
    OptionError
        One run alone is given, or a run is of another dataset or labels no images by scores.
    ConflictError, DataError
        A run has not ended; nothing is common to both.
    OutputMissingError
        A run's scores are not complete.
    """
    if (real_run is None) != (generated_run is None):
        raise OptionError(
            "Labels of one run cannot be compared with a dataset's own concepts. Name a run of "
            "each dataset, or none."
        )
    if real_run is not None and generated_run is not None:
        first, second = (
            _of_run(store, folder, dataset, run)
            for dataset, run in ((real, real_run), (generated, generated_run))
        )
        names = [name for name in first.counts if name in second.counts]
        notes = _differing(read_run(store, real_run), read_run(store, generated_run))
        if left_out := sorted(set(first.counts) ^ set(second.counts)):
            notes.insert(0, f"Looked for in one alone, left out: {', '.join(left_out)}.")
    else:
        first, second = _of_dataset(store, real), _of_dataset(store, generated)
        names = sorted({*first.counts, *second.counts})
        notes = [
            f"Only in {dataset!r}, and 0 in the other, where perhaps nobody has looked for it: "
            f"{_first(sorted(alone))}."
            for dataset, one, other in ((real, first, second), (generated, second, first))
            if (alone := set(one.counts) - set(other.counts))
        ]
    if not names:
        raise DataError(f"{real!r} and {generated!r} have no concept to compare.")
    categories = {**second.categories, **first.categories}
    rows = [
        (
            categories.get(name) or UNCATEGORISED,
            name,
            first.counts.get(name, 0),
            second.counts.get(name, 0),
            first.images,
            second.images,
        )
        for name in names
    ]
    counts = pd.DataFrame(rows, columns=["category", "attribute", *COUNTS])
    return GeneratorComparison(shift_table(counts, confidence), tuple(notes))


def _first(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _differing(real: AnnotationRun, generated: AnnotationRun) -> list[str]:
    """A note that names each setting in which two runs label differently."""
    pairs: dict[str, tuple[object, object]] = {
        "model": (real.model, generated.model),
        "revision": (real.revision, generated.revision),
    }
    settings = [LabelSettings.read(run.settings) for run in (real, generated)]
    for name in ("annotator", "options", "rule", "multi", "threshold", "thresholds", "base"):
        first, second = (getattr(one, name) for one in settings)
        pairs[name] = (first, second)
    texts = [{one.concept: one.caption for one in each.attributes} for each in settings]
    both = [{name: each[name] for name in texts[0].keys() & texts[1].keys()} for each in texts]
    pairs["captions"] = (both[0], both[1])
    changed = [name for name, (first, second) in pairs.items() if first != second]
    if not changed:
        return []
    return [
        f"The runs label differently ({', '.join(changed)}): a part of the differences may be "
        "theirs. Label both datasets alike."
    ]


def _of_dataset(store: GraphStore, dataset: str) -> _Frequencies:
    incidence = load_incidence(store, dataset)
    counts = Counter(incidence.concepts[at] for at in incidence.indices.tolist())
    attributes = list_attributes(store, dataset)
    categories = {
        concept: category
        for concept, category in zip(attributes["concept"], attributes["category"], strict=True)
        if concept is not None
    }
    return _Frequencies(counts, len(incidence.labels), categories)


def _of_run(store: GraphStore, folder: OutputFolder, dataset: str, run: str) -> _Frequencies:
    """Frequencies among the images that could be read."""
    found = read_run(store, run)
    if found.dataset != dataset:
        raise OptionError(f"The run {run} does not label {dataset!r}: it is of {found.dataset!r}.")
    if found.kind != "label":
        raise OptionError(f"The run {run} does not label images by scores. Name one that does.")
    if not found.has_labels:
        raise ConflictError(f"The run {run} is {found.state}. Compare it once it is done.")
    files, settings = ScoreFiles(folder, run), LabelSettings.read(found.settings)
    of_attributes = label_summary(files, settings)
    labels = read_labels(files, settings)["concept"].value_counts()
    concepts = dict(zip(of_attributes["concept"], of_attributes["category"], strict=True))
    unreadable = int(of_attributes["unreadable"].max()) if len(of_attributes) else 0
    counts = {name: int(labels.get(name, 0)) for name in concepts}
    return _Frequencies(counts, settings.images - unreadable, concepts)
