"""Order a plan's images: check the plan, and create the job."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np

from cobalance.base import PlannedQuery, Progress, errors, inflect, log_run, silent
from cobalance.generation import (
    BACKENDS,
    PILOT_ABOVE,
    RECIPES,
    BackendPlugin,
    JobSettings,
    PlanOptions,
    Variant,
    check_consent,
    check_patches,
    needs_patch,
    read_job_settings,
)
from cobalance.graph import (
    ClassImages,
    GraphStore,
    Job,
    create_job,
    dataset_state,
    drop_short,
    read_class_images,
    read_cliques,
    read_image_concepts,
    read_job,
    read_mining_options,
    read_query_progress,
    splits_of,
)
from cobalance.graph.dataset import plans
from cobalance.ingest import combine_words, phrases_of
from cobalance.vision import ImageRoots
from cobalance.workflows.load.image_places import file_identity, looked_in
from cobalance.workflows.plan import no_images


@log_run
def order_plan(
    store: GraphStore,
    dataset: str,
    name: str,
    queries: Sequence[PlannedQuery],
    settings: Mapping[str, Any],
    progress: Progress = silent,
    *,
    places: Sequence[str],
    planned: Mapping[str, Any] | None = None,
    created_by: str = "",
) -> str:
    """Create a job that makes a plan's images, and return its id.

    Parameters
    ----------
    name : str
        What the plan is called.
    settings : mapping
        From `cobalance.workflows.order.settings.check_settings`.
    places : sequence of str
        Where image files are, from `cobalance.workflows.folders.Folders.image_roots`.
    planned : mapping, optional
        The plan's own options: of one that edits images, those that differ from the recipe's.
    created_by : str
        Who orders it; empty without a login.

    Raises
    ------
    OptionError
        The plan asks for other images than the recipe makes; a prompt has a place for words that a
        group does not have; no image can lend an object of a group that is to be pasted; or people
        would be painted without consent.
    DataError
        The plan asks for no images, or files of images to take objects from are not found.
    """
    if not queries:
        reason = _why_no_images(store, dataset, name)
        raise errors.DataError(f"The plan {name!r} asks for no images. ", *reason)
    queries = [PlannedQuery(*query) for query in queries]
    checked = read_job_settings(settings)
    check_order(checked, dataset, name, queries)
    _check_patches(store, dataset, checked, queries)

    # Prompts and files are checked with the settings that follow from the plan.
    job_settings = dict(settings) | _of_edits(store, dataset, checked, queries, planned or {})
    if checked.pilot is None and checked.best_of == 1:
        n_images = sum(query.n for query in queries)
        if n_images > PILOT_ABOVE:
            job_settings["pilot"] = True
    final = read_job_settings(job_settings)
    _check_prompts(final, queries)
    check_sources(store, dataset, final, queries, places)

    logging.getLogger(__name__).debug("job settings: %s", job_settings)
    return create_job(
        store,
        dataset,
        name,
        queries,
        settings=job_settings,
        extra=final.needs,
        created_by=created_by,
        progress=progress,
    )


_OF_ANY_RECIPE = ("hour_price", "without_images")
"""Settings that stay with another recipe."""


def settings_to_reuse(job: Job, recipe: str | None = None) -> dict[str, Any]:
    """A job's settings for another order; with another recipe, the few that any can have."""
    settings = dict(job.settings)
    # Whether there is a pilot follows from the images that are ordered.
    settings.pop("pilot", None)
    if recipe is None:
        return settings
    return {
        "recipe": recipe,
        **{name: settings[name] for name in _OF_ANY_RECIPE if name in settings},
    }


def reorder_short(
    store: GraphStore,
    job: str,
    settings: Mapping[str, Any],
    progress: Progress = silent,
    *,
    places: Sequence[str],
    created_by: str = "",
) -> str:
    """Create a job for the images that another one fell short of, and return its id.

    They are no longer wanted of the other job, as with `drop_short`.

    Parameters
    ----------
    job : str
        The job with queries that are done with too few images.
    settings, places, created_by
        As `order_plan` takes them.

    Raises
    ------
    NotFoundError
        There is no such job.
    DataError
        None of its queries is short.
    OptionError
        The settings do not suit them.
    """
    earlier = read_job(store, job)
    queries = [
        query.to_plan(query.n - query.accepted)
        for query in read_query_progress(store, job)
        if query.state == "done" and query.accepted < query.n
    ]
    if not queries:
        raise errors.DataError(
            f"No query of job {job!r} has given up with fewer images than wanted, so that there is "
            "nothing to order again."
        )

    new_job = order_plan(
        store,
        earlier.dataset,
        earlier.plan,
        queries,
        settings,
        progress,
        places=places,
        created_by=created_by,
    )
    drop_short(store, job)
    return new_job


def read_order(
    store: GraphStore, dataset: str, recipe: str, plan: str | None = None
) -> tuple[str, list[PlannedQuery], dict[str, Any]]:
    """Read the plan to order: its name, its queries, and the planner's own options.

    Parameters
    ----------
    recipe : str
        The job's.
    plan : str or None
        The plan's name; by default that of the default planner, or the recipe's own where it edits
        images.

    Raises
    ------
    NotFoundError
        There is no such plan.
    StaleError
        It was made for other cliques, or other images to edit, than there are now.
    """
    is_edit = RECIPES[recipe].plan is not None
    name = plan or (recipe if is_edit else plans.find_default_plan(store, dataset))

    try:
        queries = plans.read_plan(store, dataset, name)
    except (errors.NotFoundError, errors.UnknownNameError) as error:
        no_dataset = isinstance(error, errors.NotFoundError) and error.kind == "dataset"
        if not is_edit or plan is not None or no_dataset:
            raise
        remedy = errors.Action("plan_counterfactuals", dataset, recipe=recipe)
        raise errors.NotFoundError("plan", name, remedy, ".") from error

    return name, queries, plans.read_plan_options(store, dataset, name)


def _why_no_images(store: GraphStore, dataset: str, name: str) -> tuple[errors.Part, ...]:
    """Why a plan asks for no images, where the graph has it under its name."""
    sizes = plans.read_plan_sizes(store, dataset, name)
    if sizes is None:
        return ("Choose cliques that have a gap.",)
    state = dataset_state(store, dataset)
    cliques = read_cliques(store, state)
    rows = PlanOptions(*sizes).rows(cliques)
    return errors.parts_of(no_images(dataset, cliques, rows, sizes[0], state.mining_options()))


def check_order(
    settings: JobSettings, dataset: str, name: str, queries: Sequence[PlannedQuery]
) -> None:
    """Raise OptionError if the recipe does not suit the plan, or consent is missing.

    Parameters
    ----------
    dataset, name : str
        The plan's, for messages.
    """
    edited = [query for query in queries if query.edit is not None]
    if len(edited) < len(queries) and RECIPES[settings.recipe].plan is not None:
        raise errors.OptionError(
            f"The recipe {settings.recipe} edits images, and the plan {name!r} asks for images of "
            "classes and concepts. ",
            errors.Action("plan_counterfactuals", dataset, recipe=settings.recipe),
            ", or order this plan with another recipe.",
        )

    groups = sorted({query.class_name for query in queries})
    check_consent(settings, groups, is_edit=bool(edited))


def _check_patches(
    store: GraphStore, dataset: str, settings: JobSettings, queries: Sequence[PlannedQuery]
) -> None:
    """Raise OptionError for a group that no edited image can lend an object of."""
    if needs_patch(settings.backend):
        images = read_image_concepts(store, dataset)
        is_edited = images["id"].isin(_edited_images(queries))
        check_patches(
            settings.backend, _edited_groups(queries), set(images["class_name"][is_edited])
        )


def _edited_images(queries: Sequence[PlannedQuery]) -> list[str]:
    return [query.edit.source_image for query in queries if query.edit is not None]


def _edited_groups(queries: Sequence[PlannedQuery]) -> list[str]:
    return sorted({query.class_name for query in queries if query.edit is not None})


def _of_edits(
    store: GraphStore,
    dataset: str,
    settings: JobSettings,
    queries: Sequence[PlannedQuery],
    planned: Mapping[str, Any],
) -> dict[str, Any]:
    """Settings that follow from a plan that edits images: the words of its groups, its split."""
    edited = _edited_images(queries)
    if not edited:
        return {}
    edit_settings: dict[str, Any] = {}
    if settings.split is None:
        splits = splits_of(store, dataset, edited)
        if len(splits) == 1 and (split := splits.pop()) is not None:
            edit_settings["split"] = split

    usual = RECIPES[settings.recipe].plan
    names = planned.get("words", () if usual is None else usual.words)
    if names:
        phrases = phrases_of(combine_words(names), _edited_groups(queries))
        # Phrases of the order go before those of word lists.
        for group, phrase in settings.phrases.items():
            phrases[group] = phrase.model_dump()
        edit_settings["phrases"] = phrases
    return edit_settings


def _check_prompts(settings: JobSettings, queries: Sequence[PlannedQuery]) -> None:
    """Raise OptionError if a prompt of an edited image has a place for words that there are not."""
    variants = settings.variants or (Variant(),)
    # What decides whether a prompt can be rendered: few kinds, of very many queries.
    kinds = {}
    for query in queries:
        if query.edit is not None:
            kinds[query.class_name, bool(query.concepts), bool(query.edit.caption)] = query

    for query, variant in product(kinds.values(), variants):
        try:
            settings.prompt_of(query, variant)
        except errors.OptionError as error:
            raise errors.OptionError(
                *error.parts,
                " The words of a group are the settings phrases.GROUP.noun and "
                "phrases.GROUP.adjective.",
            ) from error


LOOKED_FOR = 20
"""Images of each class, at most."""
# Classes without any file, after which no others are looked at.
_NAMED = 3


def source_images(store: GraphStore, dataset: str, job: JobSettings) -> dict[str, ClassImages]:
    """Read the source images of a job by class: of its split, or of the mined one."""
    split = job.split
    if split is None:
        # Where the plan is older than the images, there is no mined split.
        with suppress(errors.StaleError):
            split = read_mining_options(store, dataset).split
    return read_class_images(store, dataset, split=split)


def check_sources(
    store: GraphStore,
    dataset: str,
    job: JobSettings,
    queries: Sequence[PlannedQuery],
    places: Sequence[str],
) -> None:
    """Raise DataError for a job that takes objects from images of which no file is found.

    Of each class that the queries ask for, and of the images that they edit, some are looked for,
    evenly spaced, until one has a file. One must, unless the job is to do without.

    Parameters
    ----------
    places : sequence of str
        Of image files, from `cobalance.workflows.folders.Folders.image_roots`.
    """
    plugin = BACKENDS[job.backend]
    takes_source = not isinstance(plugin, BackendPlugin) or plugin.takes_source
    if job.without_images or not takes_source:
        return

    roots = ImageRoots(places)
    looked_for = n_found = 0
    without: list[str] = []
    for which, uris in _source_uris(source_images(store, dataset, job), queries).items():
        for row in np.linspace(0, len(uris) - 1, min(len(uris), LOOKED_FOR)).astype(int):
            looked_for += 1
            if file_identity(roots, uris[row]):
                n_found += 1
                break
        else:
            without.append(which)
        if len(without) == _NAMED:
            break
    if not without:
        return

    needs = (
        f"The recipe {job.recipe} takes objects from the dataset's images, and no image "
        f"{' or '.join(without)}"
    )
    if not looked_for:
        raise errors.DataError(
            f"{needs} names a file. Load the dataset with the names of its files. Where the recipe "
            "can do without, order with ",
            errors.Setting("without_images", True),
            ".",
        )
    raise errors.DataError(
        f"{needs} has a file that is found: {n_found:,} of {inflect(looked_for, 'files')} looked "
        f"for are there; {looked_in(places)}. Set ",
        errors.Setting("images"),
        " to the folder, ZIP file or URL that has them. Where workers elsewhere have them, or the "
        "recipe can do without, order with ",
        errors.Setting("without_images", True),
        ".",
    )


def _source_uris(
    images: Mapping[str, ClassImages], queries: Sequence[PlannedQuery]
) -> dict[str, Sequence[str]]:
    """Addresses of images that objects may be taken from, by words for them."""
    uris: dict[str, Sequence[str]] = {}
    for name in sorted({query.class_name for query in queries if query.edit is None}):
        uris[f"of the class {name!r}"] = images[name].uris if name in images else ()

    edited = set(_edited_images(queries))
    if edited:
        to_edit = []
        for of_class in images.values():
            pairs = zip(of_class.ids, of_class.uris, strict=True)
            to_edit += [uri for image, uri in pairs if image in edited]
        uris["to edit"] = to_edit
    return uris
