from collections.abc import Iterator
from typing import Any

import pytest
import torch
from diffusers import UNet2DConditionModel

from cobalance.generation.backends.brushnet_model.model import BrushNetModel
from cobalance.vision.models.loading import quiet
from tests.tiny.brushnet import PUBLISHED, TINY, make_brushnet


def textless_unet(settings: dict[str, Any]) -> UNet2DConditionModel:
    """diffusers' U-Net of the same resolutions without text or middle."""
    levels = len(settings["block_out_channels"])
    with quiet():
        return UNet2DConditionModel(
            in_channels=9,
            block_out_channels=tuple(settings["block_out_channels"]),
            layers_per_block=settings["layers_per_block"],
            norm_num_groups=settings["norm_num_groups"],
            down_block_types=("DownBlock2D",) * levels,
            mid_block_type=None,
            up_block_types=("UpBlock2D",) * levels,
        ).eval()


def expected_shapes() -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names and shapes of the published checkpoints for Stable Diffusion 1.5."""
    for name, values in textless_unet(PUBLISHED).state_dict().items():
        if name.startswith(("down_blocks.", "up_blocks.", "time_embedding.")):
            yield name, tuple(values.shape)
    yield "conv_in_condition.weight", (320, 9, 3, 3)
    yield "conv_in_condition.bias", (320,)
    middle = {"norm1": (), "conv1": (1280, 3, 3), "norm2": (), "conv2": (1280, 3, 3)}
    for layer in range(2):
        for name, rest in {**middle, "time_emb_proj": (1280,)}.items():
            yield f"mid_block.resnets.{layer}.{name}.weight", (1280, *rest)
            yield f"mid_block.resnets.{layer}.{name}.bias", (1280,)
    down = [320, 320, 320, 320, 640, 640, 640, 1280, 1280, 1280, 1280, 1280]
    up = [1280] * 8 + [640] * 4 + [320] * 3
    convolutions = {
        **{f"brushnet_down_blocks.{number}": width for number, width in enumerate(down)},
        "brushnet_mid_block": 1280,
        **{f"brushnet_up_blocks.{number}": width for number, width in enumerate(up)},
    }
    for name, width in convolutions.items():
        yield f"{name}.weight", (width, width, 1, 1)
        yield f"{name}.bias", (width,)


def test_the_layout_is_that_of_the_published_checkpoints() -> None:
    with torch.device("meta"), quiet():
        expected = dict(expected_shapes())
        model = BrushNetModel.from_config(PUBLISHED)
    assert {name: tuple(values.shape) for name, values in model.state_dict().items()} == expected


def test_before_training_it_gives_zeros() -> None:
    settings = {**TINY, "layers_per_block": 2}
    model = make_brushnet(settings, zeros=True)
    down, mid, up = model(torch.randn(1, 4, 6, 8), 500, torch.randn(1, 5, 6, 8))
    assert len(down) == 1 + 3 + 2
    assert len(up) == 4 + 3
    assert all(not residual.any() for residual in [*down, mid, *up])


@pytest.mark.parametrize("size", [(8, 8), (6, 10), (7, 5)])
@pytest.mark.parametrize("layers", [1, 2])
def test_the_blocks_compute_what_those_of_diffusers_do(size: tuple[int, int], layers: int) -> None:
    settings = {**TINY, "layers_per_block": layers, "block_out_channels": [4, 8, 8]}
    model = make_brushnet(settings)
    unet = textless_unet(settings)
    for part in ("down_blocks", "up_blocks", "time_embedding"):
        getattr(unet, part).load_state_dict(getattr(model, part).state_dict())
    torch.manual_seed(5)
    sample, condition = torch.randn(2, 4, *size), torch.randn(2, 5, *size)
    with torch.no_grad():
        down, mid, up = model(sample, torch.tensor(321), condition)

        embedded = unet.time_embedding(unet.time_proj(torch.tensor([321, 321])))
        hidden = model.conv_in_condition(torch.cat([sample, condition], dim=1))
        states = [hidden]
        for block in unet.down_blocks:
            hidden, given = block(hidden_states=hidden, temb=embedded)
            states += given
        assert len(down) == len(states)
        for number, state in enumerate(states):
            torch.testing.assert_close(down[number], model.brushnet_down_blocks[number](state))
        for layer in model.mid_block.resnets:
            hidden = layer(hidden, embedded)
        torch.testing.assert_close(mid, model.brushnet_mid_block(hidden))

        passed: list[torch.Tensor] = []
        for block in unet.up_blocks:
            for module in [*block.resnets, *(block.upsamplers or ())]:
                module.register_forward_hook(lambda _module, _args, output: passed.append(output))
        for block in unet.up_blocks:
            count = len(block.resnets)
            states, taken = states[:-count], tuple(states[-count:])
            size_after = states[-1].shape[2:] if states else None
            hidden = block(
                hidden_states=hidden,
                res_hidden_states_tuple=taken,
                temb=embedded,
                upsample_size=size_after,
            )
        assert len(up) == len(passed)
        for number, state in enumerate(passed):
            torch.testing.assert_close(up[number], model.brushnet_up_blocks[number](state))


def test_each_image_has_its_own_residuals() -> None:
    model = make_brushnet()
    torch.manual_seed(5)
    sample, condition = torch.randn(2, 4, 8, 8), torch.randn(2, 5, 8, 8)
    with torch.no_grad():
        together = model(sample, 7, condition)
        alone = model(sample[1:], 7, condition[1:])
        swapped = model(sample, 7, condition.flip(0))
    for one, other, another in zip(together.up, alone.up, swapped.up, strict=True):
        torch.testing.assert_close(one[1:], other)
        assert not torch.allclose(one, another)
