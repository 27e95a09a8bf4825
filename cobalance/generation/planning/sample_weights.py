"""Reweighting: sample weights that balance the classes within groups of images.

The baseline beside which generated images have to be worth their cost (reweighting, as in
F. Kamiran and T. Calders, Data preprocessing techniques for classification without discrimination,
Knowledge and Information Systems 33, 2012, section 5.2, with combinations of concepts for their
sensitive attribute, and equal shares of the classes within each for their independence).
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd


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
    group_codes = pd.factorize(pd.Series(list(groups), dtype=object))[0]
    class_codes, names = pd.factorize(pd.Series(list(classes), dtype=object))
    _, cell, cell_images = np.unique(
        group_codes.astype(np.int64) * max(len(names), 1) + class_codes,
        return_inverse=True,
        return_counts=True,
    )
    group_images = np.bincount(group_codes)[group_codes]
    class_images = cell_images[cell]
    # Each image is one n(g, c)-th of its class in its group.
    shares = np.bincount(group_codes, weights=1 / class_images)
    group_classes = np.rint(shares).astype(np.int64)[group_codes]
    return pd.DataFrame(
        {
            "weight": group_images / (group_classes * class_images),
            "group_images": group_images.astype(np.int64),
            "class_images": class_images.astype(np.int64),
            "group_classes": group_classes,
        }
    )
