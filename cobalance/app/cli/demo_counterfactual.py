"""Print the results of `cobalance demo --counterfactual`."""

from collections.abc import Iterator
from shlex import quote

import pandas as pd

from cobalance.app.cli.shared.options import out
from cobalance.app.cli.shared.tables import fitting_table
from cobalance.generation.recipes import RECIPES
from cobalance.graph.wording import inflect
from cobalance.ingest.concepts.wording import listed
from cobalance.workflows.demo.counterfactual import (
    CONSENT,
    DATASETS,
    MAKING,
    RECIPE,
    CounterfactualDemo,
    Outcome,
)
from cobalance.workflows.demo.scenes import GROUPS, NAME, SECOND_FIGURES_PX

_EVERY = "all pictures"


def show_counterfactual(found: CounterfactualDemo) -> None:
    """Print what was planned, left out, chosen and made, and that it is equally frequent."""
    recipe = RECIPES[RECIPE]
    groups = " : ".join(GROUPS)
    sizes = listed([f"{n} of the class {group}" for group, n in found.before[()].items()])
    out.print(
        f"\n[bold]The same pictures with every group in them[/]: {found.images} pictures, "
        f"{sizes}, of figures before photographs, with things that lean to one class. The figures "
        "are drawn by rule. Without a model: they are painted by rule, too (backend procedural); "
        "the recipe's filters safety, clip and same_objects need models and are left out, so that "
        f"the best of {MAKING['best_of']} is chosen by same_colours alone, not the best of "
        f"{recipe.job['best_of']} by three scores.\n"
    )
    selected = found.planned.selection
    left_out = [inflect(n, reason) for reason, n in selected.left_out.items()]
    out.print(
        f"The recipe {RECIPE} edits {inflect(len(selected.sources), 'pictures')} to show each "
        f"group: {inflect(found.planned.plan.images, 'images')}. Left out: {'; '.join(left_out)}. "
        "Captions that the pictures are painted from, and that exports have:\n"
    )
    out.print(fitting_table(found.captions, out))
    limit_px = recipe.masks.second_above_px or 0
    large = sum(width * height > limit_px for width, height in SECOND_FIGURES_PX)
    out.print(
        f"\nPainting people needs consent, which is kept with the job, its manifest and the data "
        f'card: "{CONSENT}"\nOf {inflect(len(SECOND_FIGURES_PX), "pictures")} with a second '
        f"figure, it is painted, too, in the {large} where its box is larger than {limit_px:,.0f} "
        "px; all other pixels stay as they are.\n"
    )
    mistakes = found.mistakes
    out.print(
        f"{inflect(mistakes.candidates, 'candidates')} were made, two of each image at guidance "
        f"7.5, 9.5 and 15. Mistakes were planted in {mistakes.flawed}, something added or colours "
        f"shifted; {mistakes.chosen_flawed} of the {mistakes.chosen} chosen ones "
        f"{'has' if mistakes.chosen_flawed == 1 else 'have'} one. Images of {groups} before, with "
        "the real ones (--real all), and without (--real none):\n"
    )
    out.print(fitting_table(_count_table(found), out))
    for outcome in found.outcomes.values():
        out.print(_verdict(outcome))
    out.print("\nIn the graph, by the saved query counterfactual-twins:\n")
    out.print(fitting_table(found.twins, out))
    numbers = ", ".join(
        inflect(found.report.counts[name], name)
        for name in ("real images", "generated images", "captions")
    )
    out.print(f"\n{found.exported}: {numbers}, as COCO.\n", markup=False)


def further_commands(found: CounterfactualDemo) -> Iterator[tuple[str, str]]:
    """Commands to try next, each with its purpose."""
    augmented, synthetic = DATASETS["all"], DATASETS["none"]
    job = quote(found.job.id)
    yield f"cobalance compare datasets {NAME} {augmented}", "all changes"
    yield f"cobalance cypher counterfactual-twins -d {synthetic}", "who was made from which picture"
    yield f"cobalance cypher unpaired-counterfactuals -d {synthetic}", "what lacks a group: nothing"
    yield f"cobalance jobs {job}", "the job, query by query"
    yield (
        f"cobalance rebalance {job} --real unedited --share 0.5 --into {NAME}-half",
        "half of the pictures give way to pairs",
    )
    yield (
        f"cobalance plan-edits {NAME} --recipe {RECIPE} --concept cup --name cups",
        "only pictures with a cup",
    )


def _count_table(found: CounterfactualDemo) -> pd.DataFrame:
    """Images of each group by what they show, in the dataset and in those that were made."""
    columns = {NAME: found.before}
    columns |= {DATASETS[real]: outcome.counts for real, outcome in found.outcomes.items()}
    every = sorted({names for counts in columns.values() for names in counts}, key=_small_first)
    return pd.DataFrame(
        {
            "show": [" + ".join(names) or _EVERY for names in every],
            **{
                name: [
                    " : ".join(str(counts.get(names, {}).get(group, 0)) for group in GROUPS)
                    for names in every
                ]
                for name, counts in columns.items()
            },
        }
    )


def _small_first(names: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    return len(names), names


def _verdict(outcome: Outcome) -> str:
    """Whether every set of things is equally frequent in all groups, and every group there."""
    name = outcome.merged.dataset
    if outcome.unequal:
        unequal = ", ".join(" + ".join(names) or _EVERY for names in outcome.unequal)
        said = f"{name}: not equally frequent in all groups are {unequal}."
    else:
        said = (
            f"{name}: each of the {len(outcome.counts)} is equally frequent in all groups, counted "
            "by the kernel and by Cypher from the images."
        )
    lacking = inflect(outcome.unpaired, "pictures") if outcome.unpaired else "no picture"
    return f"{said} By unpaired-counterfactuals, {lacking} lacks a group."
