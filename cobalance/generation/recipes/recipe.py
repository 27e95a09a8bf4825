"""Recipe declaration: backend, prompt, masks, filters and form of one way to make images."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from cobalance.base import Declaration
from cobalance.generation.planning import CounterfactualOptions, ResultOptions
from cobalance.generation.sources.mask_settings import MaskSettings

SECONDS_WITH_A_MODEL = (2.0, 10.0)
"""Assumed seconds per image of a diffusion model, on a large and on a small GPU."""


@dataclass(frozen=True)
class FormField:
    """An option of the backend that the web app's form offers.

    The option's type decides how it is drawn: as a choice, a number, a check box or text.

    Parameters
    ----------
    label : str
        What the form calls it.
    help : str
        What it does, in Markdown.
    placeholder : str
        What an empty field shows.
    choices : tuple of str
        The names that an option of text can have; empty for any text.
    """

    option: str
    label: str
    help: str = ""
    placeholder: str = ""
    choices: tuple[str, ...] = ()


SIZE_FIELDS = tuple(
    FormField(
        f"{side}_px",
        f"{side.capitalize()} in pixels",
        "A multiple of 8. Without it, that of the original image, or the model's own.",
        "as usual",
    )
    for side in ("width", "height")
)

MODEL_FIELDS = (
    FormField(
        "model",
        "Model",
        "A folder of the workers' machine, or owner/name of the Hugging Face hub.",
        "the usual one",
    ),
    FormField(
        "preset",
        "Preset",
        "**faithful**: as the paper and the model's card have it. **fast**: fewer steps.",
    ),
)


SERVER_FIELDS = (
    FormField(
        "url",
        "Server",
        "Its address, as workers reach it; several with spaces between them share the work.",
    ),
    FormField(
        "send_images",
        "Images may leave",
        "Whether images may be sent to a server on another machine than the workers'.",
    ),
    FormField("paint", "Paint", "What is painted; with **everything** no pixel is sure to stay."),
    FormField(
        "max_images",
        "Most images to ask for",
        "All workers and tries together; the job stops there.",
        "any number",
    ),
    FormField("price", "Price of an image", "What each try costs that may have made one."),
    FormField("max_cost", "Most to spend", "The job stops there; needs the price.", "any amount"),
)
"""Of recipes with a server. Key files are for commands and Python: whoever names a file here and a
server could have the file sent there."""


@dataclass(frozen=True, kw_only=True)
class Recipe(Declaration):
    """A way of making images, from the query to the accepted image.

    A job may override everything but the form; it does so in a copy, as `filters` and `making` are
    read-only.

    Parameters
    ----------
    backend : str
        A name in `cobalance.generation.backends.BACKENDS`.
    prompt : str
        Template of the prompts, see `cobalance.vision.models.prompts`.
    filters : mapping of str to mapping
        The filters that judge the images, in order, each with options that differ from its
        defaults.
    making : mapping
        Options of the backend that differ from its defaults.
    quality : {"", "fast", "balanced", "faithful"}
        The quality of a job that names none, where no paper decides the model.
    fields : tuple of FormField
        The options that the web app offers, of those that the backend has; by default those of a
        model.
    seconds : tuple of two floats
        Assumed time per image, at best and at worst, while no job has measured it.
    job : mapping
        Other settings of the job than by default; see
        `cobalance.generation.jobs.settings.JobSettings`.
    plan : CounterfactualOptions or None
        Which images its plans edit; None for a recipe that makes images of classes and concepts.
    result : ResultOptions or None
        Which images the dataset has that its jobs lead to; None for a recipe that edits none.
    people : {"", "paints", "alters"}
        Whether it paints people where the object is a person, and whether a part of a real person
        may stay in the image; either needs the consent of whoever orders it.
    choices : tuple of str
        What it does where the paper is silent or contradicts itself, a sentence each.
    reference : str
        The paper and section that it follows, and what it does where these are silent.
    caution : str
        What to know before a job is created, in a line of Markdown; empty for most.
    """

    backend: str
    prompt: str
    filters: Mapping[str, Mapping[str, Any]]
    making: Mapping[str, Any] = field(default_factory=dict)
    quality: Literal["", "fast", "balanced", "faithful"] = ""
    masks: MaskSettings = field(default_factory=MaskSettings)
    fields: tuple[FormField, ...] = (*MODEL_FIELDS, *SIZE_FIELDS)
    seconds: tuple[float, float] = SECONDS_WITH_A_MODEL
    job: Mapping[str, Any] = field(default_factory=dict)
    plan: CounterfactualOptions | None = None
    result: ResultOptions | None = None
    people: Literal["", "paints", "alters"] = ""
    choices: tuple[str, ...] = ()
    reference: str
    caution: str = ""

    def __post_init__(self) -> None:
        filters = {name: MappingProxyType(dict(values)) for name, values in self.filters.items()}
        object.__setattr__(self, "filters", MappingProxyType(filters))
        for name in ("making", "job"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
