"""Energy of class activation maps inside objects: whether a model looks at the object."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import DataError
from cobalance.evaluation.metrics.tables import Score, mean_score, score_rows


def cam_energy(
    maps: Sequence[npt.ArrayLike],
    masks: Sequence[npt.ArrayLike],
    groups: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Share of each class activation map that lies inside the object's mask, averaged by group.

    The energy-based pointing game (Wang et al., *Score-CAM*, CVPR workshops 2020). ConBias (figure
    4) shows such maps; this is their number. Negative activation counts as 0. A map without any
    activation, and one of an empty mask, has no share and is left out.

    Parameters
    ----------
    maps : sequence of arrays, shape (height, width)
        Class activation maps, of the masks' size.
    masks : sequence of bool arrays, shape (height, width)
        True inside the object.
    groups : sequence of str, optional
        The group of each image; one group by default.

    Returns
    -------
    pandas.DataFrame
        Scores ``cam_energy``, from 0 to 1, with the interval of the mean (normal approximation, NaN
        for a group of one image); n is the images that have a share. A large object has a large
        share by itself: ``mask_share`` is that of its area.

    Raises
    ------
    DataError
        A map and its mask differ in size, or a map is not finite.

    Examples
    --------
    >>> cam_energy([[[3, 1], [0, 0]]], [[[True, False], [False, False]]])["value"].tolist()
    [0.75, 0.25]
    """
    n_groups = len(maps) if groups is None else len(groups)
    if not len(maps) == len(masks) == n_groups:
        raise DataError(
            f"{len(maps)} maps, {len(masks)} masks"
            + (f" and {n_groups} groups" if groups is not None else "")
            + " are given. Give one of each for every image."
        )
    shares = np.array(list(map(_shares, maps, masks, range(len(maps))))).reshape(-1, 2)
    names = np.array([""] * len(maps) if groups is None else list(map(str, groups)))

    scores = []
    for name in dict.fromkeys(names.tolist()):
        energy, mask_share = shares[names == name].T
        scores.append(mean_score("cam_energy", energy, group=name))
        scores.append(mean_score("mask_share", mask_share, group=name))
    return score_rows(scores or [Score("cam_energy")])


def _shares(activation: npt.ArrayLike, mask: npt.ArrayLike, row: int) -> tuple[float, float]:
    energy, inside = np.asarray(activation, dtype=np.float64), np.asarray(mask, dtype=np.bool_)
    if energy.shape != inside.shape or energy.ndim != 2:
        raise DataError(
            f"Map {row} has the shape {energy.shape}, and its mask {inside.shape}. Scale the map "
            "to the image."
        )
    if not np.isfinite(energy).all():
        raise DataError(f"Map {row} is not finite. Leave the image out.")

    energy = np.clip(energy, 0, None)
    total = float(energy.sum())
    if total == 0 or not inside.any():
        return np.nan, np.nan
    return float(energy[inside].sum()) / total, float(inside.mean())
