"""Weights of cliques, from texts such as ``cow + field=2``."""

import json

import numpy as np

from cobalance.base import FloatArray, OptionError
from cobalance.counting import Cliques
from cobalance.statistics import find_rows


def weigh_cliques(cliques: Cliques, texts: tuple[str, ...]) -> FloatArray:
    """Give the weight of each clique, 1 where no text names it.

    Raises
    ------
    OptionError
        A weight is no weight, or names a clique that is none of those given.
    """
    weights = np.ones(len(cliques))
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            weight = float(number)
            # Names that contain " + " are given as a JSON list.
            concepts = json.loads(name) if name.lstrip().startswith("[") else name.split(" + ")
        except ValueError:
            weight = -1.0

        if not name.strip() or not 0 <= weight < float("inf"):
            raise OptionError(
                f"The weight {text!r} is not as in 'cow + field=2', with a number of 0 or more."
            )
        clique = tuple(sorted(str(concept).strip() for concept in concepts))
        (row,) = find_rows(cliques, [clique])
        if row < 0:
            raise OptionError(f"The weight {text!r} names a clique that is not to be balanced.")
        weights[row] = weight
    return weights
