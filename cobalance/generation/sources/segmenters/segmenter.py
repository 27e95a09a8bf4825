"""Segmenter protocol: segment the object of an image without annotated outlines."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cobalance.base import Box, OptionError
from cobalance.generation.image_request import GenerationError
from cobalance.generation.sources.object_regions import fill_box
from cobalance.vision import ImageArray, MaskArray


class Segmenter(Protocol):
    """Segments objects; opened once per process, used by one thread at a time."""

    def segment(self, image: ImageArray, box: Box | None) -> MaskArray:
        """Segment the object in an image.

        Parameters
        ----------
        image : uint8 array, shape (height, width, 3)
            The image.
        box : tuple of four floats or None
            Where the object is: x, y of the top left corner, width, height, in pixels.

        Raises
        ------
        GenerationError
            It needs a box and has none, or finds nothing, or nothing but the object.
        OutOfMemoryError
            The image is too large for the device.
        """

    def describe(self) -> Mapping[str, Any]:
        """Settings, model, revision and weights for provenance; JSON values."""


@runtime_checkable
class InstanceSegmenter(Protocol):
    """A segmenter that finds all instances of the object where none is annotated."""

    def instances(self, image: ImageArray) -> Sequence[MaskArray]:
        """Masks of the instances, at least one; GenerationError where it finds none."""


@runtime_checkable
class PartSegmenter(Protocol):
    """A segmenter that tells parts by name."""

    def parts(self, image: ImageArray) -> Mapping[str, MaskArray]:
        """Masks of the parts it was opened for; empty where a part is not found."""


def find_parts(segmenter: Segmenter, name: str) -> Callable[[ImageArray], Mapping[str, MaskArray]]:
    """Find parts with a segmenter; one part in all if it names none."""
    if isinstance(segmenter, PartSegmenter):
        return segmenter.parts
    return lambda image: {name: segmenter.segment(image, None)}


def check_box(image: ImageArray, box: Box) -> None:
    """Raise GenerationError unless a box has an area inside the image.

    Examples
    --------
    >>> import numpy as np
    >>> check_box(np.zeros((8, 8, 3), np.uint8), (9, 0, 2, 2))
    Traceback (most recent call last):
    ...
    cobalance.generation.image_request.GenerationError: The box (9, 0, 2, 2) of the object lies \
outside the image of 8 x 8 px. Correct the annotation.
    """
    x, y, width, height = box
    rows, columns = image.shape[:2]
    common_width = min(x + width, columns) - max(x, 0)
    common_height = min(y + height, rows) - max(y, 0)
    # NaN is refused, too.
    if not (common_width > 0 and common_height > 0):
        raise GenerationError(
            f"The box {box} of the object lies outside the image of {columns} x {rows} px. "
            "Correct the annotation."
        )


def join_parts(
    segmenter: PartSegmenter, name: str, image: ImageArray, box: Box | None
) -> MaskArray:
    """The union of the parts that a segmenter finds, cut to the box if there is one.

    Errors are those of `Segmenter.segment`.
    """
    if box is not None:
        check_box(image, box)
    mask: MaskArray = np.logical_or.reduce(list(segmenter.parts(image).values()))
    if box is not None:
        mask &= fill_box(box, image.shape[1], image.shape[0])
    return check_mask(mask, name)


def label_names(model: Any, wanted: Sequence[str], segmenter: str) -> dict[int, str]:
    """Names of a model's labels by number; OptionError if it lacks a wanted one."""
    names = {int(number): str(name) for number, name in model.config.id2label.items()}
    unknown = [name for name in wanted if name not in names.values()]
    if unknown:
        raise OptionError(
            f"The segmenter {segmenter}: its model has no label {unknown[0]!r}. Its labels: "
            f"{', '.join(names.values())}."
        )
    return names


def check_mask(mask: MaskArray, segmenter: str) -> MaskArray:
    """Return the mask; GenerationError if it is empty or covers the whole image."""
    if mask.any() and not mask.all():
        return mask
    content = "nothing but the object" if mask.any() else "no object"
    raise GenerationError(
        f"The segmenter {segmenter} finds {content} in the image. Take another image, another "
        "segmenter, or annotate the outline."
    )
