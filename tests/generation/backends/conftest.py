"""Tiny pipelines saved once a run, and requests with objects to keep."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch

from cobalance.generation.backends.brushnet import BrushNetOptions, open_backend as open_brushnet
from cobalance.generation.backends.pipelines.diffusion import DiffusionBackend
from cobalance.generation.image_request import ImageRequest, SourceImage
from tests.generation.backends.suite import GUIDANCE_SCALES, STEPS, Ask, Find
from tests.tiny.brushnet import save_brushnet
from tests.tiny.diffusion import save_pipeline
from tests.tiny.other_pipelines import save_other_pipeline

Open = Callable[..., DiffusionBackend]
"""Opens a backend with tiny models and given options."""

PROMPTS = ("a photo of forest", "a photo of ocean, and beach", "cat", "a photo of a woman")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Tiny models lose time on many threads, and results vary with how work is divided."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def saved(root: Path, save: Callable[[str, Path], object]) -> Callable[[str], str]:
    """A function that gives the folder of a pipeline by its name, and saves it on first use."""

    def find(name: str) -> str:
        if not (root / name).is_dir():
            save(name, root)
        return str(root / name)

    return find


@pytest.fixture(scope="session")
def pipelines(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The folder of a tiny pipeline, by its name in `tests.tiny.diffusion`."""
    return saved(tmp_path_factory.mktemp("pipelines"), save_pipeline)


@pytest.fixture(scope="session")
def others(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The folder of a tiny pipeline, by its name in `tests.tiny.other_pipelines`."""
    return saved(tmp_path_factory.mktemp("others"), save_other_pipeline)


@pytest.fixture(scope="session")
def branches(tmp_path_factory: pytest.TempPathFactory) -> Find:
    """The folder of a tiny BrushNet: ``random_mask_brushnet_ckpt``, or ``zeros``."""
    root = tmp_path_factory.mktemp("branches")
    return saved(root, lambda name, into: save_brushnet(into / name, zeros=name == "zeros"))


@pytest.fixture(scope="session")
def opened(pipelines: Find, branches: Find) -> Open:
    """Opens the backend brushnet with tiny models."""

    def open_one(branch: str = "random_mask_brushnet_ckpt", **options: Any) -> DiffusionBackend:
        settings = {
            "model": pipelines("sd-text2img"),
            "brushnet_model": branches(branch),
            "steps": 2,
            "area_px": 64 * 64,
            **options,
        }
        return open_brushnet(BrushNetOptions.model_validate(settings))

    return open_one


@pytest.fixture
def copied(pipelines: Callable[[str], str], tmp_path: Path) -> Callable[[str], Path]:
    """A pipeline's folder of a test's own, to be broken."""
    return lambda name: Path(shutil.copytree(pipelines(name), tmp_path / name))


@pytest.fixture(params=GUIDANCE_SCALES)
def guidance_scale(request: pytest.FixtureRequest) -> float | None:
    return cast("float | None", request.param)


@pytest.fixture(params=["faithful", "fast"])
def batch_options(
    request: pytest.FixtureRequest, guidance_scale: float | None
) -> dict[str, object]:
    """What batches are checked with: each preset, with and without guidance."""
    return {"steps": STEPS, "preset": request.param, "guidance_scale": guidance_scale}


@pytest.fixture
def ask() -> Ask:
    """Requests, each with its own source, prompt and seed, but all of one size."""

    def requests(
        count: int = 1, height: int = 60, width: int = 84, *, two: bool = False
    ) -> list[ImageRequest]:
        rng = np.random.default_rng(7)
        mask = np.zeros((height, width), bool)
        mask[height // 4 : height // 2, width // 3 : width // 2] = True
        mask[height // 4, width // 3] = False
        if two:
            mask[height * 3 // 5 :, : width // 4] = True
        asked = []
        for number in range(count):
            image = rng.integers(0, 255, (height, width, 3), dtype=np.uint8)
            source = SourceImage(f"i{number}", f"i{number}.png", image, mask)
            prompt = PROMPTS[number % len(PROMPTS)]
            seed = 2**62 + 1000 + number
            asked.append(ImageRequest(f"q{number}", "bird", ("forest",), prompt, seed, source))
        return asked

    return requests
