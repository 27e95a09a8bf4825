"""Class activation maps of an evaluation's model, and how much of them lies on the object."""

import io
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import BoolArray, DataError, Image, OptionError, Progress, needs_extra, silent
from cobalance.evaluation import Examples, cam_energy
from cobalance.generation import annotated_px, box_of, fill_box, object_regions
from cobalance.graph import GraphStore, read_evaluation, save_scores
from cobalance.vision import SegmentationError, mask, read_regions
from cobalance.workflows.evaluate.stored import MAP_COLUMNS, write_maps
from cobalance.workflows.evaluate.train import open_model
from cobalance.workflows.folders import Folders

STORED_PX = 224
"""The longer side of the maps that are kept."""


@dataclass(frozen=True, eq=False)
class Activations:
    """Maps of some test images.

    Parameters
    ----------
    images : pandas.DataFrame
        ``image``, ``class_name``, ``predicted``, ``cam_energy`` and ``mask_share`` (NaN without
        regions of the object).
    scores : pandas.DataFrame
        ``cam_energy`` and ``mask_share`` by class, of the images with regions.
    without_regions : int
        Images whose object has no outline or box.
    """

    images: pd.DataFrame
    scores: pd.DataFrame
    without_regions: int


def map_activations(
    store: GraphStore,
    folders: Folders,
    evaluation: str,
    *,
    most: int = 200,
    objects: Collection[str] = (),
    seed: int = 0,
    progress: Progress = silent,
) -> Activations:
    """Map where an evaluation's network sees each image's class; keep maps and scores.

    Parameters
    ----------
    most : int
        Test images, drawn at random where there are more.
    objects : collection of str
        Concepts whose regions are the object, or ``"*"`` for those of any; by default the class's
        own name, see `cobalance.generation.sources.object_regions.object_regions`.
    seed : int
        Of the draw.

    Raises
    ------
    NotFoundError
        There is no such evaluation.
    OptionError
        Its model is no network, or its images have several labels each.
    MissingExtraError
        torch is not installed.
    CobalanceError
        The model is not kept and cannot be trained again, or an image not be read.
    """
    # A missing package is found out before a model is opened, or even trained.
    with needs_extra("Class activation maps", "train"):
        import pytorch_grad_cam  # noqa: F401

        from cobalance.evaluation import NetworkModel, grad_cam
    if most < 1:
        raise OptionError(f"{most} images are to be mapped; give 1 or more.")

    run = read_evaluation(store, evaluation)
    trained = open_model(lambda ask: ask(store), folders, run, progress)
    model = trained.model
    if not isinstance(model, NetworkModel):
        raise DataError(
            f"The model of the evaluation {evaluation} is linear on frozen features, which have no "
            "maps. Train one with a preset of a network, such as conbias."
        )

    images = _draw_sample(trained.images.test, most, seed)
    if images.several_labels:
        raise OptionError("Its images have several labels each. Map a model of classes.")

    regions = read_regions(folders.regions, trained.evaluation.test, list(images.ids))
    regions_by_image = dict(list(regions.groupby("id")))
    predicted = model.probabilities(images).argmax(axis=1)

    rows, maps, masks, classes = list[dict[str, Any]](), list[Any](), list[BoolArray](), list[str]()
    for row, activation in enumerate(grad_cam(model, images, images.labels)):
        progress("map activations", row, len(images))
        image, class_name = images.ids[row], images.classes[int(images.labels[row])]
        image_regions = regions_by_image.get(image, regions.iloc[:0])
        outline = object_mask(image_regions, class_name, activation.shape, objects)
        energy = share = math.nan
        if outline is not None:
            maps.append(activation)
            masks.append(outline)
            classes.append(class_name)
            energy, share = _energy_within(activation, outline), float(outline.mean())
        guess = images.classes[int(predicted[row])]
        values = (image, class_name, guess, energy, share, _png(activation))
        rows.append(dict(zip(MAP_COLUMNS, values, strict=True)))

    frame = pd.DataFrame(rows, columns=list(MAP_COLUMNS))
    write_maps(folders.open_output(), evaluation, frame)
    scores = cam_energy(maps, masks, classes)
    save_scores(store, evaluation, scores)
    return Activations(frame.drop(columns="map"), scores, len(frame) - len(maps))


def _energy_within(activation: Any, outline: BoolArray) -> float:
    total = float(activation.sum())
    return float(activation[outline].sum()) / total if total else math.nan


def object_mask(
    regions: pd.DataFrame,
    class_name: str,
    shape: tuple[int, ...],
    objects: Collection[str] = (),
) -> BoolArray | None:
    """The object's outlines and boxes together, scaled to an image's shape; None without any.

    Regions of an image of another orientation, and outlines that cannot be read, are left out.
    """
    chosen = object_regions(regions, class_name, objects)
    height, width = shape[:2]
    size = annotated_px(chosen) or (width, height)
    # Regions of an image that was turned since do not fit it.
    if chosen.empty or ((size[0] > size[1]) != (width > height) and width != height):
        return None

    together = np.zeros(size[::-1], dtype=bool)
    for region in chosen.to_dict("records"):
        if isinstance(region["segmentation"], str):
            try:
                together |= mask(region["segmentation"], *size)
            except SegmentationError:
                continue
        elif not pd.isna(region["x_px"]):
            together |= fill_box(box_of(region), *size)

    scaled = Image.fromarray(together).resize((width, height), Image.Resampling.NEAREST)
    object_pixels: BoolArray = np.asarray(scaled, dtype=bool)
    return object_pixels if object_pixels.any() else None


def _draw_sample(images: Examples, most: int, seed: int) -> Examples:
    if len(images) <= most:
        return images
    rng = np.random.default_rng(seed)
    return images.take(np.sort(rng.choice(len(images), most, replace=False)))


def _png(activation: Any) -> bytes:
    """A map from 0 to 1 as a greyscale PNG."""
    picture = Image.fromarray((np.clip(activation, 0, 1) * 255).astype(np.uint8))
    picture.thumbnail((STORED_PX, STORED_PX))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()
