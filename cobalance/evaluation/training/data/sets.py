"""Training sets made of a dataset's real and synthetic images, and the refusals.

Tests on synthetic images flatter whatever trained on their like (Hirota et al., "Resampled Datasets
Are Not Enough", 2024, section 4.3), so that test images are real, and no training image derives
from one.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from cobalance.evaluation.training.data.images import LabelledImages, made_from
from cobalance.evaluation.training.data.partitions import PARTITIONS, in_partition
from cobalance.graph.errors import CobalanceError, OptionError, check_known

Choice = Callable[[LabelledImages], "pd.Series[bool]"]

_LISTED = 5  # ids in a message


class LeakError(CobalanceError):
    """Training and test images that are not apart."""


def _synthetic(images: LabelledImages) -> "pd.Series[bool]":
    return images.frame["synthetic"].astype(bool)


def _edited(images: LabelledImages) -> "pd.Series[bool]":
    """Which images have a source."""
    return _synthetic(images) & images.frame["source"].notna()


def _augment(images: LabelledImages) -> "pd.Series[bool]":
    """Edited real images, and what was made of them for other classes."""
    frame = images.frame
    class_of = dict(zip(frame["image"], frame["class_name"], strict=True))
    other = frame["source"].map(class_of).ne(frame["class_name"])
    edited = _edited(images)
    return (edited & other) | frame["image"].isin(frame["source"][edited])


def _partition(name: str) -> Choice:
    return lambda images: in_partition(images.frame, name)


SETS: Mapping[str, tuple[str, Choice]] = {
    "real": ("D: the real images.", lambda images: ~_synthetic(images)),
    "augmented": (
        "D and D_aug: the real images and all synthetic ones.",
        lambda images: pd.Series(True, index=images.frame.index),
    ),
    "synthetic": ("The synthetic images alone.", _synthetic),
    "s_synthetic": ("Counterfactuals of every group, no real image (S_synthetic).", _edited),
    "s_augment": (
        "Edited images, and their counterfactuals of other groups (S_augment).",
        _augment,
    ),
    **{
        name: (f"Partition {name} of Pinpoint Counterfactuals, table 2.", _partition(name))
        for name in PARTITIONS
    },
}
"""Training sets by name: for people, and which images of a dataset they have."""


def training_set(images: LabelledImages, name: str = "augmented") -> LabelledImages:
    """The images of a dataset that a training set has.

    Raises
    ------
    UnknownNameError
        There is no such training set.
    OptionError
        It would be empty.
    """
    check_known("training set", [name], SETS)
    found = images.where(SETS[name][1](images))
    if not len(found):
        raise OptionError(
            f"{images.name!r} has {len(images):,} images, and none for the training set {name!r}: "
            f"{SETS[name][0]} Take another training set, or a dataset with a job's images."
        )
    return found


def equal_numbers(
    sets: Mapping[str, LabelledImages], rng: np.random.Generator
) -> dict[str, LabelledImages]:
    """Training sets with as many synthetic images each as the one with the fewest.

    So that augmentations are compared by what they add, and not by how much (ConBias, section 4).
    Sets without synthetic images stay as they are.
    """
    counts = [int(_synthetic(images).sum()) for images in sets.values()]
    fewest = min((count for count in counts if count), default=0)
    return {name: thin_synthetic(images, fewest, rng) for name, images in sets.items()}


def thin_synthetic(
    images: LabelledImages, most: int | None, rng: np.random.Generator
) -> LabelledImages:
    """The images with at most so many synthetic ones, drawn at random; None keeps all."""
    synthetic = _synthetic(images).to_numpy()
    rows = np.flatnonzero(synthetic)
    if most is None or len(rows) <= most:
        return images
    kept = ~synthetic
    kept[rng.choice(rows, most, replace=False)] = True
    return images.where(pd.Series(kept))


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
            f"{_count(len(synthetic))} of the test images are synthetic: {_listed(synthetic)}. "
            "Test on real images."
        )
    tested = dict(zip(test.frame["image"], test.frame["uri"], strict=True))
    trained = dict(zip(training.frame["image"], training.frame["uri"], strict=True))
    both = tested.keys() & trained.keys()
    same = sorted(image for image in both if _same_place(trained[image], tested[image]))
    if same:
        raise LeakError(
            f"{_count(len(same))} of the training images are test images, too: {_listed(same)}. "
            "Leave them out of one, for example by their split."
        )
    derived = training.frame["image"][made_from(training, tested.keys() - both)].tolist()
    if derived:
        source_of = dict(zip(training.frame["image"], training.frame["source"], strict=True))
        pairs = [f"{image} from {source_of[image]}" for image in derived]
        raise LeakError(
            f"{_count(len(derived))} of the training images were made from test images: "
            f"{_listed(pairs)}. Leave them out, or test on other images."
        )


def _same_place(one: object, other: object) -> bool:
    """Whether two addresses may be the same; an unknown one may be any."""
    return not (isinstance(one, str) and isinstance(other, str)) or one == other


def _count(number: int) -> str:
    return f"{number:,}"


def _listed(ids: list[str]) -> str:
    rest = len(ids) - _LISTED
    return ", ".join(ids[:_LISTED]) + (f" and {rest:,} more" if rest > 0 else "")
