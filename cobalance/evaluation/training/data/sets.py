"""Training sets made of a dataset's real and synthetic images, held-out images, and the refusals.

Tests on synthetic images flatter whatever trained on their like (Hirota et al., "Resampled Datasets
Are Not Enough", 2024, section 4.3), so that test images are real, and no training image derives
from one.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from cobalance.base import DataError, OptionError
from cobalance.evaluation.training.data.images import Choice, LabelledImages, TrainingSet, made_from
from cobalance.evaluation.training.data.partitions import PARTITIONS, in_partition
from cobalance.evaluation.training.data.registry import SETS

_LISTED = 5  # ids in a message


class LeakError(DataError):
    """Training and test images that are not apart."""


def _synthetic(images: LabelledImages) -> "pd.Series[bool]":
    return images.frame["synthetic"].astype(bool)


def _is_edited(images: LabelledImages) -> "pd.Series[bool]":
    """Which images have a source."""
    return _synthetic(images) & images.frame["source"].notna()


def _augment(images: LabelledImages) -> "pd.Series[bool]":
    """Edited real images, and their edits to other classes."""
    frame = images.frame
    class_of = dict(zip(frame["image"], frame["class_name"], strict=True))
    other = frame["source"].map(class_of).ne(frame["class_name"])
    edited = _is_edited(images)
    return (edited & other) | frame["image"].isin(frame["source"][edited])


def _partition(name: str) -> Choice:
    return lambda images: in_partition(images.frame, name)


PLUGINS = (
    TrainingSet("real", "D: the real images.", lambda images: ~_synthetic(images)),
    TrainingSet(
        "augmented",
        "D and D_aug: the real images and all synthetic ones.",
        lambda images: pd.Series(True, index=images.frame.index),
    ),
    TrainingSet("synthetic", "The synthetic images alone.", _synthetic),
    TrainingSet(
        "s_synthetic", "Counterfactuals of every group, no real image (S_synthetic).", _is_edited
    ),
    TrainingSet(
        "s_augment",
        "Edited images, and their counterfactuals of other groups (S_augment).",
        _augment,
    ),
    *(
        TrainingSet(
            name, f"Partition {name} of Pinpoint Counterfactuals, table 2.", _partition(name)
        )
        for name in PARTITIONS
    ),
)


def training_set(images: LabelledImages, name: str = "augmented") -> LabelledImages:
    """The images of a dataset that a training set has.

    Raises
    ------
    UnknownNameError
        There is no such training set.
    OptionError
        It would be empty.
    """
    chosen = SETS[name]
    selected = images.where(chosen.choose(images))
    if not len(selected):
        raise DataError(
            f"{images.name!r} has {len(images):,} images, and none for the training set {name!r}: "
            f"{chosen.purpose} Take another training set, or a dataset with a job's images."
        )
    return selected


def thin_synthetic(
    images: LabelledImages, most: int | None, rng: np.random.Generator
) -> LabelledImages:
    """The images with at most so many synthetic ones, drawn at random; None keeps all."""
    synthetic = _synthetic(images).to_numpy()
    rows = np.flatnonzero(synthetic)
    if most is None or len(rows) <= most:
        return images
    selected = ~synthetic
    selected[rng.choice(rows, most, replace=False)] = True
    return images.where(pd.Series(selected))


def check_apart(training: LabelledImages, test: LabelledImages) -> None:
    """Check that no test image is synthetic, and that nothing of them is trained on.

    Raises
    ------
    LeakError
        A test image is synthetic or is a training image, or a training image was made from one.
    """
    synthetic = test.frame["image"][_synthetic(test)].tolist()
    if synthetic:
        raise LeakError(
            f"{len(synthetic):,} of the test images are synthetic: {_list_ids(synthetic)}. "
            "Test on real images."
        )

    tested = dict(zip(test.frame["image"], test.frame["uri"], strict=True))
    trained = dict(zip(training.frame["image"], training.frame["uri"], strict=True))
    both = tested.keys() & trained.keys()
    same = sorted(image for image in both if _same_place(trained[image], tested[image]))
    if same:
        raise LeakError(
            f"{len(same):,} of the training images are test images, too: {_list_ids(same)}. "
            "Leave them out of one, for example by their split."
        )

    derived = training.frame["image"][made_from(training, tested.keys() - both)].tolist()
    if derived:
        source_of = dict(zip(training.frame["image"], training.frame["source"], strict=True))
        pairs = [f"{image} from {source_of[image]}" for image in derived]
        raise LeakError(
            f"{len(derived):,} of the training images were made from test images: "
            f"{_list_ids(pairs)}. Leave them out, or test on other images."
        )


def _same_place(first: object, second: object) -> bool:
    """Whether two addresses may be the same; an unknown one may be any."""
    return not (isinstance(first, str) and isinstance(second, str)) or first == second


def _list_ids(ids: list[str]) -> str:
    rest = len(ids) - _LISTED
    return ", ".join(ids[:_LISTED]) + (f" and {rest:,} more" if rest > 0 else "")


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
    frame = images.frame
    roots = pd.Series(images.roots())
    candidates = ~frame["synthetic"].astype(bool)
    if not candidates.any():
        # Without real images, the first one made of a source stands for it.
        candidates = roots.groupby(roots).cumcount() == 0
    strata = frame[["image", "class_name"]][candidates]
    if groups is not None:
        strata = strata.merge(groups, on="image", how="left")
    names = [name for name in strata.columns if name != "image"]

    candidate_roots = roots[candidates].to_numpy()
    drawn: list[str] = []
    for rows in strata.reset_index(drop=True).groupby(names, dropna=False).indices.values():
        # One image of each stratum at least is trained on.
        count = min(round(share * len(rows)), len(rows) - 1)
        drawn += candidate_roots[rng.permutation(rows)[:count]].tolist()
    if not drawn:
        raise OptionError(
            f"A validation share of {share:g} of {int(candidates.sum()):,} images holds out none. "
            "Give a greater share, or validation images of their own."
        )

    # Images made from a held-out one are not trained on; they validate only where none is real.
    held_out = roots.isin(drawn)
    validation = held_out & candidates if frame["synthetic"].eq(False).any() else held_out
    return HeldOut(
        training=images.where(~held_out),
        validation=images.where(validation),
        left_out=int((held_out & ~validation).sum()),
    )


def check_held_out(training: LabelledImages, validation: LabelledImages) -> None:
    """Check that validation and training images are disjoint.

    Images are the same by their ids and addresses; one without an address is no other's.

    Raises
    ------
    LeakError
        Some are in both.
    """
    places = dict(zip(training.frame["image"], training.frame["uri"], strict=True))
    same = [
        image
        for image, uri in zip(validation.frame["image"], validation.frame["uri"], strict=True)
        if isinstance(uri, str) and uri == places.get(image)
    ]

    if same:
        raise LeakError(
            f"{len(same):,} of the validation images are training images, too, such as "
            f"{same[0]!r}. Select by other images."
        )
