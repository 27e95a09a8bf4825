"""`cobalance demo`: a real dataset diagnosed and planned for, on one screen."""

from typing import Annotated

import pandas as pd
import typer

from app.commands.common import opened_store, out
from app.commands.diagnosis import describe, for_people, summary_for_people
from app.demo import NAME, urbancars
from app.output import as_table
from app.services import Planned, plan_dataset
from generation.planning import PlanOptions
from graph.analysis import MiningOptions, mine_dataset
from graph.build import write_annotations
from graph.datasets import dataset_state
from graph.errors import DatasetNotFoundError, StaleError
from graph.mined import Ranking, read_imbalances
from graph.progress import Progress
from graph.records import Annotations
from graph.store import GraphStore

_CYPHER = f"""\
MATCH (c:Clique {{dataset: '{NAME}', size: 2}})-[n:COUNTED_IN]->(y:Class)
RETURN c.concepts, y.name, n.images ORDER BY c.gap DESC LIMIT 6"""

_FURTHER = (
    (f"cobalance imbalances {NAME} --concept cow", "what leans, with one concept"),
    (f"cobalance plan {NAME} --max-size 2 --format json", "every query of a plan"),
    ("cobalance cypher --list", "the saved questions"),
    (f'cobalance cypher "{_CYPHER}"', "your own"),
)


def demo(
    street: Annotated[
        bool, typer.Option("--street", help="Keep the background that the authors leave out.")
    ] = False,
) -> None:
    """Diagnose UrbanCars: 8,000 photographs of cars, labelled country or urban."""
    with opened_store() as (store, progress):
        load_demo(store, progress, street=street)
        singles = read_imbalances(store, NAME, Ranking(max_size=1, limit=4))
        pairs = read_imbalances(store, NAME, Ranking(min_size=2, limit=4))
        planned = plan_dataset(store, NAME, "conbias", PlanOptions(min_size=1, max_size=2))
    show(pd.concat([singles, pairs]), planned)


def load_demo(store: GraphStore, progress: Progress, *, street: bool = False) -> None:
    """Put UrbanCars into the store, diagnosed; what is there already stays as it is."""
    annotations = Annotations.from_records(urbancars(street=street))
    write_annotations(store, NAME, annotations, source="UrbanCars training set", progress=progress)
    mine_dataset(store, NAME, MiningOptions(), max_cliques=10_000, progress=progress)


def ensure_demo(store: GraphStore, progress: Progress) -> None:
    """The same, only where it is not there and diagnosed."""
    try:
        dataset_state(store, NAME).require_mined()
    except (DatasetNotFoundError, StaleError):
        load_demo(store, progress)


def show(imbalances: pd.DataFrame, planned: Planned) -> None:
    """Print what was found, in the order in which a newcomer asks."""
    out.print(
        "\n[bold]UrbanCars[/]: 8,000 photographs of cars, 4,000 labelled country and 4,000 urban. "
        "A model should learn the car. What else do the photographs show, and with which label? "
        "Images of each:\n"
    )
    out.print(as_table(for_people(imbalances)))
    out.print(
        "\nCows mean country and street signs mean urban, whatever the car. Images to make so that "
        "each single\nconcept and each pair is as frequent in both classes:\n"
    )
    out.print(as_table(summary_for_people(planned)))
    out.print(f"\n{describe(planned.plan)}\n")
    out.print("[bold]Look further[/]")
    for command, purpose in _FURTHER:
        out.print(f"  [dim]# {purpose}[/]")
        for line in command.splitlines():
            out.print(f"  {line}", markup=False, style="cyan")
