"""Annotator that finds concepts with Grounding DINO, MM Grounding DINO or LLMDet."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cobalance.annotation.annotators.annotator import DetectingAnnotator
from cobalance.base import JobBlockedError, Plugin, torch, transformers
from cobalance.vision import (
    MODEL_FILE,
    BoxDetector,
    Detections,
    GroundingOptions,
    ImageArray,
    clip_boxes,
    encode_once,
    find_checkpoint,
    load_processor,
    load_vision,
)

PLUGIN = Plugin(
    "grounding-dino",
    "A detector that reads many names at once finds the concepts, with score and box.",
    extra="models",
    options=GroundingOptions,
    licence="Apache-2.0",
)
REVISION = "d05199165a19320a9236396e20fca0a5e065189c"

Tokens = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class GroundingDetector(BoxDetector):
    """Finds names in images with Grounding DINO [1]_.

    The model reads one text of at most 256 tokens, names with a full stop after each, and scores
    each token in each box. The library cuts phrases out of the tokens above a threshold, so that
    names merge, lose words or come back empty (IDEA-Research/GroundingDINO#354, #421). Here the
    place of each name in the text is known, and its score is the mean over its own tokens, as in
    the authors' evaluation on COCO.

    Names of one text change each other's scores. So names are put into texts in their alphabetical
    order, whatever the order of the vocabulary: the vocabulary and `chunk_tokens` say what stood
    beside what. With `alone` they do not depend on each other.

    References
    ----------
    .. [1] Liu, S. et al., *Grounding DINO: Marrying DINO with grounded pre-training for open-set
       object detection* (ECCV 2024).
    """

    options: GroundingOptions
    tokenizer: Any
    _chunks: list[list[str]] = field(default_factory=list, repr=False)

    def look(
        self, images: Sequence[ImageArray], texts: Sequence[str]
    ) -> Iterator[list[Detections]]:
        """Yield the boxes found for each text, image by image; each chunk has its own.

        O(images x chunks) passes; an image goes through the backbone once. Images of a batch share
        a pass where they have the same size: padded ones would score differently.
        """
        tokens_of_texts = list(map(self._tokens, texts))
        chunks = self.chunks(texts)
        self._chunks[:] = [[text for text, _ in chunk] for chunk in chunks]
        nothing = np.empty(0, np.float32), np.empty((0, 4), np.float32)
        for batch in self.vision.batches(images):
            # Images of one size go through the network together, and the others need no padding.
            by_size: dict[torch.Size, list[tuple[int, torch.Tensor]]] = {}
            results: dict[int, dict[Tokens, Detections]] = {}
            with self.vision.computing(f"the detector on {len(batch)} images"):
                for position, image in enumerate(batch):
                    pixels = self.vision.pixels([image])
                    by_size.setdefault(pixels.shape, []).append((position, pixels))
                for group in by_size.values():
                    positions, group_pixels = zip(*group, strict=True)
                    predictions = self._predict(torch.cat(group_pixels), chunks)
                    results.update(zip(positions, predictions, strict=True))

            for position, image in enumerate(batch):
                size = np.array([*image.shape[1::-1]] * 2, dtype=np.float32)
                detections = (results[position].get(tokens, nothing) for tokens in tokens_of_texts)
                yield [(scores, clip_boxes(image, boxes * size)) for scores, boxes in detections]

    def chunks(self, texts: Sequence[str]) -> list[list[tuple[str, Tokens]]]:
        """The texts that share a prompt, with their tokens; each distinct one once.

        Texts are in alphabetical order, those with the same tokens count as one, and those without
        any are left out.
        """
        known: dict[Tokens, str] = {}
        for text in sorted(set(texts)):
            if tokens := self._tokens(text):
                known.setdefault(tokens, text)

        chunks: list[list[tuple[str, Tokens]]] = []
        room = 0
        for tokens, text in known.items():
            # A full stop ends each text.
            needed = len(tokens) + 1
            if self.options.alone or needed > room:
                chunks.append([])
                room = self._limit()
            chunks[-1].append((text, tokens))
            room -= needed
        return chunks

    def describe(self) -> Mapping[str, Any]:
        """The settings, the texts that shared a prompt last, and the model with its weights."""
        described = dict(super().describe())
        options = self.options.model_dump(include={"chunk_tokens", "alone"})
        return {
            **described,
            "settings": {**described["settings"], **options},
            "chunks": list(map(list, self._chunks)),
        }

    def _limit(self) -> int:
        """Tokens of a prompt between its first and last."""
        config = self.vision.model.config
        most = min(config.max_text_len, config.text_config.max_position_embeddings)
        return int(min(self.options.chunk_tokens, most)) - 2

    def _tokens(self, text: str) -> Tokens:
        """Tokenise a text, without tokens that end a name."""
        from transformers.models.grounding_dino.modeling_grounding_dino import SPECIAL_TOKENS

        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return tuple(token for token in ids if token not in SPECIAL_TOKENS)[: self._limit() - 1]

    def _predict(
        self, pixels: "torch.Tensor", chunks: Sequence[Sequence[tuple[str, Tokens]]]
    ) -> list[dict[Tokens, Detections]]:
        """For each image of one size, scores and boxes by the tokens of a text.

        Boxes are centre and size, as shares of the image.
        """
        results: list[dict[Tokens, Detections]] = [{} for _ in pixels]
        for chunk in chunks:
            ids = [self.tokenizer.cls_token_id]
            spans = []
            for _, tokens in chunk:
                spans.append((tokens, len(ids), len(ids) + len(tokens)))
                ids += [*tokens, self.tokenizer.convert_tokens_to_ids(".")]
            ids.append(self.tokenizer.sep_token_id)

            prompt = torch.tensor([ids] * len(pixels), device=self.vision.device)
            output = self.vision.model(pixel_values=pixels, input_ids=prompt)
            scores = output.logits.float().sigmoid()
            boxes = output.pred_boxes.float().cpu().numpy()

            # A text's score is the mean of those of its tokens.
            for tokens, start, end in spans:
                text_scores = scores[:, :, start:end].mean(dim=2).cpu().numpy()
                for result, image_scores, image_boxes in zip(
                    results, text_scores, boxes, strict=True
                ):
                    result[tokens] = image_scores, image_boxes
        return results


def open_annotator(options: GroundingOptions) -> DetectingAnnotator:
    """Open the annotator and load its detector; see `cobalance.base.registry.Plugins`."""
    # LLMDet is an MM Grounding DINO.
    kinds = {
        "grounding-dino": transformers.GroundingDinoForObjectDetection,
        "mm-grounding-dino": transformers.MMGroundingDinoForObjectDetection,
    }
    checkpoint = find_checkpoint(options.model, options.revision_or(REVISION), options.offline)
    kind = str(checkpoint.read_config(MODEL_FILE).get("model_type"))
    if kind not in kinds:
        raise JobBlockedError(
            f"The model {checkpoint.name} is a {kind}, not a Grounding DINO. Give one of the types "
            f"{', '.join(kinds)}, such as {GroundingOptions.model_fields['model'].default}."
        )

    vision = load_vision(
        options, checkpoint, kinds[kind], transformers.GroundingDinoImageProcessorPil
    )
    # All chunks of texts look at the same images.
    encoder = vision.model.model.backbone.conv_encoder
    encoder.forward = encode_once(encoder.forward)
    tokenizer = load_processor(transformers.AutoTokenizer, checkpoint)
    return DetectingAnnotator(PLUGIN.name, GroundingDetector(options, vision, tokenizer))
