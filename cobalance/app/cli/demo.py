"""`cobalance demo`: diagnose and plan a real dataset, or go a whole way on small pictures."""

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from shlex import quote
from typing import Annotated, Any, TypeAlias

from rich.markup import escape

from cobalance.app.cli.shared import (
    TableOutput,
    folders,
    notes,
    opened_store,
    out,
    read_environment,
)
from cobalance.base import (
    OptionError,
    Progress,
    agree,
    inflect,
    install_command,
    join_names,
    needs_extra,
    pandas as pd,
)
from cobalance.generation import recipes
from cobalance.generation.planning import plan as plans
from cobalance.graph.console import run as console
from cobalance.graph.database import store as stores
from cobalance.graph.dataset import state as states
from cobalance.graph.queries import imbalances as rankings
from cobalance.workflows import compare
from cobalance.workflows.demo import (
    annotate as annotation,
    counterfactual as edited,
    figure_scenes as figures,
    full as digits,
    loading,
    removal,
    urbancars,
)
from cobalance.workflows.diagnose import tables as diagnose
from cobalance.workflows.plan import planners as planning, summaries

Parts: TypeAlias = "Iterable[str | pd.DataFrame | tuple[str, str]]"
"""Paragraphs and tables, and below them commands to try next, each with its purpose."""
LOOK_FURTHER = "[bold]Look further[/]"


def demo(
    full: Annotated[
        bool,
        "Run the whole pipeline on small pictures: make the missing images without a "
        "model, diagnose again, and train a classifier with and without them.",
    ] = False,
    counterfactual: Annotated[
        bool,
        "Make each of some small pictures anew with every group in it, without a model: "
        "plan by the recipe resampled, choose the best of six, and count again.",
    ] = False,
    annotate: Annotated[
        bool,
        "Label small pictures with a small classifier that errs by class, and correct "
        "the imbalances that it invents by an audit.",
    ] = False,
    remove: Annotated[
        bool, "Delete all that demonstrations made, with copies, jobs and files."
    ] = False,
) -> None:
    """Diagnose UrbanCars: 8,000 photographs of cars, labelled country or urban."""
    if full + counterfactual + annotate + remove > 1:
        raise OptionError(
            "--full, --counterfactual, --annotate and --remove exclude each other; give one."
        )
    if remove:
        with opened_store() as (store, progress):
            names = removal.remove_demos(store, folders(), progress)
        if names:
            notes.print(f"Removed with their jobs, evaluations and files: {', '.join(names)}.")
        else:
            notes.print("No dataset here is a demonstration's.")
        return

    # A module is imported where something of it is named: here a missing package is noticed.
    with needs_extra("The demonstration", "worker,demo"):
        chosen: tuple[Callable[..., Any], Callable[[Any], Parts]] | None = None
        if full:
            chosen = digits.run_full_demo, full_parts
        elif counterfactual:
            chosen = edited.run_counterfactual_demo, counterfactual_parts
        elif annotate:
            chosen = annotation.run_annotate_demo, annotate_parts

    with opened_store(lines=True) as (store, progress):
        if chosen is None:
            # Its tables are read from the store, which is open in here alone.
            parts: Parts = list(_urbancars_parts(store, progress))
        else:
            run, parts_of = chosen
            parts = parts_of(run(store, read_environment(), progress=progress))
    show(parts)


def _urbancars_parts(store: "stores.GraphStore", progress: Progress) -> Parts:
    """Imbalances of UrbanCars, and a plan against them."""
    loading.load_demo(store, progress)
    singles = rankings.read_imbalances(store, urbancars.NAME, rankings.Ranking(max_size=1, limit=4))
    pairs = rankings.read_imbalances(store, urbancars.NAME, rankings.Ranking(min_size=2, limit=4))
    planned = planning.plan_dataset(store, urbancars.NAME, "conbias", plans.PlanOptions(1, 2))

    yield (
        "\n[bold]UrbanCars[/]: 8,000 photographs of cars, 4,000 labelled country and 4,000 urban. "
        "A model should learn the car. What else do the photographs show, and with which label? "
        "Images of each:\n"
    )
    sizes = dict(states.dataset_state(store, urbancars.NAME).mined_classes)
    yield diagnose.imbalance_table(pd.concat([singles, pairs]), sizes)

    yield (
        "\nCows mean country and street signs mean urban, whatever the car. Images to make so that "
        "each single concept and each pair is as frequent in both classes:\n"
    )
    yield summaries.plan_table(planned)
    yield f"\n{summaries.describe_plan(planned.plan)}\n"

    yield LOOK_FURTHER
    yield f"cobalance imbalances {urbancars.NAME} --concept cow", "what leans, with one concept"
    yield f"cobalance plan {urbancars.NAME} --max-size 2 --format json", "every query of a plan"
    yield "cobalance cypher --list", "the saved questions"
    yield f"cobalance cypher --dataset {urbancars.NAME} '{console.EXAMPLE}'", "your own"
    yield web_app_command("all of it in the browser")


def show(parts: Parts) -> None:
    """Print paragraphs, tables and commands."""
    for part in parts:
        if isinstance(part, str):
            out.print(part, markup=True)
        elif not isinstance(part, tuple):
            TableOutput().write(part, remedy="")
        else:
            command, purpose = part
            out.print(f"  # {purpose}", style="dim")
            for line in command.splitlines():
                out.print(f"  {line}", style="cyan", soft_wrap=True)


def web_app_command(purpose: str) -> tuple[str, str]:
    """The command that opens the web app, after the one that installs it if it is missing."""
    if find_spec("streamlit") is not None:
        return "cobalance app", purpose
    return f"{install_command('app')}\ncobalance app", f"{purpose}: install it first"


def full_parts(result: "digits.FullDemo") -> Parts:
    """Imbalances of the first seed before and after, the jobs' results, and accuracies."""
    first = result.results[0]
    sizes = ", ".join(f"{n:,} {name}" for name, n in first.change.sizes_before.items())
    yield (
        f"\n[bold]Digits on photographs[/], in real pixels and with the proportions of UrbanCars: "
        f"{sizes}. Background and thing each agree with the digit in 95 of 100 images. Images of "
        "each, before the missing ones were made and after:\n"
    )
    yield compare.comparison_table(first.change).head(6)
    yield f"\n{summaries.describe_plan(first.planned.plan)}"

    yield "\nWhat has been made, from each seed:\n"
    yield digits.made_table(result.results)
    yield (
        f"\nMade by the backend procedural, without a model: {result.seconds_per_image * 1000:.0f} "
        "ms an image. A small classifier, trained on each and tested on real images of other "
        "handwriting and other parts of the photographs that have every combination equally often; "
        "mean and standard deviation of "
        f"{inflect(len(result.results), 'seeds')}:\n"
    )
    yield digits.accuracy_table(result.accuracies)
    yield (
        "\nD: the dataset as it was; the generated images have looks that are cut from it. Groups "
        "are of class, background and thing; balanced: the mean of their accuracies. Out of "
        "distribution: background and thing of the other class; in distribution: of the own class. "
        "All methods but just train twice read the group of each training image, DFR that of 288 "
        "further images instead. The plan has read what each image of D shows, from which groups "
        "follow; training on the result reads no group.\n"
    )

    yield LOOK_FURTHER
    yield f"cobalance compare datasets {first.dataset} {first.rebalanced}", "all changes"
    yield f"cobalance jobs show {first.job.id}", "the job, query by query"
    yield f"cobalance cypher what-helped -d {first.rebalanced}", "what its images did for models"
    yield f"cobalance export {first.job.id} digits-rebalanced --as imagefolder", "for training"
    yield web_app_command("the images with their originals, and all else")


def counterfactual_parts(result: "edited.CounterfactualDemo") -> Parts:
    """The plan, the choice of candidates, and counts that are equal in all groups."""
    yield from _plan_of_edits(result)
    yield from _edits_made(result)
    yield from _counts_of_edits(result)

    yield LOOK_FURTHER
    augmented, synthetic = edited.DATASETS["all"], edited.DATASETS["none"]
    job = quote(result.job.id)
    yield f"cobalance compare datasets {figures.NAME} {augmented}", "all changes"
    yield f"cobalance cypher counterfactual-twins -d {synthetic}", "who was made from which picture"
    yield f"cobalance cypher unpaired-counterfactuals -d {synthetic}", "what lacks a group: nothing"
    yield f"cobalance jobs show {job}", "the job, query by query"
    yield (
        f"cobalance rebalance {job} --real unedited --share 0.5 --into {figures.NAME}-half",
        "half of the pictures give way to pairs",
    )
    yield (
        f"cobalance plan-edits {figures.NAME} --recipe {edited.RECIPE} --concept cup --name cups",
        "only pictures with a cup",
    )
    yield web_app_command(
        "on Jobs, the pictures beside what was made of them, with scores and ranks"
    )


def _plan_of_edits(result: "edited.CounterfactualDemo") -> Parts:
    """The pictures, and how many of them the recipe edits."""
    recipe = recipes.RECIPES[edited.RECIPE]
    sizes = join_names([f"{n} of the class {group}" for group, n in result.before[()].items()])
    yield (
        f"\n[bold]The same pictures with every group in them[/]: {result.images} pictures, "
        f"{sizes}, of figures before photographs, with things that lean to one class. The figures "
        "are drawn by rule. Without a model: they are painted by rule, too (backend procedural); "
        "the recipe's filters safety, clip and same_objects need models and are left out, so that "
        f"the best of {edited.MAKING['best_of']} is chosen by same_colours alone, not the best of "
        f"{recipe.job['best_of']} by three scores.\n"
    )

    selected = result.planned.selection
    left_out = "; ".join(inflect(n, reason) for reason, n in selected.left_out.items())
    yield (
        f"The recipe {edited.RECIPE} edits {inflect(len(selected.sources), 'pictures')} to show "
        f"each group: {inflect(result.planned.plan.images, 'images')}. Left out: {left_out}. "
        "Captions that the pictures are painted from, and that exports have:\n"
    )
    yield result.captions


def _edits_made(result: "edited.CounterfactualDemo") -> Parts:
    """The figures that were painted, and the choice of candidates."""
    limit_px = recipes.RECIPES[edited.RECIPE].masks.second_above_px or 0
    second_px = figures.SECOND_FIGURES_PX
    large = sum(width * height > limit_px for width, height in second_px)
    yield (
        f"\nPainting people needs consent, which is kept with the job, its manifest and the data "
        f'card: "{edited.CONSENT}"\nOf {inflect(len(second_px), "pictures")} with a second '
        f"figure, it is painted, too, in the {large} where its box is larger than {limit_px:,.0f} "
        "px; all other pixels stay as they are.\n"
    )

    mistakes = result.mistakes
    have = agree(mistakes.chosen_flawed, "has", "have")
    yield (
        f"{inflect(mistakes.candidates, 'candidates')} were made, two of each image at guidance "
        f"7.5, 9.5 and 15. Mistakes were planted in {mistakes.flawed}, something added or colours "
        f"shifted; {mistakes.chosen_flawed} of the {mistakes.chosen} chosen ones {have} one. "
        f"Images of {' : '.join(figures.GROUPS)} before, with the real ones (--real all), and "
        "without (--real none):\n"
    )


def _counts_of_edits(result: "edited.CounterfactualDemo") -> Parts:
    """Counts of each set of things in each group, and the export."""
    yield edited.count_table(result)
    for outcome in result.outcomes.values():
        yield _verdict(outcome)
    yield "\nIn the graph, by the saved query counterfactual-twins:\n"
    yield result.twins

    exported = ("real images", "generated images", "captions")
    numbers = ", ".join(inflect(result.report.counts[name], name) for name in exported)
    yield f"\n{escape(str(result.exported))}: {numbers}, as COCO.\n"


def _verdict(outcome: "edited.Outcome") -> str:
    """Whether every set of things is equally frequent in all groups, and every group there."""
    name = outcome.merged.dataset
    verdict = (
        f"{name}: each of the {len(outcome.counts)} is equally frequent in all groups, counted "
        "by the kernel and by Cypher from the images."
    )
    if outcome.unequal:
        unequal = ", ".join(" + ".join(names) or edited.EVERY for names in outcome.unequal)
        verdict = f"{name}: not equally frequent in all groups are {unequal}."

    lacking = inflect(outcome.unpaired, "pictures") if outcome.unpaired else "no picture"
    return f"{verdict} By unpaired-counterfactuals, {lacking} lacks a group."


def annotate_parts(result: "annotation.AnnotateDemo") -> Parts:
    """Proposals, labels and the audit, and the imbalances before and after."""
    rare, rare_in = annotation.RARE
    counts = result.pictures["class_name"].value_counts().sort_index()
    sizes = join_names([f"{n} of the class {name}" for name, n in counts.items()])
    yield (
        f"\n[bold]What a model's labels are worth[/]: {len(result.pictures)} pictures, "
        f"{sizes}, of things before photographs. Nothing is said of the things. In truth all are "
        f"equally frequent in both classes but {rare}, which are rarer in {rare_in}.\n"
    )

    decided = result.attributes["state"].value_counts()
    yield (
        "A scripted language model on this machine was asked "
        f"{inflect(result.proposed.usage.asked, 'questions')} and proposed "
        f"{inflect(result.proposed.attributes, 'attributes')}; "
        f"{decided.get('accepted', 0)} were accepted and {decided.get('rejected', 0)} rejected, "
        "which name a class. A linear probe looked for them. The pictures that it was trained with "
        "have most things before the backgrounds of one class, and it learned that, too:\n"
    )
    yield annotation.measured_table(result)
    yield "\nImbalances of the labels, as the graph shows them:\n"
    yield annotation.labelled_table(result)

    yield (
        f"\n{join_names(annotation.PEOPLE)} checked {inflect(result.checked, 'labels')}, with "
        "a mistake in about one of 30 answers. Gaps between the classes in images, before and "
        "after the correction, with intervals of 95%, and in truth:\n"
    )
    yield annotation.corrected_table(result)
    gaps = result.corrected
    is_inside = gaps["true_gap"].between(gaps["corrected_gap_low"], gaps["corrected_gap_high"])
    before = int((gaps["gap"] - gaps["true_gap"]).abs().sum())
    after = float((gaps["corrected_gap"] - gaps["true_gap"]).abs().sum())
    yield (
        f"\n{int(is_inside.sum())} of {len(gaps)} true gaps are in the corrected intervals. The "
        f"labels' gaps are off by {inflect(before, 'images')} in all, the corrected ones by "
        f"{after:.0f}. "
        "A plan for what the audit does not support would make images that nobody lacks.\n"
    )

    yield LOOK_FURTHER
    run = quote(result.run)
    yield (
        f"cobalance imbalances {annotation.NAME}",
        "imbalances, with what the audit says of them",
    )
    yield f"cobalance annotate runs {run}", "how many images show each concept"
    yield f"cobalance annotate threshold {run} 0.5", "other labels, without a model"
    yield f"cobalance annotate reject {run}", "the dataset as it was before"
    yield web_app_command("on Diagnose, imbalances with what the audit says of them")
