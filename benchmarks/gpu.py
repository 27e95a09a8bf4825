"""Full-size models on a GPU: shapes, memory, seconds, exact pixels, and a worker's share.

    python -m benchmarks.gpu [--images 16] [--tiny]

Architectures are those of the published models, the weights random: they take the time and memory
of real ones. Each paints around objects and, in crops, objects in a photograph of 4000 x 3000; no
pixel outside of what is painted may change. Then a worker makes a job with masks and the filters
CLIPScore and objects beside a bare loop, as `cobalance benchmark-worker` does. ``--tiny`` goes the
same way with tiny models, on any machine.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import diffusers
import numpy as np
import torch
from transformers import (
    CLIPConfig,
    CLIPModel,
    CLIPTextModel,
    CLIPTextModelWithProjection,
    Owlv2Config,
    Owlv2ForObjectDetection,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from benchmarks.crops import photographs
from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.backend import Backend
from cobalance.generation.image_request import GenerationError, ImageRequest, SourceImage
from cobalance.workflows.order.settings import check_settings
from cobalance.workflows.settings import Settings
from cobalance.workflows.work.benchmark import measure_worker
from tests.tiny.diffusion import inpainting_xl
from tests.tiny.other_pipelines import flux_2_klein
from tests.tiny.text import clip_text_config
from tests.tiny.vision import save_clip, save_model, save_owlv2

_DIFFUSERS: Any = diffusers  # whose classes have no annotations


def full_sdxl() -> Any:
    """Stable Diffusion XL for inpainting (Podell et al., 2023): its U-Net, encoders and VAE."""
    pipeline = inpainting_xl()
    parts = dict(pipeline.components)
    tokenizer = parts["tokenizer"]
    small = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12}
    large = {"hidden_size": 1280, "intermediate_size": 5120, "num_hidden_layers": 32}

    parts["text_encoder"] = CLIPTextModel(
        clip_text_config(tokenizer, **small, num_attention_heads=12)
    )
    parts["text_encoder_2"] = CLIPTextModelWithProjection(
        clip_text_config(tokenizer, **large, num_attention_heads=20, projection_dim=1280)
    )
    parts["unet"] = _DIFFUSERS.UNet2DConditionModel(
        sample_size=128,
        in_channels=9,
        block_out_channels=(320, 640, 1280),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=(5, 10, 20),
        transformer_layers_per_block=(1, 2, 10),
        cross_attention_dim=2048,
        use_linear_projection=True,
        addition_embed_type="text_time",
        addition_time_embed_dim=256,
        projection_class_embeddings_input_dim=6 * 256 + 1280,
    )
    parts["vae"] = _DIFFUSERS.AutoencoderKL(
        block_out_channels=(128, 256, 512, 512),
        down_block_types=["DownEncoderBlock2D"] * 4,
        up_block_types=["UpDecoderBlock2D"] * 4,
        layers_per_block=2,
        sample_size=1024,
        scaling_factor=0.13025,
    )
    return type(pipeline)(**parts)


def full_klein() -> Any:
    """FLUX.2 klein 4B: its transformer and VAE, and Qwen3 4B for the words."""
    pipeline = flux_2_klein()
    parts = dict(pipeline.components)
    parts["text_encoder"] = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=151_936,
            hidden_size=2560,
            intermediate_size=9728,
            num_hidden_layers=36,
            num_attention_heads=32,
            num_key_value_heads=8,
            head_dim=128,
            tie_word_embeddings=True,
        )
    )
    parts["transformer"] = _DIFFUSERS.Flux2Transformer2DModel(
        in_channels=128,
        num_layers=5,
        num_single_layers=20,
        attention_head_dim=128,
        num_attention_heads=24,
        joint_attention_dim=3 * 2560,
        axes_dims_rope=(32, 32, 32, 32),
        guidance_embeds=False,
    )
    parts["vae"] = _DIFFUSERS.AutoencoderKLFlux2()
    return type(pipeline)(is_distilled=True, **parts)


# Sides of what each paints, in pixels, full-size and tiny.
MODELS: Mapping[str, tuple[Callable[[], Any], Callable[[], Any], tuple[int, ...]]] = {
    "SDXL inpainting": (full_sdxl, inpainting_xl, (1024,)),
    "FLUX.2 klein 4B": (full_klein, flux_2_klein, (512, 1024)),
}
TINY_PX = (64,)


def save_full(build: Callable[[], Any], folder: Path) -> None:
    """Save a pipeline in half precision, its random weights drawn on the GPU."""
    with torch.device("cuda"):
        pipeline = build()
    pipeline.to(torch.bfloat16).save_pretrained(folder)
    del pipeline
    torch.cuda.empty_cache()


def save_filters(folder: Path, *, is_tiny: bool) -> dict[str, dict[str, Any]]:
    """Save models of the filters CLIPScore (ViT-B/32) and objects (OWLv2); gives their options."""
    clip, owl = save_clip(folder / "clip"), save_owlv2(folder / "owlv2")
    if not is_tiny:
        # Over the tiny ones, whose tokenizers and processors are kept.
        with torch.device("cuda"):
            save_model(CLIPModel(CLIPConfig()), clip)
            save_model(Owlv2ForObjectDetection(Owlv2Config()), owl)
    offline = {"offline": True}
    return {
        "sanity": {},
        "clip": {"model": str(clip), "threshold": None, **offline},
        "objects": {"model": str(owl), **offline},
    }


def squares(count: int, side_px: int) -> Iterator[ImageRequest]:
    """Requests whose images have a square object in the middle."""
    random = np.random.default_rng(0)
    for number in range(count):
        image = random.integers(0, 255, (side_px, side_px, 3), dtype=np.uint8)
        mask = np.zeros((side_px, side_px), bool)
        mask[side_px // 4 : side_px // 2, side_px // 4 : side_px // 2] = True
        source = SourceImage(f"{number}", f"{number}.png", image, mask)
        yield ImageRequest(f"{number}", "bird", (), "a bird", number, source)


def print_painting(backend: Backend, requests: list[ImageRequest], *, paints_object: bool) -> None:
    """Paint a batch, check its pixels, and print what it took."""
    backend.generate(requests[:1])
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()

    began = time.perf_counter()
    painted = backend.generate(requests)
    seconds = (time.perf_counter() - began) / len(requests)

    images = []
    for generated in painted:
        if isinstance(generated, GenerationError):
            raise generated
        images.append(generated.image)

    n_exact = 0
    for request, image in zip(requests, images, strict=True):
        source = request.source
        assert source is not None
        assert image.shape == source.image.shape
        stays = ~source.mask if paints_object else source.mask
        n_exact += np.array_equal(image[stays], source.image[stays])
    peak_gb = torch.cuda.max_memory_allocated() / 1e9 if torch.cuda.is_available() else 0.0
    height, width = images[0].shape[:2]
    print(
        f"  {width} x {height}: {seconds:.2f} s an image, {n_exact} of {len(images)} exact, "
        f"{peak_gb:.1f} GB at most",
        flush=True,
    )


def print_worker(
    making: Mapping[str, Any], filters: Mapping[str, Any], side_px: int, images: int
) -> None:
    """Print what a worker makes of what a bare loop makes."""
    job = check_settings({"backend": "inpaint", "making": dict(making), "filters": dict(filters)})
    settings = Settings.from_environment()
    for speed in measure_worker(settings, job, images=images, side_px=side_px):
        print(
            f"  worker at {side_px} px: {speed.images / speed.worker_s:.2f} images/s, loop "
            f"{speed.images / speed.loop_s:.2f}, ratio {speed.images_ratio:.3f}; the "
            f"device was busy in {speed.device_s / speed.worker_s:.0%} of that time",
            flush=True,
        )


def main() -> None:
    """Measure each model, and print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--images", type=int, default=16)
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()
    if not options.tiny and not torch.cuda.is_available():
        raise SystemExit("There is no GPU. --tiny goes the same way with tiny models.")

    for name, (build_full, build_tiny, full_sides_px) in MODELS.items():
        print(name + (", tiny" if options.tiny else ""), flush=True)
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            model = folder / "model"
            if options.tiny:
                build_tiny().save_pretrained(model)
            else:
                save_full(build_full, model)
            making = {"model": str(model), "offline": True, "preset": "fast"}

            sides_px = TINY_PX if options.tiny else full_sides_px
            backend = BACKENDS.open("inpaint", making)
            for side_px in sides_px:
                requests = list(squares(min(8, options.images), side_px))
                print_painting(backend, requests, paints_object=False)
            del backend

            crops = BACKENDS.open("inpaint", {**making, "paint": "object", "crop": True})
            print_painting(crops, list(photographs(2, seed=1)), paints_object=True)
            del crops

            filters = save_filters(folder, is_tiny=options.tiny)
            print_worker(making, filters, sides_px[0], options.images)


if __name__ == "__main__":
    main()
