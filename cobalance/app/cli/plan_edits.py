"""`cobalance plan-edits`: plan the same images with other groups in them."""

from shlex import quote
from typing import Annotated

import typer

from cobalance.app.cli.plan import write_plan
from cobalance.app.cli.shared import (
    Count,
    DatasetName,
    Name,
    TableOutput,
    folders,
    given,
    listed_names,
    notes,
    opened_store,
    read_clique,
)
from cobalance.base import clean_name
from cobalance.generation import recipes
from cobalance.workflows.plan import edits as edit_plans


def plan_edits(
    to: TableOutput,
    dataset: DatasetName,
    recipe: Annotated[str, "The recipe: one that edits images, such as resampled."],
    groups: Annotated[
        list[str] | None,
        typer.Option(metavar="GROUP,..."),
        "Groups to show, such as woman,man. Repeat it for names with commas. Default: those of the "
        "words, or else the classes.",
    ] = None,
    made: Annotated[
        str | None, "What each image is edited to show: `all` groups, or the `others`."
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST"),
        "Word list of groups, by name or file, to edit captions with. Repeat it for lists of "
        "adjectives, such as skin-tone, which make products: darker-skinned woman.",
    ] = None,
    captions: Annotated[
        str | None,
        typer.Option("--edit-captions"),
        "`one-group`: only images whose captions name one group. `unify`: all, every word of "
        "another group replaced. `none`: all, without captions.",
    ] = None,
    unnamed: Annotated[
        str | None, "Captions that name no group, of an image with others: keep or drop."
    ] = None,
    split: Annotated[
        str | None, "Only images of this split are edited. Default: the training split."
    ] = None,
    max_images: Annotated[
        Count, "Most images: those edited, chosen by a hash of their ids."
    ] = None,
    concept: Annotated[
        list[str] | None,
        "Only this concept: edit images that show it; repeat it for images that show all.",
    ] = None,
    clique: Annotated[
        list[str] | None,
        "Only this clique, such as 'cow + road', or in JSON: edit images that show all "
        "of it; repeat it for images of any of several.",
    ] = None,
    children: Annotated[
        str | None, "Images whose captions name children: drop or keep. Default: drop."
    ] = None,
    no_derivatives: Annotated[
        str | None,
        "Images whose licence forbids to publish changed ones: drop or keep. Default: drop.",
    ] = None,
    name: Annotated[Name, "Name of the plan in the graph. Default: the recipe's."] = None,
) -> None:
    """Plan to edit images by a recipe: the same image with each group in it.

    The plan is kept in the graph under its name. As JSON it is a file that workers read. Options
    that are left out are as the recipe's paper has them.
    """
    changes = given(
        groups=listed_names(groups),
        made=made,
        words=tuple(words or ()) or None,
        captions=captions and captions.replace("-", " "),
        unnamed=unnamed,
        split=split,
        limit=max_images,
        concepts=tuple(map(clean_name, concept or ())) or None,
        cliques=tuple(map(read_clique, clique or ())) or None,
        children=children,
        no_derivatives=no_derivatives,
    )
    folder = folders().captions
    with opened_store() as (store, progress):
        planned = edit_plans.plan_counterfactual_dataset(
            store, folder, dataset, recipe, changes, name, progress
        )

    write_plan(to, planned.plan, planned.frame(), planned.summary())
    notes.print(f"Next: {_order(dataset, recipe, name)}")


def _order(dataset: str, recipe: str, name: str | None) -> str:
    """The command that orders the plan."""
    words = f"cobalance enqueue {quote(dataset)} --recipe {quote(recipe)}"
    # A plan of the recipe's name is the one that a job of the recipe takes by itself.
    if name not in (None, recipe):
        words += f" --plan {quote(name)}"

    people = recipes.RECIPES[recipe].people
    if people:
        words += ' --consent "BASIS"'
    if people == "alters":
        words += " --alters-real-people"
    return words
