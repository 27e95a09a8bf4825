"""Stable Diffusion with BrushNet beside its U-Net, as a pipeline of diffusers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from diffusers.pipelines.stable_diffusion.pipeline_stable_diffusion import StableDiffusionPipeline
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional

DOWN_BLOCKS = frozenset({"CrossAttnDownBlock2D", "DownBlock2D"})
MID_BLOCKS = frozenset({"UNetMidBlock2DCrossAttn", "UNetMidBlock2D"})
UP_BLOCKS = frozenset({"CrossAttnUpBlock2D", "UpBlock2D"})
"""Blocks of diffusers' U-Net whose sub-blocks are known here."""


def list_sub_blocks(unet: Any) -> list[nn.Module]:
    """List the modules of a U-Net after which a residual is added, in their order.

    They are the last modules of each layer (its attention, where it has one), the down- and
    upsamplers and the middle block. The first convolution is left out, see `BranchHooks`.
    """
    modules: list[nn.Module] = []
    for block in unet.down_blocks:
        modules += _layers_of(block)
        modules += list(block.downsamplers or ())
    modules.append(unet.mid_block)
    for block in unet.up_blocks:
        modules += _layers_of(block)
        modules += list(block.upsamplers or ())
    return modules


def _layers_of(block: Any) -> list[nn.Module]:
    return list(getattr(block, "attentions", block.resnets))


class BranchHooks:
    """Hooks that compute BrushNet's residuals at each call of a U-Net, and add them inside it.

    As the authors have it, the residual of the first convolution is added to what the first block
    takes, and not to what the last block takes from the first convolution; all others are in both.
    BrushNet sees no text: where guidance repeats the latents, for the prompt and without it, the
    residuals are computed once and repeated.

    Parameters
    ----------
    unet : diffusers.UNet2DConditionModel
        The base; hooks are added to it and to its sub-blocks.

    Attributes
    ----------
    condition : Tensor or None
        As `BrushNetModel.forward` takes it, for one or several images; without it, the U-Net gives
        what it gives alone.
    scale : float
        What the residuals are multiplied by; with 0 nothing is computed.
    """

    def __init__(self, unet: Any, brushnet: Any) -> None:
        self.condition: Tensor | None = None
        self.scale = 1.0
        self._brushnet = brushnet
        self._residuals: list[Tensor] = []

        unet.register_forward_pre_hook(self._compute, with_kwargs=True)
        unet.down_blocks[0].register_forward_pre_hook(self._enter, with_kwargs=True)
        for position, module in enumerate(list_sub_blocks(unet), start=1):
            module.register_forward_hook(self._adder(position))
        unet.register_forward_hook(lambda *_: self._residuals.clear())

    def _compute(self, _unet: nn.Module, args: tuple[Any, ...], options: Mapping[str, Any]) -> None:
        """Compute the residuals of a call of the U-Net, from its arguments."""
        self._residuals = []
        if self.condition is None or self.scale == 0:
            return
        arguments = {**dict(zip(("sample", "timestep"), args, strict=False)), **options}
        sample, timestep = arguments["sample"], arguments["timestep"]

        # Guidance repeats the latents, which BrushNet sees without their texts.
        images = self.condition.shape[0]
        repeats = sample.shape[0] // images
        down, mid, up = self._brushnet(sample[:images], timestep, self.condition)
        residuals = [*down, mid, *up]
        if self.scale != 1:
            residuals = [residual * self.scale for residual in residuals]
        if repeats > 1:
            residuals = [torch.cat([residual] * repeats) for residual in residuals]
        self._residuals = residuals

    def _enter(
        self, _block: nn.Module, args: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        if not self._residuals:
            return None
        hidden = options["hidden_states"] + self._residuals[0]
        return args, {**options, "hidden_states": hidden}

    def _adder(self, position: int) -> Callable[[nn.Module, Any, Any], Any]:
        def add(_module: nn.Module, _args: Any, output: Any) -> Any:
            if not self._residuals:
                return None
            residual = self._residuals[position]
            # An attention gives a tuple.
            if isinstance(output, tuple):
                return (output[0] + residual, *output[1:])
            return output + residual

        return add


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
            Of the same sizes, in greys: white where to paint, in whole squares of the latents.
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
        """Encode the surroundings of the holes, see `BrushNetModel.forward`.

        The authors draw the latents from the encoder's distribution; this takes its mode, so that
        an image follows from its request. They downsample the mask as here: to the nearest pixel.
        A hole thinner than a latent's square may be lost, so `inpainting_task` gives whole ones.
        """
        device, vae = self._execution_device, self.vae
        stays = np.stack([np.asarray(mask.convert("L")) < 128 for mask in masks])[:, np.newaxis]
        keep = torch.from_numpy(stays).to(device, vae.dtype)
        pixels = self.image_processor.preprocess(list(images)).to(device, vae.dtype)
        # Holes are black, which is -1 after the preprocessing.
        pixels = torch.where(keep > 0, pixels, -1.0)
        latents = vae.encode(pixels).latent_dist.mode() * vae.config.scaling_factor
        return torch.cat([latents, functional.interpolate(keep, size=latents.shape[2:])], dim=1)
