"""The backend comfyui, on a server with ComfyUI's routes, with every fault that it may have."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cobalance.base.errors import InputError, JobBlockedError, OptionError
from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.comfyui import read_workflow
from cobalance.generation.backends.compositing.framing import resize_image
from cobalance.generation.backends.remote.backend import RemoteBackend
from tests.generation.backends.remote.asking import KeptAnswers, open_remote
from tests.generation.backends.suite import Ask
from tests.generation.backends.test_http import SEED, drawn, made, sent_seed
from tests.support.image_servers import WORKFLOW, ComfyHandler, image_server, painted_pixels

Open = Callable[..., RemoteBackend]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    file = tmp_path / "workflow.json"
    file.write_text(json.dumps(WORKFLOW))
    return lambda url, **options: open_remote("comfyui", url, workflow=str(file), **options)


def test_a_workflow_is_filled_in_and_its_image_fetched(ask: Ask, opened: Open) -> None:
    (request,) = ask()
    with image_server(ComfyHandler) as painter:
        backend = opened(painter.url)
        (result,) = made(backend.generate([request]))

    seed = sent_seed(SEED)
    (asked,) = painter.requests
    nodes = asked["nodes"]
    assert nodes["3"]["inputs"] == {**WORKFLOW["3"]["inputs"], "seed": seed}
    assert nodes["6"]["inputs"] == {"text": "a photo of forest"}
    assert nodes["4"] == WORKFLOW["4"]
    uploads = {node: painter.uploads[nodes[node]["inputs"]["image"]] for node in ("1", "2")}
    image, mask = (Image.open(BytesIO(content)) for content in uploads.values())
    assert image.size == mask.size == (80, 48)
    assert (mask.getpixel((0, 0)), mask.getpixel((33, 18))) == (255, 0)

    assert request.source is not None
    kept = request.source.mask
    painted = resize_image(painted_pixels(seed, (48, 80)), (60, 84))
    assert np.array_equal(result.image[kept], request.source.image[kept])
    assert np.array_equal(result.image[~kept], painted[~kept])
    about = backend.describe()
    assert (about["backend"], about["model"]) == ("comfyui", "sd.safetensors")
    assert len(about["settings"]["workflow_sha256"]) == 64
    assert result.details is not None
    (facts,) = result.details["answers"]
    assert facts == {"server": painter.url, "prompt_id": f"00000001-{seed}"}
    assert painter.cancelled == []


@pytest.mark.parametrize(
    ("fault", "asked", "runs"),
    [
        ("429", 1, 2),
        ("500", 2, 2),
        ("error", 2, 2),
        ("nothing", 2, 2),
        ("size", 2, 2),
        ("truncated", 2, 2),
        # The image is there, and is only fetched again.
        ("cut", 1, 1),
    ],
)
def test_what_fails_once_is_asked_for_again(
    ask: Ask, opened: Open, fault: str, asked: int, runs: int
) -> None:
    account = KeptAnswers()
    with image_server(ComfyHandler, drawn(fault)) as painter:
        backend = opened(painter.url)
        backend.account = account
        made(backend.generate(ask()))
    assert (account.asked, len(painter.requests)) == (asked, runs)


def test_a_run_that_takes_too_long_is_cancelled(ask: Ask, opened: Open) -> None:
    with image_server(ComfyHandler, drawn("slow")) as painter:
        made(opened(painter.url, timeout_s=0.3).generate(ask()))
    run = f"00000001-{sent_seed(SEED)}"
    assert painter.cancelled == [f"delete {run}", f"interrupt {run}"]
    assert len(painter.requests) == 2


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("error", "failed in the workflow (CUDA out of memory), after 2 tries"),
        ("nothing", "ran the workflow, and its node output shows no image, after 2 tries"),
        ("400", "refuses the image (400: as drawn; None)"),
        ("size", "answers with an image of 160x96 pixels where 80x48 were asked for, after 2"),
    ],
)
def test_what_fails_each_time_stops_the_job(ask: Ask, opened: Open, fault: str, says: str) -> None:
    with (
        image_server(ComfyHandler, lambda: fault) as painter,
        pytest.raises(JobBlockedError) as error,
    ):
        opened(painter.url, tries=2).generate(ask())
    assert str(error.value).startswith(f"The server {painter.url} {says}")


def test_a_workflow_with_a_size_of_its_own_is_resized_where_that_is_allowed(
    ask: Ask, opened: Open
) -> None:
    with image_server(ComfyHandler, lambda: "size") as painter:
        (result,) = made(opened(painter.url, any_size=True).generate(ask()))
    assert result.image.shape == (60, 84, 3)


def without(title: str) -> dict[str, Any]:
    nodes = json.loads(json.dumps(WORKFLOW))
    return {name: node for name, node in nodes.items() if node["_meta"]["title"].lower() != title}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "it is no workflow in ComfyUI's API format"),
        (b"[]", "it is no workflow in ComfyUI's API format"),
        (b"{}", "it is no workflow in ComfyUI's API format"),
        (b'{"nodes": [], "links": []}', "it is no workflow in ComfyUI's API format"),
        (b"[" * 100_000, "it is no workflow in ComfyUI's API format"),
        *(
            (json.dumps(without(title)).encode(), f"no node has the title {title}")
            for title in ("image", "mask", "prompt", "seed", "output")
        ),
        (
            json.dumps({**WORKFLOW, "12": WORKFLOW["6"]}).encode(),
            "several nodes have the title prompt",
        ),
        (
            json.dumps({**WORKFLOW, "6": {**WORKFLOW["6"], "inputs": {}}}).encode(),
            "node 6: the node prompt has no input text or prompt or value or string",
        ),
    ],
)
def test_a_workflow_that_cannot_be_filled_in_is_refused(
    tmp_path: Path, content: bytes, says: str
) -> None:
    file = tmp_path / "workflow.json"
    file.write_bytes(content)
    with pytest.raises(OptionError) as error:
        BACKENDS.check("comfyui", {"workflow": str(file)})
    assert says in str(error.value)
    assert str(error.value).startswith(f"The backend comfyui: {file}")


def test_a_workflow_without_a_mask_edits_whole_images(tmp_path: Path) -> None:
    file = tmp_path / "workflow.json"
    file.write_text(json.dumps(without("mask")))
    assert "mask" not in read_workflow(file, has_mask=False).places
    assert BACKENDS.open("comfyui", {"workflow": str(file), "paint": "everything"})


def test_a_workflow_is_needed(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="none is named"):
        BACKENDS.check("comfyui", {})
    assert BACKENDS.check("comfyui", {"workflow": str(tmp_path / "elsewhere.json")})
    with pytest.raises(InputError, match=r"absent\.json: cannot be read \(No such file"):
        BACKENDS.open("comfyui", {"workflow": str(tmp_path / "absent.json")})
