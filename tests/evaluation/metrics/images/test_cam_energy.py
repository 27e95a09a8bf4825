"""Energy of class activation maps inside masks."""

import numpy as np
import pytest

from cobalance.base.errors import DataError
from cobalance.evaluation.metrics.images.cam_energy import cam_energy


def test_shares_by_group():
    inside = np.zeros((4, 4), bool)
    inside[:2, :2] = True
    flat, all_inside = np.ones((4, 4)), np.where(inside, 2.0, -1.0)
    scores = cam_energy([flat, all_inside, flat], [inside] * 3, ["a", "a", "b"])
    found = scores.set_index(["metric", "group"])
    assert found.loc[("cam_energy", "a"), "value"] == pytest.approx((1 / 4 + 1) / 2)
    assert found.loc[("mask_share", "a"), "value"] == pytest.approx(1 / 4)
    assert found.loc[("cam_energy", "b"), "value"] == pytest.approx(1 / 4)
    assert np.isnan(found.loc[("cam_energy", "b"), "low"])
    half = 1.96 * np.std([1 / 4, 1], ddof=1) / np.sqrt(2)
    assert found.loc[("cam_energy", "a"), "high"] == pytest.approx((1 / 4 + 1) / 2 + half, abs=1e-4)


def test_maps_without_activation_and_empty_masks_are_left_out_but_their_groups_stay():
    mask = np.array([[True, False]])
    scores = cam_energy(
        [[[0.0, -1.0]], [[1.0, 1.0]], [[1.0, 3.0]]], [mask, ~mask & mask, mask], ["a", "b", "c"]
    )
    found = scores[scores["metric"] == "cam_energy"].set_index("group")
    assert found["n"].to_dict() == {"a": 0, "b": 0, "c": 1}
    assert found["value"].isna().to_dict() == {"a": True, "b": True, "c": False}
    assert len(cam_energy([], [])) == 1


def test_what_does_not_fit_is_refused():
    with pytest.raises(DataError, match="1 maps, 2 masks are given"):
        cam_energy([np.ones((2, 2))], [np.ones((2, 2))] * 2)
    with pytest.raises(DataError, match="shape \\(2, 2\\), and its mask \\(3, 2\\)"):
        cam_energy([np.ones((2, 2))], [np.ones((3, 2))])
    with pytest.raises(DataError, match="Map 0 is not finite"):
        cam_energy([np.full((2, 2), np.nan)], [np.ones((2, 2))])
