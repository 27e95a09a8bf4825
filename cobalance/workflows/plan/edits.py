"""Plan counterfactuals of a dataset's images, and keep the plan in the graph."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pandas as pd

from cobalance.base import (
    Action,
    DataError,
    OptionError,
    Part,
    Progress,
    Setting,
    check_known,
    inflect,
    log_run,
    silent,
)
from cobalance.generation import (
    CHILDREN,
    NO_DERIVATIVES,
    RECIPES,
    CounterfactualOptions,
    Plan,
    PlanOptions,
    Selection,
    check_patches,
    plan_counterfactuals,
    select_sources,
)
from cobalance.graph import GraphStore, check_name, read_image_concepts, write_plan
from cobalance.ingest import GroupWords, combine_words, read_image_texts


@dataclass(frozen=True)
class CounterfactualPlan:
    """A plan that edits images, and how its images were chosen.

    Parameters
    ----------
    selection : Selection
        The images that it edits, and why others are left out.
    """

    plan: Plan
    selection: Selection

    def summary(self) -> dict[str, Any]:
        """Images that are edited, to be made of each group, and left out by reason."""
        return {
            "sources": len(self.selection.sources),
            "images": self.plan.images_by_class(),
            "left_out": dict(self.selection.left_out),
        }

    def frame(self) -> pd.DataFrame:
        """The summary as a table: ``images`` (edited, to make, left out) and ``number``."""
        numbers = {"edited": len(self.selection.sources)}
        numbers |= {f"to make: {name}": n for name, n in self.plan.images_by_class().items()}
        numbers |= {f"left out: {reason}": n for reason, n in self.selection.left_out.items()}
        return pd.DataFrame(numbers.items(), columns=["images", "number"])


@log_run
def plan_counterfactual_dataset(
    store: GraphStore,
    captions: Path,
    dataset: str,
    recipe: str,
    changes: Mapping[str, Any] | None = None,
    name: str | None = None,
    progress: Progress = silent,
) -> CounterfactualPlan:
    """Plan to edit a dataset's images as a recipe does, and keep the plan in the graph.

    Parameters
    ----------
    captions : Path
        Folder of all datasets' captions.
    recipe : str
        A name in `cobalance.generation.recipes.RECIPES`; one that edits images.
    changes : mapping, optional
        Fields of `CounterfactualOptions` that differ from the recipe's.
    name : str or None
        The plan's name in the dataset; the recipe's by default.

    Raises
    ------
    UnknownNameError
        There is no such recipe, option, word list, group, concept or split.
    OptionError
        The recipe edits no images, an option cannot be used, or there is no image of a group that
        objects are to be taken of.
    DataError
        Captions are needed and there are none, or no image is left to edit.
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    if name is not None:
        check_name(name, "plan")
    chosen = choose_counterfactuals(store, captions, dataset, recipe, changes, progress)
    if chosen.selection.sources.empty:
        raise _nothing_left(dataset, recipe, chosen.selection.left_out)

    arguments = chosen.plan.write_arguments()
    write_plan(store, dataset, name or recipe, **arguments, progress=progress)
    return chosen


def _nothing_left(dataset: str, recipe: str, left_out: Mapping[str, int]) -> DataError:
    """Error if no image is left to edit, with reasons and remedies."""
    reasons = "; ".join(inflect(n, reason) for reason, n in left_out.items())
    parts: list[Part] = [
        f"No image of {dataset!r} can be edited by the recipe {recipe}. Left out are "
        f"{reasons or 'none, as it has no images'}."
    ]

    conjunction = " Where you may edit them, take them in with "
    for reason, setting in ((NO_DERIVATIVES, "plan.no_derivatives"), (CHILDREN, "plan.children")):
        if reason in left_out:
            parts += [conjunction, Setting(setting, "keep")]
            conjunction = " and "
    if len(parts) > 1:
        parts.append(".")
    return DataError(*parts)


def choose_counterfactuals(
    store: GraphStore,
    captions: Path,
    dataset: str,
    recipe: str,
    changes: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> CounterfactualPlan:
    """Plan to edit a dataset's images as a recipe does, and keep nothing; there may be no image.

    Parameters and errors are those of `plan_counterfactual_dataset`.
    """
    changes = changes or {}
    options = options_of(recipe, changes)
    words = combine_words(options.words) if options.words else None
    progress("read images", 0, None)
    images = read_image_concepts(store, dataset)
    texts = read_image_texts(captions, dataset)
    groups = groups_of(options, words, images)

    progress("plan", 0, None)
    selection = select_sources(images, texts, groups, options, words)
    if len(selection.sources):
        check_patches(RECIPES[recipe].backend, groups, set(selection.sources["class_name"]))
    queries = plan_counterfactuals(selection.sources, groups, options.made)

    # The plan is read from JSON again, which has lists for tuples.
    options_json = dict(changes)
    for key, value in changes.items():
        if isinstance(value, tuple):
            options_json[key] = list(value)
    return CounterfactualPlan(Plan(recipe, PlanOptions(), queries, options_json), selection)


def options_of(recipe: str, changes: Mapping[str, Any]) -> CounterfactualOptions:
    """The plan options of a recipe, some changed.

    Raises
    ------
    UnknownNameError
        There is no such recipe, or an option that no plan has.
    OptionError
        The recipe edits no images, or an option cannot be used.
    """
    usual = RECIPES[recipe].plan
    if usual is None:
        editing = [name for name, recipe in RECIPES.items() if recipe.plan is not None]
        raise OptionError(
            f"The recipe {recipe} edits no images: it makes those of a planner's plan. ",
            Action("plan", ...),
            f" for it, or name one that edits images: {', '.join(editing)}.",
        )

    check_known("option of a plan", changes, [option.name for option in fields(usual)])
    return replace(usual, **changes)


def groups_of(
    options: CounterfactualOptions, words: GroupWords | None, images: pd.DataFrame
) -> tuple[str, ...]:
    """The groups that images are to show: those named, of the words, or else the classes."""
    if options.made == "own" or options.groups:
        return options.groups
    if words is not None:
        return words.groups
    is_real = ~images["synthetic"].astype(bool)
    return tuple(sorted(set(images.loc[is_real, "class_name"])))
