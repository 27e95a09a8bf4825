"""Stable Diffusion with BrushNet beside its U-Net, as a pipeline of diffusers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from diffusers.pipelines.stable_diffusion.pipeline_stable_diffusion import StableDiffusionPipeline
from PIL import Image
from torch import Tensor
from torch.nn import functional

from cobalance.generation.backends.dual_branch.residuals import BranchHooks


class StableDiffusionBrushNetPipeline(StableDiffusionPipeline):
    """Fills holes in images from words.

    All but the branch is diffusers' own: with a branch of zeros it paints what
    `StableDiffusionPipeline` paints with the same prompts and generators, bit by bit.

    Parameters
    ----------
    vae, text_encoder, tokenizer, unet, scheduler, safety_checker, feature_extractor, \
image_encoder, requires_safety_checker
        As of `StableDiffusionPipeline`.
    brushnet : BrushNetModel
        The branch.
    """

    def __init__(
        self,
        vae: Any,
        text_encoder: Any,
        tokenizer: Any,
        unet: Any,
        brushnet: Any,
        scheduler: Any,
        safety_checker: Any,
        feature_extractor: Any,
        image_encoder: Any = None,
        requires_safety_checker: bool = True,
    ) -> None:
        super().__init__(
            vae=vae,
            text_encoder=text_encoder,
            tokenizer=tokenizer,
            unet=unet,
            scheduler=scheduler,
            safety_checker=safety_checker,
            feature_extractor=feature_extractor,
            image_encoder=image_encoder,
            requires_safety_checker=requires_safety_checker,
        )
        self.register_modules(brushnet=brushnet)  # type: ignore[no-untyped-call]
        self._branch = BranchHooks(unet, brushnet)

    @torch.no_grad()
    def __call__(
        self,
        prompt: str | Sequence[str] | None = None,
        image: Sequence[Image.Image] = (),
        mask_image: Sequence[Image.Image] = (),
        height: int | None = None,
        width: int | None = None,
        num_inference_steps: int = 50,
        guidance_scale: float = 7.5,
        negative_prompt: str | Sequence[str] | None = None,
        conditioning_scale: float = 1.0,
        **options: Any,
    ) -> Any:
        """Fill the holes of images.

        Parameters
        ----------
        prompt, num_inference_steps, guidance_scale, negative_prompt, **options
            As of `StableDiffusionPipeline`.
        image : sequence of Pillow images
            One for each prompt, in RGB.
        mask_image : sequence of Pillow images
            Of the same sizes, in greys: white where to paint.
        height, width : int
            Of all images, in pixels.
        conditioning_scale : float
            What the residuals are multiplied by.
        """
        self._branch.condition = self._encode_condition(image, mask_image)
        self._branch.scale = conditioning_scale
        try:
            return super().__call__(
                prompt=prompt,
                height=height,
                width=width,
                num_inference_steps=num_inference_steps,
                guidance_scale=guidance_scale,
                negative_prompt=negative_prompt,
                **options,
            )
        finally:
            self._branch.condition = None

    def _encode_condition(
        self, images: Sequence[Image.Image], masks: Sequence[Image.Image]
    ) -> Tensor:
        """Encode what surrounds the holes, see `BrushNetModel.forward`.

        The authors draw the latents from the encoder's distribution; this takes its mode, so that
        an image follows from its request. They downsample the mask as here: to the nearest pixel.
        """
        device, vae = self._execution_device, self.vae
        kept = np.stack([np.asarray(mask.convert("L")) < 128 for mask in masks])[:, np.newaxis]
        keep = torch.from_numpy(kept).to(device, vae.dtype)
        pixels = self.image_processor.preprocess(list(images)).to(device, vae.dtype)
        pixels = torch.where(keep > 0, pixels, -1.0)  # black
        latents = vae.encode(pixels).latent_dist.mode() * vae.config.scaling_factor
        return torch.cat([latents, functional.interpolate(keep, size=latents.shape[2:])], dim=1)
