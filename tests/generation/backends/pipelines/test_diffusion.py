import json

import pytest

from cobalance.base.errors import JobBlockedError
from cobalance.generation.backends.paste import PasteOptions, open_backend as open_paste
from tests.generation.backends.suite import Copied, Find


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("controlnet", "StableDiffusionControlNetPipeline needs a picture that guides it"),
        ("deepfloyd", "IFPipeline has no VAE"),
    ],
)
def test_pipelines_for_other_tasks(others: Find, name: str, problem: str) -> None:
    with pytest.raises(JobBlockedError, match=f"{problem}.*Give a text-to-image model"):
        open_paste(PasteOptions(model=others(name)))


def test_a_distilled_u_net_is_refused(copied: Copied) -> None:
    folder = copied("sd-text2img")
    file = folder / "unet" / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), "time_cond_proj_dim": 8}))
    with pytest.raises(JobBlockedError, match="its U-Net was distilled to paint without guidance"):
        open_paste(PasteOptions(model=str(folder)))
