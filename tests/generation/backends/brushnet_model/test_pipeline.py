"""The pipeline in other precisions, offloaded and compiled, as `open_runner` sets it up."""

from collections.abc import Iterator
from typing import Any

import accelerate
import numpy as np
import pytest
import torch
from diffusers import UNet2DConditionModel

from cobalance.generation.backends.brushnet_model.model import Residuals
from cobalance.generation.backends.brushnet_model.pipeline import BranchHooks, list_sub_blocks
from cobalance.generation.image_request import GeneratedImage
from tests.generation.backends.conftest import Open
from tests.generation.backends.suite import Ask
from tests.tiny.brushnet import TINY, make_brushnet
from tests.tiny.diffusion import make_unet

PARTS = ("text_encoder", "unet", "brushnet", "vae")
CPU = torch.device("cpu")


def difference(one: list[GeneratedImage], other: list[GeneratedImage]) -> int:
    """The largest of two lists of images, in grey levels."""
    pairs = zip(one, other, strict=True)
    return max(int(np.abs(a.image.astype(int) - b.image.astype(int)).max()) for a, b in pairs)


def test_both_models_have_the_precision_that_is_asked_for(opened: Open, ask: Ask) -> None:
    requests = ask(2, 64, 64)
    half = opened(dtype="bfloat16")
    assert {getattr(half.runner.pipeline, part).dtype for part in PARTS} == {torch.bfloat16}
    assert 0 < difference(half.generate(requests), opened().generate(requests)) < 32


def test_layers_that_come_from_main_memory(opened: Open, ask: Ask) -> None:
    """As with the offload ``sequential``, onto the CPU."""
    requests = ask(2, 64, 64)
    backend = opened()
    expected = backend.generate(requests)
    for part in PARTS:
        accelerate.cpu_offload(getattr(backend.runner.pipeline, part), CPU)
    assert next(backend.runner.pipeline.brushnet.parameters()).is_meta
    assert difference(backend.generate(requests), expected) == 0


def test_models_that_come_from_main_memory(opened: Open, ask: Ask) -> None:
    """As with the offload ``model``, onto the CPU: the branch stays with the base."""
    requests = ask(2, 64, 64)
    backend = opened()
    pipeline = backend.runner.pipeline
    assert pipeline.model_cpu_offload_seq == "text_encoder->image_encoder->unet->vae"
    expected = backend.generate(requests)
    hook = None
    for part in ("text_encoder", "unet", "vae"):
        _, hook = accelerate.cpu_offload_with_hook(getattr(pipeline, part), CPU, hook)
    accelerate.cpu_offload_with_hook(pipeline.brushnet, CPU)
    assert difference(backend.generate(requests), expected) == 0


def test_a_compiled_denoiser(opened: Open, ask: Ask) -> None:
    """One graph for both models, whatever the images."""
    requests = ask(4, 64, 64)
    backend = opened()
    expected = backend.generate(requests[:2]), backend.generate(requests[2:])
    backend.runner.pipeline.unet.compile(backend="eager", dynamic=False, fullgraph=True)
    compiled = backend.generate(requests[:2]), backend.generate(requests[2:])
    assert [difference(*pair) for pair in zip(compiled, expected, strict=True)] == [0, 0]


SIZES = [(8, 8), (6, 10), (7, 5)]
"""Of latents; the last has odd sides."""


def base(settings: dict[str, Any] = TINY) -> UNet2DConditionModel:
    torch.manual_seed(3)
    return make_unet(4, layers_per_block=settings["layers_per_block"]).eval()


def inputs(size: tuple[int, int], repeats: int = 1) -> dict[str, torch.Tensor]:
    """Of the base: latents for two images, repeated as guidance repeats them, and texts."""
    torch.manual_seed(5)
    return {
        "sample": torch.cat([torch.randn(2, 4, *size)] * repeats),
        "timestep": torch.tensor(321),
        "encoder_hidden_states": torch.randn(2 * repeats, 7, 32),
    }


def condition(size: tuple[int, int]) -> torch.Tensor:
    torch.manual_seed(6)
    return torch.randn(2, 5, *size)


def predict(unet: UNet2DConditionModel, given: dict[str, torch.Tensor]) -> torch.Tensor:
    with torch.no_grad():
        # as pipelines call it
        return unet(
            given["sample"],
            given["timestep"],
            encoder_hidden_states=given["encoder_hidden_states"],
            return_dict=False,
        )[0]


@torch.no_grad()
def predict_step_by_step(
    unet: UNet2DConditionModel, given: dict[str, torch.Tensor], residuals: Residuals
) -> torch.Tensor:
    """The authors' sum: hidden states and residuals, one sub-block after the other."""
    down: Iterator[torch.Tensor] = iter(residuals.down)
    up: Iterator[torch.Tensor] = iter(residuals.up)
    text, sample = given["encoder_hidden_states"], given["sample"]
    times = given["timestep"].expand(len(sample))
    embedded = unet.time_embedding(unet.time_proj(times))
    hidden = unet.conv_in(sample)
    skips = [hidden]  # the first one is without its residual
    hidden = hidden + next(down)
    for block in unet.down_blocks:
        for number, layer in enumerate(block.resnets):
            hidden = layer(hidden, embedded)
            if hasattr(block, "attentions"):
                attention = block.attentions[number]
                hidden = attention(hidden, encoder_hidden_states=text, return_dict=False)[0]
            hidden = hidden + next(down)
            skips.append(hidden)
        for sampler in block.downsamplers or ():
            hidden = sampler(hidden) + next(down)
            skips.append(hidden)
    hidden = unet.mid_block(hidden, embedded, encoder_hidden_states=text) + residuals.mid
    for block in unet.up_blocks:
        for number, layer in enumerate(block.resnets):
            hidden = layer(torch.cat([hidden, skips.pop()], dim=1), embedded)
            if hasattr(block, "attentions"):
                attention = block.attentions[number]
                hidden = attention(hidden, encoder_hidden_states=text, return_dict=False)[0]
            hidden = hidden + next(up)
        for sampler in block.upsamplers or ():
            hidden = sampler(hidden, skips[-1].shape[2:]) + next(up)
    assert (next(down, None), next(up, None), skips) == (None, None, [])
    return unet.conv_out(unet.conv_act(unet.conv_norm_out(hidden)))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layers", [1, 2])
def test_the_hooks_add_what_a_loop_over_the_blocks_adds(size: tuple[int, int], layers: int) -> None:
    settings = {**TINY, "layers_per_block": layers}
    unet, brushnet, given = base(settings), make_brushnet(settings), inputs(size)
    alone = predict(unet, given)
    with torch.no_grad():
        residuals = brushnet(given["sample"], given["timestep"], condition(size))
    expected = predict_step_by_step(unet, given, residuals)
    hooks = BranchHooks(unet, brushnet)
    hooks.condition = condition(size)
    torch.testing.assert_close(predict(unet, given), expected)
    assert not torch.allclose(alone, expected, atol=1e-3)
    hooks.condition = None
    assert torch.equal(predict(unet, given), alone)


@pytest.mark.parametrize("scale", [0.0, 0.25, 2.0])
def test_the_scale_multiplies_all_residuals(scale: float) -> None:
    unet, brushnet, given = base(), make_brushnet(), inputs((8, 8))
    with torch.no_grad():
        down, mid, up = brushnet(given["sample"], given["timestep"], condition((8, 8)))
    scaled = Residuals([one * scale for one in down], mid * scale, [one * scale for one in up])
    expected = predict_step_by_step(unet, given, scaled)
    alone = predict(unet, given)
    hooks = BranchHooks(unet, brushnet)
    hooks.condition, hooks.scale = condition((8, 8)), scale
    torch.testing.assert_close(predict(unet, given), expected)
    if not scale:
        assert torch.equal(predict(unet, given), alone)


@pytest.mark.parametrize("size", SIZES)
def test_the_residuals_have_the_shapes_of_the_sub_blocks(size: tuple[int, int]) -> None:
    unet, brushnet, given = base(), make_brushnet(), inputs(size)
    shapes: list[torch.Size] = []

    def note(_module: object, _args: object, output: Any) -> None:
        shapes.append((output[0] if isinstance(output, tuple) else output).shape)

    for module in [unet.conv_in, *list_sub_blocks(unet)]:
        module.register_forward_hook(note)
    predict(unet, given)
    down, mid, up = brushnet(given["sample"], given["timestep"], condition(size))
    assert [one.shape for one in [*down, mid, *up]] == shapes


def test_what_guidance_repeats_is_computed_once() -> None:
    unet, brushnet, given = base(), make_brushnet(), inputs((8, 8), repeats=2)
    twice = torch.cat([condition((8, 8))] * 2)
    with torch.no_grad():
        residuals = brushnet(given["sample"], given["timestep"], twice)
    expected = predict_step_by_step(unet, given, residuals)
    sizes: list[int] = []
    brushnet.register_forward_pre_hook(lambda _module, args: sizes.append(len(args[0])))
    hooks = BranchHooks(unet, brushnet)
    hooks.condition = condition((8, 8))
    torch.testing.assert_close(predict(unet, given), expected)
    assert sizes == [2]


def test_a_compiled_base_gives_the_same() -> None:
    """Traced as torch.compile does it, with changes of the condition and the scale."""
    unet, brushnet, given = base(), make_brushnet(), inputs((8, 8), repeats=2)
    hooks = BranchHooks(unet, brushnet)
    cases = [(condition((8, 8)), 1.0), (condition((8, 8)).flip(0), 1.0), (None, 1.0)]
    cases += [(condition((8, 8)), 0.0), (condition((8, 8)), 0.5)]
    plain = []
    for hooks.condition, hooks.scale in cases:
        plain.append(predict(unet, given))
    unet.compile(backend="eager", dynamic=False, fullgraph=True)
    for (hooks.condition, hooks.scale), expected in zip(cases, plain, strict=True):
        torch.testing.assert_close(predict(unet, given), expected)
    assert not torch.allclose(plain[0], plain[1])
