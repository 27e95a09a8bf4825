"""`cobalance demo`: a real dataset diagnosed and planned for, on one screen."""

from typing import Annotated

import typer
from rich.padding import Padding

from app.commands.common import opened_store, out
from app.commands.diagnosis import describe, for_people
from app.demo import NAME, urbancars
from app.output import as_table
from app.services import plan_dataset
from generation.planning import PlanOptions
from graph.analysis import MiningOptions, mine_dataset
from graph.build import write_annotations
from graph.mined import Ranking, read_imbalances
from graph.records import Annotations

_NEXT = f"""\
cobalance imbalances {NAME} --concept cow        [dim]all that leans, with one concept[/]
cobalance plan {NAME} --format json              [dim]the whole plan, for a worker[/]
cobalance cypher --list                          [dim]the saved questions, and your own:[/]
cobalance cypher "MATCH (c:Clique {{dataset: '{NAME}', size: 2}})-[n:COUNTED_IN]->(y:Class)
                  RETURN c.concepts, y.name, n.images ORDER BY c.gap DESC LIMIT 6\""""


def demo(
    street: Annotated[
        bool, typer.Option("--street", help="Keep the background that the authors leave out.")
    ] = False,
) -> None:
    """Diagnose UrbanCars: 8,000 photographs of cars, labelled country or urban."""
    with opened_store() as (store, progress):
        annotations = Annotations.from_records(urbancars(street=street))
        write_annotations(
            store, NAME, annotations, source="UrbanCars training set", progress=progress
        )
        mine_dataset(store, NAME, MiningOptions(), max_cliques=10_000, progress=progress)
        singles = read_imbalances(store, NAME, Ranking(max_size=1, limit=6))
        pairs = read_imbalances(store, NAME, Ranking(min_size=2, limit=6))
        planned = plan_dataset(store, NAME, "conbias", PlanOptions(min_size=1, max_size=2))
    out.print(
        "[bold]UrbanCars[/]: 8,000 photographs, 4,000 labelled [bold]country[/] and 4,000 "
        "[bold]urban[/]. A model should learn the car.\n"
        "Counted per class, these are what the photographs show beside it:\n"
    )
    for title, frame in (("Single concepts", singles), ("Pairs of concepts", pairs)):
        out.print(as_table(for_people(frame), title))
    out.print(
        "Cows mean country and street signs mean urban, whatever the car. What would balance it:\n"
    )
    out.print(Padding(as_table(planned.summary.reset_index()), (0, 0)))
    out.print(f"{describe(planned.plan)} Kept in the graph as plan [bold]conbias[/].\n")
    out.print("[bold]Look further[/]\n" + _NEXT)
