"""The registry of training sets."""

from typing import TYPE_CHECKING

from cobalance.base import Declarations

if TYPE_CHECKING:
    from cobalance.evaluation.training.data.images import TrainingSet

_SETS = "cobalance.evaluation.training.data.sets"

SETS: "Declarations[TrainingSet]" = Declarations(
    "training set",
    {
        "real": _SETS,
        "augmented": _SETS,
        "synthetic": _SETS,
        "s_synthetic": _SETS,
        "s_augment": _SETS,
        "c1": _SETS,
        "c2": _SETS,
        "c3": _SETS,
        "c4": _SETS,
        "c5": _SETS,
        "c6": _SETS,
        "c7": _SETS,
        "c8": _SETS,
        "c9": _SETS,
        "c10": _SETS,
    },
)
"""Training sets: which images of a dataset are trained on."""
