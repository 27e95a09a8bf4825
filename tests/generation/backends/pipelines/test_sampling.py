import json

import pytest

from cobalance.generation.backends.paste import PasteOptions, open_backend as open_paste
from tests.generation.backends.suite import Ask, Copied, Find, paste


def test_the_fast_preset(pipelines: Find) -> None:
    about = open_paste(PasteOptions(model=pipelines("sd-text2img"), preset="fast")).describe()
    assert about["settings"]["steps"] == 20
    assert about["scheduler"] == "DPMSolverMultistepScheduler"
    assert about["scheduler_config"]["use_karras_sigmas"]
    json.dumps(about, allow_nan=False)


@pytest.mark.parametrize("name", ["sd3", "flux"])
def test_fast_leaves_a_flow_its_scheduler(others: Find, ask: Ask, name: str) -> None:
    faithful = open_paste(PasteOptions(model=others(name)))
    fast = open_paste(PasteOptions(model=others(name), preset="fast"))
    assert fast.runner.pipeline.scheduler.config == faithful.runner.pipeline.scheduler.config
    about = fast.describe()
    assert about["scheduler"] == faithful.describe()["scheduler"]
    assert about["settings"]["steps"] == 20
    few = {"preset": "fast", "steps": 2, "width_px": 64, "height_px": 64}
    assert paste(others(name), **few).generate(ask())[0].image.shape == (64, 64, 3)


@pytest.mark.parametrize("name", ["use_exponential_sigmas", "use_beta_sigmas", "use_lu_lambdas"])
def test_fast_takes_the_place_of_other_noise_levels(copied: Copied, name: str) -> None:
    folder = copied("sd-text2img")
    file = folder / "scheduler" / "scheduler_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), name: True}), "utf-8")
    fast = open_paste(PasteOptions(model=str(folder), preset="fast"))
    assert fast.describe()["scheduler"] == "DPMSolverMultistepScheduler"
    config = fast.runner.pipeline.scheduler.config
    assert (config["use_karras_sigmas"], config[name]) == (True, False)
