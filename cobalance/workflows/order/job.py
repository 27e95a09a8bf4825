"""Order a plan's images: checks before a job is created, and what a plan that edits images adds."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from cobalance.generation.jobs.consent import check_consent
from cobalance.generation.jobs.patches import check_patches, needs_patch
from cobalance.generation.jobs.settings import JobSettings, read_job_settings
from cobalance.generation.jobs.variants import Phrase, Variant
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.recipes import RECIPES
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.cliques import load_cliques, read_mining_options
from cobalance.graph.dataset.names import splits_of
from cobalance.graph.dataset.plans import read_plan, read_plan_options, read_plan_sizes
from cobalance.graph.dataset.read import read_image_concepts
from cobalance.graph.errors import Action, OptionError, Part, parts_of
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.progress import Progress, silent
from cobalance.graph.records import PlannedQuery
from cobalance.graph.run_log import log_run
from cobalance.ingest.captions.group_words import combine_words, phrases_of
from cobalance.ingest.concepts.wording import readable
from cobalance.ingest.models.prompts import prompt_for
from cobalance.workflows.order.source_images import check_sources
from cobalance.workflows.plan.words import no_images


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
        The plan asks for no images, or for others than the recipe makes; a prompt has a place for
        words that a group does not have; no image can lend an object of a group that is to be
        pasted; people would be painted without consent; or files of images to take objects from
        are not found.
    """
    if not queries:
        why = _why_no_images(store, dataset, name)
        raise OptionError(f"The plan {name!r} asks for no images. ", *why)
    queries = [PlannedQuery(*query) for query in queries]
    checked = read_job_settings(settings)
    check_order(checked, dataset, name, queries)
    _check_patches(store, dataset, checked, queries)
    kept = dict(settings) | _of_edits(store, dataset, checked, queries, planned or {})
    final = read_job_settings(kept)
    _check_prompts(final, queries)
    check_sources(store, dataset, final, queries, places)
    logging.getLogger(__name__).debug("job settings: %s", kept)
    return create_job(
        store,
        dataset,
        name,
        queries,
        settings=kept,
        extra=final.extra,
        created_by=created_by,
        progress=progress,
    )


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
    OptionError
        There is no such plan.
    StaleError
        It was made for other cliques, or other images to edit, than there are now.
    """
    own = RECIPES[recipe].plan is not None
    name = plan if plan is not None else recipe if own else "conbias"
    try:
        queries = read_plan(store, dataset, name)
    except OptionError as error:
        if not own or plan is not None:
            raise
        again = Action("plan_counterfactuals", dataset, recipe=recipe)
        raise OptionError(f"{dataset!r} has no plan {name!r} yet. ", again, ".") from error
    return name, queries, read_plan_options(store, dataset, name)


def _why_no_images(store: GraphStore, dataset: str, name: str) -> tuple[Part, ...]:
    """Why a plan asks for no images, where the graph has it under its name."""
    sizes = read_plan_sizes(store, dataset, name)
    if sizes is None:
        return ("Choose cliques that have a gap.",)
    cliques, mining = load_cliques(store, dataset), read_mining_options(store, dataset)
    rows = PlanOptions(*sizes).rows(cliques)
    return parts_of(no_images(dataset, cliques, rows, sizes[0], mining))


def check_order(
    settings: JobSettings, dataset: str, name: str, queries: Sequence[PlannedQuery]
) -> None:
    """Raise OptionError unless a recipe makes what a plan asks for, with consent where it needs it.

    Parameters
    ----------
    dataset, name : str
        The plan's, for messages.
    """
    anew = [query for query in queries if query.edit is None]
    if anew and RECIPES[settings.recipe].plan is not None:
        raise OptionError(
            f"The recipe {settings.recipe} edits images, and the plan {name!r} asks for images of "
            "classes and concepts. ",
            Action("plan_counterfactuals", dataset, recipe=settings.recipe),
            ", or order this plan with another recipe.",
        )
    groups = sorted({query.class_name for query in queries})
    check_consent(settings, groups, is_edit=len(anew) < len(queries))


def _check_patches(
    store: GraphStore, dataset: str, settings: JobSettings, queries: Sequence[PlannedQuery]
) -> None:
    """Raise OptionError for a group that no edited image can lend an object of."""
    if not needs_patch(settings.backend):
        return
    edited = {query.edit.source_image for query in queries if query.edit is not None}
    images = read_image_concepts(store, dataset)
    classes = set(images["class_name"][images["id"].isin(edited)])
    groups = sorted({query.class_name for query in queries if query.edit is not None})
    check_patches(settings.backend, groups, classes)


def _of_edits(
    store: GraphStore,
    dataset: str,
    settings: JobSettings,
    queries: Sequence[PlannedQuery],
    planned: Mapping[str, Any],
) -> dict[str, Any]:
    """Settings that follow from a plan that edits images: the words of its groups, its split."""
    edited = [query.edit.source_image for query in queries if query.edit is not None]
    if not edited:
        return {}
    found: dict[str, Any] = {}
    if settings.split is None:
        splits = splits_of(store, dataset, edited)
        if len(splits) == 1 and (split := splits.pop()) is not None:
            found["split"] = split
    usual = RECIPES[settings.recipe].plan
    names = planned.get("words", () if usual is None else usual.words)
    if names:
        groups = sorted({query.class_name for query in queries if query.edit is not None})
        phrases = phrases_of(combine_words(names), groups)
        own = {group: phrase.model_dump() for group, phrase in settings.phrases.items()}
        found["phrases"] = phrases | own
    return found


def _check_prompts(settings: JobSettings, queries: Sequence[PlannedQuery]) -> None:
    """Raise OptionError if a prompt of an edited image has a place for words that there are not."""
    variants = settings.variants or (Variant(),)
    templates = {variant.prompt or settings.prompt_template for variant in variants}
    # What decides whether a prompt can be rendered: few kinds, of very many queries.
    kinds = {
        (query.class_name, bool(query.concepts), bool(query.edit.caption)): query
        for query in queries
        if query.edit is not None
    }
    for query in kinds.values():
        phrase = settings.phrases.get(query.class_name, Phrase())
        edit = query.edit
        for template in sorted(templates):
            try:
                prompt_for(
                    query.concepts,
                    template,
                    class_name=query.class_name,
                    caption="" if edit is None else edit.caption,
                    noun=phrase.noun or readable(query.class_name),
                    adjective=phrase.adjective,
                )
            except OptionError as error:
                raise OptionError(
                    *error.parts,
                    " The words of a group are the settings phrases.GROUP.noun and "
                    "phrases.GROUP.adjective.",
                ) from error
