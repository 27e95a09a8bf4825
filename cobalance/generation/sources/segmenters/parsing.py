"""Segmenter of people with a human-parsing model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cobalance.base import Box, Plugin, group_pairs, transformers
from cobalance.generation.sources.segmenters.segmenter import join_parts, label_names
from cobalance.vision import ImageArray, MaskArray, ModelOptions, VisionModel, open_vision


class ParsingOptions(ModelOptions):
    """Model, and labels of the parts that belong to the object.

    The default model was trained from NVIDIA's SegFormer, whose licence allows no commercial use,
    as were most others for human parsing, whatever licence their own cards name. The segmenter
    clipseg is not made of it; for what is known of its weights' licence see there.

    Parameters
    ----------
    labels : tuple of str or None
        Names of the model's labels, such as Hair and Face; None for all but the background.
    """

    model: str = "mattmdjaga/segformer_b2_clothes"
    labels: tuple[str, ...] | None = None


PLUGIN = Plugin(
    "parsing",
    "Human parsing finds a person, by body parts and clothes.",
    extra="models",
    options=ParsingOptions,
    licence="NVIDIA Source Code License for SegFormer, for research and evaluation alone",
    non_commercial="For commercial use take other weights; the segmenter clipseg's are under "
    "Apache-2.0 on the hub, while its authors name no licence.",
)


@dataclass(frozen=True, eq=False)
class ParsingSegmenter:
    """Segments a person with a SegFormer [1]_ trained on body parts and clothes.

    It does not tell people apart: with a box, only what is inside the box is the object.

    References
    ----------
    .. [1] Xie, E. et al., *SegFormer* (NeurIPS 2021).
    """

    vision: VisionModel  # a transformers.SegformerForSemanticSegmentation
    labels: Mapping[int, str]  # the labels of the object

    def segment(self, image: ImageArray, box: Box | None) -> MaskArray:
        """Segment the object; see `cobalance.generation.sources.segmenters.segmenter.Segmenter`."""
        return join_parts(self, "parsing", image, box)

    def parts(self, image: ImageArray) -> Mapping[str, MaskArray]:
        """The mask of each label by its name; empty for one that is not in the image."""
        with self.vision.computing("human parsing on one image"):
            label_of_pixel = self._labels_of(image)
        # A model may have several numbers of one name.
        numbers_of = group_pairs((name, number) for number, name in self.labels.items())
        return {name: np.isin(label_of_pixel, numbers) for name, numbers in numbers_of.items()}

    def describe(self) -> Mapping[str, Any]:
        """The labels, and the model with its weights."""
        settings = {"labels": list(self.labels.values())}
        return {"segmenter": "parsing", "settings": settings, **self.vision.describe()}

    def _labels_of(self, image: ImageArray) -> npt.NDArray[np.int64]:
        """The number of each pixel's label."""
        output = self.vision.model(pixel_values=self.vision.pixels([image]))
        output.logits = output.logits.float().cpu()
        (segmentation,) = self.vision.processor.post_process_semantic_segmentation(
            output, target_sizes=[image.shape[:2]]
        )
        return segmentation.numpy()


def open_segmenter(options: ParsingOptions) -> ParsingSegmenter:
    """Open the segmenter and load its model; see `cobalance.base.registry.Plugins`."""
    vision = open_vision(
        options,
        transformers.SegformerForSemanticSegmentation,
        transformers.SegformerImageProcessorPil,
    )
    names = label_names(vision.model, options.labels or (), "parsing")
    selected = options.labels or [name for name in names.values() if name.lower() != "background"]
    labels = {number: name for number, name in names.items() if name in selected}
    return ParsingSegmenter(vision, labels)
