"""Compare the attributes of generated images with those of real ones."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from cobalance.annotation import LabelSettings, label_summary, read_labels
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.base import ConflictError, DataError, OptionError
from cobalance.evaluation import COUNTS, shift_table
from cobalance.graph import AnnotationRun, GraphStore, list_attributes, load_incidence, read_run
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.cells import more_text

UNCATEGORISED = "concepts"
"""The category of concepts that are no attributes of any."""
SHOWN = 10
"""Names in a note, at most."""


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
        first = _of_run(store, folder, real, real_run)
        second = _of_run(store, folder, generated, generated_run)
        # A concept that one run has not looked for has no frequency there.
        names = [name for name in first.counts if name in second.counts]
        notes = _differing(read_run(store, real_run), read_run(store, generated_run))
        if left_out := sorted(first.counts.keys() ^ second.counts.keys()):
            notes.insert(0, f"Looked for in one alone, left out: {', '.join(left_out)}.")
    else:
        first, second = _of_dataset(store, real), _of_dataset(store, generated)
        # A concept that a dataset does not have has a frequency of 0.
        names = sorted({*first.counts, *second.counts})
        notes = [*_only_in(real, first, second), *_only_in(generated, second, first)]
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


def _only_in(dataset: str, frequencies: _Frequencies, others: _Frequencies) -> list[str]:
    """A note that names the concepts of one dataset that the other does not have."""
    names = sorted(frequencies.counts.keys() - others.counts.keys())
    if not names:
        return []
    return [
        f"Only in {dataset!r}, and 0 in the other, where perhaps nobody has looked for it: "
        f"{', '.join(names[:SHOWN])}{more_text(len(names) - SHOWN)}."
    ]


def _differing(real: AnnotationRun, generated: AnnotationRun) -> list[str]:
    """A note that names each setting in which two runs label differently."""
    first, second = LabelSettings.read(real.settings), LabelSettings.read(generated.settings)
    pairs: dict[str, tuple[object, object]] = {
        "model": (real.model, generated.model),
        "revision": (real.revision, generated.revision),
    }
    for name in ("annotator", "options", "rule", "multi", "threshold", "thresholds", "base"):
        pairs[name] = (getattr(first, name), getattr(second, name))
    changed = [name for name, (value, other) in pairs.items() if value != other]

    # Only concepts that both look for are compared, so that the captions of others may differ.
    captions, other_captions = _captions(first), _captions(second)
    shared = captions.keys() & other_captions.keys()
    if any(captions[concept] != other_captions[concept] for concept in shared):
        changed.append("captions")
    if not changed:
        return []
    return [
        f"The runs label differently ({', '.join(changed)}): a part of the differences may be "
        "theirs. Label both datasets alike."
    ]


def _captions(settings: LabelSettings) -> dict[str, str]:
    return {attribute.concept: attribute.caption for attribute in settings.attributes}


def _of_dataset(store: GraphStore, dataset: str) -> _Frequencies:
    incidence = load_incidence(store, dataset)
    counts = Counter(incidence.concepts[column] for column in incidence.indices.tolist())
    attributes = list_attributes(store, dataset).dropna(subset="concept")
    categories = dict(zip(attributes["concept"], attributes["category"], strict=True))
    return _Frequencies(counts, images=len(incidence.labels), categories=categories)


def _of_run(store: GraphStore, folder: OutputFolder, dataset: str, run: str) -> _Frequencies:
    """Frequencies among the images that could be read."""
    labelling = read_run(store, run)
    if labelling.dataset != dataset:
        raise OptionError(
            f"The run {run} does not label {dataset!r}: it is of {labelling.dataset!r}."
        )
    if labelling.kind != "label":
        raise OptionError(f"The run {run} does not label images by scores. Name one that does.")
    if not labelling.has_labels:
        raise ConflictError(f"The run {run} is {labelling.state}. Compare it once it is done.")

    files, settings = ScoreFiles(folder, run), LabelSettings.read(labelling.settings)
    summary = label_summary(files, settings)
    labels = read_labels(files, settings)["concept"].value_counts()
    categories = dict(zip(summary["concept"], summary["category"], strict=True))
    counts = {name: int(labels.get(name, 0)) for name in categories}
    unreadable = int(max(summary["unreadable"], default=0))
    return _Frequencies(counts, images=settings.images - unreadable, categories=categories)
