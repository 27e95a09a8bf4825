"""CLIPScore, with the real code and a tiny random CLIP."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import CLIPImageProcessorPil, CLIPModel, CLIPTokenizer

from cobalance.base.errors import JobBlockedError, OptionError, OutOfMemoryError
from cobalance.generation.filters import FILTERS
from cobalance.generation.filters.clip import ClipOptions
from cobalance.generation.image_request import GeneratedImage, ImageRequest
from cobalance.vision.models.clip import CLIP_REVISION, ImageTextClip
from tests.generation.filters.making import noise, request
from tests.tiny.vision import save_clip, save_owlv2

PROMPTS = ("a photo of a beach", "a photo of an ocean and a boat", "a cow", "a photo of a beach")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_clip(tmp_path_factory.mktemp("clip"))


def open_clip(model: Path, **options: object) -> Any:
    return FILTERS.open("clip", {"model": str(model), **options})


def cosine(clip: Any, asked: ImageRequest) -> float:
    """Of one image with what is asked for: random models have negative ones, and scores of 0."""
    return float(clip.judge([asked], [GeneratedImage(noise())])[0].details["cosine"])


def cosines_by_hand(model: Path, images: list[np.ndarray], texts: tuple[str, ...]) -> np.ndarray:
    """From the model's whole output, each text padded only to the longest."""
    clip = CLIPModel.from_pretrained(model).eval()
    pixels = CLIPImageProcessorPil.from_pretrained(model)(
        images=[Image.fromarray(image) for image in images], return_tensors="pt"
    )
    tokens = CLIPTokenizer.from_pretrained(model)(list(texts), padding=True, return_tensors="pt")
    with torch.inference_mode():
        output = clip(pixel_values=pixels["pixel_values"], **tokens)
    pairs = zip(output.image_embeds.numpy(), output.text_embeds.numpy(), strict=True)
    return np.array([a @ b / np.sqrt((a @ a) * (b @ b)) for a, b in pairs])


def test_the_score_is_two_and_a_half_cosines(model: Path) -> None:
    images = [noise(seed) for seed in range(3)] + [np.full((40, 40, 3), 7, dtype=np.uint8)]
    requests = [request(i, prompt=prompt) for i, prompt in enumerate(PROMPTS)]
    found = open_clip(model).judge(requests, [GeneratedImage(image) for image in images])
    expected = cosines_by_hand(model, images, PROMPTS)
    assert [one.details["cosine"] for one in found] == pytest.approx(expected, abs=2e-6)
    assert [one.score for one in found] == pytest.approx(2.5 * expected.clip(0), abs=5e-6)
    assert [one.accepted for one in found] == [one.score >= 0.6 for one in found]


def test_the_threshold_of_the_paper_is_a_cosine_of_024(model: Path) -> None:
    """Both sides of the threshold, and below zero, by cosines of our own."""
    clip = open_clip(model)
    cosines = [0.2401, 0.2399, -0.3, 1.0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ImageTextClip, "cosines", lambda *_: np.array(cosines))
        found = clip.judge(
            [request(i) for i in range(4)], [GeneratedImage(noise(i)) for i in range(4)]
        )
    assert [one.accepted for one in found] == [True, False, False, True]
    assert [one.score for one in found] == pytest.approx([0.60025, 0.59975, 0.0, 2.5])
    assert [one.details["cosine"] for one in found] == cosines
    assert found[2].reason == (
        "The image does not show 'a photo of a beach and an ocean': CLIPScore 0.000, less than 0.6."
    )


def test_a_batch_scores_as_its_images_alone(model: Path) -> None:
    requests = [request(i, prompt=prompt) for i, prompt in enumerate(PROMPTS)]
    made = [GeneratedImage(noise(i)) for i in range(4)]
    together = open_clip(model).judge(requests, made)
    in_pairs = open_clip(model, batch_size=2).judge(requests, made)
    clip = open_clip(model)
    alone = [clip.judge([one], [image])[0] for one, image in zip(requests, made, strict=True)]
    scores = [one.score for one in together]
    assert scores == pytest.approx([one.score for one in alone], abs=2e-6)
    assert scores == pytest.approx([one.score for one in in_pairs], abs=2e-6)
    assert clip.judge([], []) == []


def test_texts(model: Path) -> None:
    asked = request(concepts=("beach", "fire_hydrant"), prompt="add a beach")
    prompts: dict[str, Any] = {
        "add a beach": {},
        "a photo of a beach and a fire hydrant": {"text": "concepts"},
        "landbird at beach and fire hydrant": {"text": "{class} at {names}"},
        "A photo depicts add a beach": {"prefix": "A photo depicts "},
    }
    assert len({cosine(open_clip(model), request(prompt=prompt)) for prompt in prompts}) == 4
    for prompt, options in prompts.items():
        expected = cosine(open_clip(model), request(prompt=prompt))
        assert cosine(open_clip(model, **options), asked) == expected
    without = cosine(open_clip(model, text="concepts"), request(concepts=()))
    assert without == cosine(open_clip(model), request())


def test_edited_captions(model: Path) -> None:
    """The words of an edit are the text; without a caption, or without concepts, the prompt is."""
    asked = dataclasses.replace(
        request(concepts=(), prompt="add a beach"), caption="a cow at the {names} ocean"
    )

    def score(prompt: str) -> float:
        return cosine(open_clip(model), request(prompt=prompt))

    expected = {
        "{caption}": "a cow at the {names} ocean",
        "a photo of a {class}: {caption}": "a photo of a landbird: a cow at the {names} ocean",
        "{caption} with {names}": "add a beach",
        "concepts": "add a beach",
        "prompt": "add a beach",
    }
    assert len({score(text) for text in expected.values()}) == 3
    for text, means in expected.items():
        assert cosine(open_clip(model, text=text), asked) == score(means)
    without = dataclasses.replace(asked, caption="")
    assert cosine(open_clip(model, text="{caption}"), without) == score("add a beach")


def test_without_a_threshold_nothing_is_rejected(model: Path) -> None:
    """For recipes that only rank: also below zero, where the cosine still tells images apart."""
    clip = open_clip(model, threshold=None)
    cosines = [0.24, -0.3, -0.1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ImageTextClip, "cosines", lambda *_: np.array(cosines))
        found = clip.judge(
            [request(i) for i in range(3)], [GeneratedImage(noise(i)) for i in range(3)]
        )
    assert [(one.accepted, one.reason) for one in found] == [(True, "")] * 3
    assert [one.details["cosine"] for one in found] == cosines
    assert [one.score for one in found] == pytest.approx([0.6, 0.0, 0.0])
    assert clip.describe()["settings"]["threshold"] is None


def test_a_score_that_is_no_number_is_rejected(model: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ImageTextClip, "cosines", lambda *_: np.array([np.nan]))
        (found,) = open_clip(model).judge([request()], [GeneratedImage(noise())])
    assert not found.accepted
    assert "CLIPScore nan" in found.reason


def test_a_text_that_clip_reads_in_part_is_marked(model: Path) -> None:
    long = request(prompt="a beach " * 30)
    found = open_clip(model).judge(
        [long, request()], [GeneratedImage(noise()), GeneratedImage(noise())]
    )
    assert [one.details.get("truncated") for one in found] == [True, None]


def test_what_it_scores_with_is_described(model: Path) -> None:
    described = open_clip(model, threshold=0.5).describe()
    assert described["settings"] == {"threshold": 0.5, "text": "prompt", "prefix": ""}
    assert described["model"] == model.name
    assert described["revision"] is None
    assert len(described["weights_sha256"]) == 64
    assert set(described["software"]) == {"torch", "transformers", "pillow"}


def test_the_default_model_has_a_revision_of_its_own() -> None:
    assert ClipOptions().revision_or(CLIP_REVISION) == CLIP_REVISION
    assert ClipOptions(revision="main").revision_or(CLIP_REVISION) == "main"
    assert ClipOptions(model="other/clip").revision_or(CLIP_REVISION) is None


def test_memory(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clip = open_clip(model)

    def fail(**_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(clip.clip.vision.model, "get_image_features", fail)
    with pytest.raises(OutOfMemoryError, match="too little memory for CLIP on 2 images"):
        clip.judge([request(0), request(1)], [GeneratedImage(noise()), GeneratedImage(noise())])


def test_models_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(JobBlockedError, match="no such folder"):
        FILTERS.open("clip", {"model": str(tmp_path / "nothing")})
    with pytest.raises(JobBlockedError, match=r"not a complete CLIPModel|cannot be loaded"):
        FILTERS.open("clip", {"model": str(save_owlv2(tmp_path / "owlv2"))})
    with pytest.raises(JobBlockedError, match="not on this machine"):
        FILTERS.open("clip", {"model": "no-such-owner/no-such-model", "offline": True})


def test_options() -> None:
    with pytest.raises(OptionError, match=r"no option 'template'. Its options: batch_size, device"):
        FILTERS.open("clip", {"template": "{concepts}"})
    with pytest.raises(OptionError, match=r"The filter clip: threshold is 3"):
        FILTERS.open("clip", {"threshold": 3})
    with pytest.raises(OptionError, match="has no place for the concepts"):
        FILTERS.open("clip", {"text": "a photo"})
    with pytest.raises(
        OptionError, match=r"groups are in the prompt alone, and the text has \{adj"
    ):
        FILTERS.open("clip", {"text": "a {noun}, {adjective}"})
