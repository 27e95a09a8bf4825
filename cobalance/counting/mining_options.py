"""How cliques are mined, as it is kept with a dataset."""

import json
from dataclasses import asdict, dataclass
from typing import Literal

from cobalance.base import clean_name

Engine = Literal["auto", "memory", "out-of-core", "spark"]
"""Where cliques are counted; auto is where a dataset was loaded."""


@dataclass(frozen=True)
class MiningOptions:
    """How cliques are mined.

    Parameters
    ----------
    max_size : int
        The largest number of concepts in a clique.
    min_support : int
        The smallest count, in images, that a clique must have in its most frequent class.
    common : tuple of str or None
        The classes that every concept of a clique must occur with; None means every class.
    split : str or None
        Count only the images of that split; empty is None, all images.
    confidence : float
        Of the odds ratios' interval.
    """

    max_size: int = 4
    min_support: int = 1
    common: tuple[str, ...] | None = None
    split: str | None = None
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if self.common is not None:
            object.__setattr__(self, "common", tuple(map(clean_name, self.common)))
        if self.split is not None:
            object.__setattr__(self, "split", clean_name(self.split) or None)

    def to_json(self) -> str:
        """Serialise the options for the store."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str | None) -> "MiningOptions":
        """Read options from the store; the default ones if nothing was mined yet."""
        return cls(**json.loads(text or "{}"))
