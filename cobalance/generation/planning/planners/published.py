"""Planner of ConBias's published code: every clique on its own, without counting subsets."""

import numpy as np

from cobalance.base import IntArray, Options, Plugin
from cobalance.counting import Cliques
from cobalance.generation.planning.plan import Planner, PlanOptions

PLUGIN = Plugin("published", "As the paper's authors ran it: every clique on its own.")


def open_planner(_options: Options) -> Planner:
    """Open the planner: `plan_images`, which has no options of its own."""
    return plan_images


def plan_images(cliques: Cliques, options: PlanOptions) -> IntArray:
    """Plan, for each clique and class, the difference to the class with the most images.

    Algorithm 1 without its line 15: all sizes from the counts of the dataset as it is, as the
    code published with the paper does. With one size both planners agree. With several, images
    for a clique also count in its parts, and parts that their own queries balance lean the other
    way afterwards, which the algorithm's order is there to avoid. It is kept to compare with the
    paper's results; `conbias` is the planner to use.

    Parameters and errors are those of the planner `conbias`. The published queries for UrbanCars
    have the one size 2.

    Returns
    -------
    int64 array, shape (n_cliques, n_classes)
        Images to make of each class that contain exactly the clique.

    Notes
    -----
    The published code (https://github.com/rwchakra/conbias, ``src/concept_sampler.py``) has the
    update of line 15 as a "TODO". Its counts for COCO-GB are of images whose concepts all lie in
    the clique; those here are, as in the paper, of images that contain the clique. On UrbanCars,
    with two concepts an image, both are the same at size 2.

    O(n_cliques x n_classes).
    """
    rows, counts = options.rows(cliques), cliques.counts.astype(np.int64)
    images = np.zeros_like(counts)
    images[rows] = options.cap(counts.max(axis=1, keepdims=True) - counts)[rows]
    return images
