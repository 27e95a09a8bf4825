"""Cache of prompt embeddings."""

import inspect
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import diffusers
import torch

from cobalance.generation.backends.pipelines.options import find_family

KEPT = 64
"""Number of prompts whose embeddings stay on the device; a query has one prompt."""


class TextEncoder:
    """Encodes prompts for a pipeline, with a cache of embeddings.

    Each prompt is encoded alone, so that its embeddings do not depend on the batch. Other
    families than Stable Diffusion and FLUX.1 get the words, and encode them each time.
    """

    def __init__(self, pipeline: Any, device: torch.device, negative_prompt: str = "") -> None:
        self._pipeline, self._device = pipeline, device
        self._negative_prompt = negative_prompt
        self._kept: OrderedDict[tuple[str, bool], dict[str, torch.Tensor]] = OrderedDict()
        self._family = find_family(type(pipeline).__name__)

    def __call__(self, prompts: Sequence[str], *, guided: bool) -> Mapping[str, Any]:
        """Arguments of the pipeline's call that stand for these prompts, one an image.

        Parameters
        ----------
        guided : bool
            Whether the call compares with a negative prompt.
        """
        if self._family not in ("Stable Diffusion", "FLUX.1"):
            words: dict[str, Any] = {"prompt": list(prompts)}
            if self._negative_prompt:
                words["negative_prompt"] = [self._negative_prompt] * len(prompts)
            return words
        encoded = [self._remember(prompt, guided) for prompt in prompts]
        return {name: torch.cat([one[name] for one in encoded]) for name in encoded[0]}

    def _remember(self, prompt: str, guided: bool) -> dict[str, torch.Tensor]:
        key = prompt, guided
        if key not in self._kept:
            with torch.no_grad():
                self._kept[key] = self._encode(prompt, guided)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def _encode(self, prompt: str, guided: bool) -> dict[str, torch.Tensor]:
        # InstructPix2Pix alone has no encode_prompt; its encoder is Stable Diffusion's own
        of_class = getattr(
            type(self._pipeline), "encode_prompt", diffusers.StableDiffusionPipeline.encode_prompt
        )
        options: dict[str, Any] = {"device": self._device, "num_images_per_prompt": 1}
        # Stable Diffusion 3 names a prompt for each of its encoders; None is the first one's
        for name, parameter in inspect.signature(of_class).parameters.items():
            if name.startswith("prompt_") and parameter.default is inspect.Parameter.empty:
                options[name] = None
        if self._family == "FLUX.1":
            embeds, pooled, _ = of_class(self._pipeline, prompt=prompt, **options)
            return {"prompt_embeds": embeds, "pooled_prompt_embeds": pooled}
        options |= {"do_classifier_free_guidance": guided}
        if guided and self._negative_prompt:
            options["negative_prompt"] = self._negative_prompt
        encoded = of_class(self._pipeline, prompt=prompt, **options)
        names = (
            "prompt_embeds",
            "negative_prompt_embeds",
            "pooled_prompt_embeds",
            "negative_pooled_prompt_embeds",
        )
        return {
            name: tensor for name, tensor in zip(names, encoded, strict=False) if tensor is not None
        }
