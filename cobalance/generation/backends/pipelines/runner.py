"""Reproducible runner of diffusers pipelines: each image depends on its own prompt and seed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from cobalance.base import OptionError, diffusers, torch
from cobalance.generation.backends.compositing.framing import Size, choose_model_size
from cobalance.generation.backends.pipelines import sampling
from cobalance.generation.backends.pipelines.kinds import parameters_of
from cobalance.generation.backends.pipelines.options import DiffusionOptions
from cobalance.generation.image_request import GenerationError
from cobalance.vision import (
    PIPELINE_FILE,
    Checkpoint,
    choose_device,
    choose_dtype,
    load_model,
    out_of_memory,
    quiet,
)

SEED_BITS = 0xFFFF_FFFF
"""Mask of the 32 bits of a seed that torch's CPU generator uses."""

FloatImages = npt.NDArray[np.float32]
"""Of shape (images, height, width, 3), from 0 to 1."""


class PipelineRunner:
    """Runs a pipeline on batches, with a random generator for each image.

    The generators are on the CPU, so that an image's noise is the same on every device.

    Parameters
    ----------
    inputs : mapping of str to (float or None)
        The backend's own numbers of the pipeline's call; None for the pipeline's default.

    Attributes
    ----------
    native_px : int
        Side of the squares that the model was trained on.
    cell_px : int
        Side of the squares that its latents stand for.
    multiple_px : int
        What the sides of its images are multiples of.
    takes_references : bool
        Whether each prompt of a batch sees all images of the batch.

    Raises
    ------
    OptionError
        The pipeline has no use for a setting whose loss would change what the images show.
    """

    def __init__(
        self,
        pipeline: Any,
        checkpoint: Checkpoint,
        options: DiffusionOptions,
        inputs: Mapping[str, float | None],
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        self.pipeline, self.checkpoint, self.options = pipeline, checkpoint, options
        self.device, self.dtype = device, dtype
        self._accepted = parameters_of(type(pipeline))
        self.sampling = sampling.set_sampling(pipeline, options, inputs)
        if options.negative_prompt:
            sampling.check_negative_prompt(pipeline, self.sampling.guidance_scale)

        self.cell_px = int(getattr(pipeline, "vae_scale_factor", 8))
        # Transformers see the latents in patches of 2 × 2.
        is_transformer = hasattr(pipeline, "transformer")
        self.multiple_px = self.cell_px * (2 if is_transformer else 1)
        self.native_px = self.cell_px * _native_cells(pipeline)
        # FLUX.2's and others that edit do; a U-Net, and one that takes a mask, do not.
        self.takes_references = is_transformer and "mask_image" not in self._accepted

        self._weights_sha256 = checkpoint.weights_sha256
        self._encode = TextEncoder(pipeline, device, options.negative_prompt)

    def model_size(self, size: Size) -> Size:
        """The size at which the model generates an image of a size; see `choose_model_size`."""
        is_set = self.options.width_px is not None or self.options.height_px is not None
        return choose_model_size(size, self.native_px, self.multiple_px, is_set)

    def crop_size(self, size: Size) -> Size:
        """The model's own size for a crop, even where people have set the image's."""
        return choose_model_size(size, self.native_px, self.multiple_px, is_set=False)

    def check_scales(self, variants: Sequence[Mapping[str, float]]) -> None:
        """Refuse scales that `check_pipeline_scales` or `check_negative_prompt` refuses."""
        sampling.check_pipeline_scales(self.pipeline, self.sampling, variants)
        if self.options.negative_prompt:
            for variant in variants:
                scale = variant.get("guidance_scale", self.sampling.guidance_scale)
                sampling.check_negative_prompt(self.pipeline, scale)

    def paint(
        self,
        prompts: Sequence[str],
        seeds: Sequence[int],
        size: Size,
        inputs: Mapping[str, Sequence[Any]],
        scales: Mapping[str, float],
    ) -> FloatImages:
        """Generate one image per prompt and seed.

        Parameters
        ----------
        size : tuple of int
            Height and width, multiples of `multiple_px`.
        inputs : mapping of str to sequence
            What else the pipeline takes for each image, such as ``image`` and ``mask_image``.
        scales : mapping of str to float
            Scales by name, in place of those of `sampling`.

        Raises
        ------
        GenerationError
            The model returns NaN pixels.
        OutOfMemoryError
            The batch is too large for the device.
        """
        optional = {
            "height": size[0],
            "width": size[1],
            # Flux Kontext brings every size to this area, and images to sizes of a list.
            "max_area": size[0] * size[1],
            "_auto_resize": False,
            "guidance_scale": self.sampling.guidance_scale,
            **self.sampling.inputs,
            **scales,
        }

        guidance = optional["guidance_scale"]
        options = {
            name: value
            for name, value in optional.items()
            if name in self._accepted and value is not None
        }
        generators = [torch.Generator("cpu").manual_seed(seed & SEED_BITS) for seed in seeds]

        batch = f"{len(seeds)} images of {size[1]} × {size[0]}"
        with out_of_memory(batch):
            words = self._encode(prompts, guided=guidance is not None and guidance > 1)

        # Pipelines warn of their own doings at each call, such as SDXL of casting its VAE.
        with out_of_memory(batch), quiet():
            images = self.pipeline(
                **words,
                **{name: list(values) for name, values in inputs.items()},
                **options,
                num_inference_steps=self.sampling.steps,
                generator=generators,
                output_type="np",
            ).images

        pixels: FloatImages = np.asarray(images, dtype=np.float32)
        if not np.isfinite(pixels).all():
            raise GenerationError(
                f"The model {self.checkpoint.label} returned NaN pixels in "
                f"{self.dtype}. Compute in float32 or bfloat16."
            )
        return pixels

    def describe(self) -> dict[str, Any]:
        """Model, sampling settings, device and versions, for provenance; JSON values."""
        # Without the number of the device, which decides nothing.
        device = self.device.type
        if device == "cuda":
            device += f" ({torch.cuda.get_device_name(self.device)})"

        return {
            "model": self.checkpoint.label,
            "revision": self.checkpoint.revision,
            "weights_sha256": self._weights_sha256,
            "variant": self.checkpoint.variant,
            "pipeline": type(self.pipeline).__name__,
            "scheduler": self.sampling.scheduler,
            "scheduler_config": _config_of(self.pipeline.scheduler),
            "settings": {
                **self.options.model_dump(mode="json"),
                "model": self.checkpoint.label,
                "revision": self.checkpoint.revision,
                "steps": self.sampling.steps,
                "guidance_scale": self.sampling.guidance_scale,
                **self.sampling.inputs,
            },
            "device": device,
            "dtype": str(self.dtype).removeprefix("torch."),
        }


def _config_of(scheduler: Any) -> dict[str, Any]:
    """A scheduler's settings, which no digest of weights is of; for JSON."""
    config = {}
    for name, value in scheduler.config.items():
        is_plain = isinstance(value, (bool, int, float, str))
        # JSON has neither infinity nor NaN.
        is_finite = not isinstance(value, float) or isfinite(value)
        if is_plain and is_finite and not name.startswith("_"):
            config[name] = value
    return config


def open_runner(
    kind: Any,
    checkpoint: Checkpoint,
    options: DiffusionOptions,
    inputs: Mapping[str, float | None] | None = None,
    components: Mapping[str, Any] | None = None,
) -> PipelineRunner:
    """Load and configure a pipeline; see `set_sampling` for its presets.

    On a GPU, convolutions work with channels last. The VAE works on one image at a time, so that
    it needs no more memory for large batches; with an offload, in tiles too. There is nothing to
    offload from a CPU. There is no safety checker: the filter `safety` looks at images, whatever
    made them.

    Parameters
    ----------
    kind : type
        The pipeline's class, or an AutoPipeline.
    components : mapping of str to object, optional
        Parts of the pipeline that are not in the checkpoint, or that take the place of its own.

    Raises
    ------
    OptionError
        An option does not fit the machine, the pipeline, or another one.
    JobBlockedError
        The model cannot be loaded.
    OutOfMemoryError
        The device has no room for it.
    """
    device = choose_device(options.device)
    dtype = choose_dtype(options.dtype, device)
    if options.compile and options.offload == "sequential":
        raise OptionError(
            "A compiled denoiser cannot be offloaded layer by layer. Leave compile out, or offload "
            "the model as a whole."
        )

    loading: dict[str, Any] = {"dtype": dtype, **(components or {})}
    # The filter safety looks at images, whatever made them.
    if "safety_checker" in checkpoint.read_config(PIPELINE_FILE):
        loading |= {"safety_checker": None, "requires_safety_checker": False}
    pipeline = load_model(kind, checkpoint, **loading)
    pipeline.set_progress_bar_config(disable=True)
    _set_up(pipeline, device, options)
    return PipelineRunner(pipeline, checkpoint, options, inputs or {}, device, dtype)


def _set_up(pipeline: Any, device: torch.device, options: DiffusionOptions) -> None:
    """Move a pipeline to its device, or offload it, and save memory where it can."""
    denoiser, vae = _denoiser_of(pipeline), pipeline.vae
    offloads = options.offload != "none" and device.type != "cpu"
    if hasattr(vae, "enable_slicing"):
        vae.enable_slicing()
    if offloads and hasattr(vae, "enable_tiling"):
        vae.enable_tiling()
    if hasattr(pipeline, "unet") and device.type == "cuda":
        denoiser.to(memory_format=torch.channels_last)

    with out_of_memory("the model", "Offload it, use half precision, or choose a smaller model."):
        if not offloads:
            pipeline.to(device)
        elif options.offload == "model":
            pipeline.enable_model_cpu_offload(device=device)
        else:
            pipeline.enable_sequential_cpu_offload(device=device)
    if options.compile:
        denoiser.compile(dynamic=False)


def _denoiser_of(pipeline: Any) -> Any:
    return pipeline.unet if hasattr(pipeline, "unet") else pipeline.transformer


def _native_cells(pipeline: Any) -> int:
    """Side of the squares of latents that the model was trained on, as the model says."""
    config = _denoiser_of(pipeline).config
    side = getattr(pipeline, "default_sample_size", None) or config.get("sample_size")
    # Transformers that do not say were trained on 1024 pixels, as Z-Image.
    side = side or 128
    return int(side if isinstance(side, int) else min(side))


KEPT = 64
"""Number of prompts whose embeddings stay on the device; a query has one prompt."""

_GUIDED = (
    "prompt_embeds",
    "negative_prompt_embeds",
    "pooled_prompt_embeds",
    "negative_pooled_prompt_embeds",
)
_EMBEDDINGS = {
    "StableDiffusion": _GUIDED,
    "Flux(?!2)": ("prompt_embeds", "pooled_prompt_embeds"),
    "Flux2Klein": ("prompt_embeds",),
}
"""What ``encode_prompt`` gives first, by how the names of classes begin."""


class TextEncoder:
    """Encodes prompts for a pipeline, with a cache of embeddings.

    Each prompt is encoded alone, so that its embeddings do not depend on the batch. Families that
    `_EMBEDDINGS` does not know get the words, and encode them each time.
    """

    def __init__(self, pipeline: Any, device: torch.device, negative_prompt: str) -> None:
        self._negative_prompt = negative_prompt
        kind = type(pipeline).__name__
        self._names = next((_EMBEDDINGS[sign] for sign in _EMBEDDINGS if re.match(sign, kind)), ())
        # Of a function, not of a method: a cycle of references would keep the model on the device.
        self._encode = lru_cache(KEPT)(
            partial(_encode, pipeline, self._names, device, negative_prompt)
        )

    def __call__(self, prompts: Sequence[str], *, guided: bool) -> Mapping[str, Any]:
        """Arguments of the pipeline's call that stand for these prompts, one an image.

        Parameters
        ----------
        guided : bool
            Whether the call compares with a negative prompt.
        """
        if not self._names:
            words: dict[str, Any] = {"prompt": list(prompts)}
            if self._negative_prompt:
                words["negative_prompt"] = [self._negative_prompt] * len(prompts)
            return words

        with torch.no_grad():
            encoded = [self._encode(prompt, guided) for prompt in prompts]
        return {name: torch.cat([tensors[name] for tensors in encoded]) for name in encoded[0]}


def _encode(
    pipeline: Any,
    names: Sequence[str],
    device: torch.device,
    negative_prompt: str,
    prompt: str,
    guided: bool,
) -> dict[str, torch.Tensor]:
    """Embed one prompt, by the names of the arguments that the pipeline takes instead of it."""
    # InstructPix2Pix alone has no encode_prompt; its encoder is Stable Diffusion's own.
    usual = diffusers.StableDiffusionPipeline.encode_prompt
    encode_prompt = getattr(type(pipeline), "encode_prompt", usual)
    takes = inspect.signature(encode_prompt).parameters
    options: dict[str, Any] = {"device": device, "num_images_per_prompt": 1}
    # Stable Diffusion 3 names a prompt for each of its encoders; None is the first one's.
    for name, parameter in takes.items():
        if name.startswith("prompt_") and parameter.default is inspect.Parameter.empty:
            options[name] = None

    if "do_classifier_free_guidance" in takes:
        options["do_classifier_free_guidance"] = guided
        if guided and negative_prompt:
            options["negative_prompt"] = negative_prompt
    encoded = encode_prompt(pipeline, prompt=prompt, **options)
    return {
        name: tensor for name, tensor in zip(names, encoded, strict=False) if tensor is not None
    }
