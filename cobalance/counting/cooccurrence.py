"""Edge weights of the concept graph: joint counts of concept pairs and class-concept pairs."""

from dataclasses import dataclass

import numpy as np

from cobalance.base import IntArray, sparse
from cobalance.counting.incidence import Incidence


@dataclass(frozen=True, eq=False)
class CoOccurrence:
    """Edge weights (the paper's w_ij); pairs without a common image are absent.

    Parameters
    ----------
    concept_pairs : int array, shape (n_pairs, 2)
        Concept codes, the smaller first; rows ascend.
    pair_images : int64 array, shape (n_pairs,)
        Images with both.
    class_concept : int array, shape (n_edges, 2)
        Class code and concept code; rows ascend.
    class_concept_images : int64 array, shape (n_edges,)
        Images of the class with the concept.
    """

    concept_pairs: IntArray
    pair_images: IntArray
    class_concept: IntArray
    class_concept_images: IntArray


def cooccurrence(incidence: Incidence) -> CoOccurrence:
    """Count the edges of the concept graph (section 3.2 of the ConBias paper).

    Notes
    -----
    One sparse matrix product: O(the sum over images of the squared number of concepts).
    """
    matrix = incidence.matrix().astype(np.int64)
    pairs = sparse.triu(matrix.T @ matrix, k=1).tocsr().sorted_indices().tocoo()

    by_class = incidence.class_concept_counts()
    class_code, concept_code = np.nonzero(by_class)
    return CoOccurrence(
        concept_pairs=np.column_stack([pairs.row, pairs.col]),
        pair_images=pairs.data,
        class_concept=np.column_stack([class_code, concept_code]),
        class_concept_images=by_class[class_code, concept_code],
    )
