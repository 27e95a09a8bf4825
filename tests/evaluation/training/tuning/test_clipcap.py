"""A captioner in ClipCap's form: loss, learning, interruption, and what stays as it is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cobalance.base.errors import JobBlockedError
from cobalance.evaluation.training.method import Run
from cobalance.evaluation.training.run import Recipe, train_run
from cobalance.evaluation.training.tuning.options import ClipCapOptions
from cobalance.evaluation.training.tuning.prefix import (
    PrefixCaptioner,
    open_prefix_captioner,
    tune_prefix_captioner,
)
from tests.evaluation.training.tuning.test_captioner import InterruptedRunError, people
from tests.tiny.captioned import save_gpt2
from tests.tiny.vision import save_clip


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("clipcap")
    return {
        "model": str(save_clip(folder / "clip")), "language_model": str(save_gpt2(folder / "gpt2")),
        "offline": True, "device": "cpu", "batch_size": 8, "learning_rate": 3e-3, "beams": 2,
        "max_tokens": 16, "prefix_length": 3, "epochs": 3,
    }  # fmt: skip


def tune(settings: dict[str, Any], run: Run | None = None, **changed: Any) -> PrefixCaptioner:
    options = ClipCapOptions(**{**settings, **changed})
    return tune_prefix_captioner(options, people(), people(8, 5), run or Run(0))


def weights(model: PrefixCaptioner, part: str = "") -> dict[str, torch.Tensor]:
    found = model.vision.model.state_dict()
    return {name: values.clone() for name, values in found.items() if name.startswith(part)}


def equal(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(values, b[name]) for name, values in a.items())


def test_the_loss_is_of_the_words_after_the_prefix_and_of_their_end(
    settings: dict[str, Any],
) -> None:
    model = open_prefix_captioner(ClipCapOptions(**settings))
    images, captions = people(2), ["a man", "a woman with a square"]
    pixels = model.vision.pixels(images.read(np.arange(2)))
    module, end = model.vision.model, model.tokenizer.eos_token_id
    found = []
    for row, caption in enumerate(captions):  # one at a time, without padding
        words = [*model.tokenizer(caption)["input_ids"], end]
        prefix = module.mapper(module.clip(pixels[row : row + 1]).image_embeds).view(1, 3, 32)
        known = module.gpt.get_input_embeddings()(torch.tensor([words[:-1]]))
        shares = module.gpt(inputs_embeds=torch.cat([prefix, known], dim=1)).logits.log_softmax(-1)
        found += [-shares[0, 2 + at, word].item() for at, word in enumerate(words)]
    assert model.loss(pixels, captions).item() == pytest.approx(np.mean(found), rel=1e-5)


def test_learns_to_describe_images(settings: dict[str, Any]) -> None:
    before = open_prefix_captioner(ClipCapOptions(**settings))
    recipe = Recipe("clipcap", {**settings, "epochs": 12, "patience": None})
    done = train_run(recipe, Run(0), people(), people(8, 5), people(6, 2))
    model = done.model
    assert isinstance(model, PrefixCaptioner)
    losses, held = model.about["losses"], model.about["validation_losses"]
    assert losses[-1] < 0.5 * losses[0]
    assert held[model.about["selection"]["epoch"] - 1] == min(held)
    assert equal(weights(model, "clip"), weights(before, "clip"))
    assert not equal(weights(model, "gpt"), weights(before, "gpt"))
    captions = done.predictions["caption"].tolist()
    assert all(one.startswith("a ") and one.endswith("square") for one in captions)
    assert captions == model.captions(people(6, 2))
    assert done.record["model"]["language_model"] == "gpt2"


def test_goes_on_to_equal_weights(settings: dict[str, Any], tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int | None) -> None:
        if done == 2:
            raise InterruptedRunError

    whole = tune(settings)
    with pytest.raises(InterruptedRunError):
        tune(settings, Run(0, tmp_path, stop))
    cut = tune(settings, Run(0, tmp_path))
    assert equal(weights(whole), weights(cut))
    assert whole.about == cut.about
    assert equal(weights(whole), weights(tune(settings, Run(0, tmp_path))))  # from its folder
    assert not equal(weights(whole), weights(tune(settings, Run(1))))


def test_a_language_model_of_another_kind_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(JobBlockedError, match=r"cannot be loaded as|is not a complete"):
        tune(settings, language_model=settings["model"])


def test_the_default_models_have_their_own_revisions() -> None:
    assert ClipCapOptions().language("own") == "own"
    assert ClipCapOptions(language_revision="main").language("own") == "main"
    assert ClipCapOptions(language_model="some/other").language("own") is None
