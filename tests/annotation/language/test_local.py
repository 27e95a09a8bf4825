import json

import numpy as np
import pytest

from cobalance.annotation.language.chat import LanguageModelError, Question
from cobalance.annotation.language.local import LocalModel, LocalOptions
from tests.tiny.conversation import save_qwen3_vl

IMAGE = np.random.default_rng(0).integers(0, 255, (40, 24, 3), np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model with random weights; some of its tokens end a reply."""
    made = save_qwen3_vl(tmp_path_factory.mktemp("qwen"))
    ends = {"eos_token_id": list(range(7, 256, 60)), "pad_token_id": 0}
    (made / "generation_config.json").write_text(json.dumps(ends))
    return made


@pytest.fixture(scope="module")
def chat(folder):
    return LocalModel(LocalOptions(model=str(folder), device="cpu", max_tokens=450))


def test_replies_depend_on_question_round_and_image_alone(chat):
    asked = [
        Question("What is it?", temperature=2.0),
        Question("What is it?", temperature=2.0, round=1),
        Question("What is it not?", temperature=2.0),
        Question("What is it?", temperature=2.0, images=[IMAGE]),
        Question("What is it?", temperature=2.0, images=[255 - IMAGE]),
    ]
    replies = [chat.ask(one) for one in asked]
    assert len({reply.text for reply in replies}) == len(asked)
    assert [chat.ask(one) for one in asked[::-1]] == replies[::-1]
    assert replies[3].tokens_in > replies[0].tokens_in > len("What is it?")
    assert all(reply.tokens_out > 0 for reply in replies)


def test_without_temperature_the_seed_changes_nothing(chat):
    first, second = (chat.ask(Question("What is it?", round=at)) for at in range(2))
    assert first == second


def test_replies_that_do_not_end_are_an_error(folder):
    chat = LocalModel(LocalOptions(model=str(folder), device="cpu", max_tokens=1))
    for temperature in (0.0, 0.5):
        with pytest.raises(LanguageModelError, match="cut off after 1 token"):
            chat.ask(Question("What is it?", temperature=temperature))


def test_the_description_is_provenance_without_a_path(chat, folder):
    described = chat.describe()
    assert described["model"] == folder.name
    assert len(described["weights_sha256"]) == 64
    assert str(folder) not in json.dumps(described)
    assert "licence" not in described
