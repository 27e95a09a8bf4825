"""Hold out training images to select a model by."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from cobalance.evaluation.training.data.images import LabelledImages
from cobalance.evaluation.training.data.sets import LeakError
from cobalance.graph.errors import OptionError


class HeldOut(NamedTuple):
    """Training images, validation images, and how many were left out of both."""

    training: LabelledImages
    validation: LabelledImages
    left_out: int


def hold_out(
    images: LabelledImages,
    share: float,
    rng: np.random.Generator,
    groups: pd.DataFrame | None = None,
) -> HeldOut:
    """Split off validation images: a share of each class, and of each group where these are given.

    Real images alone are held out, unless there are none; what was made of a held-out image is left
    out of training, so that nothing that selects was trained on. A group of one image, or one whose
    share is less than half an image, stays in training.

    Parameters
    ----------
    share : float
        Between 0 and 1.
    groups : pandas.DataFrame, optional
        ``image`` and one column a shortcut.

    Raises
    ------
    OptionError
        The share is not between 0 and 1, or holds out no image.
    """
    if not 0 < share < 1:
        raise OptionError(f"validation_share is {share:g}; give a number between 0 and 1.")
    frame = images.frame
    roots = pd.Series(images.roots())
    candidates = ~frame["synthetic"].astype(bool)
    if not candidates.any():
        candidates = roots.groupby(roots).cumcount() == 0  # one image stands for its source
    strata = frame[["image", "class_name"]][candidates]
    if groups is not None:
        strata = strata.merge(groups, on="image", how="left")
    names = [name for name in strata.columns if name != "image"]
    of_image = roots[candidates].to_numpy()
    held: list[str] = []
    for rows in strata.reset_index(drop=True).groupby(names, dropna=False).indices.values():
        count = min(round(share * len(rows)), len(rows) - 1)
        held += of_image[rng.permutation(rows)[:count]].tolist()
    if not held:
        raise OptionError(
            f"A validation share of {share:g} of {int(candidates.sum()):,} images holds out none. "
            "Give a greater share, or validation images of their own."
        )
    of_held = roots.isin(held)
    validation = of_held & candidates if frame["synthetic"].eq(False).any() else of_held
    return HeldOut(
        images.where(~of_held), images.where(validation), int((of_held & ~validation).sum())
    )


def check_held_out(training: LabelledImages, validation: LabelledImages) -> None:
    """Check that validation images are none of the training images.

    Raises
    ------
    LeakError
        Some are.
    """
    places = dict(zip(training.frame["image"], training.frame["uri"], strict=True))
    both = [
        image
        for image, uri in zip(validation.frame["image"], validation.frame["uri"], strict=True)
        if image in places and uri == places[image]
    ]
    if both:
        raise LeakError(
            f"{len(both):,} of the validation images are training images, too, such as "
            f"{both[0]!r}. Select by other images."
        )
