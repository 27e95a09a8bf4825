"""Embedding filter: whether edited objects lie among real ones and their own group."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from cobalance.base import JobBlockedError, positions_of, readable, transformers
from cobalance.generation.filters.filter import (
    FilterPlugin,
    Judgement,
    Said,
    Scored,
    describe_score,
    number_text,
    without_source,
)
from cobalance.generation.filters.pool import Pool, count_group_neighbours, count_real_neighbours
from cobalance.generation.image_request import GeneratedImage, ImageRequest
from cobalance.vision import (
    CLIP,
    CLIP_REVISION,
    ImageArray,
    MaskArray,
    ModelOptions,
    VisionModel,
    find_box,
    find_checkpoint,
    load_vision,
)

DINO = "facebook/dino-vitb16"
"""Its weights are under the Apache-2.0 licence."""

REVISIONS = {CLIP: CLIP_REVISION, DINO: "a77533c84408875b30b5e8beb766c82a5be82bf4"}
"""Commits with safetensors: the main branches have pickles. DINO's is the hub's own conversion."""

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "clip": {"model": CLIP, "k_real": 50, "min_real": 0.08, "k_group": 50, "min_group": 0.5},
    "dino": {"model": DINO, "k_real": 5000, "min_real": 0.0002, "k_group": 50, "min_group": 0.4},
}
"""The two settings of the paper: its appendix, A.3 and F."""


class EmbeddingOptions(ModelOptions):
    """Model, neighbourhoods and thresholds.

    Parameters
    ----------
    preset : {"clip", "dino"}
        Defaults of the options below, as in the paper's A.3 (CLIP ViT-B/32), or its F (DINO
        ViT-B/16: 5,000 neighbours of which 0.0002, so one, must be real; then 0.4 of 50).
    model : str
        As for any model; a CLIP or a ViT.
    k_real, min_real : int, float
        P_R: of so many nearest neighbours at least this share must be real images.
    k_group, min_group : int, float
        P_G: of so many nearest neighbours at least this share must be of the group.
    """

    preset: Literal["clip", "dino"] = "clip"
    model: str = CLIP
    k_real: int = Field(default=50, ge=1)
    min_real: float = Field(default=0.08, ge=0, le=1)
    k_group: int = Field(default=50, ge=1)
    min_group: float = Field(default=0.5, ge=0, le=1)

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, values: Any) -> Any:
        """Fill in the preset."""
        preset = values.get("preset") if isinstance(values, Mapping) else None
        return {**PRESETS[preset], **values} if preset in ("clip", "dino") else values


@dataclass(frozen=True, eq=False)
class EmbeddingFilter:
    """Embeds the object of each image and that of its source, for `judge_pool`.

    The score is the cosine of the two embeddings. Every image is accepted at first, and judged
    again when all images of the job are made; one without a source is rejected with a score of 0.

    The object is the box about the source's mask, in the image too, and scaled where that has
    another size. The paper does not say that crops are embedded; here they are, as crops are what
    it edits. Each model's own preparation is used: CLIP's keeps the middle square of a crop, DINO's
    squeezes it to a square. CLIP's embedding is the projected one, DINO's that of its class token.
    """

    options: EmbeddingOptions
    vision: VisionModel  # a transformers.CLIPModel or a transformers.ViTModel

    def judge(
        self, requests: Sequence[ImageRequest], made: Sequence[GeneratedImage]
    ) -> list[Judgement]:
        """Embed a batch; sources that several of its requests share are embedded once."""
        crops = dict[object, ImageArray]()
        for position, (request, generated) in enumerate(zip(requests, made, strict=True)):
            if request.source is not None:
                mask = request.source.mask
                crops[id(request.source)] = crop_object(request.source.image, mask)
                crops["made", position] = crop_object(generated.image, mask)
        with self.vision.computing(f"the embeddings of {len(crops)} crops"):
            vectors = dict(zip(crops, self.embed(list(crops.values())), strict=True))

        judgements = []
        for position, request in enumerate(requests):
            if request.source is None:
                judgements.append(without_source("embedding"))
            else:
                vector, source = vectors["made", position], vectors[id(request.source)]
                judgements.append(_first_judgement(vector, source))
        return judgements

    def describe(self) -> Mapping[str, Any]:
        """The settings, and the model with its weights."""
        settings = self.options.model_dump(include=set(PRESETS["clip"]) - {"model"})
        return {"filter": "embedding", "settings": settings, **self.vision.describe()}

    def embed(self, crops: Sequence[ImageArray]) -> npt.NDArray[np.float32]:
        """Embeddings of unit length, of shape (crops, d)."""
        model = self.vision.model
        rows = [np.empty((0, 0))]
        for batch in self.vision.batches(crops):
            pixels = self.vision.pixels(batch)
            if model.config.model_type == "clip":
                features = model.get_image_features(pixel_values=pixels).pooler_output
            else:
                features = model(pixel_values=pixels).last_hidden_state[:, 0]
            rows.append(features.double().cpu().numpy())

        values = np.concatenate(rows[1:] or rows)
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        # A vector of zeros becomes NaN, which `_first_judgement` rejects.
        with np.errstate(divide="ignore", invalid="ignore"):
            unit: npt.NDArray[np.float32] = np.divide(values, lengths).astype(np.float32)
        return unit


def crop_object(image: ImageArray, mask: MaskArray) -> ImageArray:
    """The part of an image inside the box about a mask, which may be of another size.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        The image.
    mask : bool array, shape (rows, columns)
        True on the object, somewhere. Where its size is not the image's, the box is scaled, and
        every pixel that it touches is in the crop.
    """
    box, (height, width), (rows, columns) = find_box(mask), image.shape[:2], mask.shape
    bottom = math.ceil(box.bottom * height / rows)
    right = math.ceil(box.right * width / columns)
    return image[box.top * height // rows : bottom, box.left * width // columns : right]


def judge_pool(pool: Pool, options: EmbeddingOptions) -> dict[str, Judgement]:
    """Judge all images of a job by their neighbours ([1]_, A.3).

    First P_R, the share of real images among the nearest neighbours of an edited one in the pool of
    all real and edited images; then, of those that pass and the real images, P_G, the share of
    images of its group. Both thresholds are inclusive. The details have the shares as ``p_real``
    and ``p_group``, which only an image that passes the first has; the score is the cosine with the
    source as before.

    The paper leaves open what is in the pools. Here no image is its own neighbour; a source is in
    the pool once, however many images were made of it; an edited image counts as of the group that
    it was asked to show, a real one as of its class. For ties and small pools see
    `cobalance.generation.filters.pool.count_real_neighbours`.

    References
    ----------
    .. [1] *GenSynth* (2023), section 3 and appendix, A.3 and F.
    """
    real, n = count_real_neighbours(pool, options.k_real)
    shares = real / max(n, 1)
    passes = shares >= options.min_real
    group, n_passing = count_group_neighbours(pool, options.k_group, passes)
    # Neighbours of its group were counted only for candidates that pass.
    of_group = np.zeros(len(pool.candidates), dtype=np.int64)
    of_group[passes] = group

    row_of = positions_of(pool.real)
    sources = pool.real_vectors[[row_of[name] for name in pool.sources]]
    cosines = np.vecdot(pool.vectors, sources, dtype=np.float64)

    judgements = {}
    for row, candidate in enumerate(pool.candidates):
        details, reason = {"p_real": float(shares[row])}, ""
        if not passes[row]:
            reason = (
                f"{real[row]} of its {n} nearest neighbours are real images: {shares[row]:.4g}, "
                f"less than {options.min_real:g}."
            )
        else:
            details["p_group"] = int(of_group[row]) / max(n_passing, 1)
            if details["p_group"] < options.min_group:
                name = readable(pool.groups[row])
                reason = (
                    f"{of_group[row]} of its {n_passing} nearest neighbours show {name}: "
                    f"{details['p_group']:.4g}, less than {options.min_group:g}."
                )

        judgements[candidate] = Judgement(float(cosines[row]), reason, details)
    return judgements


def _first_judgement(vector: npt.NDArray[np.float32], source: npt.NDArray[np.float32]) -> Judgement:
    cosine = float(np.vecdot(vector, source, dtype=np.float64))
    if not np.isfinite(cosine):
        return Judgement(0.0, "The model gives no finite embedding of the image or of its source.")
    return Judgement(cosine, vectors={"image": vector, "source": source})


def _says(found: Scored, options: EmbeddingOptions) -> Said:
    parts = [Said(f"As close to its source as {number_text(found.score)} (cosine)")]
    shares = (
        ("p_real", options.min_real, "of its neighbours are real"),
        ("p_group", options.min_group, "are of its group"),
    )

    for name, least, words in shares:
        if name in found.details:
            enough, too_little = f"enough {words}", f"too few {words}"
            share = found.details[name]
            parts.append(describe_score(share, least, enough=enough, too_little=too_little))
    return Said.all(parts)


PLUGIN = FilterPlugin(
    "embedding",
    "Nearest neighbours of the object are real, and of its group.",
    extra="models",
    options=EmbeddingOptions,
    licence="none named on the hub, its code is under MIT; that of the preset dino is Apache-2.0",
    judge_pool=judge_pool,
    says=_says,
    looks=lambda options: frozenset(["class"] if options.min_group else []),
)


def open_filter(options: EmbeddingOptions) -> EmbeddingFilter:
    """Open the filter and load its model; see `cobalance.base.registry.Plugins`."""
    revision = options.revision or REVISIONS.get(options.model)
    checkpoint = find_checkpoint(options.model, revision, options.offline)

    match checkpoint.read_config("config.json").get("model_type"):
        case "clip":
            vision = load_vision(
                options, checkpoint, transformers.CLIPModel, transformers.CLIPImageProcessorPil
            )
        case "vit":
            # DINO has no pooling layer, and ViT's would be random.
            vision = load_vision(
                options,
                checkpoint,
                transformers.ViTModel,
                transformers.ViTImageProcessorPil,
                add_pooling_layer=False,
            )
        case kind:
            raise JobBlockedError(
                f"The model {checkpoint.label} is a {kind}, not a CLIP or a ViT. Give one of these "
                "as the filter embedding's model."
            )

    return EmbeddingFilter(options, vision)
