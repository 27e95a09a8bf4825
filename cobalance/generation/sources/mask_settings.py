"""Mask settings: where object masks come from, and which part of an object they are of."""

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

ANY = "*"
"""In `MaskSettings.object`: a region of any concept."""

PLACEHOLDER = re.compile(r"\{(id|stem|path)\}")
"""Placeholders of `MaskSettings.mask_pattern`."""


def as_tuple(value: object) -> object:
    """A text as a tuple of itself, for options that take one or several."""
    return (value,) if isinstance(value, str) else value


class MaskSettings(BaseModel):
    """Origin and limits of object masks.

    Parameters
    ----------
    masks : {"regions", "regions+boxes", "regions+segmenter", "boxes", "files", "segmenter"}
        From the annotations' outlines; from these, and where an object has none, its box, filled,
        or a model's; from their boxes alone; from a mask file for each image; or from a model
        alone. A model finds the object within its box where the annotations have one.
    object : str or tuple of str
        Concepts whose regions are the object, or ``"*"`` for those of any. By default the class's
        own name, which is what regions have that gave an image its class; for classes such as man
        and woman else ``person``; else the image's regions where all are of one concept. It is
        never guessed among several. A crowd, many instances that are outlined as one, is no object.
    instances : {"largest", "largest_box", "all", "single"}
        Which of several regions of the object: the one with the most pixels; the one with the
        largest box; all as one; or none, as only images with exactly one are used.
    second_above_px : float or None
        With ``largest_box``, the next largest too, as one with it, if its box is larger than so
        many pixels of the annotated image.
    parts : {"all", "random"}
        Where the job names a second segmenter for parts of the object, such as skin: all that it
        finds, as one, or one of them by the image's seed. The mask is what is the object's of them.
    grow_px : int
        How often the mask is dilated by a square of 3 × 3 pixels, after everything else.
    mask_folder : str or None
        Where mask files are; bright pixels are the object's.
    mask_pattern : str
        A mask file's path in the folder. ``{id}`` is the image's id, ``{path}`` its address without
        the ending, ``{stem}`` the last part of that.
    min_share, max_share : float
        How much of the image a mask must and may cover; an image with another one is not used.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    masks: Literal[
        "regions", "regions+boxes", "regions+segmenter", "boxes", "files", "segmenter"
    ] = "regions"
    object: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = ()
    instances: Literal["largest", "largest_box", "all", "single"] = "largest"
    second_above_px: float | None = Field(default=None, ge=0)
    parts: Literal["all", "random"] = "all"
    grow_px: int = Field(default=0, ge=0, le=256)
    mask_folder: str | None = None
    mask_pattern: str = "{stem}.png"
    min_share: float = Field(default=0.01, ge=0, le=1)
    max_share: float = Field(default=0.9, ge=0, le=1)

    @property
    def needs_segmenter(self) -> bool:
        """Whether a model may have to find the object."""
        return self.masks in ("segmenter", "regions+segmenter")

    @model_validator(mode="after")
    def _fits(self) -> "MaskSettings":
        if self.masks == "files" and self.mask_folder is None:
            raise ValueError("masks from files need a mask_folder")
        if self.second_above_px is not None and self.instances != "largest_box":
            raise ValueError("second_above_px is of use only with instances=largest_box")
        if not PLACEHOLDER.search(self.mask_pattern):
            raise ValueError(f"mask_pattern {self.mask_pattern!r} has none of {{id}}, {{stem}} "
                             "and {path}")  # fmt: skip
        if self.min_share > self.max_share:
            raise ValueError(f"min_share {self.min_share:g} is above max_share {self.max_share:g}")
        return self


class UnusableError(Exception):
    """An image that cannot be used, with a remedy.

    Parameters
    ----------
    problem : str
        What is wrong, as a clause behind "an image": ``"has no mask file"``.
    remedy : str
        What to do, as a sentence without its full stop.
    detail : str
        What was found in this image.
    """

    def __init__(self, problem: str, remedy: str, detail: str = "") -> None:
        super().__init__(problem)
        self.problem, self.remedy, self.detail = problem, remedy, detail
