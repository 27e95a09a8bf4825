"""`cobalance plan`: plan the missing images, or the same images with other groups in them."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from cobalance.app.cli.shared.assignments import assigned
from cobalance.app.cli.shared.options import (
    DatasetName,
    FormatOption,
    OutputOption,
    assignments_option,
    cleaned,
    listed_names,
    notes,
    opened_store,
    out,
    read_clique,
)
from cobalance.app.cli.shared.tables import Format, check_output, write_frame, write_text
from cobalance.app.cli.shared.words import command, in_shell
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.plan_file import plan_to_json
from cobalance.generation.planning.planners import PLANNERS
from cobalance.generation.planning.resampling import BASELINES
from cobalance.generation.planning.simulation import simulate
from cobalance.generation.recipes import RECIPES
from cobalance.graph.dataset.cliques import read_mining_options
from cobalance.graph.errors import Action, OptionError, render
from cobalance.graph.names import clean_name
from cobalance.graph.safe_text import safe_text
from cobalance.workflows.diagnose.tables import describe_mining
from cobalance.workflows.panel.verdicts import unsupported_queries
from cobalance.workflows.plan.compare import compare_dataset
from cobalance.workflows.plan.edits import plan_counterfactual_dataset
from cobalance.workflows.plan.planners import plan_dataset
from cobalance.workflows.plan.resample import resample_dataset
from cobalance.workflows.plan.words import (
    describe_balance,
    describe_plan,
    describe_proof,
    describe_widened,
    no_images,
    plan_table,
    plan_warnings,
)
from cobalance.workflows.settings import Settings

_EDITS = "Images edited by a recipe"


def plan(
    dataset: DatasetName,
    planner: Annotated[
        str | None,
        typer.Option(
            help="`conbias`: Algorithm 1. `minimal`: fewest images within a tolerance. "
            "`published`: as the authors ran Algorithm 1. `over-sampling`, `sub-sampling`, "
            "`weights`: no new image, but a list of the real ones for a trainer. Default: conbias."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None, assignments_option("--set", "An option of the planner's own.")
    ] = None,
    min_size: Annotated[
        int | None,
        typer.Option(min=1, help="Smallest clique to balance. Default: 2, as the paper prints it."),
    ] = None,
    max_size: Annotated[
        int | None, typer.Option(min=1, help="Largest clique to balance. Default: as mined.")
    ] = None,
    max_per_query: Annotated[
        int | None, typer.Option(min=1, help="Most images of one query.")
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Most images in all; every query gives up the same share, or by `minimal`, the "
            "least imbalance is left.",
        ),
    ] = None,
    largest_first: Annotated[
        bool,
        typer.Option(
            "--largest-first",
            help="Spend the budget on the largest gaps, one after the other, and leave the others.",
        ),
    ] = False,
    supported_only: Annotated[
        bool,
        typer.Option(
            "--supported-only",
            help="Leave out imbalances of models' labels that no audit supports.",
        ),
    ] = False,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Show all planners and baselines side by side, and what remains within budgets, "
            "and keep no plan. --set is for the planner.",
        ),
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Which images over-sampling repeats and sub-sampling drops. Default: 0."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="Name of the plan in the graph. Default: the planner's, or the recipe's.",
            callback=cleaned,
        ),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            help="Plan to edit images as this recipe does, in place of a planner: "
            f"{', '.join(name for name in RECIPES if RECIPES[name].plan is not None)}.",
            rich_help_panel=_EDITS,
        ),
    ] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP,...",
            help="Groups to show, such as woman,man. Repeat it for names with commas. Default: "
            "those of the words, or else the classes.",
            rich_help_panel=_EDITS,
        ),
    ] = None,
    made: Annotated[
        str | None,
        typer.Option(
            help="What each image is edited to show: `all` groups, or the `others`.",
            rich_help_panel=_EDITS,
        ),
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIST",
            help="Word list, by name or file, to edit captions with. Repeat it for lists of "
            "adjectives, such as skin-tone, which make products: darker-skinned woman.",
            rich_help_panel=_EDITS,
        ),
    ] = None,
    captions: Annotated[
        str | None,
        typer.Option(
            help="`one-group`: only images whose captions name one group. `unify`: all, every "
            "word of another group replaced. `none`: all, without captions.",
            rich_help_panel=_EDITS,
        ),
    ] = None,
    unnamed: Annotated[
        str | None,
        typer.Option(
            help="Captions that name no group, of an image with others: keep or drop.",
            rich_help_panel=_EDITS,
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="The split whose images are edited. Default: the training split.",
            rich_help_panel=_EDITS,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Edit at most so many images, chosen by a hash of their ids.",
            rich_help_panel=_EDITS,
        ),
    ] = None,
    concept: Annotated[
        list[str] | None,
        typer.Option(
            help="Edit only images that show this concept; repeat it for images that show all.",
            rich_help_panel=_EDITS,
        ),
    ] = None,
    clique: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME + NAME",
            help="Edit only images that show all of these concepts; repeat it for images of "
            "any of several cliques. A list in JSON for names with a +.",
            rich_help_panel=_EDITS,
        ),
    ] = None,
    children: Annotated[
        str | None,
        typer.Option(
            help="Images whose captions name children: drop or keep. Default: drop.",
            rich_help_panel=_EDITS,
        ),
    ] = None,
    no_derivatives: Annotated[
        str | None,
        typer.Option(
            help="Images whose licence forbids to publish changed ones: drop or keep. "
            "Default: drop.",
            rich_help_panel=_EDITS,
        ),
    ] = None,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """Plan the images that close the gaps, and show the gaps that remain.

    With `--recipe` plan to edit images instead: the same image with each group in it.

    The plan is kept in the graph under its name. As JSON it is a file that workers read.
    """
    check_output(format_, output)
    of_planner = {
        "--planner": planner,
        "--set": setting or None,
        "--min-size": min_size,
        "--max-size": max_size,
        "--max-per-query": max_per_query,
        "--budget": budget,
        "--largest-first": largest_first or None,
        "--supported-only": supported_only or None,
        "--compare": compare or None,
        "--seed": seed,
    }
    changes = {
        "groups": listed_names(groups),
        "made": made,
        "words": tuple(words) if words else None,
        "captions": None if captions is None else captions.replace("-", " "),
        "unnamed": unnamed,
        "split": split,
        "limit": limit,
        "concepts": tuple(map(clean_name, concept)) if concept else None,
        "cliques": tuple(map(read_clique, clique)) if clique else None,
        "children": children,
        "no_derivatives": no_derivatives,
    }
    changes = {option: value for option, value in changes.items() if value is not None}
    if recipe is not None:
        given = [flag for flag, value in of_planner.items() if value is not None]
        if given:
            raise OptionError(
                f"{given[0]} is an option of planners, and --recipe {recipe} edits images. Give "
                "one of them."
            )
        _plan_edits(dataset, recipe, changes, name, format_, output)
        return
    if changes:
        flag = command(Action("plan_counterfactuals", "D", **changes)).split()[3]
        raise OptionError(
            f"{flag} chooses images to edit, which a recipe does. Name it with --recipe, or leave "
            f"{flag} out."
        )
    planner = planner or "conbias"
    own = assigned(setting)
    options = PlanOptions(
        2 if min_size is None else min_size, max_size, max_per_query, budget, largest_first
    )
    if planner in BASELINES:
        taken = ("--planner", "--min-size", "--max-size", "--seed")
        others = {flag: value for flag, value in of_planner.items() if flag not in taken}
        write_list(dataset, planner, options, seed or 0, others | {"--name": name}, format_, output)
        return
    if seed is not None:
        raise OptionError(f"--seed is of over-sampling and sub-sampling; {planner} draws nothing.")
    PLANNERS.check(planner, own)
    if compare:
        if name is not None or supported_only:
            flag = "--name" if name is not None else "--supported-only"
            raise OptionError(f"--compare keeps no plan, so that {flag} has no meaning beside it.")
        with opened_store() as (store, progress):
            found = compare_dataset(store, dataset, options, {planner: own}, progress, in_shell)
        write_frame(found, format_, output, out)
        for left_out, why in found.attrs["left_out"].items():
            notes.print(f"{left_out} is left out: {why}", markup=False)
        return
    with opened_store() as (store, progress):
        planned = plan_dataset(
            *(store, dataset, planner, options, name, progress, own), supported_only=supported_only
        )
        mining = read_mining_options(store, dataset)
    if format_ is Format.JSON:
        write_text(plan_to_json(planned.plan).decode(), output)
    elif format_ is Format.TABLE and output is None:
        notes.print(describe_mining(mining), markup=False)
        write_frame(plan_table(planned), format_, None, out)
        out.print(describe_plan(planned.plan), markup=False)
    else:
        write_frame(planned.plan.frame(), format_, output, out)
    for said in (
        describe_balance(planned.plan, planned.cliques),
        describe_proof(planned.plan),
    ):
        if said:
            notes.print(said, markup=False)
    total = int(planned.cliques.class_sizes.sum())
    after = simulate(planned.cliques, planned.plan.queries)
    for warning in (
        describe_widened(planned.cliques, after),
        *plan_warnings(planned.plan, planned.summary, total),
    ):
        if warning:
            notes.print(safe_text(warning), markup=False)
    if said := unsupported_queries(planned.plan.queries, planned.audited):
        notes.print(f"{said} Leave them out with --supported-only.", markup=False)
    if not planned.plan.images:
        options, cliques = planned.plan.options, planned.cliques
        why = no_images(dataset, cliques, options.rows(cliques), options.min_size, mining)
        notes.print(render(why, in_shell), markup=False)


def _plan_edits(
    dataset: str,
    recipe: str,
    changes: dict[str, Any],
    name: str | None,
    format_: Format,
    output: Path | None,
) -> None:
    """Plan to edit images, and say what follows."""
    folder = Settings.from_environment().folders().captions
    with opened_store() as (store, progress):
        made = plan_counterfactual_dataset(store, folder, dataset, recipe, changes, name, progress)
    if format_ is Format.JSON:
        write_text(plan_to_json(made.plan, made.summary()).decode(), output)
    elif format_ is Format.TABLE and output is None:
        write_frame(made.frame(), format_, None, out)
        out.print(describe_plan(made.plan), markup=False)
    else:
        write_frame(made.plan.frame(), format_, output, out)
    following = f"cobalance enqueue {quote(dataset)} --recipe {quote(recipe)}"
    following += "" if name in (None, recipe) else f" --plan {quote(name)}"
    people = RECIPES[recipe].people
    following += ' --consent "BASIS"' if people else ""
    following += " --alters-real-people" if people == "alters" else ""
    notes.print(f"Next: {following}", markup=False)


def write_list(
    dataset: str,
    baseline: str,
    options: PlanOptions,
    seed: int,
    others: Mapping[str, object],
    format_: Format,
    output: Path | None,
) -> None:
    """Write the images as a baseline takes them, or as a table what that does.

    Parameters
    ----------
    others : mapping
        Options of planners by flag, with None for those that were not given.

    Raises
    ------
    OptionError
        One of them was given.
    """
    given = [flag for flag, value in others.items() if value is not None]
    if given:
        raise OptionError(
            f"{given[0]} is of planners that ask for images, and {baseline} makes none. Leave it "
            "out."
        )
    with opened_store() as (store, progress):
        found = resample_dataset(store, dataset, baseline, options, seed, progress)
    if format_ is not Format.TABLE or output is not None:
        write_frame(found.images, format_, output, out)
    else:
        columns = ["dataset", "imbalanced", "remaining", "gap_before", "gap_after", "widened"]
        write_frame(found.effect[columns].reset_index(), format_, None, out)
        notes.print("The list of images: add -f csv -o FILE.", markup=False)
    splits = sorted({name for name in found.images["split"] if name is not None})
    if len(splits) > 1:
        notes.print(
            f"The images are of the splits {', '.join(splits)} together. Mine one with --split "
            "for a list of that alone.",
            markup=False,
        )
