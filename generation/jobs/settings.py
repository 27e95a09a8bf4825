"""How a job makes its images: backend, filters and limits, as kept with the job."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from generation.backends import BACKENDS
from generation.backends.backend import BackendSettings
from generation.filters import FILTERS
from generation.sources.sampler import MaskSettings
from generation.sources.segmenters import SEGMENTERS
from graph.errors import OptionError, UnknownNameError
from ingest.models.prompts import check_template

DEFAULT_FILTERS: Mapping[str, tuple[str, ...]] = {
    "procedural": ("sanity", "blank", "duplicates"),
    "paste": ("sanity", "blank", "duplicates", "clip"),
    "inpaint": ("sanity", "blank", "duplicates", "clip"),
    "instruct": ("blank", "duplicates", "clip"),
}
"""The filters of a job that names none, by backend: CLIPScore wherever a model follows words."""


class JobSettings(BaseModel):
    """How to make a job's images.

    Parameters
    ----------
    backend : str
        A name in `generation.backends.BACKENDS`.
    making : BackendSettings
        The backend's settings.
    masks : MaskSettings
        How the object of the class is found in its images.
    segmenter : str or None
        A name in `generation.sources.segmenters.SEGMENTERS`, for masks from one.
    segmenter_options : mapping
        Its options.
    prompt : str or None
        A template for the prompts, see `ingest.models.prompts`; None for the backend's usual one.
    filters : mapping of str to mapping, or None
        Options by name in `generation.filters.FILTERS`; None for the backend's usual ones.
    chunk_size : int
        Images that are made together. It is part of what decides a pixel, and recorded.
    candidates_per_image : int
        A query gives up after so many candidates for each image that it wants.
    keep_rejected : bool
        Keep the files of rejected candidates; they are counted either way.
    image_format : {"png", "jpeg"}
        Of the files; JPEG loses the exactness of protected pixels.
    split : str or None
        Take objects only from images of this split; None for the one that was mined.
    seed : str
        What all seeds are derived from, in place of the job's id: two jobs with the same plan,
        settings and seed make the same images.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    backend: str = "procedural"
    making: BackendSettings = BackendSettings()
    masks: MaskSettings = MaskSettings()
    segmenter: str | None = None
    segmenter_options: Mapping[str, Any] = Field(default_factory=dict)
    prompt: str | None = None
    filters: Mapping[str, Mapping[str, Any]] | None = None
    chunk_size: int = Field(default=16, ge=1, le=1024)
    candidates_per_image: int = Field(default=4, ge=1, le=1000)
    keep_rejected: bool = True
    image_format: Literal["png", "jpeg"] = "png"
    split: str | None = None
    seed: str = ""

    @property
    def extra(self) -> str:
        """The part of cobalance that a worker must have to make the images."""
        plugins = [BACKENDS[self.backend], *(FILTERS[name] for name in self.filter_options())]
        if self.segmenter is not None:
            plugins.append(SEGMENTERS[self.segmenter])
        return "models" if any(plugin.extra == "models" for plugin in plugins) else "worker"

    def filter_options(self) -> dict[str, Mapping[str, Any]]:
        """The filters to run, in order, each with its options."""
        return usual_filters(self.backend) if self.filters is None else dict(self.filters)


def usual_filters(backend: str) -> dict[str, Mapping[str, Any]]:
    """The filters of a backend's jobs that name none, in order, each with its options."""
    usual: dict[str, Mapping[str, Any]] = {
        name: {} for name in DEFAULT_FILTERS.get(backend, ("blank",))
    }
    if backend == "instruct":  # whose prompt is an instruction, and describes no image
        usual["clip"] = {"text": "concepts"}
    return usual


def read_job_settings(values: Mapping[str, Any]) -> JobSettings:
    """Check the settings of a job.

    Raises
    ------
    OptionError
        One is unknown or cannot be used, or an option of a filter or of the segmenter is.
    UnknownNameError
        No backend, filter or segmenter has this name.

    Examples
    --------
    >>> list(read_job_settings({"backend": "inpaint"}).filter_options())
    ['sanity', 'blank', 'duplicates', 'clip']
    >>> read_job_settings({"making": {"steps": 0}})
    Traceback (most recent call last):
    ...
    graph.errors.OptionError: The setting making.steps is 0: input should be greater than or \
equal to 1.
    >>> read_job_settings({"filters": {"blank": {"treshold": 0.1}}})
    Traceback (most recent call last):
    ...
    graph.errors.OptionError: The filter blank has no option 'treshold'. Its options: \
min_luminance, threshold.
    """
    try:
        settings = JobSettings.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            raise UnknownNameError("setting", name, _names(JobSettings)) from error
        raise OptionError(
            f"The setting {name} is {first['input']!r}: {_uncapitalised(first['msg'])}."
        ) from error
    _ = BACKENDS[settings.backend]
    for name, options in settings.filter_options().items():
        FILTERS.check(name, options)
    if settings.segmenter is not None:
        SEGMENTERS.check(settings.segmenter, settings.segmenter_options)
    elif settings.masks.masks == "segmenter":
        raise OptionError("The setting masks.masks is 'segmenter', and segmenter names none.")
    elif settings.segmenter_options:
        raise OptionError("There are segmenter_options, and segmenter names none.")
    if settings.prompt is not None:
        check_template(settings.prompt)
    return settings


def _names(model: type[BaseModel], prefix: str = "") -> list[str]:
    """All settings by their paths."""
    names = []
    for name, found in model.model_fields.items():
        inner = found.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            names += _names(inner, f"{prefix}{name}.")
        else:
            names.append(prefix + name)
    return names


def _uncapitalised(text: str) -> str:
    return text[:1].lower() + text[1:]
