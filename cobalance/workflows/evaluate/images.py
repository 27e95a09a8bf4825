"""Training, validation and test images of an evaluation, with their groups."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from cobalance.base import DataError, OptionError, Progress
from cobalance.evaluation import (
    METHODS,
    Examples,
    LabelledImages,
    Run,
    code_examples,
    shortcut_groups,
)
from cobalance.evaluation.training.data import sets
from cobalance.graph import Evaluation, GraphStore, NewEvaluation, dataset_state
from cobalance.ingest import read_image_texts
from cobalance.workflows.evaluate.dataset_images import read_dataset_images
from cobalance.workflows.evaluate.settings import RunSettings
from cobalance.workflows.folders import Folders
from cobalance.workflows.images import image_reader

ReadDataset = Callable[[str], LabelledImages]
# A training, a validation and a test dataset.
_KNOWN = 3
# Purposes of generators: each draws from a stream of its own.
_HOLD_OUT, _THIN = 21, 22


@dataclass(frozen=True, eq=False)
class EvaluationImages:
    """The images of an evaluation.

    Parameters
    ----------
    training, test : Examples
    validation : Examples or None
    groups, training_groups : pandas.DataFrame or None
        ``image`` and a column for each shortcut, of the test and of the training images; None
        without shortcuts. Those of the training images have ``class_name``, too.
    notes : tuple of str
        What people should know of them.
    """

    training: Examples
    validation: Examples | None
    test: Examples
    groups: pd.DataFrame | None
    training_groups: pd.DataFrame | None
    notes: tuple[str, ...] = ()


KnownDatasets = dict[str, tuple[int | None, LabelledImages]]
"""Datasets that were read, by name, with the digest of their images then."""


def dataset_reader(
    store: GraphStore, folders: Folders, progress: Progress, known: KnownDatasets
) -> ReadDataset:
    """A function that reads a dataset's labelled images; the last few stay known."""

    def read_once(name: str) -> LabelledImages:
        digest = dataset_state(store, name).digest
        if name not in known or known[name][0] != digest:
            while len(known) >= _KNOWN:
                del known[next(iter(known))]
            texts = read_image_texts(folders.captions, name)
            read = image_reader(folders, name)
            images = read_dataset_images(store, name, read, progress).with_captions(texts)
            known[name] = (digest, images)
        return known[name][1]

    return read_once


def evaluation_images(
    evaluation: Evaluation | NewEvaluation,
    train: str | None,
    test: str,
    settings: RunSettings,
    read: ReadDataset,
    run: Run,
) -> EvaluationImages:
    """Put the images of an evaluation together, and check that it can be run with them.

    Parameters
    ----------
    train, test : str or None, str
        The datasets.
    read : callable
        Takes the name of a dataset; nothing reads the files of its images here.

    Raises
    ------
    LeakError
        A test image is synthetic, or is trained on, or something made of it is.
    OptionError
        A split, training set or class is empty, images have no files, or the method or the rule of
        selection needs other ones.
    NotFoundError, StaleError
        A dataset is gone, or not complete.
    """
    if train is None:
        raise DataError(f"The evaluation {evaluation.id} is of predictions from elsewhere.")
    whole = read(train)
    training = sets.training_set(
        _of_split(whole, settings.train_split), evaluation.training_set or ""
    )
    training = sets.thin_synthetic(training, evaluation.most_synthetic, run.generator(_THIN))
    tested = read(test).of_split(settings.test_split)
    sets.check_apart(training, tested)

    notes: list[str] = []
    validation: LabelledImages | None = None
    if settings.validation is not None or settings.validation_split is not None:
        validation = read(settings.validation or train).of_split(settings.validation_split)
        # An image that is trained or tested on, too, would not choose between models.
        sets.check_held_out(training, validation)
        sets.check_apart(validation, tested)
    elif settings.validation_share:
        groups = _groups(training, settings)
        parts = sets.hold_out(training, settings.validation_share, run.generator(_HOLD_OUT), groups)
        training, validation = parts.training, parts.validation
        if parts.left_out:
            notes.append(
                f"{parts.left_out:,} images that were made from held-out ones are not trained on."
            )
    if validation is None and METHODS[evaluation.method].needs_validation_groups:
        raise OptionError(
            f"The method {evaluation.method} needs held-out images. Order it with validation "
            "images."
        )

    return _code_images(evaluation.method, settings, training, validation, tested, notes)


def _code_images(
    method: str,
    settings: RunSettings,
    training: LabelledImages,
    validation: LabelledImages | None,
    test: LabelledImages,
    notes: Sequence[str],
) -> EvaluationImages:
    """Examples of the three parts, with their groups; an error if the method cannot use them."""
    images_by_part = {"training": training, "test": test}
    if validation is not None:
        images_by_part["validation"] = validation
    for images in images_by_part.values():
        images.require_files()
    groups_by_part = {part: _groups(images, settings) for part, images in images_by_part.items()}

    # Either all parts have groups or none. An image may be in two parts of different datasets,
    # with the same groups.
    groups = None
    if settings.shortcuts:
        groups = pd.concat(groups_by_part.values()).drop_duplicates("image")
    examples = code_examples(images_by_part, groups, labels=settings.labels)
    settings.recipe(method).check_images(examples["training"], examples.get("validation"))

    training_groups = groups_by_part["training"]
    if training_groups is not None:
        classes = training.frame["class_name"].to_numpy()
        training_groups = training_groups.assign(class_name=classes)
    return EvaluationImages(
        training=examples["training"],
        validation=examples.get("validation"),
        test=examples["test"],
        groups=groups_by_part["test"],
        training_groups=training_groups,
        notes=tuple(notes),
    )


def _of_split(images: LabelledImages, split: str | None) -> LabelledImages:
    """The training images: of a split, with synthetic ones that have none."""
    if split is None:
        return images
    frame = images.frame
    unsplit_synthetic = frame["synthetic"].astype(bool) & frame["split"].isna()
    selected = images.where((frame["split"] == split) | unsplit_synthetic)
    # Where there is none, of_split says which splits there are.
    return selected if len(selected) else images.of_split(split)


def _groups(images: LabelledImages, settings: RunSettings) -> pd.DataFrame | None:
    shortcuts = settings.opened_shortcuts()
    return None if shortcuts is None else shortcut_groups(images.frame, shortcuts)
