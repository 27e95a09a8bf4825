"""Each plug-in is found under its name, and does what it promises."""

import numpy as np

from cobalance.generation.filters import FILTERS
from cobalance.generation.image_request import GeneratedImage, ImageRequest
from cobalance.workflows.plugins import list_plugins


def test_all_plug_ins_can_be_used():
    plugins = list_plugins()
    mine = plugins[plugins["source"].str.startswith("cobalance-mine ")]
    assert set(mine["kind"]) >= {"filter", "planner"}
    assert (mine["problem"] == "").all(), mine["problem"].tolist()


def test_a_dark_image_is_rejected():
    request = ImageRequest("job/000000/000000", "cat", ("sofa",), "a photo of a sofa", 7, None)
    dark = GeneratedImage(np.zeros((8, 8, 3), np.uint8), None)
    (judgement,) = FILTERS.open("bright").judge([request], [dark])
    assert not judgement.accepted
