"""Prompts and guidance scales that candidates take in turn; noun and adjective of each group."""

from collections.abc import Sequence
from itertools import chain

from pydantic import BaseModel, ConfigDict, Field, field_validator

from cobalance.base import OptionError, Setting
from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.backend import Backend, ScaledBackend
from cobalance.generation.image_request import SCALES
from cobalance.vision import check_template


class Variant(BaseModel):
    """Prompt and scales of some of a query's candidates, in place of the job's.

    With V variants, candidate j of each query is made with variant j mod V.

    Parameters
    ----------
    prompt : str or None
        Template of the prompt, see `cobalance.vision.models.prompts`.
    guidance_scale : float or None
        How closely to follow the prompt.
    image_guidance_scale : float or None
        How closely to follow the source.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: str | None = None
    guidance_scale: float | None = Field(default=None, ge=0)
    image_guidance_scale: float | None = Field(default=None, ge=1)

    @property
    def scales(self) -> dict[str, float]:
        """The scales that it sets, by name."""
        return {name: value for name in SCALES if (value := getattr(self, name)) is not None}

    @field_validator("prompt")
    @classmethod
    def _check_prompt(cls, prompt: str | None) -> str | None:
        if prompt is not None:
            check_template(prompt)
        return prompt


class Phrase(BaseModel):
    """Words of a group in prompts: ``{noun}``, such as woman, and ``{adjective}``, as feminine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    noun: str = ""
    adjective: str = ""


def check_scales(variants: Sequence[Variant], backend: Backend, name: str) -> None:
    """Refuse scales of variants that a backend would ignore.

    Parameters
    ----------
    backend : Backend
        Opened for the job.

    Raises
    ------
    OptionError
        One would be ignored; the message says what to do.
    """
    scales = [variant.scales for variant in variants]
    if not any(scales):
        return
    if not isinstance(backend, ScaledBackend):
        raise ignored_scale(name, next(chain.from_iterable(scales)))
    backend.check_scales(scales)


def ignored_scale(backend: str, scale: str) -> OptionError:
    """The error for a scale of variants that a backend has no option for."""
    heeding = [name for name, plugin in BACKENDS.items() if scale in plugin.options.model_fields]
    return OptionError(
        f"The backend {backend} would ignore the {scale} of the variants. Leave it out of ",
        Setting("variants"),
        f", or use a backend that heeds it: {', '.join(heeding)}.",
    )
