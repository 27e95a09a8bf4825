"""Segmenter of people, or of any labelled objects, each by itself, with Mask2Former."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field

from cobalance.base import Box, Plugin, torch, transformers
from cobalance.generation.image_request import GenerationError
from cobalance.generation.sources.mask_settings import as_tuple
from cobalance.generation.sources.segmenters.segmenter import check_box, check_mask, label_names
from cobalance.vision import ImageArray, MaskArray, ModelOptions, VisionModel, find_box, open_vision


class PeopleOptions(ModelOptions):
    """Model, labels of the objects, and how sure an instance must be.

    The default model's weights are under CC BY-NC 4.0, which allows no commercial use, as
    Mask2Former's authors say of all in their model zoo; their code is under MIT, and the hub says
    "other". Without that limit, annotate boxes and take the segmenter sam, under Apache-2.0.

    Parameters
    ----------
    labels : tuple of str
        Names of the model's labels that are the object, such as person or dog.
    threshold : float
        Lowest score of an instance: the label's probability, times the mean of the mask's.
    overlap : float
        Of two instances whose masks have a larger IoU, the surer one stays.
    min_fit : float
        Least IoU of the bounding box of an instance with the box that is given.
    """

    model: str = "facebook/mask2former-swin-small-coco-instance"
    labels: Annotated[tuple[str, ...], BeforeValidator(as_tuple), Field(min_length=1)] = ("person",)
    threshold: float = Field(default=0.5, ge=0, le=1)
    overlap: float = Field(default=0.8, ge=0, le=1)
    min_fit: float = Field(default=0.5, ge=0, le=1)


PLUGIN = Plugin(
    "people",
    "Mask2Former finds people, or other labelled objects, one by one.",
    extra="models",
    options=PeopleOptions,
    licence="CC BY-NC 4.0 by its authors' model zoo, which allows no commercial use",
    non_commercial="For commercial use take the segmenter sam with annotated boxes.",
)


@dataclass(frozen=True, eq=False)
class PeopleSegmenter:
    """Segments instances with Mask2Former [1]_.

    References
    ----------
    .. [1] Cheng, B. et al., *Masked-attention mask transformer for universal image segmentation*
       (CVPR 2022).
    """

    options: PeopleOptions
    vision: VisionModel  # a transformers.Mask2FormerForUniversalSegmentation
    labels: tuple[int, ...]  # numbers of the labels of the object

    def segment(self, image: ImageArray, box: Box | None) -> MaskArray:
        """Segment the instance that fits the box best; without a box, all as one."""
        if box is not None:
            check_box(image, box)
        masks = self.instances(image)
        if box is None:
            return check_mask(np.logical_or.reduce(masks), "people")

        fits = [_fit(mask, box) for mask in masks]
        best = int(np.argmax(fits))
        if fits[best] < self.options.min_fit:
            raise GenerationError(
                f"The segmenter people finds nothing that fits the box {box} of the object: at "
                f"best an IoU of {fits[best]:.2f}, less than {self.options.min_fit:g}. Lower "
                "min_fit, or use another segmenter."
            )
        return check_mask(masks[best], "people")

    def instances(self, image: ImageArray) -> Sequence[MaskArray]:
        """Masks of all instances, the surest first; see `InstanceSegmenter`."""
        with self.vision.computing("Mask2Former on one image"):
            scores, masks = self._predict(image)

        # Several queries may find the same instance: the surest one stays.
        instances: list[MaskArray] = []
        for query in np.argsort(-scores, kind="stable"):
            mask = masks[query]
            if scores[query] < self.options.threshold or not mask.any():
                continue
            if all(_overlap(mask, surer) <= self.options.overlap for surer in instances):
                instances.append(mask)
        if not instances:
            raise GenerationError(
                f"The segmenter people finds no {' or '.join(self.options.labels)} in the image. "
                "Take another image, another segmenter, or lower its threshold."
            )
        return instances

    def describe(self) -> Mapping[str, Any]:
        """The labels and thresholds, and the model with its weights."""
        settings = self.options.model_dump(include={"threshold", "overlap", "min_fit"})
        settings["labels"] = list(self.options.labels)
        return {"segmenter": "people", "settings": settings, **self.vision.describe()}

    def _predict(self, image: ImageArray) -> tuple[Any, list[MaskArray]]:
        """Score and mask of each query, by its likeliest wanted label."""
        output = self.vision.model(pixel_values=self.vision.pixels([image]))
        of_labels = output.class_queries_logits[0].float().softmax(dim=-1)[:, list(self.labels)]
        # The masks of one image cover it as a whole: nothing was padded.
        shares = torch.nn.functional.interpolate(
            output.masks_queries_logits.float(), image.shape[:2], mode="bilinear"
        )[0].sigmoid()

        inside = shares > 0.5
        sure = (shares * inside).sum(dim=(1, 2)) / inside.sum(dim=(1, 2)).clamp(min=1)
        scores = of_labels.max(dim=1).values * sure
        return scores.cpu().numpy(), list(inside.cpu().numpy())


def _overlap(mask: MaskArray, other: MaskArray) -> float:
    """IoU of two masks."""
    return np.count_nonzero(mask & other) / np.count_nonzero(mask | other)


def _fit(mask: MaskArray, box: Box) -> float:
    """IoU of a mask's bounding box with a box."""
    bounds, (x, y, width, height) = find_box(mask), box
    across = max(0.0, min(bounds.right, x + width) - max(bounds.left, x))
    down = max(0.0, min(bounds.bottom, y + height) - max(bounds.top, y))
    common = across * down
    return float(common / (prod(bounds.shape) + width * height - common))


def open_segmenter(options: PeopleOptions) -> PeopleSegmenter:
    """Open the segmenter and load its model; see `cobalance.base.registry.Plugins`."""
    vision = open_vision(
        options,
        transformers.Mask2FormerForUniversalSegmentation,
        transformers.Mask2FormerImageProcessorPil,
    )
    names = label_names(vision.model, options.labels, "people")
    labels = tuple(number for number, name in names.items() if name in options.labels)
    return PeopleSegmenter(options, vision, labels)
