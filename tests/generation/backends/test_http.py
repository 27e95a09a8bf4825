"""The backend http, on a server that paints by OpenAI's API, with every fault that it may have."""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cobalance.base.errors import JobBlockedError
from cobalance.generation.backends.compositing.framing import resize_image
from cobalance.generation.image_request import GeneratedImage, GenerationError
from cobalance.generation.jobs.settings import JobSettings
from tests.generation.backends.remote.asking import KeptAnswers, open_remote
from tests.generation.backends.suite import Ask
from tests.support.image_servers import MODEL, image_server, painted_pixels

SEED = 2**62 + 1000
"""Of the first request of the fixture `ask`."""


def sent_seed(seed: int) -> int:
    return 1 + seed % (2**31 - 1)


def drawn(*faults: str) -> Any:
    """The faults of the first requests; none afterwards."""
    remaining = iter(faults)
    return lambda: next(remaining, "")


def made(results: Any) -> list[GeneratedImage]:
    assert all(isinstance(result, GeneratedImage) for result in results), results
    return list(results)


@pytest.mark.parametrize("paint", ["surroundings", "object"])
def test_what_is_kept_is_the_source_and_the_rest_is_the_server_s(ask: Ask, paint: str) -> None:
    requests = ask(3)
    with image_server() as painter:
        results = made(open_remote("http", painter.url, paint=paint).generate(requests))

    for request, result in zip(requests, results, strict=True):
        assert request.source is not None
        source, mask = request.source.image, request.source.mask
        painted = mask if paint == "object" else ~mask
        width, height = map(int, painter.requests[0]["size"].split("x"))
        server_s = painted_pixels(sent_seed(request.seed), (height, width))
        assert np.array_equal(result.image[~painted], source[~painted])
        assert np.array_equal(
            result.image[painted], resize_image(server_s, source.shape[:2])[painted]
        )
        assert result.kept is not None
        assert np.array_equal(result.kept, ~painted)


def test_a_request_is_as_the_api_has_it(ask: Ask) -> None:
    options = {"model": MODEL, "fields": {"num_inference_steps": 4, "response_format": None}}
    with image_server() as painter:
        open_remote("http", painter.url, **options).generate(ask())
    (fields,) = painter.requests
    image, mask = (Image.open(BytesIO(fields[name])) for name in ("image", "mask"))
    assert {name: fields.get(name) for name in ("prompt", "n", "model", "num_inference_steps")} == {
        "prompt": "a photo of forest",
        "n": "1",
        "model": MODEL,
        "num_inference_steps": "4",
    }
    assert "response_format" not in fields
    assert int(fields["seed"]) == sent_seed(SEED)
    # 60 x 84 pixels as 64 x 64 are, in their shape, in multiples of 16.
    assert fields["size"] == "80x48"
    assert (image.size, image.mode) == ((80, 48), "RGB")
    assert (mask.size, mask.mode) == ((80, 48), "RGBA")
    alpha = np.asarray(mask)[..., 3]
    assert set(np.unique(alpha)) == {0, 255}
    # Transparent where it is to be painted: the corners, and not the object.
    assert (alpha[0, 0], alpha[18, 33]) == (0, 255)
    assert painter.headers[0]["Accept-Encoding"] == "identity"
    assert "Authorization" not in painter.headers[0]


def test_a_mask_is_white_for_vllm_omni_and_there_is_none_for_the_whole_image(ask: Ask) -> None:
    with image_server() as painter:
        open_remote("http", painter.url, mask_as="mask_image").generate(ask())
        open_remote("http", painter.url, mask_as="none").generate(ask())
        (whole,) = made(open_remote("http", painter.url, paint="everything").generate(ask()))
    first, *others = painter.requests
    mask = np.asarray(Image.open(BytesIO(first["mask_image"])))
    assert (mask.shape, mask[0, 0], mask[18, 33]) == ((48, 80), 255, 0)
    assert all("mask" not in fields and "mask_image" not in fields for fields in others)
    assert (whole.mask, whole.kept) == (None, None)
    assert whole.image.shape == (60, 84, 3)


def test_objects_are_painted_in_crops_one_after_the_other(ask: Ask) -> None:
    (request,) = ask(1, 400, 480, two=True)
    with image_server() as painter:
        backend = open_remote("http", painter.url, paint="object", crop=True, context=0.1)
        (result,) = made(backend.generate([request]))
    assert request.source is not None
    outside = ~request.source.mask
    assert np.array_equal(result.image[outside], request.source.image[outside])
    assert result.details is not None
    assert len(painter.requests) == len(result.details["crops"]) == 2
    assert len(result.details["answers"]) == 2


def test_provenance_has_server_model_and_what_it_answered(ask: Ask, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("s3cret")
    with image_server() as painter:
        backend = open_remote("http", painter.url, model=MODEL, key_file=str(key))
        (result,) = made(backend.generate(ask()))
    about = backend.describe()
    assert (about["backend"], about["model"]) == ("http", MODEL)
    assert about["digital_source_type"].endswith("/compositeWithTrainedAlgorithmicMedia")
    assert about["settings"]["url"] == painter.url
    assert result.details is not None
    seed = sent_seed(SEED)
    assert result.details["answers"] == [
        {
            "server": painter.url,
            "created": 1_700_000_000 + seed % 1000,
            "usage": {"total_tokens": 17},
            "request_id": f"r-{seed}",
            "revised_prompt": "A PHOTO OF FOREST",
        }
    ]
    assert painter.headers[0]["Authorization"] == "Bearer s3cret"
    assert "s3cret" not in json.dumps([about, result.details])


@pytest.mark.parametrize(
    ("fault", "is_charged"),
    [
        ("429", False),
        ("503", False),
        ("500", True),
        ("cut", True),
        ("size", True),
        ("truncated", True),
        ("html", True),
        ("packed", True),
        ("text", True),
        ("url", True),
    ],
)
def test_what_fails_once_is_asked_for_again(ask: Ask, fault: str, is_charged: bool) -> None:
    account = KeptAnswers()
    with image_server(next_fault=drawn(fault)) as painter:
        backend = open_remote("http", painter.url)
        backend.account = account
        made(backend.generate(ask()))
    assert len(painter.requests) == 2
    assert account.asked == 1 + is_charged


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("429", "is busy (429: as drawn; None), after 3 tries"),
        ("500", "failed (500: as drawn; None), after 3 tries"),
        ("size", "answers with an image of 160x96 pixels where 80x48 were asked for, after 3"),
        ("size declared", "answers with an image of 160x96 pixels where 80x48 were asked for"),
        ("html", "answers with text/html where JSON was expected, after 3 tries"),
        ("text", "answers with no image in Base64 (data[0].b64_json), after 3 tries"),
        ("url", "answers with no image in Base64 (data[0].b64_json), after 3 tries"),
        ("truncated", "answers with no usable image ("),
        ("packed", "packs its answer with gzip, which was not asked for, after 3 tries"),
    ],
)
def test_what_fails_each_time_stops_the_job(ask: Ask, fault: str, says: str) -> None:
    with (
        image_server(next_fault=lambda: fault) as painter,
        pytest.raises(JobBlockedError) as error,
    ):
        open_remote("http", painter.url, tries=3).generate(ask())
    message = str(error.value)
    assert message.startswith(f"The server {painter.url} {says}")
    assert message.endswith("then retry the job: images that were paid for are kept.")
    assert len(painter.requests) == 3


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("redirect", "redirects to http://user:***@127.0.0.1:1/v1, which is not followed"),
        ("401", "refuses the key or its account (401: as drawn; None)"),
        ("404", "has no /images/edits (404: as drawn; None)"),
        ("model", f"painted with the model another, not with {MODEL}"),
    ],
)
def test_what_a_person_has_to_mend_is_not_asked_again(ask: Ask, fault: str, says: str) -> None:
    with (
        image_server(next_fault=lambda: fault) as painter,
        pytest.raises(JobBlockedError) as error,
    ):
        open_remote("http", painter.url, model=MODEL).generate(ask())
    assert says in str(error.value)
    assert len(painter.requests) == 1


def test_a_model_that_the_server_does_not_list_is_not_asked_for(ask: Ask) -> None:
    with (
        image_server() as painter,
        pytest.raises(JobBlockedError, match=f"has no model other, but {MODEL}"),
    ):
        open_remote("http", painter.url, model="other").generate(ask())
    assert painter.requests == []


def test_a_server_that_is_not_there_costs_nothing(ask: Ask) -> None:
    account = KeptAnswers()
    with image_server() as painter:
        url = painter.url
    backend = open_remote("http", url, tries=2)
    backend.account = account
    with pytest.raises(JobBlockedError, match=r"cannot be reached \(.*\), after 2 tries"):
        backend.generate(ask())
    assert account.asked == 0


def test_a_server_that_is_too_slow_is_given_up(ask: Ask) -> None:
    with image_server(next_fault=drawn("slow")) as painter:
        made(open_remote("http", painter.url, timeout_s=0.5).generate(ask()))
    assert len(painter.requests) == 2


def test_an_image_of_another_size_is_resized_where_that_is_allowed_and_declared(ask: Ask) -> None:
    with image_server(next_fault=lambda: "size declared") as painter:
        (result,) = made(open_remote("http", painter.url, any_size=True).generate(ask()))
    assert result.image.shape == (60, 84, 3)
    with (
        image_server(next_fault=lambda: "size") as painter,
        pytest.raises(JobBlockedError, match="160x96 pixels where 80x48"),
    ):
        open_remote("http", painter.url, any_size=True, tries=1).generate(ask())


def test_an_image_that_is_refused_is_left_out_and_the_others_are_made(ask: Ask) -> None:
    with image_server(next_fault=drawn("400")) as painter:
        results = open_remote("http", painter.url, at_once=1).generate(ask(3))
    assert [isinstance(result, GeneratedImage) for result in results] == [False, True, True]
    assert str(results[0]) == (f"The server {painter.url} refuses the image (400: as drawn; None).")
    assert len(painter.requests) == 3


def test_a_request_without_a_source_is_left_out(ask: Ask) -> None:
    first, second = ask(2)
    with image_server() as painter:
        results = open_remote("http", painter.url).generate([replace(first, source=None), second])
    assert isinstance(results[0], GenerationError)
    assert "has no source image" in str(results[0])
    assert isinstance(results[1], GeneratedImage)


def test_a_key_that_a_server_echoes_is_shown_nowhere(
    ask: Ask, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    key = tmp_path / "key"
    key.write_text("s3cret")
    caplog.set_level(logging.DEBUG)
    with image_server(next_fault=lambda: "500") as painter:
        backend = open_remote("http", painter.url, key_file=str(key), tries=1)
        with pytest.raises(JobBlockedError) as error:
            backend.generate(ask())
    assert "as drawn; Bearer ***" in str(error.value)
    assert "s3cret" not in caplog.text


@pytest.fixture
def account() -> Iterator[KeptAnswers]:
    return KeptAnswers()


def test_the_budget_makes_what_it_can_and_stops_the_job_then(
    ask: Ask, account: KeptAnswers
) -> None:
    with image_server(next_fault=drawn("429", "500", "cut")) as painter:
        backend = open_remote("http", painter.url, max_cost=0.5, price=0.1, at_once=1)
        backend.account = account
        results = backend.generate(ask(4))
        assert [isinstance(result, GeneratedImage) for result in results] == [True] * 3 + [False]
        assert str(results[3]).startswith("The budget is spent: 5 images were asked for.")
        with pytest.raises(JobBlockedError, match="The budget is spent: 5 images were asked for"):
            backend.generate(ask(6)[4:])
    # 429 cost nothing; 500 and the broken connection may have.
    assert (account.asked, len(painter.requests)) == (5, 6)


def test_answers_that_have_come_are_not_asked_for_again(ask: Ask, account: KeptAnswers) -> None:
    with image_server(next_fault=drawn("", "", "401")) as painter:
        backend = open_remote("http", painter.url, at_once=1)
        backend.account = account
        with pytest.raises(JobBlockedError, match="refuses the key"):
            backend.generate(ask(4))
        again = open_remote("http", painter.url)
        again.account = account
        results = made(again.generate(ask(4)))
    assert account.asked == 4
    assert [painter.painted[sent_seed(SEED + number)] for number in range(4)] == [1] * 4
    for number, result in enumerate(results):
        corner = painted_pixels(sent_seed(SEED + number), (48, 80))
        assert np.array_equal(result.image[0, 0], resize_image(corner, (60, 84))[0, 0])


def test_servers_share_the_work_within_their_limits(ask: Ask) -> None:
    with image_server() as first, image_server() as second:
        backend = open_remote("http", f"{first.url} {second.url}", at_once=2)
        made(backend.generate(ask(24)))
    assert len(first.requests) + len(second.requests) == 24
    assert min(len(first.requests), len(second.requests)) > 4
    assert max(first.most_in_flight, second.most_in_flight) <= 2


def test_a_server_that_fails_is_left_alone_while_another_one_paints(ask: Ask) -> None:
    with image_server(next_fault=lambda: "503") as broken, image_server() as sound:
        backend = open_remote("http", f"{broken.url} {sound.url}", pause_s=30, at_once=1)
        made(backend.generate(ask(6)))
    assert len(broken.requests) == 1
    assert len(sound.requests) == 6


WITHOUT_MODELS = """
import sys
for name in ("torch", "diffusers", "transformers", "safetensors"):
    sys.modules[name] = None
import numpy as np
from cobalance.generation.backends import BACKENDS
from cobalance.generation.image_request import ImageRequest, SourceImage
mask = np.eye(64, dtype=bool)
source = SourceImage("i", "i.png", np.zeros((64, 64, 3), np.uint8), mask)
backend = BACKENDS.open("http", {"url": sys.argv[1], "native_px": 64})
(result,) = backend.generate([ImageRequest("q", "bird", ("sea",), "sea", 1, source)])
print(result.image.shape)
"""


def test_a_worker_needs_no_packages_of_models() -> None:
    with image_server() as painter:
        command = [sys.executable, "-c", WITHOUT_MODELS, painter.url]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "(64, 64, 3)\n", done.stderr
    assert [JobSettings(recipe=name).extras for name in ("http", "comfyui")] == [["worker"]] * 2
