"""Domains of training images, for methods that tell them apart."""

import numpy as np

from cobalance.evaluation.training.examples import Examples, Floats
from cobalance.graph.errors import OptionError


def count_domains(training: Examples, what: str) -> Floats:
    """How many images each domain has, shape (n_domains,); `what` begins an error's sentence.

    Raises
    ------
    OptionError
        Domains are unknown, or all images are of one.
    """
    counts = np.bincount(training.require_domains(what)).astype(np.float64)
    if np.count_nonzero(counts) < 2:
        raise OptionError(
            f"{what} needs training images of two domains or more, and these are of one. Choose "
            "shortcuts whose values differ, or another method."
        )
    return counts
