"""Open-vocabulary detection of named objects with OWLv2."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from transformers import CLIPTokenizer, Owlv2ForObjectDetection, Owlv2ImageProcessorPil

from cobalance.ingest.images.arrays import ImageArray
from cobalance.ingest.models.boxes import BoxDetector, Floats, Found
from cobalance.ingest.models.devices import out_of_memory
from cobalance.ingest.models.loading import load_processor
from cobalance.ingest.models.options import DetectorOptions
from cobalance.ingest.models.vision import embed_new, open_vision

REVISION = "cfd3195ba4ea9592eec887ded089f4c08eff231d"


@dataclass(frozen=True, eq=False)
class Detector(BoxDetector):
    """Finds names in images with OWLv2 [1]_.

    Names are scored independently, so that a box may get two names: the library's post-processing
    keeps the best one only, so that a near synonym in the vocabulary would hide a concept. Boxes
    centred in the square padding are dropped, others clipped to the image.

    Parameters
    ----------
    options : DetectorOptions
        Threshold and words.
    vision : VisionModel
        An `Owlv2ForObjectDetection`.
    tokenizer : CLIPTokenizer
        Its tokenizer.

    References
    ----------
    .. [1] Minderer, M. et al., *Scaling open-vocabulary object detection* (NeurIPS 2023).
    """

    tokenizer: Any
    _embeddings: dict[str, torch.Tensor] = field(default_factory=dict, repr=False)

    def look(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Iterator[list[Found]]:
        """For each image, what was found of each text: all share the model's boxes."""
        for batch in self.vision.batches(images):
            with out_of_memory(f"the detector on {len(batch)} images"):
                found = self._predict(batch, texts)
            for image, one in zip(batch, found, strict=True):
                scores, boxes = _inside(image, *one)
                yield [(column, boxes) for column in scores.T]

    @torch.inference_mode()
    def _predict(
        self, images: Sequence[ImageArray], texts: Sequence[str]
    ) -> list[tuple[Floats, Floats]]:
        model = self.vision.model
        feature_map, _ = model.image_embedder(self.vision.pixels(images))
        features = feature_map.flatten(1, 2)
        boxes = model.box_predictor(features, feature_map).float().cpu().numpy()
        if not texts:
            return [(np.empty((len(rows), 0), dtype=np.float32), rows) for rows in boxes]
        embedded = embed_new(self._embeddings, texts, self._embed).expand(len(images), -1, -1)
        logits, _ = model.class_predictor(features, embedded)
        scores = torch.sigmoid(logits.float()).cpu().numpy()
        return list(zip(scores, boxes, strict=True))

    def _embed(self, texts: Sequence[str]) -> torch.Tensor:
        tokens = self.vision.tokens(self.tokenizer, texts)
        features: torch.Tensor = self.vision.model.owlv2.get_text_features(**tokens).pooler_output
        return features


def open_detector(options: DetectorOptions) -> Detector:
    """Load a detector; errors are those of `cobalance.ingest.models.vision.open_vision`."""
    vision = open_vision(options, Owlv2ForObjectDetection, Owlv2ImageProcessorPil, REVISION)
    return Detector(options, vision, load_processor(CLIPTokenizer, vision.checkpoint))


def _inside(image: ImageArray, scores: Floats, boxes: Floats) -> tuple[Floats, Floats]:
    """Scores and corners in pixels of the boxes centred in the image, clipped to it.

    OWLv2 pads an image at the right and the bottom to a square, and gives boxes as centre and size
    in shares of the square.
    """
    height, width = image.shape[:2]
    centres, sizes = np.split(boxes * max(height, width), 2, axis=1)
    limits = np.array([width, height], dtype=np.float32)
    inside = (centres <= limits).all(axis=1)
    low = np.clip(centres - sizes / 2, 0, limits)[inside]
    high = np.clip(centres + sizes / 2, 0, limits)[inside]
    return scores[inside], np.concatenate([low, high], axis=1)
