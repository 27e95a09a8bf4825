"""Models that do not belong together, or are not there."""

import json
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from cobalance.base.errors import JobBlockedError, OptionError
from cobalance.generation.backends.brushnet import BrushNetOptions
from tests.generation.backends.conftest import Open
from tests.generation.backends.suite import Copied, Find
from tests.tiny.brushnet import TINY, save_brushnet

WEIGHTS = "diffusion_pytorch_model.safetensors"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("sd-inpaint", "its U-Net takes 9 channels, not 4"),
        ("sdxl-text2img", "takes more than a text, as that of Stable Diffusion XL does"),
        ("flux-fill", "it has no U-Net"),
    ],
)
def test_a_base_of_the_wrong_kind_is_refused(
    opened: Open, pipelines: Find, name: str, problem: str
) -> None:
    with pytest.raises(JobBlockedError, match=f"{problem}. Give a text-to-image model like Stable"):
        opened(model=pipelines(name))


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"_class_name": "ControlNetModel"}, "it is a ControlNetModel, not a BrushNetModel"),
        ({"_class_name": None}, "it is no BrushNetModel"),
        ({"conditioning_channels": 3}, "it has 3 channels for the image and its mask, where .* 5"),
        ({"in_channels": 16}, "it has 16 channels of latents, where .* needs 4"),
        ({"block_out_channels": [8, 8]}, "it has 8, 8 channels, where .* needs 4, 8"),
        ({"layers_per_block": 2}, "it has 2 layers a block, where .* needs 1"),
        ({"cross_attention_dim": 768}, "beside a U-Net with texts of 768 numbers a word, .* 32"),
        (
            {"down_block_types": ["CrossAttnDownBlock2D", "DownBlock2D"]},
            "it has blocks of the type CrossAttnDownBlock2D",
        ),
        ({"mid_block_type": "UNetMidBlock2DCrossAttn"}, "its middle block is 'UNetMidBlock2DCross"),
        ({"brushnet_conditioning_channel_order": "bgr"}, "colours in the order 'bgr', not 'rgb'"),
        ({"addition_embed_type": "text_time"}, "addition_embed_type is 'text_time', not None"),
    ],
)
def test_another_model_than_a_brushnet_for_the_base_is_refused(
    opened: Open, tmp_path: Path, changed: dict[str, Any], problem: str
) -> None:
    folder = save_brushnet(tmp_path / "branch")
    (folder / "config.json").write_text(json.dumps({**TINY, **changed}), "utf-8")
    with pytest.raises(JobBlockedError, match=f"{problem}.*Give a BrushNet that was trained besid"):
        opened(brushnet_model=str(folder))


def test_a_pipeline_in_place_of_a_brushnet(opened: Open, pipelines: Find) -> None:
    with pytest.raises(JobBlockedError, match=r"it is no BrushNetModel\. Give a BrushNet"):
        opened(brushnet_model=pipelines("sd-text2img"))


def test_a_brushnet_with_gaps_is_refused(opened: Open, tmp_path: Path) -> None:
    folder = save_brushnet(tmp_path / "branch")
    tensors = load_file(folder / WEIGHTS)
    del tensors["brushnet_mid_block.weight"]
    save_file(tensors, folder / WEIGHTS, {"format": "pt"})
    with pytest.raises(
        JobBlockedError, match=r"1 of its tensors are missing, such as brushnet_mid"
    ):
        opened(brushnet_model=str(folder))


def test_weights_that_contradict_the_settings_are_refused(opened: Open, tmp_path: Path) -> None:
    folder = save_brushnet(tmp_path / "branch")
    other = save_brushnet(tmp_path / "other", {**TINY, "block_out_channels": [8, 8]})
    (other / WEIGHTS).replace(folder / WEIGHTS)
    with pytest.raises(JobBlockedError, match=r"branch cannot be loaded as BrushNetModel"):
        opened(brushnet_model=str(folder))


def test_missing_files(opened: Open, tmp_path: Path, copied: Copied) -> None:
    with pytest.raises(JobBlockedError, match="no-such-folder is not here: there is no such fold"):
        opened(brushnet_model="no-such-folder")
    folder = save_brushnet(tmp_path / "branch")
    with pytest.raises(JobBlockedError, match=r"branch/inner is not a model"):
        opened(brushnet_model=str(folder), brushnet_subfolder="inner")
    (folder / WEIGHTS).rename(folder / "diffusion_pytorch_model.bin")
    with pytest.raises(JobBlockedError, match="the weights are pickles, which can run any code"):
        opened(brushnet_model=str(folder))
    (folder / "diffusion_pytorch_model.bin").unlink()
    with pytest.raises(JobBlockedError, match="there are no weights"):
        opened(brushnet_model=str(folder))
    base = copied("sd-text2img")
    (base / "scheduler" / "scheduler_config.json").unlink()
    with pytest.raises(JobBlockedError, match=r"has no scheduler/scheduler_config\.json\. Copy or"):
        opened(model=str(base))


def test_a_scheduler_that_unipc_cannot_replace(opened: Open, copied: Copied) -> None:
    base = copied("sd-text2img")
    path = base / "scheduler" / "scheduler_config.json"
    settings = {**json.loads(path.read_text("utf-8")), "beta_schedule": "of one's own"}
    path.write_text(json.dumps(settings), "utf-8")
    with pytest.raises(JobBlockedError, match="UniPC cannot use scheduler/scheduler_config"):
        opened(model=str(base))


@pytest.mark.parametrize("subfolder", ["../other", "/etc", "a//b", "a/../b", ".", "a/"])
def test_subfolders_lead_down(subfolder: str) -> None:
    with pytest.raises(ValueError, match="brushnet_subfolder"):
        BrushNetOptions(brushnet_subfolder=subfolder)


def test_a_folder_has_no_revision(opened: Open) -> None:
    with pytest.raises(OptionError, match="a folder, which has no revision 'main'"):
        opened(brushnet_revision="main")
