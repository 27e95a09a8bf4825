"""BrushNet: a U-Net without text that tells another one a hole's surroundings.

X. Ju et al., BrushNet: A Plug-and-Play Image Inpainting Model with Decomposed Dual-Branch
Diffusion, ECCV 2024, section 3. diffusers has no such model. Names of modules and settings are
those of the published checkpoints.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from diffusers.configuration_utils import ConfigMixin, register_to_config
from diffusers.models.downsampling import Downsample2D
from diffusers.models.embeddings import TimestepEmbedding, Timesteps
from diffusers.models.modeling_utils import ModelMixin
from diffusers.models.resnet import ResnetBlock2D
from diffusers.models.upsampling import Upsample2D
from torch import Tensor, nn


class Residuals(NamedTuple):
    """Residuals for the base U-Net's hidden states, in the order of its sub-blocks.

    Parameters
    ----------
    down : list of Tensor
        After the first convolution, each layer and each downsampler.
    mid : Tensor
        After the middle block.
    up : list of Tensor
        After each layer and each upsampler.
    """

    down: list[Tensor]
    mid: Tensor
    up: list[Tensor]


def _stage(**modules: Sequence[nn.Module]) -> Any:
    """The layers of one resolution, and the step to the next, by their names in checkpoints."""
    return nn.ModuleDict({name: nn.ModuleList(layers) for name, layers in modules.items()})


class BrushNetModel(ModelMixin, ConfigMixin):  # type: ignore[misc]
    """BrushNet for a U-Net of Stable Diffusion's kind; it returns `Residuals`.

    Parameters
    ----------
    in_channels : int
        Channels of the latents.
    conditioning_channels : int
        Channels beside them: the latents of the image with the hole, and the mask.
    flip_sin_to_cos, freq_shift
        Of the time embedding.
    block_out_channels : sequence of int
        Channels of each resolution, the finest first.
    layers_per_block : int
        Residual layers of each resolution on the way down; one more on the way up.
    downsample_padding, mid_block_scale_factor, act_fn, norm_num_groups, norm_eps
        Of the layers, as in diffusers' U-Net.
    """

    @register_to_config  # type: ignore[untyped-decorator]
    def __init__(
        self,
        in_channels: int = 4,
        conditioning_channels: int = 5,
        flip_sin_to_cos: bool = True,
        freq_shift: int = 0,
        block_out_channels: tuple[int, ...] = (320, 640, 1280, 1280),
        layers_per_block: int = 2,
        downsample_padding: int = 1,
        mid_block_scale_factor: float = 1,
        act_fn: str = "silu",
        norm_num_groups: int = 32,
        norm_eps: float = 1e-5,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        widths = list(block_out_channels)
        first, last = widths[0], widths[-1]

        def layer(inward: int, outward: int, **options: Any) -> nn.Module:
            return ResnetBlock2D(
                in_channels=inward,
                out_channels=outward,
                temb_channels=4 * first,
                eps=norm_eps,
                groups=norm_num_groups,
                non_linearity=act_fn,
                **options,
            )

        self.conv_in_condition = nn.Conv2d(in_channels + conditioning_channels, first, 3, padding=1)
        self.time_proj = Timesteps(first, flip_sin_to_cos, freq_shift)
        self.time_embedding = TimestepEmbedding(first, 4 * first, act_fn=act_fn)

        self.down_blocks = nn.ModuleList()
        # The channels of all hidden states on the way down, which meet those on the way up.
        downward = [first]
        for level, width in enumerate(widths):
            layers = []
            for _ in range(layers_per_block):
                layers.append(layer(downward[-1], width))
                downward.append(width)

            samplers: list[nn.Module] = []
            if level < len(widths) - 1:
                samplers.append(
                    Downsample2D(width, use_conv=True, padding=downsample_padding, name="op")
                )
                downward.append(width)
            self.down_blocks.append(_stage(resnets=layers, downsamplers=samplers))

        self.brushnet_down_blocks = nn.ModuleList(map(_zero_convolution, downward))

        scaled = {"output_scale_factor": mid_block_scale_factor}
        self.mid_block = _stage(resnets=[layer(last, last, **scaled) for _ in range(2)])
        self.brushnet_mid_block = _zero_convolution(last)

        self.up_blocks = nn.ModuleList()
        upward: list[int] = []
        hidden = last
        for level, width in enumerate(reversed(widths)):
            layers = []
            for _ in range(layers_per_block + 1):
                layers.append(layer(hidden + downward.pop(), width))
                upward.append(width)
                hidden = width

            samplers = []
            if level < len(widths) - 1:
                samplers.append(Upsample2D(width, use_conv=True))
                upward.append(width)
            self.up_blocks.append(_stage(resnets=layers, upsamplers=samplers))

        self.brushnet_up_blocks = nn.ModuleList(map(_zero_convolution, upward))

    def forward(self, sample: Tensor, timestep: Tensor | float, condition: Tensor) -> Residuals:
        """Compute the residuals of one denoising step.

        Parameters
        ----------
        sample : Tensor, shape (batch, in_channels, height, width)
            The noisy latents.
        timestep : Tensor or float
            One for all, or one for each.
        condition : Tensor, shape (batch, conditioning_channels, height, width)
            Latents of the image whose hole is black, and the mask: 1 where the image is kept.

        Returns
        -------
        Residuals
            As many tensors as the base U-Net has sub-blocks, in their shapes.
        """
        timesteps = torch.as_tensor(timestep, device=sample.device).expand(sample.shape[0])
        embedded = self.time_embedding(self.time_proj(timesteps).to(sample.dtype))

        hidden = self.conv_in_condition(torch.cat([sample, condition], dim=1))
        downward = [hidden]
        stage: Any
        for stage in self.down_blocks:
            for layer in stage.resnets:
                hidden = layer(hidden, embedded)
                downward.append(hidden)
            for downsampler in stage.downsamplers:
                hidden = downsampler(hidden)
                downward.append(hidden)
        down = _convolve(self.brushnet_down_blocks, downward)

        for layer in self.mid_block.resnets:
            hidden = layer(hidden, embedded)
        mid = self.brushnet_mid_block(hidden)

        upward = []
        for stage in self.up_blocks:
            for layer in stage.resnets:
                hidden = layer(torch.cat([hidden, downward.pop()], dim=1), embedded)
                upward.append(hidden)
            for upsampler in stage.upsamplers:
                hidden = upsampler(hidden, downward[-1].shape[2:])
                upward.append(hidden)
        return Residuals(down, mid, _convolve(self.brushnet_up_blocks, upward))


def _zero_convolution(channels: int) -> nn.Module:
    """A convolution of single pixels that gives zeros until it is trained."""
    convolution = nn.Conv2d(channels, channels, kernel_size=1)
    for values in convolution.parameters():
        nn.init.zeros_(values)
    return convolution


def _convolve(convolutions: nn.ModuleList, states: Sequence[Tensor]) -> list[Tensor]:
    return [convolution(state) for convolution, state in zip(convolutions, states, strict=True)]
