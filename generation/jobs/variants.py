"""Variants of a job's candidates, and the words of its groups for prompts."""

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ingest.models.prompts import check_template


class Variant(BaseModel):
    """What some of a query's candidates are made with, in place of the job's own.

    With V variants, candidate j of each query is made with variant j mod V.

    Parameters
    ----------
    prompt : str or None
        Template of the prompt, see `ingest.models.prompts`.
    guidance_scale : float or None
        How closely to follow the prompt.
    image_guidance_scale : float or None
        How closely to follow the source.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: str | None = None
    guidance_scale: float | None = Field(default=None, ge=0)
    image_guidance_scale: float | None = Field(default=None, ge=1)

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
