"""Fine-tuning a captioner: losses, early stopping, interruption, and scores of its captions."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from cobalance.base.errors import OptionError
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.captions import caption_cosines, clip_score
from cobalance.evaluation.metrics.metric import Inputs
from cobalance.evaluation.metrics.ratios import caption_predictions
from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Run
from cobalance.evaluation.training.run import Recipe, train_run
from cobalance.evaluation.training.tuning.captioner import BlipCaptioner, tune_captioner
from cobalance.evaluation.training.tuning.options import CaptionerOptions
from tests.tiny.captioned import captioned, save_blip
from tests.tiny.vision import save_clip


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return {
        "model": str(save_blip(tmp_path_factory.mktemp("blip") / "tiny")), "offline": True,
        "device": "cpu", "batch_size": 8, "learning_rate": 3e-3, "beams": 2, "max_tokens": 12,
    }  # fmt: skip


def people(n_images: int = 24, seed: int = 0) -> Examples:
    """Red squares are captioned as men, blue ones as women."""
    images = captioned(n_images, seed)
    names = np.array(["man", "woman"])[images.labels]
    return replace(images, captions=[(f"a {name} with a square",) for name in names])


def tune(settings: dict[str, Any], run: Run | None = None, **changed: Any) -> BlipCaptioner:
    options = CaptionerOptions(**{**settings, **changed})
    return tune_captioner(options, people(), people(8, 5), run or Run(0))


def same(a: BlipCaptioner, b: BlipCaptioner) -> bool:
    first, second = a.vision.model.state_dict(), b.vision.model.state_dict()
    return all(torch.equal(values, second[name]) for name, values in first.items())


def test_learns_to_describe_images(settings: dict[str, Any]) -> None:
    model = tune(settings, epochs=12, patience=None)
    losses, held = model.about["losses"], model.about["validation_losses"]
    assert losses[-1] < 0.5 * losses[0]
    assert held[model.about["selection"]["epoch"] - 1] == min(held)
    captions = model.captions(people(6, 2))
    assert all(one.startswith("a ") and one.endswith("square") for one in captions)
    assert captions == model.captions(people(6, 2))


def test_stops_early(settings: dict[str, Any]) -> None:
    """A learning rate at which the loss on other images soon rises."""
    model = tune(settings, epochs=30, patience=1, learning_rate=0.5, warmup=0.0)
    held = model.about["validation_losses"]
    assert len(held) < 30
    assert held.index(min(held)) == len(held) - 2 == model.about["selection"]["epoch"] - 1


class InterruptedRunError(Exception):
    """Ends a run from inside."""


def test_goes_on_to_equal_weights(settings: dict[str, Any], tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int | None) -> None:
        if done == 2:
            raise InterruptedRunError

    whole = tune(settings, epochs=3)
    with pytest.raises(InterruptedRunError):
        tune(settings, Run(0, tmp_path, stop), epochs=3)
    cut = tune(settings, Run(0, tmp_path), epochs=3)
    assert same(whole, cut)
    assert whole.about == cut.about
    assert same(whole, tune(settings, Run(0, tmp_path), epochs=3))


def test_captions_are_scored(settings: dict[str, Any], tmp_path: Path) -> None:
    test = people(40, 7)
    recipe = Recipe("captioner", {**settings, "epochs": 3})
    done = train_run(recipe, Run(0), people(), people(8, 5), test)
    table = done.predictions
    assert table["caption"].tolist() == done.model.captions(test)
    assert table["predicted"].tolist() == caption_predictions(table)["predicted"].tolist()
    assert done.record["selected_by"] == "loss"
    references = pd.DataFrame({"image": test.ids, "caption": [some[0] for some in test.captions]})
    groups = pd.DataFrame({"image": test.ids, "person": np.array(["man", "woman"])[test.labels]})
    varied = table.assign(caption=references["caption"])  # as if trained for long
    inputs = Inputs(caption_predictions(varied), captions=varied, references=references,
                    groups=groups)  # fmt: skip
    (ratio, *_) = METRICS.open("ratio", {"first": "man", "second": "woman"})(inputs)["value"]
    assert ratio == (test.labels == 0).sum() / (test.labels == 1).sum()
    scores = METRICS.open("lic")(inputs).set_index("metric")["value"]
    assert scores["lic"] == pytest.approx(0)
    images = dict(zip(test.ids, test.read(np.arange(len(test))), strict=True))
    clip = {"model": str(save_clip(tmp_path / "clip")), "device": "cpu"}
    cosines = caption_cosines(varied, lambda image: images[image], clip)
    assert clip_score(cosines)["n"].item() == 40


def test_needs_images_to_stop_by(settings: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="there are none"):
        train_run(Recipe("captioner", settings), Run(0), people(), None, people(4, 1))
