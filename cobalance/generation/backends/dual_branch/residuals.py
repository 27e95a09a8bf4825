"""Add BrushNet's residuals to a U-Net's hidden states by forward hooks."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

DOWN_BLOCKS = frozenset({"CrossAttnDownBlock2D", "DownBlock2D"})
MID_BLOCKS = frozenset({"UNetMidBlock2DCrossAttn", "UNetMidBlock2D"})
UP_BLOCKS = frozenset({"CrossAttnUpBlock2D", "UpBlock2D"})
"""Blocks of diffusers' U-Net whose sub-blocks are known here."""


def list_sub_blocks(unet: Any) -> list[nn.Module]:
    """List the modules of a U-Net after which a residual is added, in their order.

    They are the last modules of each layer (its attention, where it has one), the down- and
    upsamplers and the middle block. The first convolution is left out, see `BranchHooks`.
    """
    found: list[nn.Module] = []
    for block in unet.down_blocks:
        found += _layers_of(block)
        found += list(block.downsamplers or ())
    found.append(unet.mid_block)
    for block in unet.up_blocks:
        found += _layers_of(block)
        found += list(block.upsamplers or ())
    return found


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
    brushnet : BrushNetModel
        The branch.

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
        unet.register_forward_hook(self._forget)

    def _compute(self, _unet: nn.Module, args: tuple[Any, ...], options: Mapping[str, Any]) -> None:
        self._residuals = []
        if self.condition is None or self.scale == 0:
            return
        given = {**dict(zip(("sample", "timestep"), args, strict=False)), **options}
        sample, timestep = given["sample"], given["timestep"]
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
            if isinstance(output, tuple):  # of an attention
                return (output[0] + residual, *output[1:])
            return output + residual

        return add

    def _forget(self, _unet: nn.Module, _args: Any, _output: Any) -> None:
        self._residuals = []
