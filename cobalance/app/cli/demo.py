"""`cobalance demo`: diagnose and plan a real dataset, on one screen."""

from collections.abc import Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import pandas as pd
import typer

from cobalance.app.cli.shared.options import opened_store, out
from cobalance.app.cli.shared.progress import progress_bars
from cobalance.app.cli.shared.tables import fitting_table
from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.console.run import EXAMPLE
from cobalance.graph.errors import OptionError, needs_extra
from cobalance.graph.installation import install_command
from cobalance.graph.queries.imbalances import Ranking, read_imbalances
from cobalance.graph.wording import inflect
from cobalance.workflows.cells import change_text
from cobalance.workflows.compare import comparison_table
from cobalance.workflows.demo import NAME
from cobalance.workflows.demo.loading import load_demo
from cobalance.workflows.diagnose.tables import imbalance_table
from cobalance.workflows.plan.planners import Planned, plan_dataset
from cobalance.workflows.plan.words import describe_plan, plan_table
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cobalance.workflows.demo.full import FullDemo, SeedResult

_FURTHER = (
    (f"cobalance imbalances {NAME} --concept cow", "what leans, with one concept"),
    (f"cobalance plan {NAME} --max-size 2 --format json", "every query of a plan"),
    ("cobalance cypher --list", "the saved questions"),
    (f"cobalance cypher --dataset {NAME} '{EXAMPLE}'", "your own"),
)


def demo(
    street: Annotated[
        bool, typer.Option("--street", help="Keep the background that the authors leave out.")
    ] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Run the whole pipeline on small pictures: make the missing images without a "
            "model, diagnose again, and train a classifier with and without them.",
        ),
    ] = False,
    counterfactual: Annotated[
        bool,
        typer.Option(
            "--counterfactual",
            help="Make each of some small pictures anew with every group in it, without a model: "
            "plan by the recipe resampled, choose the best of six, and count again.",
        ),
    ] = False,
    annotate: Annotated[
        bool,
        typer.Option(
            "--annotate",
            help="Label small pictures with a small classifier that errs by class, and correct "
            "the imbalances that it invents by an audit.",
        ),
    ] = False,
) -> None:
    """Diagnose UrbanCars: 8,000 photographs of cars, labelled country or urban."""
    if full + counterfactual + annotate > 1:
        raise OptionError(
            "--full, --counterfactual and --annotate exclude each other; give one of them."
        )
    if full:
        _full()
        return
    if counterfactual:
        _counterfactual()
        return
    if annotate:
        _annotate()
        return
    with opened_store() as (store, progress):
        load_demo(store, progress, street=street)
        singles = read_imbalances(store, NAME, Ranking(max_size=1, limit=4))
        pairs = read_imbalances(store, NAME, Ranking(min_size=2, limit=4))
        planned = plan_dataset(store, NAME, "conbias", PlanOptions(min_size=1, max_size=2))
    show(pd.concat([singles, pairs]), planned)


def _full() -> None:
    with needs_extra("The whole demo", "worker,demo"):
        from cobalance.workflows.demo.full import run_full_demo
    settings = Settings.from_environment()
    with progress_bars() as progress, open_store(settings, progress) as store:
        found = run_full_demo(store, settings, progress=progress)
    show_full(found)


def _counterfactual() -> None:
    with needs_extra("The demonstration of counterfactuals", "worker,demo"):
        from cobalance.app.cli.demo_counterfactual import further_commands, show_counterfactual
        from cobalance.workflows.demo.counterfactual import run_counterfactual_demo
    settings = Settings.from_environment()
    with progress_bars() as progress, open_store(settings, progress) as store:
        found = run_counterfactual_demo(store, settings, progress=progress)
    show_counterfactual(found)
    shown = "on Jobs, the pictures beside what was made of them, with scores and ranks"
    _print_further([*further_commands(found), *web_app_command(shown)])


def _annotate() -> None:
    with needs_extra("The demonstration of annotations", "worker,annotate,demo"):
        from cobalance.app.cli.demo_annotate import further_commands, show_annotate
        from cobalance.workflows.demo.annotate import run_annotate_demo
    settings = Settings.from_environment()
    with progress_bars() as progress, open_store(settings, progress) as store:
        found = run_annotate_demo(store, settings, progress=progress)
    show_annotate(found)
    shown = "on Diagnose, imbalances with what the audit says of them"
    _print_further([*further_commands(found), *web_app_command(shown)])


def show_full(found: "FullDemo") -> None:
    """Print the results of the full demo."""
    from cobalance.workflows.demo.experiment import for_people as accuracies_for_people, summarise

    first = found.results[0]
    sizes = ", ".join(f"{n:,} {name}" for name, n in first.change.sizes_before.items())
    out.print(
        f"\n[bold]Digits on photographs[/], in real pixels and with the proportions of UrbanCars: "
        f"{sizes}. Background and thing each agree with the digit in 95 of 100 images. Images of "
        "each, before the missing ones were made and after:\n"
    )
    out.print(fitting_table(comparison_table(first.change).head(6), out))
    out.print(f"\n{describe_plan(first.planned.plan)}")
    out.print("\nWhat has been made, from each seed:\n")
    out.print(fitting_table(results_of_seeds(found.results), out))
    out.print(
        f"\nMade by the backend procedural, without a model: {found.seconds_per_image * 1000:.0f} "
        "ms an image. A small classifier, trained on each and tested on real images of other "
        "handwriting and other parts of the photographs that have every combination equally often; "
        "mean and standard deviation of "
        f"{inflect(len(found.results), 'seeds')}:\n"
    )
    out.print(fitting_table(accuracies_for_people(summarise(found.accuracies)), out))
    out.print(
        "\nD: the dataset as it was; the generated images have looks that are cut from it. Groups "
        "are of class, background and thing; balanced: the mean of their accuracies. Out of "
        "distribution: background and thing of the other class; in distribution: of the own class. "
        "All methods but just train twice read the group of each training image, DFR that of 288 "
        "further images instead. The plan has read what each image of D shows, from which groups "
        "follow; training on the result reads no group.\n"
    )
    further = [
        (f"cobalance compare datasets {first.dataset} {first.rebalanced}", "all changes"),
        (f"cobalance jobs {first.job.id}", "the job, query by query"),
        (f"cobalance cypher what-helped -d {first.rebalanced}", "what its images did for models"),
        (f"cobalance export {first.job.id} digits-rebalanced --as imagefolder", "for training"),
        *web_app_command("the images with their originals, and all else"),
    ]
    _print_further(further)


def results_of_seeds(results: "Sequence[SeedResult]") -> pd.DataFrame:
    """Accepted and rejected images of each seed's job, and imbalances before and after."""
    totals = [one.change.summary.sum(numeric_only=True) for one in results]

    def count(total: pd.Series, *statuses: str) -> int:
        return int(total[[*statuses, "reduced", "grown", "unchanged"]].sum())

    return pd.DataFrame(
        {
            "dataset": [one.rebalanced for one in results],
            "wanted": [one.job.wanted for one in results],
            "accepted": [one.job.accepted for one in results],
            "rejected": [one.job.rejected for one in results],
            "imbalances": [
                change_text(count(total, "solved", "absent"), count(total, "introduced"))
                for total in totals
            ],
            "sum of gaps": [
                change_text(total["total_gap_before"], total["total_gap_after"]) for total in totals
            ],
        }
    )


def show(imbalances: pd.DataFrame, planned: Planned) -> None:
    """Print the most telling imbalances, the plan, and what to try next."""
    out.print(
        "\n[bold]UrbanCars[/]: 8,000 photographs of cars, 4,000 labelled country and 4,000 urban. "
        "A model should learn the car. What else do the photographs show, and with which label? "
        "Images of each:\n"
    )
    out.print(fitting_table(imbalance_table(imbalances), out))
    out.print(
        "\nCows mean country and street signs mean urban, whatever the car. Images to make so that "
        "each single concept and each pair is as frequent in both classes:\n"
    )
    out.print(fitting_table(plan_table(planned), out))
    out.print(f"\n{describe_plan(planned.plan)}\n")
    _print_further([*_FURTHER, *web_app_command("all of it in the browser")])


def web_app_command(purpose: str) -> list[tuple[str, str]]:
    """The command that opens the web app, and the one that installs it if it is missing."""
    if find_spec("streamlit") is not None:
        return [("cobalance app", purpose)]
    return [(f"{install_command('app')}\ncobalance app", f"{purpose}: install it first")]


def _print_further(commands: Iterable[tuple[str, str]]) -> None:
    """Print commands, each with its purpose."""
    out.print("[bold]Look further[/]")
    for command, purpose in commands:
        out.print(f"  [dim]# {purpose}[/]")
        for line in command.splitlines():
            out.print(f"  {line}", markup=False, style="cyan", soft_wrap=True)
