"""`cobalance benchmark-worker`: compare a worker with a loop that only makes the images."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from cobalance.app.cli.shared import (
    Assignments,
    SettingsFile,
    TableOutput,
    notes,
    progress_bars,
    read_environment,
    read_settings,
)
from cobalance.base import needs_extra
from cobalance.generation import filters


def benchmark_worker(
    to: TableOutput,
    recipe: Annotated[
        str | None, "The recipe: one that makes images of classes and concepts."
    ] = None,
    model: Annotated[
        str | None, "The model: a folder, or owner/name on the hub. Default: the backend's own."
    ] = None,
    filter_: Annotated[
        list[str] | None,
        typer.Option("--filter"),
        f"A filter that judges them: {', '.join(filters.FILTERS)}. Repeat it; `none` for none.",
    ] = None,
    setting: Annotated[
        Assignments, "An option of the job, such as making.compile=true or quality=fast. Repeat it."
    ] = None,
    settings: SettingsFile = None,
    count: Annotated[int, typer.Option(min=1), "How many images a turn makes."] = 64,
    side_px: Annotated[int, typer.Option("--side", min=16), "Side of the originals."] = 512,
    turns: Annotated[int, typer.Option(min=1), "Measurements, one after the other."] = 1,
) -> None:
    """Measure a worker beside a loop that only makes the same images.

    The originals are drawn, and everything is in folders and a local server of its own, which are
    gone afterwards. cpu_ratio and images_ratio are 1 where a worker costs nothing more.
    """
    job = read_settings(
        settings, {"recipe": recipe}, {"model": model}, filter_ or (), setting or ()
    )

    import pandas as pd

    with needs_extra("A worker", "worker"):
        from cobalance.workflows import measure_worker
    rows: list[Mapping[str, Any]] = []
    parts: list[Mapping[str, float]] = []
    with progress_bars() as progress:
        environment = read_environment()
        for speed in measure_worker(
            environment, job, images=count, side_px=side_px, turns=turns, progress=progress
        ):
            parts.append(speed.cpu_by_part)
            rows.append(
                {
                    "images": speed.images,
                    "loop_images_per_s": speed.images / speed.loop_s,
                    "worker_images_per_s": speed.images / speed.worker_s,
                    "images_ratio": speed.images_ratio,
                    "loop_cpu_s": speed.loop_cpu_s,
                    "worker_cpu_s": speed.worker_cpu_s,
                    "cpu_ratio": speed.cpu_ratio,
                    "device_share": speed.device_s / speed.worker_s,
                    "first_chunk_s": speed.first_chunk_s,
                }
            )

    to.write(pd.DataFrame(rows))
    if to.is_shown:
        means = pd.DataFrame(parts).fillna(0.0).mean().sort_values(ascending=False)
        seconds = ", ".join(f"{part} {mean_s:.1f} s" for part, mean_s in means.items())
        notes.print(f"The worker's processor time: {seconds}.")
