"""Measure a run's labels and proposed attributes against ground truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from cobalance.annotation.labelling.labels import present
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.annotation.labelling.settings import LabelSettings
from cobalance.annotation.measuring.matching import TruthOf, match_concepts, match_images, plain
from cobalance.annotation.measuring.scores import (
    Macro,
    effective_dimension,
    label_scores,
    macro,
    vocabulary_recall,
)
from cobalance.annotation.measuring.truth import GroundTruth
from cobalance.annotation.proposing.attribute_flags import Embed, ngram_vectors
from cobalance.base.arrays import BoolArray, FloatArray
from cobalance.base.errors import DataError, OptionError
from cobalance.graph.annotations.attributes import list_attributes
from cobalance.graph.annotations.found import source_of
from cobalance.graph.annotations.runs import list_runs, read_run
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.read import read_annotations
from cobalance.vision.stored.output_folder import OutputFolder


@dataclass(frozen=True, eq=False)
class Measured:
    """A run compared with ground truth.

    Parameters
    ----------
    scores : pandas.DataFrame
        As `cobalance.annotation.measuring.scores.label_scores` gives them, with ``truth``,
        the attribute that a concept is compared with, after the concept.
    macro : mapping of str to Macro
        Means of ``auc``, ``precision``, ``recall`` and ``f1`` over concepts.
    unmatched_concepts : tuple of str
        Those of the run without ground truth.
    unmatched_images : int
        Images of the run that ground truth does not have.
    left_out : mapping of str to int
        Rows of the ground truth's file that say nothing.
    """

    scores: pd.DataFrame
    macro: Mapping[str, Macro]
    unmatched_concepts: tuple[str, ...]
    unmatched_images: int
    left_out: Mapping[str, int]


def truth_of_dataset(store: GraphStore, dataset: str) -> GroundTruth:
    """A dataset's own concepts as ground truth, without labels of accepted runs.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    annotations = read_annotations(store, dataset)
    found = {source_of(run.model, run.id) for run in list_runs(store, dataset)}
    own = annotations.mentions[~annotations.mentions["source"].astype(object).isin(found)]
    names, columns = np.unique(own["concept"].astype(str).to_numpy(object), return_inverse=True)
    values = np.zeros((len(annotations.images), len(names)))
    values[own["image"].to_numpy(), columns] = 1.0
    return GroundTruth(pd.DataFrame(values, index=annotations.images["id"], columns=names))


def measure_run(
    store: GraphStore,
    folder: OutputFolder,
    run: str,
    truth: GroundTruth,
    mapping: Mapping[str, TruthOf] | None = None,
) -> Measured:
    """Compare a run's scores, and its labels at its thresholds, with ground truth.

    Raises
    ------
    NotFoundError
        There is no such run.
    OptionError
        It labels nothing.
    DataError
        It shares no image or no concept with the ground truth, or the mapping names what one of
        them lacks.
    OutputMissingError
        Its scores are not complete.
    """
    found = read_run(store, run)
    if found.kind != "label":
        raise OptionError(f"The run {run} labels nothing, so there is nothing to measure.")
    settings, files = LabelSettings.read(found.settings), ScoreFiles(folder, run)
    concepts = list(dict.fromkeys(one.concept for one in settings.attributes))
    if truth.shows.empty:
        raise DataError("The ground truth names no attribute of any image. Name another one.")
    _check_mapping(mapping or {}, concepts, truth)
    matched = match_concepts(concepts, truth.shows.columns, mapping)
    if not matched:
        raise DataError(
            f"No concept of the run ({', '.join(concepts[:3])}, ...) is in the ground truth "
            f"({', '.join(map(str, truth.shows.columns[:3]))}, ...). Say with a mapping which is "
            "which."
        )
    images = files.read_images()
    known = [str(name) for name in truth.shows.index]
    places = match_images(images["id"].to_pylist(), images["uri"].to_pylist(), known)
    used = np.array([at is not None for at in places], dtype=bool)
    if not used.any():
        raise DataError(
            f"No image of the run (such as {images['id'][0]}) is in the ground truth (such as "
            f"{known[0] if known else 'none'}). Ids or file names must agree."
        )
    scores, labels = _of_concepts(files, settings, list(matched))
    rows = truth.shows.to_numpy()[[at for at in places if at is not None]]
    place = {name: at for at, name in enumerate(truth.shows.columns)}
    columns = [place[one.attribute] for one in matched.values()]
    shows = rows[:, columns]
    inverted = np.array([one.inverted for one in matched.values()], dtype=bool)
    shows[:, inverted] = 1 - shows[:, inverted]
    table = label_scores(list(matched), scores[used], labels[used], shows)
    named = [f"not {one.attribute}" if one.inverted else one.attribute for one in matched.values()]
    table.insert(1, "truth", named)
    return Measured(
        table,
        {name: macro(table[name]) for name in ("auc", "precision", "recall", "f1")},
        tuple(name for name in concepts if name not in matched),
        int((~used).sum()),
        truth.left_out,
    )


@dataclass(frozen=True)
class VocabularyMeasured:
    """Proposed attributes compared with ground truth.

    Parameters
    ----------
    proposed, known : int
        How many.
    recall : float
        The share of known ones that a proposed one matches (GELDA, equation 1).
    dimension : int
        Principal components that hold 95% of the variance of what was proposed.
    fraction : float
        That number by the proposed attributes.
    """

    proposed: int
    known: int
    recall: float
    dimension: int
    fraction: float


def measure_vocabulary(
    store: GraphStore, dataset: str, known: Sequence[str], *, embed: Embed = ngram_vectors
) -> VocabularyMeasured:
    """Compare all attributes that were proposed for a dataset with known ones."""
    attributes = list_attributes(store, dataset)
    proposed = [plain(name) for name in attributes["proposed"]]
    named = [plain(name) for name in known]
    vectors = embed([*named, *proposed]) if any([*named, *proposed]) else np.empty((0, 1))
    of_known, of_proposed = vectors[: len(named)], vectors[len(named) :]
    recall = vocabulary_recall(of_known, of_proposed)
    return VocabularyMeasured(len(proposed), len(named), recall, *effective_dimension(of_proposed))


def _check_mapping(
    mapping: Mapping[str, TruthOf], concepts: Sequence[str], truth: GroundTruth
) -> None:
    for concept, of in mapping.items():
        if concept not in concepts:
            raise DataError(
                f"The mapping names {concept!r}, which the run does not look for. It looks for: "
                f"{', '.join(concepts)}."
            )
        if of.attribute not in truth.shows.columns:
            raise DataError(f"The mapping names {of.attribute!r}, which no ground truth is for.")


def _of_concepts(
    files: ScoreFiles, settings: LabelSettings, concepts: Sequence[str]
) -> tuple[FloatArray, BoolArray]:
    """Highest score and label of each concept in all images of a run, in their order."""
    columns = [
        [at for at, one in enumerate(settings.attributes) if one.concept == name]
        for name in concepts
    ]
    scores, labels = [], []
    for _, chunk in files.read_scores(settings.chunks, len(settings.texts)):
        shown = present(chunk.matrix, settings)
        of_chunk = [np.fmax.reduce(chunk.matrix[:, of], axis=1) for of in columns]
        scores.append(np.stack(of_chunk, axis=1).astype(np.float64))
        labels.append(np.stack([shown[:, of].any(axis=1) for of in columns], axis=1))
    return np.concatenate(scores), np.concatenate(labels)
