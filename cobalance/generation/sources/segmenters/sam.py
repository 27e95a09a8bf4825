"""Segmenter of the object in a box, with Segment Anything."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cobalance.base import Box, Image, Plugin, transformers
from cobalance.generation.image_request import GenerationError
from cobalance.generation.sources.segmenters.segmenter import check_box, check_mask
from cobalance.vision import ImageArray, MaskArray, ModelOptions, VisionModel, open_vision


class SamOptions(ModelOptions):
    """Options of the segmenter's model."""

    model: str = "facebook/sam-vit-base"


PLUGIN = Plugin(
    "sam",
    "Segment Anything finds the object in an annotated box.",
    extra="models",
    options=SamOptions,
    licence="Apache-2.0",
)


@dataclass(frozen=True, eq=False)
class SamSegmenter:
    """Segments the object in a box with SAM [1]_; a single mask, since boxes are hardly ambiguous.

    References
    ----------
    .. [1] Kirillov, A. et al., *Segment anything* (ICCV 2023).
    """

    vision: VisionModel  # a transformers.SamModel
    prepare: Any  # a transformers.SamProcessor

    def segment(self, image: ImageArray, box: Box | None) -> MaskArray:
        """Segment the object; see `cobalance.generation.sources.segmenters.segmenter.Segmenter`."""
        if box is None:
            raise GenerationError(
                "The image has no box for its object, and the segmenter sam needs one. Annotate a "
                "box or the outline, or use another segmenter."
            )
        check_box(image, box)
        self._check_shape(image)
        with self.vision.computing("Segment Anything on one image"):
            mask = self._predict(image, box)
        return check_mask(mask, "sam")

    def describe(self) -> Mapping[str, Any]:
        """The model with its weights."""
        return {"segmenter": "sam", "settings": {}, **self.vision.describe()}

    def _check_shape(self, image: ImageArray) -> None:
        """Raise GenerationError where the shorter side of an image vanishes at the model's size."""
        height, width = image.shape[:2]
        longest_px = self.vision.processor.size["longest_edge"]
        if int(min(height, width) * longest_px / max(height, width) + 0.5) < 1:
            raise GenerationError(
                f"The segmenter sam finds no object in an image of {width} x {height} px: at its "
                f"{longest_px} px nothing is left of the shorter side. Take another image, another "
                "segmenter, or annotate the outline."
            )

    def _predict(self, image: ImageArray, box: Box) -> MaskArray:
        """Compute the mask of the object in a box, in the image's size."""
        x, y, width, height = box
        inputs = self.prepare(
            images=Image.fromarray(image),
            input_boxes=[[[x, y, x + width, y + height]]],
            return_tensors="pt",
        )
        output = self.vision.model(
            pixel_values=inputs["pixel_values"].to(self.vision.device, self.vision.dtype),
            input_boxes=inputs["input_boxes"].to(self.vision.device, self.vision.dtype),
            multimask_output=False,
        )

        masks = self.vision.processor.post_process_masks(
            output.pred_masks.float().cpu(),
            inputs["original_sizes"],
            inputs["reshaped_input_sizes"],
        )
        return masks[0][0, 0].numpy()


def open_segmenter(options: SamOptions) -> SamSegmenter:
    """Open the segmenter and load its model; see `cobalance.base.registry.Plugins`."""
    vision = open_vision(options, transformers.SamModel, transformers.SamImageProcessorPil)
    return SamSegmenter(vision, transformers.SamProcessor(vision.processor))  # type: ignore[no-untyped-call]
