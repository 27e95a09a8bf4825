"""Baselines without generation: real images repeated, dropped or weighted, and the counts after."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import pandas as pd

from cobalance.base import FloatArray, IntArray, check_known
from cobalance.counting import Cliques, Incidence, SubsetIndex
from cobalance.generation.planning.lean import Lean, match_cliques
from cobalance.generation.planning.simulation import PADDING, add_to_counts, code_names

BASELINES: Mapping[str, str] = MappingProxyType(
    {
        "over-sampling": "Repeats real images: every class of a group as often as its largest.",
        "sub-sampling": "Drops real images: every class of a group as often as its smallest.",
        "weights": "Weights real images: every class of a group weighs the same.",
        "pruning": "Drops the real images whose loss evens out the rates of leaning cliques most.",
    }
)
"""What each does, by name. A group has the images that show the same concepts."""
PRUNED_SHARE = 0.1
"""Of the images, pruned at most where nothing else is said; of a class never more than half."""
# Pruning takes so many steps for all images, so that it is done after a fraction of them.
_STEPS = 200
# A step drops no image whose price is less than this share of the step's best.
_WORSE = 0.7


@dataclass(frozen=True, eq=False)
class Groups:
    """Images grouped by their set of the cliques' concepts.

    Parameters
    ----------
    cliques : Cliques
        Those whose concepts make the groups.
    members : int array, shape (n_groups, width)
        Concept codes of the cliques, ascending, -1 behind the last.
    images : int64 array, shape (n_groups, n_classes)
        Images of each class of the cliques.
    of_image : int64 array, shape (n_images,)
        The group of each image of the incidence.
    classes : int64 array, shape (n_images,)
        The class of each image, by the code that the cliques have.
    """

    cliques: Cliques
    members: IntArray
    images: IntArray
    of_image: IntArray
    classes: IntArray


def group_images(cliques: Cliques, incidence: Incidence) -> Groups:
    """Group images by which of the concepts of some cliques they show.

    Images of classes that the cliques do not have are left out, with group -1.
    """
    recode, class_codes = code_names(cliques, incidence)
    classes = class_codes[incidence.labels]
    codes = recode[incidence.indices] if len(incidence.indices) else np.zeros(0, dtype=np.int64)
    has_class = classes >= 0

    keys = np.empty(len(classes), dtype=object)
    for image, (start, end) in enumerate(pairwise(incidence.indptr.tolist())):
        shown = codes[start:end]
        keys[image] = shown[shown != PADDING].tobytes()
    of_image = np.full(len(classes), -1, dtype=np.int64)
    of_image[has_class], distinct = pd.factorize(keys[has_class])

    sets = [np.frombuffer(key, dtype=np.int64) for key in distinct]
    # A table without any concept still has a column.
    width = max(map(len, sets), default=0) or 1
    members = np.full((len(sets), width), PADDING, dtype=np.int64)
    for row, concepts in enumerate(sets):
        members[row, : len(concepts)] = concepts
    images = np.zeros((len(sets), len(cliques.classes)), dtype=np.int64)
    np.add.at(images, (of_image[has_class], classes[has_class]), 1)
    return Groups(cliques, members, images, of_image, classes)


def resample_counts(groups: Groups, baseline: str, most: int | None = None) -> FloatArray:
    """How many images, or how much weight, each class of each group has after a baseline.

    A class without images in a group cannot have any after, and a group of one class stays as it
    is but for pruning: only new images change that. Weights are those of
    `cobalance.generation.planning.resampling.balancing_weights`.

    Parameters
    ----------
    most : int, optional
        Images to prune at most, by default a tenth; it ends before when no clique leans to a class.

    Raises
    ------
    UnknownNameError
        There is no such baseline.
    """
    check_known("baseline", [baseline], BASELINES)
    if baseline == "pruning":
        return _prune(groups, most)

    images = groups.images
    has = images > 0
    if baseline == "over-sampling":
        level = images.max(axis=1, initial=0)
    elif baseline == "sub-sampling":
        level = np.where(has, images, images.max(initial=0)).min(axis=1, initial=2**62)
    else:
        level = images.sum(axis=1) / np.maximum(has.sum(axis=1), 1)
    return np.where(has, np.asarray(level, dtype=np.float64)[:, None], 0.0)


def _prune(groups: Groups, most: int | None) -> FloatArray:
    """Drop images one of a group and class at a time, those first that lean most."""
    cliques, counts = groups.cliques, groups.images.astype(np.float64)
    lean = Lean(cliques, np.ones(len(cliques)))
    cliques_of_groups = match_cliques(cliques, groups.members)
    remaining = round(counts.sum() * PRUNED_SHARE) if most is None else most
    # No class loses more than half of its images.
    least = np.maximum(lean.sizes / 2, 1)
    step = max(1, int(counts.sum()) // _STEPS)

    while remaining > 0 and lean.evidence.any():
        may_drop = (counts > 0) & (lean.sizes > least)
        # A class of one image divides by zero; it may not drop it.
        with np.errstate(divide="ignore", invalid="ignore"):
            prices = np.where(may_drop, lean.price_sets(cliques_of_groups, -1), np.inf)
        order = np.argsort(prices, axis=None, kind="stable")[: min(step, remaining)]
        lowest = prices.flat[order[0]]
        if lowest >= 0:
            break

        best = order[prices.flat[order] <= _WORSE * lowest]
        group_rows, codes = np.divmod(best, counts.shape[1])
        counts[group_rows, codes] -= 1
        for code in np.unique(codes).tolist():
            of_class = cliques_of_groups[group_rows[codes == code]]
            dropped = np.asarray(of_class.sum(axis=0), dtype=np.float64).ravel()
            lean.add(code, -of_class.shape[0], -dropped)
        remaining -= len(best)
        lean.find_evidence()
        lean.weigh()
    return counts


def simulate_baseline(
    cliques: Cliques, groups: Groups, baseline: str, most: int | None = None
) -> Cliques:
    """The counts of all cliques after a baseline: exact; with weights sums of them.

    `counts` and `class_sizes` of the result are float64.
    """
    more = resample_counts(groups, baseline, most) - groups.images
    rows = np.flatnonzero(more.any(axis=1))
    counts = cliques.counts.astype(np.float64)
    index = SubsetIndex(cliques.members)
    add_to_counts(index, counts, groups.members[rows], more[rows])  # type: ignore[arg-type]
    sizes = cliques.class_sizes + more.sum(axis=0)
    return replace(cliques, counts=counts, class_sizes=sizes)  # type: ignore[arg-type]


def image_list(
    cliques: Cliques,
    incidence: Incidence,
    ids: Sequence[str],
    baseline: str,
    seed: int = 0,
    most: int | None = None,
) -> pd.DataFrame:
    """The images as a baseline takes them, for a trainer.

    A seed gives the same list whatever the order of the images, and the counts of the list are
    those of `simulate_baseline`.

    Parameters
    ----------
    cliques : Cliques
        Those whose concepts make groups.
    incidence : Incidence
        All images.
    ids : sequence of str
        The images' ids, in its order.
    seed : int
        Which images are repeated or dropped.
    most : int, optional
        Images to prune at most.

    Returns
    -------
    pandas.DataFrame
        A row an image, in the order given, indexed by ``image``: ``class``, and ``times``, how
        often it is taken (int64, 0 where it is dropped), or for weights ``weight`` (float64).

    Raises
    ------
    UnknownNameError
        There is no such baseline.
    """
    groups = group_images(cliques, incidence)
    order = np.argsort(np.asarray(ids, dtype=object), kind="stable")
    after = resample_counts(groups, baseline, most)
    times = image_multiples(groups, after, np.random.default_rng(seed), order, baseline)

    column = {"weight": times} if baseline == "weights" else {"times": times.astype(np.int64)}
    classes = np.array(incidence.classes, dtype=object)[incidence.labels]
    images = pd.DataFrame({"image": list(ids), "class": classes, **column})
    return images.astype({"image": object}).set_index("image")


def image_multiples(
    groups: Groups, after: FloatArray, rng: np.random.Generator, order: IntArray, baseline: str
) -> FloatArray:
    """How often each image is taken, or its weight: shape (n_images,), 1 for those left out.

    Over-sampling has every image once and random ones of its group and class again, without
    repeating one before all others; sub-sampling and pruning keep random ones.

    Parameters
    ----------
    after : float array, shape (n_groups, n_classes)
        From `resample_counts`.
    order : int array, shape (n_images,)
        The images in the order in which they are drawn from.
    """
    multiples = np.ones(len(groups.of_image))
    images = order[groups.of_image[order] >= 0]
    images = images[rng.permutation(len(images))]
    # A cell is a class of a group; the images of each lie together, in random order.
    cell = groups.of_image[images] * groups.images.shape[1] + groups.classes[images]
    by_cell = np.argsort(cell, kind="stable")
    images, cell = images[by_cell], cell[by_cell]

    n_after, n_before = after.ravel()[cell], groups.images.ravel()[cell]
    if baseline == "weights":
        multiples[images] = n_after / n_before
        return multiples
    _, first = np.unique(cell, return_index=True)
    rank = np.arange(len(cell)) - np.repeat(first, np.diff(np.append(first, len(cell))))
    times, n_once_more = np.divmod(n_after.astype(np.int64), n_before)
    multiples[images] = times + (rank < n_once_more)
    return multiples


def balancing_weights(groups: Sequence[object], classes: Sequence[str]) -> pd.DataFrame:
    """Weight each image so that all classes of its group have the same total weight.

    An image of class c in group g has the weight::

        w = n(g) / (k(g) · n(g, c))

    where n(g) is how many images the group has, n(g, c) how many of them are of class c, and k(g)
    how many classes have any there: the inverse of the class's share in the group, over the number
    of classes. So each class of a group weighs n(g) / k(g), each group as much as it has images,
    and the mean of all weights is 1. A group of one class has weights of 1: nothing in it can be
    balanced, which only new images can change. O(images).

    Parameters
    ----------
    groups : sequence of hashable
        The group of each image, such as its combination of concepts.
    classes : sequence of str
        The class of each image.

    Returns
    -------
    pandas.DataFrame
        A row an image, in the order given: ``weight`` (float64), ``group_images`` n(g),
        ``class_images`` n(g, c) and ``group_classes`` k(g) (int64).

    Examples
    --------
    >>> found = balancing_weights(["sea", "sea", "sea", "wood"], ["gull", "gull", "owl", "owl"])
    >>> found["weight"].tolist()
    [0.75, 0.75, 1.5, 1.0]
    """
    images = pd.DataFrame(
        {
            "group": pd.factorize(pd.Series(list(groups), dtype=object))[0],
            "class": pd.factorize(np.array(classes, dtype=object))[0],
        }
    )

    by_group = images.groupby("group")["class"]
    counts = {
        "group_images": by_group.transform("size"),
        "class_images": images.groupby(["group", "class"])["class"].transform("size"),
        "group_classes": by_group.transform("nunique"),
    }
    weight = counts["group_images"] / (counts["group_classes"] * counts["class_images"])
    return pd.DataFrame({"weight": weight, **counts})
