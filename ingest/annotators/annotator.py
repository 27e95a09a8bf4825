"""The interface of annotators: find the concepts of a dataset in images."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from graph.records import Mention
from ingest.images.arrays import ImageArray


class Annotator(Protocol):
    """Finds concepts in images; opened once per process, used by one thread at a time."""

    def annotate(
        self, images: Sequence[ImageArray], vocabulary: Sequence[str]
    ) -> list[list[Mention]]:
        """Look for concepts in images.

        Parameters
        ----------
        images : sequence of uint8 arrays, shape (height, width, 3)
            They may differ in size.
        vocabulary : sequence of str
            Concepts of the dataset.

        Returns
        -------
        list of list of Mention
            For each image its detected instances, with score and box, and the model's name as the
            source.

        Raises
        ------
        OutOfMemoryError
            The images are too many for the device.
        """
        ...

    def describe(self) -> Mapping[str, Any]:
        """Settings, model, revision and weights for provenance; JSON values."""
        ...
