"""Settings of a labelling run, as its node keeps them."""

import math
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, FiniteFloat

from cobalance.annotation.language import EndpointSettings
from cobalance.base import Options, read_options

Rule = Literal["base", "threshold"]


class LabelledAttribute(Options):
    """An attribute that images are labelled with.

    Parameters
    ----------
    category : str
        Its category; attributes of one compete for an image where one alone may be present.
    caption : str
        The text that images are scored with.
    """

    category: str
    concept: str
    caption: str


class LabelSettings(Options):
    """All that decides a labelling run's result but the images.

    Parameters
    ----------
    annotator : str
        A name in `cobalance.annotation.annotators.ANNOTATORS`.
    options : mapping
        Its options.
    endpoint : EndpointSettings or None
        Where its model is asked, if that is not on the worker.
    level : {"image", "object"}
        Of all its attributes.
    attributes : tuple of LabelledAttribute
        Scored in this order.
    base : str
        The caption that names the domain alone; scored beside the attributes where the rule needs
        it.
    rule : {"base", "threshold"}
        Whether an attribute is present above the base caption's score (GELDA's for whole images),
        or from a threshold on (its for objects).
    multi : bool
        Whether an image may have several attributes of a category; with a threshold it always may.
    threshold : float
        The lowest score that counts.
    thresholds : mapping of str to float
        Other ones, by concept.
    split : str or None
        Only images of this split.
    images : int
        How many are labelled.
    chunk_images : int
        How many of them a task labels.
    """

    annotator: str
    options: dict[str, Any] = Field(default_factory=dict)
    endpoint: EndpointSettings | None = None
    level: Literal["image", "object"] = "image"
    attributes: tuple[LabelledAttribute, ...] = ()
    base: str = ""
    rule: Rule = "base"
    multi: bool = False
    threshold: FiniteFloat = 0.3
    thresholds: dict[str, FiniteFloat] = Field(default_factory=dict)
    split: str | None = None
    images: int = 0
    chunk_images: int = Field(default=1000, ge=1)

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> "LabelSettings":
        """Check settings that a run's node keeps; OptionError if they cannot be used."""
        return read_options(cls, settings, "The annotation run")

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that images are scored with: of all attributes, then the base caption."""
        captions = tuple(attribute.caption for attribute in self.attributes)
        return (*captions, self.base) if self.rule == "base" else captions

    @property
    def chunks(self) -> int:
        """Tasks that the images are divided into."""
        return math.ceil(self.images / self.chunk_images)
