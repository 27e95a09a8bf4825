"""The pipeline in other precisions, offloaded and compiled, as `open_runner` sets it up."""

import accelerate
import numpy as np
import torch

from cobalance.generation.image_request import GeneratedImage
from tests.generation.backends.conftest import Open
from tests.generation.backends.suite import Ask

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
