"""Open-vocabulary detection of named objects with OWLv2."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cobalance.base import Box, Mention, torch, transformers
from cobalance.vision.images import ImageArray
from cobalance.vision.models.loading import load_processor
from cobalance.vision.models.options import DetectorOptions
from cobalance.vision.models.prompts import prompt_for
from cobalance.vision.models.vision import VisionModel, embed_new, open_vision

Floats = npt.NDArray[np.float32]
Detections = tuple[Floats, Floats]
"""Scores of a text in some boxes, shape (n,), and the boxes as two corners in pixels, (n, 4)."""


@dataclass(frozen=True, eq=False)
class BoxDetector(ABC):
    """Finds names in images, with a score and a box for each."""

    options: DetectorOptions
    vision: VisionModel

    @abstractmethod
    def look(
        self, images: Sequence[ImageArray], texts: Sequence[str]
    ) -> Iterator[list[Detections]]:
        """Yield the boxes found for each text, image by image; OutOfMemoryError for too many."""

    def detect(self, images: Sequence[ImageArray], names: Sequence[str]) -> list[list[Mention]]:
        """Detect objects in images; their areas are unknown, as a box is not an outline.

        Returns
        -------
        list of list of Mention
            For each image, in the order of the names and then by falling score, with the label of
            the checkpoint as the source.
        """
        threshold, overlap = self.options.threshold, self.options.overlap
        mentions_by_image = []
        for detections in self.look(images, self._texts(names)):
            mentions = []
            for name, (scores, boxes) in zip(names, detections, strict=True):
                rows = suppress_overlaps(scores, boxes, threshold, overlap)
                mentions += [
                    Mention(
                        name, self.vision.checkpoint.label, float(scores[row]), box=_box(boxes[row])
                    )
                    for row in rows
                ]
            mentions_by_image.append(mentions)
        return mentions_by_image

    def best_scores(self, images: Sequence[ImageArray], names: Sequence[str]) -> Floats:
        """Highest score of each name in each image, of shape (images, names)."""
        return self.best(images, self._texts(names))[0]

    def best(self, images: Sequence[ImageArray], texts: Sequence[str]) -> tuple[Floats, Floats]:
        """Score and box of the best box of each text in each image; texts are taken as they are.

        Returns
        -------
        float32 array, shape (images, texts), float32 array, shape (images, texts, 4)
            0 and NaN where there is no box; a box is x and y of the top left corner, width and
            height, in pixels.
        """
        shape = (len(images), len(texts))
        highest = np.zeros(shape, np.float32)
        places = np.full((*shape, 4), np.nan, np.float32)

        for image, detections in enumerate(self.look(images, texts)):
            for text, (scores, boxes) in enumerate(detections):
                if len(scores):
                    row = scores.argmax()
                    highest[image, text] = scores[row]
                    places[image, text] = _box(boxes[row])
        return highest, places

    def describe(self) -> Mapping[str, Any]:
        """The settings, and the model with its weights."""
        settings = self.options.model_dump(include={"threshold", "overlap", "query"})
        return {"settings": settings, **self.vision.describe()}

    def _texts(self, names: Sequence[str]) -> list[str]:
        return [prompt_for([name], self.options.query) for name in names]


def suppress_overlaps(scores: Floats, boxes: Floats, threshold: float, overlap: float) -> list[int]:
    """Rows above the threshold after greedy non-maximum suppression, by falling score.

    Scores have the shape (n,), boxes (n, 4): two corners each. `overlap` is the highest
    intersection over union with a box that was kept.
    """
    remaining = np.flatnonzero(scores >= threshold)
    remaining = remaining[np.argsort(-scores[remaining], kind="stable")]
    selected = []
    while len(remaining):
        surest, others = remaining[0], remaining[1:]
        selected.append(int(surest))
        remaining = others[_overlaps(boxes[surest], boxes[others]) <= overlap]
    return selected


def _overlaps(box: Floats, others: Floats) -> Floats:
    """Intersection over union of one box with others, all as two corners."""
    low = np.maximum(box[:2], others[:, :2])
    high = np.minimum(box[2:], others[:, 2:])
    common = np.clip(high - low, 0, None).prod(axis=1)
    union = (box[2:] - box[:2]).prod() + (others[:, 2:] - others[:, :2]).prod(axis=1) - common
    return common / np.maximum(union, np.finfo(np.float32).tiny)


def _box(corners: Floats) -> Box:
    """Two corners as top left corner, width and height."""
    x, y, right, bottom = map(float, corners)
    return x, y, right - x, bottom - y


REVISION = "cfd3195ba4ea9592eec887ded089f4c08eff231d"


@dataclass(frozen=True, eq=False)
class Detector(BoxDetector):
    """Finds names in images with OWLv2 [1]_.

    Names are scored independently, so that a box may get two names: the library's post-processing
    keeps the best one only, so that a near synonym in the vocabulary would hide a concept. Boxes
    centred in the square padding are dropped, others clipped to the image.

    References
    ----------
    .. [1] Minderer, M. et al., *Scaling open-vocabulary object detection* (NeurIPS 2023).
    """

    tokenizer: Any
    _embeddings: "dict[str, torch.Tensor]" = field(default_factory=dict, repr=False)

    def look(
        self, images: Sequence[ImageArray], texts: Sequence[str]
    ) -> Iterator[list[Detections]]:
        """Yield the boxes found for each text, image by image; all texts share the boxes."""
        for batch in self.vision.batches(images):
            with self.vision.computing(f"the detector on {len(batch)} images"):
                predictions = self._predict(batch, texts)
            for image, (all_scores, all_boxes) in zip(batch, predictions, strict=True):
                scores, boxes = _inside(image, all_scores, all_boxes)
                yield [(column, boxes) for column in scores.T]

    def _predict(
        self, images: Sequence[ImageArray], texts: Sequence[str]
    ) -> list[tuple[Floats, Floats]]:
        """Scores, shape (boxes, texts), and boxes in shares of the square, of each image."""
        model = self.vision.model
        feature_map, _ = model.image_embedder(self.vision.pixels(images))
        features = feature_map.flatten(1, 2)
        boxes = model.box_predictor(features, feature_map).float().cpu().numpy()
        if not texts:
            return [(np.empty((len(rows), 0), dtype=np.float32), rows) for rows in boxes]

        embedded = embed_new(self._embeddings, texts, self._embed).expand(len(images), -1, -1)
        logits, _ = model.class_predictor(features, embedded)
        scores = logits.float().sigmoid().cpu().numpy()
        return list(zip(scores, boxes, strict=True))

    def _embed(self, texts: Sequence[str]) -> "torch.Tensor":
        tokens = self.vision.tokens(self.tokenizer, texts)
        return self.vision.model.owlv2.get_text_features(**tokens).pooler_output


def open_detector(options: DetectorOptions) -> Detector:
    """Load a detector; errors as in `cobalance.vision.models.vision.open_vision`."""
    vision = open_vision(
        options, transformers.Owlv2ForObjectDetection, transformers.Owlv2ImageProcessorPil, REVISION
    )
    return Detector(options, vision, load_processor(transformers.CLIPTokenizer, vision.checkpoint))


def _inside(image: ImageArray, scores: Floats, boxes: Floats) -> tuple[Floats, Floats]:
    """Scores and corners in pixels of the boxes centred in the image, clipped to it.

    OWLv2 pads an image at the right and the bottom to a square, and gives boxes as centre and size
    in shares of the square.
    """
    boxes = boxes * max(image.shape[:2])
    inside = (boxes[:, :2] <= np.array(image.shape[1::-1], dtype=np.float32)).all(axis=1)
    return scores[inside], clip_boxes(image, boxes[inside])


def clip_boxes(image: ImageArray, boxes: Floats) -> Floats:
    """Boxes, by centre and size in pixels, as two corners clipped to the image."""
    limits = np.array(image.shape[1::-1], dtype=np.float32)
    centres, sizes = np.split(boxes, 2, axis=1)
    low, high = centres - sizes / 2, centres + sizes / 2
    return np.concatenate([np.clip(low, 0, limits), np.clip(high, 0, limits)], axis=1)
