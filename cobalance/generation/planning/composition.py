"""Composition of a counterfactual dataset: which real and generated images it has."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from cobalance.base import Counterfactual, DataError, OptionError, Setting, check_known, group_pairs

REAL_IMAGES = ("all", "unedited", "none")
INCOMPLETE = ("drop", "keep")

BEYOND_SHARE = "edited images beyond the share that gives way"
GONE = "edited images that the dataset no longer has"
LACKS_GROUP = "edited images without a counterfactual of each group"
LACKING_SETS = "sets of images that lack a group"
NOT_EDITED = "images that nothing was made of"
OTHERS_OF_GROUPS = "real images of the groups that were not edited"


@dataclass(frozen=True, slots=True)
class ResultOptions:
    """Which images a counterfactual dataset has.

    Parameters
    ----------
    real : {"all", "unedited", "none"}
        ``all``: the edited images with their counterfactuals of the other groups (S_augment of
        Resampled), and images of classes that are no group. ``none``: counterfactuals of every
        group alone (S_synthetic). ``unedited``: counterfactuals of every group in place of the
        edited images, and all other real images (Pinpoint).
    share : float
        With ``unedited``, how many of the edited images give way, from 0 to 1; the others stay, and
        their counterfactuals are left out.
    incomplete : {"drop", "keep"}
        What becomes of an edited image that lacks a counterfactual of some group: it is left out
        with all of its counterfactuals, or what there is stays.

    Raises
    ------
    OptionError
        One of them is not as above.
    """

    real: Literal["all", "unedited", "none"] = "all"
    share: float = 1.0
    incomplete: Literal["drop", "keep"] = "drop"

    def __post_init__(self) -> None:
        check_known("choice of real images", [self.real], REAL_IMAGES)
        check_known("choice for incomplete groups", [self.incomplete], INCOMPLETE)

        if not 0 <= self.share <= 1:
            raise OptionError(f"share is {self.share}; give a number from 0 to 1.")
        if self.share < 1 and self.real != "unedited":
            raise OptionError(
                f"A share of {self.share:g} of the edited images is to give way, which real images "
                f"do with 'unedited' alone, not with {self.real!r}. Choose it with ",
                Setting("real", "unedited"),
                ", or leave the share out.",
            )


@dataclass(frozen=True)
class Composition:
    """The images of a counterfactual dataset.

    Parameters
    ----------
    real : tuple of str
        Ids of the real images that it has, as in the dataset's order.
    generated : tuple of str
        Candidates that it has, in order.
    sources : int
        Edited images whose counterfactuals it has.
    left_out : mapping of str to int
        How many images are left out, by reason, as plural nouns for messages.
    stay : mapping of str to int
        How many images are there without a counterfactual of each group, by reason likewise.
    """

    real: tuple[str, ...]
    generated: tuple[str, ...]
    sources: int
    left_out: Mapping[str, int]
    stay: Mapping[str, int] = field(default_factory=dict)


def compose_dataset(
    images: pd.DataFrame, asked: Sequence[Counterfactual], options: ResultOptions
) -> Composition:
    """Choose the images of a counterfactual dataset: complete groups or nothing.

    With n edited images whose groups are complete and G groups, ``all`` and ``none`` give n x G
    images of the groups, and every set of concepts has equal counts in all groups, since each
    counterfactual shows the concepts of its source. Of a group with more accepted images than
    another one of its source, the first ones are taken.

    The groups are those that the job was asked for, with the group of each edited image as it was
    planned. A real image that stays counts for the class that it has now.

    Parameters
    ----------
    images : pandas.DataFrame
        The real images: ``id`` and ``class``.
    asked : sequence of Counterfactual
        One for each query of the job.

    Returns
    -------
    Composition
        A generated image of a source's own group is left out where the source itself stays.

    Raises
    ------
    DataError
        The real images are to be left out, and no image was made of the sources' own group.

    Notes
    -----
    Resampled Datasets Are Not Enough, equations 2 and 3; Pinpoint Counterfactuals, section 4.1. An
    image without a mask was not edited: with ``unedited`` it stays, else it is left out. Those that
    give way to a share are chosen by a hash of their ids, so that a larger share has those of a
    smaller one.
    """
    by_source = group_pairs((counterfactual.source, counterfactual) for counterfactual in asked)
    class_of = dict(zip(images["id"], images["class"], strict=True))
    groups = {name for row in asked for name in (row.group, row.own_group) if name}
    if options.real != "all":
        _check_own_group(by_source, class_of, groups)

    left_out: Counter[str] = Counter()
    remain: Counter[str] = Counter()
    generated: list[str] = []
    stay: set[str] = set()
    used = 0

    for source, counterfactuals in by_source.items():
        if source not in class_of:
            left_out[GONE] += 1
            continue
        is_edited = any(row.tried for row in counterfactuals)
        if options.real == "unedited" and not (is_edited and _gives_way(source, options.share)):
            stay.add(source)
            remain[BEYOND_SHARE if is_edited else NOT_EDITED] += 1
            continue

        own_group = class_of[source]
        keeps_real = options.real == "all"
        images_of_groups = counterfactuals
        if keeps_real:
            images_of_groups = [row for row in counterfactuals if row.group != own_group]

        if _lacks_group(images_of_groups, groups, own_group, keeps_real=keeps_real):
            has_images = options.real != "none" or any(row.images for row in images_of_groups)
            if options.incomplete == "drop" or not has_images:
                left_out[LACKS_GROUP if is_edited else NOT_EDITED] += 1
                continue
            remain[LACKING_SETS if is_edited else NOT_EDITED] += 1
            keeps_real = options.real != "none"
        if keeps_real:
            stay.add(source)

        # The real image is the only one of its group, so that there is one of each.
        most = 1
        if not (keeps_real and own_group in groups):
            # People may have accepted several of one group, and fewer of another.
            most = min((len(row.images) for row in images_of_groups if row.images), default=1)
        accepted = [image for row in images_of_groups for image in row.images[:most]]
        used += bool(accepted)
        generated += accepted

    real = []
    for image, class_name in class_of.items():
        if image in by_source:
            stays = image in stay
        elif options.real == "all" and class_name in groups and options.incomplete == "drop":
            stays = False
            left_out[OTHERS_OF_GROUPS] += 1
        else:
            stays = options.real != "none"

        if stays:
            real.append(image)
    return Composition(tuple(real), tuple(generated), used, dict(left_out), dict(remain))


def _lacks_group(
    shown: Sequence[Counterfactual], groups: set[str], own_group: str, *, keeps_real: bool
) -> bool:
    """Whether the images made of a source leave out a group."""
    if not all(row.images for row in shown):
        return True
    # The image may be of another class than when it was planned.
    return keeps_real and bool(groups - {own_group, *(row.group for row in shown)})


def _check_own_group(
    by_source: Mapping[str, Sequence[Counterfactual]],
    class_of: Mapping[str, str],
    groups: set[str],
) -> None:
    for source, counterfactuals in by_source.items():
        own_group = counterfactuals[0].own_group or class_of.get(source)
        made = {row.group for row in counterfactuals}
        if own_group in groups and own_group not in made:
            raise DataError(
                f"The job made no image of the group {own_group!r} from images of that group, such "
                f"as {source!r}, so that without the real ones it would lack them. Plan images of "
                "all groups, with ",
                Setting("plan.made", "all"),
                ", or take all real images, with ",
                Setting("real", "all"),
                ".",
            )


def _gives_way(source: str, share: float) -> bool:
    # The same images give way whatever the share, and in each run.
    digest = hashlib.sha256(f"share/{source}".encode()).digest()
    return int.from_bytes(digest[:8]) < share * 2**64
