"""CLIPScore filter: reject images that do not match their prompt or concepts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field, field_validator

from cobalance.base import join_names
from cobalance.generation.filters.filter import (
    LOOKS_FOR_ALL,
    FilterPlugin,
    Judgement,
    Said,
    Scored,
    describe_score,
)
from cobalance.generation.image_request import GeneratedImage, ImageRequest
from cobalance.vision import (
    CLIPSCORE_WEIGHT,
    PHOTO,
    ClipModelOptions,
    ImageTextClip,
    check_template,
    load_image_text_clip,
    placeholders,
    prompt_for,
)


class ClipOptions(ClipModelOptions):
    """Model, text and threshold of CLIPScore.

    Parameters
    ----------
    threshold : float or None
        The least CLIPScore, from 0 to 2.5. The paper's 0.6 is a cosine of 0.24. None accepts every
        image, for a recipe that only ranks.
    text : str
        What the image is compared with: ``prompt``, the request's; ``concepts``, the paper's
        prompt for the request's concepts, whatever the backend was told; or a template as in
        `cobalance.vision.models.prompts` without ``{noun}`` and ``{adjective}``, such as
        ``{caption}`` for the edited caption. A request that lacks what the template names, concepts
        or a caption, is compared with its prompt.
    prefix : str
        Put before the text. The authors of CLIPScore write "A photo depicts " before captions;
        the prompts here begin with "a photo of" as they are.
    """

    threshold: float | None = Field(default=0.6, ge=0, le=CLIPSCORE_WEIGHT)
    text: str = "prompt"
    prefix: str = ""

    @field_validator("text")
    @classmethod
    def _check_text(cls, text: str) -> str:
        if text in ("prompt", "concepts"):
            return text

        check_template(text)
        if unknown := placeholders(text) & {"noun", "adjective"}:
            raise ValueError(
                f"a job's words for its groups are in the prompt alone, and the text has "
                f"{{{min(unknown)}}}; write {{class}} or {{caption}}, or leave the text as 'prompt'"
            )
        return text


def _says(found: Scored, options: ClipOptions) -> Said:
    fields = placeholders(PHOTO if options.text == "concepts" else options.text)
    subject, missing = "what its prompt says", "does not find what its prompt says"

    if "caption" in fields:
        # Whether it has a caption is not stored with the score.
        subject = "what its caption or prompt says"
        missing = f"does not find {subject}"
    elif fields & {"concepts", "names"} and found.concepts:
        subject = join_names(found.concepts)
        is_one = len(found.concepts) == 1
        missing = f"finds no {subject}" if is_one else f"does not find all of {subject}"

    return describe_score(
        found.score,
        options.threshold,
        enough=f"CLIP finds {subject}",
        too_little=f"CLIP {missing}",
        measured=f"CLIPScore of {subject}",
    )


PLUGIN = FilterPlugin(
    "clip",
    "The image shows what the prompt says: CLIPScore.",
    extra="models",
    options=ClipOptions,
    licence="none named on the hub; its code is under MIT",
    says=_says,
    looks=lambda options: LOOKS_FOR_ALL if options.threshold else frozenset(),
)


@dataclass(frozen=True, eq=False)
class ClipFilter:
    """Rejects images with a low CLIPScore against their text.

    The score is CLIPScore without references [1]_: 2.5 times the cosine between CLIP's embeddings
    of image and text, or 0 where that is negative. The details keep the cosine.

    The paper [2]_ (section 10) scores the generated background before the object is pasted onto
    it, with a threshold of 0.6. Here the finished image is scored, since inpainting and editing
    never make a background alone. The object covers a part of it and is not in the prompt, so the
    same threshold may reject more here; the details keep the cosine for a choice by the data.

    References
    ----------
    .. [1] Hessel, J. et al., *CLIPScore: A reference-free evaluation metric for image captioning*
       (EMNLP 2021), section 3.
    .. [2] *ConBias* (2024), sections 4 and 10.
    """

    options: ClipOptions
    clip: ImageTextClip

    def judge(
        self, requests: Sequence[ImageRequest], made: Sequence[GeneratedImage]
    ) -> list[Judgement]:
        """Judge a batch; see `cobalance.generation.filters.filter.Filter`."""
        texts = list(map(self._text, requests))
        with self.clip.vision.computing(f"CLIP on {len(made)} images"):
            cosines = self.clip.cosines([generated.image for generated in made], texts)
        return [self._judgement(text, cosine) for text, cosine in zip(texts, cosines, strict=True)]

    def describe(self) -> Mapping[str, Any]:
        """The settings, and the model with its weights."""
        settings = self.options.model_dump(include={"threshold", "text", "prefix"})
        return {"filter": "clip", "settings": settings, **self.clip.vision.describe()}

    def _text(self, request: ImageRequest) -> str:
        """The text that an image is compared with: the prompt where the request has no other."""
        if self.options.text == "prompt":
            return self.options.prefix + request.prompt

        template = PHOTO if self.options.text == "concepts" else self.options.text
        fields = placeholders(template)
        lacks_concepts = not request.concepts and bool(fields & {"concepts", "names"})
        lacks_caption = not request.caption and "caption" in fields

        if lacks_concepts or lacks_caption:
            return self.options.prefix + request.prompt
        return self.options.prefix + prompt_for(
            request.concepts, template, class_name=request.class_name, caption=request.caption
        )

    def _judgement(self, text: str, cosine: np.float64) -> Judgement:
        """Judge an image by the cosine of its vector and that of its text."""
        score = CLIPSCORE_WEIGHT * max(float(cosine), 0.0)
        details: dict[str, Any] = {"cosine": float(cosine)}
        length = self.clip.vision.model.config.text_config.max_position_embeddings
        if len(self.clip.tokenizer(text)["input_ids"]) > length:
            # CLIP has not read the end of the text.
            details["truncated"] = True

        least, reason = self.options.threshold, ""
        # NaN is rejected, too.
        if least is not None and not score >= least:
            reason = (
                f"The image does not show {text!r}: CLIPScore {score:.3f}, less than {least:g}."
            )
        return Judgement(score, reason, details)


def open_filter(options: ClipOptions) -> ClipFilter:
    """Open the filter and load its model; see `cobalance.base.registry.Plugins`."""
    return ClipFilter(options, load_image_text_clip(options))
