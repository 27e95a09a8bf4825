"""What every filter does: look at images that were made, and say which are as asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from generation.image_request import GeneratedImage, ImageRequest


@dataclass(frozen=True)
class Judgement:
    """What a filter says of one image.

    Parameters
    ----------
    score : float
        Finite; each filter says what is good.
    accepted : bool
        Its verdict.
    reason : str
        Why it is rejected, as a sentence for people; empty for an accepted one.
    details : mapping
        What else it has found, such as a raw cosine; for JSON.
    """

    score: float
    accepted: bool
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


class Filter(Protocol):
    """Judges images. It is opened once a process, and used by one thread at a time."""

    def judge(
        self, requests: Sequence[ImageRequest], made: Sequence[GeneratedImage]
    ) -> list[Judgement]:
        """Judge a batch, one judgement an image.

        Raises
        ------
        OutOfMemoryError
            The batch is too large for the device.
        """
        ...

    def describe(self) -> Mapping[str, Any]:
        """Its settings, and its model with revision and weights, for provenance; for JSON."""
        ...
