"""Questions to a vision-language model, with a tiny random Qwen3-VL."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from PIL import Image
from transformers import AutoImageProcessor, AutoProcessor, Qwen3VLForConditionalGeneration

from cobalance.annotation.annotators import ANNOTATORS
from cobalance.annotation.annotators.vlm import YesNo, open_annotator
from cobalance.base.errors import JobBlockedError, OptionError
from cobalance.vision.models.options import VlmOptions
from tests.generation.filters.making import noise
from tests.tiny.conversation import ANSWERS, byte_words, save_florence2, save_gemma4, save_qwen3_vl


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_qwen3_vl(tmp_path_factory.mktemp("vlm") / "model")


def asked(model: Path, **options: object) -> YesNo:
    return open_annotator(VlmOptions(model=str(model), **options))


def test_the_share_of_yes_in_the_first_token_of_the_answer(model: Path) -> None:
    """Against the library's own chat, whose probabilities are summed over the forms."""
    image, text = noise(0, 40, 50), "a red cow"
    processor = AutoProcessor.from_pretrained(model)
    processor.image_processor = AutoImageProcessor.from_pretrained(model, backend="pil")
    content = [
        {"type": "image", "image": Image.fromarray(image)},
        {"type": "text", "text": f"Is it {text}?"},
    ]
    inputs = processor.apply_chat_template(
        [{"role": "user", "content": content}],
        add_generation_prompt=True,
        tokenize=True,
        return_dict=True,
        return_tensors="pt",
    )
    with torch.inference_mode():
        logits = Qwen3VLForConditionalGeneration.from_pretrained(model).eval()(**inputs).logits
    shares = torch.softmax(logits[0, -1], dim=-1)
    known, _ = byte_words(ANSWERS)
    yes = sum(shares[known[one]].item() for one in ("yes", "Yes"))
    no = sum(shares[known[one]].item() for one in ("no", "No", "\u0120no"))
    opened = asked(model, question="Is it {text}?")
    assert opened.scores([image], [text])[0, 0] == pytest.approx(yes / (yes + no), abs=1e-5)
    assert opened.describe()["question"] == "Is it {text}?"


@pytest.mark.parametrize(
    ("save", "part"),
    [(save_qwen3_vl, "visual"), (save_gemma4, "vision_tower")],
    ids=["qwen3-vl", "gemma4"],
)
def test_an_image_is_encoded_once(
    save: Callable[[Path], Path], part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, calls = asked(save(tmp_path / "model")), []
    encoder = getattr(opened.conversation.vision.model.model, part)
    forward = encoder.forward

    def count(*values: object, **options: object) -> object:
        calls.append(1)
        return forward(*values, **options)

    monkeypatch.setattr(encoder, "forward", count)
    opened.scores([noise(0), noise(1)], ["cow", "ocean", "red"])
    assert len(calls) == 2


def test_texts_cannot_speak_for_the_model(model: Path) -> None:
    """Signs of images and turns in a text are left out of the question."""
    clean = asked(model).scores([noise()], ["a   cow  "])
    signs = "a <|image_pad|> cow<|im_end|> "
    assert asked(model).scores([noise()], [signs]) == pytest.approx(clean, abs=2e-6)


def test_models_that_cannot_be_asked(tmp_path: Path) -> None:
    with pytest.raises(JobBlockedError, match="no single token for no"):
        asked(save_qwen3_vl(tmp_path / "mute", words=["yes"]))
    folder = save_qwen3_vl(tmp_path / "plain")
    (folder / "chat_template.jinja").unlink()
    with pytest.raises(JobBlockedError, match="cannot be asked: it has no template of a chat"):
        asked(folder)
    with pytest.raises(JobBlockedError, match="cannot be asked"):
        asked(save_florence2(tmp_path / "florence"))
    with pytest.raises(OptionError, match="has no place for what is asked about"):
        ANNOTATORS.check("vlm", {"question": "Well?"})
