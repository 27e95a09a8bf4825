"""ConBias's rebalance sampling (Algorithm 1): largest cliques first, images counted for subsets."""

import numpy as np

from cobalance.base import IntArray, Options, Plugin
from cobalance.counting import Cliques, SubsetIndex
from cobalance.generation.planning.plan import Planner, PlanOptions
from cobalance.generation.planning.simulation import add_to_counts

PLUGIN = Plugin(
    "conbias", "Algorithm 1 of the paper: images made for a large clique also count in its parts."
)


def open_planner(_options: Options) -> Planner:
    """Open the planner: `plan_images`, which has no options of its own."""
    return plan_images


def plan_images(cliques: Cliques, options: PlanOptions) -> IntArray:
    """Plan the fewest images that close the gap of every clique, size by size.

    For each size k from the largest down, every class with fewer images of a clique than the
    class with most gets the difference; then the smaller cliques are counted anew, the images of
    size k included (line 15, "Update M_occ[k'] with the generated samples"), and the next size
    follows. Images made for a size contain no larger clique, so what is balanced stays so.

    Parameters
    ----------
    cliques : Cliques
        The cliques to balance. Counts of zero are counts like any other.
    options : PlanOptions
        The smallest and largest size to balance, and the most images of a query: those that it
        cuts are not counted in for the smaller cliques either.

    Returns
    -------
    int64 array, shape (n_cliques, n_classes)
        Images to make of each class that contain exactly the clique.

    Raises
    ------
    OptionError
        The options ask for sizes that were not mined.

    Notes
    -----
    Chakraborty et al., ConBias, section 14, Algorithm 1. Choices where the text leaves them open:

    - *Update*: an image made for a clique contains exactly its concepts, so it adds 1 to each of
      its subsets in its class, and to nothing else.
    - *Sizes*: as printed the loop ends before size 1 (``while k > 1``), the default of `min_size`;
      ``min_size=1`` goes on to single concepts, as the paper's set I does.
    - *Cliques*: those given. The algorithm reads one table of counts; which cliques are in it
      (common to all classes, or not) is the caller's choice. A clique that no image contains has
      nothing to balance and may be missing.

    No plan of images for these cliques, of these sizes, makes all gaps zero with fewer images: at
    the largest size the differences between classes are given by the gaps, so the least is to
    give the leading class none; the same then holds for each next size, because only those
    differences move the gaps below. Yet a plan can be larger than that of `published`, which
    leaves gaps: an image that closes the gap of a clique may open one in a part of it.

    Complexity: one look-up per clique with a gap and subset of it, O(n_cliques x 2^max_size).

    Examples
    --------
    A triple that needs 2 images of the first class; they settle the pair (0, 1) as well.

    >>> cliques = Cliques(
    ...     np.array([[0, 1, -1], [0, 2, -1], [0, 1, 2]]), np.array([[3, 5], [4, 4], [1, 3]]),
    ...     np.array([9, 9]), ("a", "b", "c"), ("x", "y"))
    >>> plan_images(cliques, PlanOptions()).tolist()
    [[0, 0], [0, 2], [2, 0]]
    """
    min_size, max_size = options.resolve(cliques)
    sizes, counts = cliques.sizes(), cliques.counts.astype(np.int64)
    index = SubsetIndex(cliques.members)
    images = np.zeros_like(counts)

    for size in range(max_size, min_size - 1, -1):
        rows = np.flatnonzero((sizes == size) & (np.ptp(counts, axis=1) > 0))
        missing = counts[rows].max(axis=1, keepdims=True) - counts[rows]
        images[rows] = options.cap(missing)
        # Images of a clique count in all of its parts, whose gaps are looked at next.
        add_to_counts(index, counts, cliques.members[rows], images[rows])
    return images
