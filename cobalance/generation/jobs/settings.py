"""Settings of a job: recipe, backend, filters and limits, as kept with the job."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from cobalance.base import (
    EXTRAS,
    OptionError,
    PlannedQuery,
    UnknownNameError,
    first_fault,
    join_needs,
    list_extras,
    readable,
)
from cobalance.generation.backends import BACKENDS
from cobalance.generation.filters import FILTERS
from cobalance.generation.jobs.variants import Phrase, Variant, ignored_scale
from cobalance.generation.recipes import DEFAULT, RECIPES, choose_recipe
from cobalance.generation.sources.mask_settings import MaskSettings
from cobalance.generation.sources.segmenters import SEGMENTERS
from cobalance.vision import check_template, prompt_for


class JobSettings(BaseModel):
    """Settings of a job: its recipe and overrides.

    Parameters
    ----------
    recipe : str
        A name in `cobalance.generation.recipes.RECIPES`; by default the one that has the backend's
        name.
    backend : str
        A name in `cobalance.generation.backends.BACKENDS`; by default the recipe's.
    making : mapping
        Options of the backend.
    masks : MaskSettings
        How the object of the class is found in its images.
    segmenter : str or None
        A name in `cobalance.generation.sources.segmenters.SEGMENTERS`, for masks from one.
    segmenter_options : mapping
        Its options.
    prompt : str or None
        A template for the prompts, see `cobalance.vision.models.prompts`; None for the recipe's.
    filters : mapping of str to mapping, or None
        Options by name in `cobalance.generation.filters.FILTERS`; None for the recipe's.
    chunk_size : int
        Images that are made together. It is part of what decides a pixel, and recorded.
    candidates_per_image : int
        A query gives up after so many candidates for each image that it wants; not used where
        `best_of` says how many to make.
    keep_rejected : bool
        Keep the files of rejected candidates; they are counted either way.
    image_format : {"png", "jpeg"}
        Of the files; JPEG loses the exactness of protected pixels.
    split : str or None
        Take objects only from images of this split; None for the one that was mined.
    best_of : int
        Candidates of each image that is wanted, of which the best is chosen; 1 accepts every
        candidate that the filters accept.
    rank_by : mapping of str to float
        The scores to choose by, and their weights; higher scores are better. Those given replace
        all of the recipe's.
    keep_losers : bool
        Keep the files of candidates that lost, and their nodes in the graph, so that people can
        choose another one; the manifest has them either way. Without, a query that has its winners
        keeps these alone, whatever `keep_rejected` says.
    variants : tuple of Variant
        What the candidates of a query differ in: candidate j is made with variant j mod V.
    phrases : mapping of str to Phrase
        The words of a class for prompts; its noun is its name by default.
    parts : str or None
        A second segmenter, for the parts of the object that are edited.
    parts_options : mapping
        Its options.
    consent : str
        The basis on which people are painted, in the words of the person who orders it.
    alters_real_people : bool
        Whether a part of a real person may stay in an edited image.
    without_images : bool
        Order the job even though no file of its images is found where it is ordered.
    pilot : bool or None
        Make some candidates of each query first, schedule the rest by their acceptance, and hold
        back queries that will not be had. None: where the job wants more than 200 images.
    hour_price : float or None
        What an hour of a worker costs, in any currency, for estimates.
    seed : str
        What all seeds are derived from, in place of the job's id: two jobs with the same plan,
        settings and seed make the same images.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    recipe: str = DEFAULT
    backend: str = ""
    making: Mapping[str, Any] = Field(default_factory=dict)
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
    best_of: int = Field(default=1, ge=1, le=1000)
    rank_by: Mapping[str, float] = Field(default_factory=dict)
    keep_losers: bool = True
    variants: tuple[Variant, ...] = ()
    phrases: Mapping[str, Phrase] = Field(default_factory=dict)
    parts: str | None = None
    parts_options: Mapping[str, Any] = Field(default_factory=dict)
    consent: str = ""
    alters_real_people: bool = False
    without_images: bool = False
    pilot: bool | None = None
    hour_price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    seed: str = ""

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, values: Any) -> Any:
        """Fill in the recipe, its backend and its defaults."""
        names = [values.get("recipe"), values.get("backend")]
        # Values of a wrong type are refused afterwards, with their own message.
        if not all(name is None or isinstance(name, str) for name in names):
            return values
        recipe = choose_recipe(*(name or None for name in names))

        usual_job = dict(recipe.job)
        defaults = {"masks": recipe.masks.model_dump(exclude_unset=True)}
        for name in ("segmenter", "parts"):
            # Options are those of one segmenter: another one does not get them.
            options = usual_job.pop(f"{name}_options", {})
            if values.get(name, recipe.job.get(name)) == recipe.job.get(name):
                defaults[f"{name}_options"] = dict(options)

        filters = values.get("filters")
        if isinstance(filters, Mapping) and "rank_by" in usual_job:
            # Without its filter there is no score to rank by.
            usual_job["rank_by"] = {
                score: weight
                for score, weight in usual_job["rank_by"].items()
                if score.partition(" ")[0] in filters
            }

        backend = names[1] or recipe.backend
        completed = {**usual_job, **values, "recipe": recipe.name, "backend": backend}
        if backend == recipe.backend:
            defaults["making"] = dict(recipe.making)
        for name, usual in defaults.items():
            options = values.get(name, {})
            if usual and isinstance(options, Mapping):
                completed[name] = {**usual, **options}
        return completed

    @property
    def prompt_template(self) -> str:
        """The template of the prompts."""
        return RECIPES[self.recipe].prompt if self.prompt is None else self.prompt

    def prompt_of(self, query: PlannedQuery, variant: Variant) -> str:
        """The prompt for images of a query, with the words of its group; see `prompt_for`."""
        phrase = self.phrases.get(query.class_name, Phrase())
        return prompt_for(
            query.concepts,
            variant.prompt or self.prompt_template,
            class_name=query.class_name,
            caption="" if query.edit is None else query.edit.caption,
            noun=phrase.noun or readable(query.class_name),
            adjective=phrase.adjective,
        )

    @property
    def keeps_scene(self) -> bool:
        """Whether the object is made anew and all else is kept, so that it may be of any class."""
        paints = self.making.get("paint")
        return paints in ("object", "everything") or self.backend == "instruct"

    @property
    def segmenters(self) -> tuple[str, ...]:
        """The segmenters that its workers open: of objects, and of parts of the body."""
        names = dict.fromkeys((self.object_segmenter, self.parts))
        return tuple(name for name in names if name is not None)

    @property
    def object_segmenter(self) -> str | None:
        """The segmenter, where masks of objects come from one."""
        return self.segmenter if self.masks.needs_segmenter else None

    @property
    def extras(self) -> list[str]:
        """The extras that a worker must have installed to make the images."""
        plugins = [BACKENDS[self.backend], *(FILTERS[name] for name in self.filter_options())]
        plugins += [SEGMENTERS[name] for name in self.segmenters]
        needed = {"worker", *list_extras(plugins)}
        return [extra for extra in EXTRAS if extra in needed]

    @property
    def extra(self) -> str:
        """The largest of `extras`, which has all that the others have."""
        return self.extras[-1]

    @property
    def needs(self) -> str:
        """Needs of its workers, as `cobalance.base.plugins.join_needs` says them."""
        plugins = (
            *RECIPES.list_offered(self.recipe),
            *BACKENDS.list_offered(self.backend),
            *FILTERS.list_offered(*self.filter_options()),
            *SEGMENTERS.list_offered(*self.segmenters),
        )
        return join_needs(self.extra, plugins)

    def filter_options(self) -> dict[str, Mapping[str, Any]]:
        """The filters to run, in order, each with its options."""
        return dict(RECIPES[self.recipe].filters if self.filters is None else self.filters)


def read_job_settings(values: Mapping[str, Any]) -> JobSettings:
    """Check the settings of a job.

    Parameters
    ----------
    values : mapping
        The settings; those that are left out have their defaults.

    Raises
    ------
    OptionError
        One is unknown or not allowed, or an option of the backend, a filter or the segmenter is.
    UnknownNameError
        No recipe, backend, filter or segmenter has this name.
    """
    try:
        settings = JobSettings.model_validate(dict(values))
    except ValidationError as error:
        fault = first_fault(error)
        if fault.kind == "extra_forbidden":
            raise UnknownNameError("setting", fault.place, _names(JobSettings)) from error
        raise OptionError(
            f"The setting {fault.place} is {fault.value!r}: {fault.reason}."
        ) from error

    making = BACKENDS.check(settings.backend, settings.making)
    for variant in settings.variants:
        for name in variant.scales:
            if name not in BACKENDS[settings.backend].options.model_fields:
                raise ignored_scale(settings.backend, name)
    for name, options in settings.filter_options().items():
        FILTERS.check(name, options)
    _check_segmenters(settings)
    _check_ranking(settings)
    if settings.prompt is not None:
        check_template(settings.prompt)

    if not settings.making:
        return settings
    checked = making.model_dump(mode="json", exclude_unset=True)
    return settings.model_copy(update={"making": checked})


def _check_segmenters(settings: JobSettings) -> None:
    """Raise OptionError for options without a segmenter, and for masks that need one."""
    if settings.segmenter is not None:
        SEGMENTERS.check(settings.segmenter, settings.segmenter_options)
    elif settings.masks.needs_segmenter:
        raise OptionError(
            f"The setting masks.masks is {settings.masks.masks!r}, and segmenter names none."
        )
    elif settings.segmenter_options:
        raise OptionError("There are segmenter_options, and segmenter names none.")

    if settings.parts is not None:
        SEGMENTERS.check(settings.parts, settings.parts_options)
    elif settings.parts_options:
        raise OptionError("There are parts_options, and parts names no segmenter.")
    elif settings.masks.parts != "all":
        raise OptionError("The setting masks.parts is 'random', and parts names no segmenter.")


def _check_ranking(settings: JobSettings) -> None:
    """Raise OptionError for scores to rank by that there are not, and for filters never asked."""
    if settings.best_of > 1 and settings.pilot:
        raise OptionError(
            f"The setting pilot is true, and best_of is {settings.best_of}, which makes so many "
            "candidates of each image whatever is accepted. Leave the pilot out."
        )
    if settings.best_of > 1 and not settings.rank_by:
        raise OptionError(
            f"The setting best_of is {settings.best_of}, and rank_by names no score to choose by. "
            "Name one, such as rank_by.same_colours=1."
        )

    filters = settings.filter_options()
    for score, weight in settings.rank_by.items():
        if not isfinite(weight):
            raise OptionError(f"The setting rank_by.{score} is {weight}. Give a finite weight.")
        if score.partition(" ")[0] not in filters:
            raise OptionError(
                f"The setting rank_by names the score {score!r}, which none of the job's filters "
                f"gives ({', '.join(filters) or 'none'}). Add its filter, or leave the score out; "
                "the scores that you give replace all of the recipe's."
            )

    pools = [name for name in filters if FILTERS[name].judge_pool is not None]
    if pools and settings.best_of == 1:
        raise OptionError(
            f"The filter {pools[0]} judges all images of a job once they are made, and best_of is "
            "1, with which images are accepted as they are made. Set best_of to 2 or more, or "
            "leave the filter out."
        )


def _names(model: type[BaseModel], prefix: str = "") -> list[str]:
    """All settings by their paths."""
    names = []
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            names += _names(inner, f"{prefix}{name}.")
        else:
            names.append(prefix + name)
    return names
