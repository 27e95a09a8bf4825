"""Images to score: of a folder, an export or a dataset, and their features."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import DataError, FloatArray, InputError, OptionError, check_known
from cobalance.evaluation import (
    FEATURES,
    TABLE,
    Examples,
    ImageSet,
    Inputs,
    LabelledImages,
    read_export_images,
    read_folder_images,
)
from cobalance.workflows.evaluate.images import ReadDataset

FEATURES_OF: Mapping[str, str] = {"frechet": "inception", "kernel": "inception", "cmmd": "clip_336"}
"""The features that metrics of two sets of images have in the papers."""


def with_images(
    inputs: Inputs, images: str, real: str | None, read_dataset: ReadDataset
) -> tuple[Inputs, ImageSet | None]:
    """Add images to the inputs, and find the real ones that they are compared with.

    A place is a folder of images, a folder that an export has written, or a dataset. Of exports and
    datasets the images are the synthetic ones, where they have any, and the real images the others.
    Their captions are taken where no others are given.

    Raises
    ------
    InputError, DataError
        There is no such place, or it has no such images.
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    place = _find(images, read_dataset)
    synthetic = place.frame["synthetic"].astype(bool)
    if synthetic.any():
        place = place.where(synthetic)

    captions = inputs.get("captions")
    if captions is None and "captions" in place.frame:
        captions = _captions(place.frame)
    inputs = inputs.replace(images=_image_set(place), captions=captions)
    if real is None:
        return inputs, None

    others = _find(real, read_dataset)
    others = others.where(~others.frame["synthetic"].astype(bool))
    if not len(others):
        raise DataError(f"{real!r} has no real images. Give a place that has them.")
    return inputs, _image_set(others)


def with_features(
    inputs: Inputs,
    real: ImageSet,
    metrics: Sequence[str],
    features: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Inputs:
    """Add features of images and real images to the inputs, as embeddings.

    Parameters
    ----------
    features : str, optional
        A name in `cobalance.evaluation.training.features.FEATURES`; by default those that the
        chosen metrics have in the papers. What they learn from images they learn from the real
        ones.

    Raises
    ------
    OptionError
        No features are named, and the metrics do not tell; or the options are not theirs.
    InputError
        A file is missing or damaged.
    MissingExtraError, JobBlockedError, OutOfMemoryError
        Packages, weights or memory are missing.
    """
    images = inputs.images
    if images is None:
        raise OptionError("There are no images to compare with the real ones. Give images, too.")

    usual = sorted({FEATURES_OF[name] for name in metrics if name in FEATURES_OF})
    if features is None and len(usual) != 1:
        raise OptionError(
            "Features make images comparable, and it is not clear which: frechet and kernel have "
            f"inception in papers, cmmd clip_336. Name features of {', '.join(FEATURES)}, or score "
            "one of these metrics at a time."
        )
    name = features or usual[0]
    check_known("features", [name], list(FEATURES))

    opened = FEATURES.open(name, options)
    opened, of_real = opened.fit(_examples(real), inputs.seed)
    return inputs.replace(
        real_embeddings=_table(real, of_real),
        embeddings=_table(images, opened.read(_examples(images))),
    )


def _find(place: str, read_dataset: ReadDataset) -> LabelledImages:
    folder = Path(place).expanduser()
    if not place.strip():
        raise OptionError("The place of images is empty. Name a folder, an export or a dataset.")
    if folder.is_dir():
        if (folder / TABLE).is_file():
            return read_export_images(folder)
        return read_folder_images(folder, labelled=False)

    # A name that looks like a path is none of a dataset.
    if folder.exists() or len(folder.parts) > 1 or place.startswith((".", "~")):
        reason = "it is a file" if folder.exists() else "there is no such folder"
        raise InputError(place, None, reason, "Give a folder of images, an export or a dataset.")
    return read_dataset(place)


def _image_set(images: LabelledImages) -> ImageSet:
    frame = images.frame
    uris, synthetic = frame["uri"].tolist(), frame["synthetic"].astype(bool).tolist()

    def read(row: int) -> bytes:
        return images.read(uris[row], synthetic[row])

    return ImageSet(images.name, frame["image"].tolist(), read)


def _captions(frame: pd.DataFrame) -> pd.DataFrame | None:
    captions = frame[["image", "captions"]].explode("captions", ignore_index=True).dropna()
    return captions.rename(columns={"captions": "caption"}) if len(captions) else None


def _examples(images: ImageSet) -> Examples:
    unlabelled = np.full(len(images), -1)
    no_label = np.zeros_like(unlabelled)
    return Examples(images.names, no_label, unlabelled, unlabelled, ("",), images.read)


def _table(images: ImageSet, values: FloatArray) -> pd.DataFrame:
    table = pd.DataFrame(values).rename(columns=str)
    table.insert(0, "image", list(images.names))
    return table
