"""Measure a run's labels and proposed attributes against ground truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from cobalance.annotation import (
    Embed,
    GroundTruth,
    LabelSettings,
    Macro,
    TruthAttribute,
    effective_dimension,
    label_scores,
    macro,
    match_concepts,
    match_images,
    ngram_vectors,
    plain,
    present,
    vocabulary_recall,
)
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.base import BoolArray, DataError, FloatArray, OptionError, positions_of, text_if
from cobalance.graph import (
    GraphStore,
    list_attributes,
    list_runs,
    read_annotations,
    read_run,
    source_of,
)
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
    of_runs = {source_of(run.model, run.id) for run in list_runs(store, dataset)}
    mentions = annotations.mentions
    mentions = mentions[~mentions["source"].astype(object).isin(of_runs)]
    concepts = mentions["concept"].astype(str).to_numpy(object)
    names, columns = np.unique(concepts, return_inverse=True)

    values = np.zeros((len(annotations.images), len(names)))
    values[mentions["image"].to_numpy(), columns] = 1.0
    return GroundTruth(pd.DataFrame(values, index=annotations.images["id"], columns=names))


def measure_run(
    store: GraphStore,
    folder: OutputFolder,
    run: str,
    truth: GroundTruth,
    mapping: Mapping[str, TruthAttribute] | None = None,
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
    labelling = read_run(store, run)
    if labelling.kind != "label":
        raise OptionError(f"The run {run} labels nothing, so there is nothing to measure.")
    settings, files = LabelSettings.read(labelling.settings), ScoreFiles(folder, run)
    concepts = list(dict.fromkeys(attribute.concept for attribute in settings.attributes))
    matches = _match_concepts(concepts, truth, mapping)
    used, truth_rows = _match_images(files, truth)

    columns = positions_of(truth.shows.columns)
    shows = truth.shows.to_numpy()[truth_rows]
    shows = shows[:, [columns[match.attribute] for match in matches.values()]]
    inverted = np.array([match.inverted for match in matches.values()], dtype=bool)
    # A concept may be the opposite of an attribute.
    shows[:, inverted] = 1 - shows[:, inverted]

    scores, labels = _of_concepts(files, settings, list(matches))
    table = label_scores(list(matches), scores[used], labels[used], shows)
    names = [f"{text_if(match.inverted, 'not ')}{match.attribute}" for match in matches.values()]
    table.insert(1, "truth", names)
    return Measured(
        scores=table,
        macro={name: macro(table[name]) for name in ("auc", "precision", "recall", "f1")},
        unmatched_concepts=tuple(name for name in concepts if name not in matches),
        unmatched_images=int((~used).sum()),
        left_out=truth.left_out,
    )


def _match_concepts(
    concepts: Sequence[str], truth: GroundTruth, mapping: Mapping[str, TruthAttribute] | None
) -> dict[str, TruthAttribute]:
    """The attribute that each concept is compared with; DataError if none has one."""
    attributes = truth.shows.columns
    if truth.shows.empty:
        raise DataError("The ground truth names no attribute of any image. Name another one.")

    _check_mapping(mapping or {}, concepts, truth)
    matches = match_concepts(concepts, attributes, mapping)
    if not matches:
        raise DataError(
            f"No concept of the run ({', '.join(concepts[:3])}, ...) is in the ground truth "
            f"({', '.join(map(str, attributes[:3]))}, ...). Say with a mapping which is "
            "which."
        )
    return matches


def _match_images(files: ScoreFiles, truth: GroundTruth) -> tuple[BoolArray, list[int]]:
    """Which of the run's images are in the ground truth, and the row of each that is."""
    images = files.read_images()
    names = list(map(str, truth.shows.index))
    rows = match_images(images["id"].to_pylist(), images["uri"].to_pylist(), names)

    matched_rows = [row for row in rows if row is not None]
    if not matched_rows:
        raise DataError(
            f"No image of the run (such as {images['id'][0]}) is in the ground truth (such as "
            f"{next(iter(names), 'none')}). Ids or file names must agree."
        )
    return np.array([row is not None for row in rows], dtype=bool), matched_rows


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
    proposed = list(map(plain, attributes["proposed"]))
    known_names = list(map(plain, known))
    names = [*known_names, *proposed]
    # An embedding cannot be learnt where there is no text.
    vectors = embed(names) if any(names) else np.empty((0, 1))

    of_known, of_proposed = vectors[: len(known_names)], vectors[len(known_names) :]
    dimension, fraction = effective_dimension(of_proposed)
    return VocabularyMeasured(
        proposed=len(proposed),
        known=len(known_names),
        recall=vocabulary_recall(of_known, of_proposed),
        dimension=dimension,
        fraction=fraction,
    )


def _check_mapping(
    mapping: Mapping[str, TruthAttribute], concepts: Sequence[str], truth: GroundTruth
) -> None:
    for concept, match in mapping.items():
        if concept not in concepts:
            raise DataError(
                f"The mapping names {concept!r}, which the run does not look for. It looks for: "
                f"{', '.join(concepts)}."
            )
        if match.attribute not in truth.shows.columns:
            raise DataError(f"The mapping names {match.attribute!r}, which no ground truth is for.")


def _of_concepts(
    files: ScoreFiles, settings: LabelSettings, concepts: Sequence[str]
) -> tuple[FloatArray, BoolArray]:
    """Highest score and label of each concept in all images of a run, in their order."""
    # A concept of several attributes has the highest of their scores, and a label if one has it.
    concept_of = np.array([attribute.concept for attribute in settings.attributes], dtype=object)
    columns = [np.flatnonzero(concept_of == name) for name in concepts]

    scores, labels = [], []
    for _, chunk in files.read_scores(settings.chunks, len(settings.texts)):
        is_present = present(chunk.matrix, settings)
        highest = [np.fmax.reduce(chunk.matrix[:, positions], axis=1) for positions in columns]
        scores.append(np.stack(highest, axis=1).astype(np.float64))
        of_any = [is_present[:, positions].any(axis=1) for positions in columns]
        labels.append(np.stack(of_any, axis=1))
    return np.concatenate(scores), np.concatenate(labels)
