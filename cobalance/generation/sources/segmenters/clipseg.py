"""Segmenter of objects that a text names, such as skin, with CLIPSeg."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from cobalance.base import Box, Plugin, torch, transformers
from cobalance.generation.sources.mask_settings import as_tuple
from cobalance.generation.sources.segmenters.segmenter import join_parts
from cobalance.vision import (
    ImageArray,
    MaskArray,
    ModelOptions,
    VisionModel,
    load_processor,
    open_vision,
)


class ClipSegOptions(ModelOptions):
    """Model, and texts that name the object's parts.

    The default model's weights are under Apache-2.0 on the hub. Its authors' repository has the
    code alone under MIT, and they say there that they released the weights for research, without a
    licence: make sure before any commercial use. Its masks are coarser than those of parsing.

    Parameters
    ----------
    texts : tuple of str
        What to look for, such as skin, face, hand, person or dog.
    threshold : float
        Lowest probability of a pixel; not tuned on any dataset.
    """

    model: str = "CIDAS/clipseg-rd64-refined"
    texts: Annotated[tuple[str, ...], BeforeValidator(as_tuple), Field(min_length=1)] = ("skin",)
    threshold: float = Field(default=0.5, ge=0, le=1)


PLUGIN = Plugin(
    "clipseg",
    "CLIPSeg finds what texts say, such as skin or face.",
    extra="models",
    options=ClipSegOptions,
    licence="Apache-2.0 on the hub; its authors name none, and speak of research",
)


@dataclass(frozen=True, eq=False)
class ClipSegSegmenter:
    """Segments objects that texts name with CLIPSeg [1]_.

    It does not tell objects apart: with a box, only what is inside the box is the object.

    References
    ----------
    .. [1] Lüddecke, T. and Ecker, A., *Image segmentation using text and image prompts*
       (CVPR 2022).
    """

    options: ClipSegOptions
    vision: VisionModel  # a transformers.CLIPSegForImageSegmentation
    tokenizer: Any

    def segment(self, image: ImageArray, box: Box | None) -> MaskArray:
        """Segment the object; see `cobalance.generation.sources.segmenters.segmenter.Segmenter`."""
        return join_parts(self, "clipseg", image, box)

    def parts(self, image: ImageArray) -> Mapping[str, MaskArray]:
        """The mask of each text; empty for one that says nothing of the image."""
        texts = dict.fromkeys(self.options.texts)
        with self.vision.computing("CLIPSeg on one image"):
            masks = self._predict(image, list(texts))
        return dict(zip(texts, masks, strict=True))

    def describe(self) -> Mapping[str, Any]:
        """The texts and the threshold, and the model with its weights."""
        settings = {"texts": list(self.options.texts), "threshold": self.options.threshold}
        return {"segmenter": "clipseg", "settings": settings, **self.vision.describe()}

    def _predict(self, image: ImageArray, texts: list[str]) -> list[MaskArray]:
        """Compute the mask of each text, in the image's size."""
        pixels = self.vision.pixels([image])
        logits = self.vision.model(
            pixel_values=pixels.expand(len(texts), -1, -1, -1),
            **self.vision.tokens(self.tokenizer, texts),
        ).logits

        at_model_size = logits.float().reshape(len(texts), 1, *logits.shape[-2:])
        shares = torch.nn.functional.interpolate(
            at_model_size, image.shape[:2], mode="bilinear", align_corners=False
        )[:, 0].sigmoid()
        return list((shares >= self.options.threshold).cpu().numpy())


def open_segmenter(options: ClipSegOptions) -> ClipSegSegmenter:
    """Open the segmenter and load its model; see `cobalance.base.registry.Plugins`."""
    vision = open_vision(
        options, transformers.CLIPSegForImageSegmentation, transformers.ViTImageProcessorPil
    )
    return ClipSegSegmenter(
        options, vision, load_processor(transformers.CLIPTokenizer, vision.checkpoint)
    )
