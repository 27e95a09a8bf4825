"""What of the generation helps a model: which cliques, how many images, and how varied.

    python -m benchmarks.rebalancing [--seeds 5]

The digits of `cobalance demo --full`, with a linear model on them: the baselines once, then other
plans and other making of the same datasets, each trained on with D by ERM. Plans are the planner's
own, with the options that `cobalance plan` has; jobs run in the real queue with the real filters.

Everything is in folders and a server of its own, which are gone afterwards.
"""

import argparse
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.plans import read_plan
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.workflows.demo.draw_digits import make_training_digits
from cobalance.workflows.demo.full import (
    GENERATED,
    MAKING,
    MEASURES,
    Line,
    accuracy_table,
    run_full_demo,
    train_and_test,
)
from cobalance.workflows.demo.runner import Runner
from cobalance.workflows.plan.planners import plan_dataset
from cobalance.workflows.rebalance import rebalance_job
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store

WHOLE = PlanOptions(min_size=1, max_size=2)


@dataclass(frozen=True)
class Variant:
    """Another way to generate.

    Parameters
    ----------
    options : PlanOptions
        Of the plan.
    times : float
        How many of each query's images are made, against the plan.
    exemplars : int
        Training images of each concept that its looks are cut from.
    planner : str
        A name in `cobalance.generation.planning.planners.PLANNERS`.
    """

    title: str
    options: PlanOptions = field(default_factory=lambda: WHOLE)
    times: float = 1.0
    exemplars: int = 60
    planner: str = "conbias"


VARIANTS = (
    Variant("the demo's plan: sizes 1 and 2"),
    Variant("size 1 alone", PlanOptions(min_size=1, max_size=1)),
    Variant("size 2 alone", PlanOptions(min_size=2, max_size=2)),
    Variant("an eighth of the images, as a budget shares them", replace(WHOLE, budget=90)),
    Variant("a quarter of the images", replace(WHOLE, budget=181)),
    Variant("half of the images", replace(WHOLE, budget=362)),
    Variant("twice the images", times=2),
    Variant("four times the images", times=4),
    Variant("looks cut from 1 image of each concept", exemplars=1),
    Variant("looks cut from 5 images of each concept", exemplars=5),
    Variant("looks cut from 20 images of each concept", exemplars=20),
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    with tempfile.TemporaryDirectory(prefix="cobalance-benchmark-") as folder:
        os.environ["COBALANCE_HOME"] = folder
        given = Settings.from_environment()
        settings = given.model_copy(
            update={"cobalance_home": Path(folder), "cobalance_output": f"{folder}/generated"}
        )
        try:
            with open_store(settings) as store:
                frames = list(measure(store, settings, seeds))
        finally:
            if settings.neo4j_uri is None:
                local_server.stop(settings.local_server())
    print(for_people(pd.concat(frames, ignore_index=True)))


def measure(store: GraphStore, settings: Settings, seeds: range) -> Iterator[pd.DataFrame]:
    """Accuracies of the baselines, then of each variant."""
    runner = Runner(store, settings)
    base = run_full_demo(store, settings, seeds=seeds)
    yield base.accuracies
    wanted = [
        (variant, seed, result.dataset)
        for variant in VARIANTS
        for seed, result in zip(seeds, base.results, strict=True)
    ]
    orders = [_order(runner, dataset, variant, seed) for variant, seed, dataset in wanted]
    jobs = iter(runner.run_jobs(orders, lambda *_: None))
    for at, variant in enumerate(VARIANTS):
        made = {}
        for seed, result in zip(seeds, base.results, strict=True):
            name = f"{result.dataset}-variant-{at}"
            rebalance_job(store, runner.folders, next(jobs), name)
            made[seed] = result.dataset, name
        line = Line(variant.title, training_set=GENERATED.training_set)
        yield train_and_test(runner, made, [line])


def for_people(runs: pd.DataFrame) -> str:
    """A Markdown table: mean and standard deviation over the seeds, in per cent."""
    lines = [f"| trained on | images | {' | '.join(MEASURES.values())} |", "| --- " * 6 + "|"]
    lines += [f"| {' | '.join(map(str, row))} |" for row in accuracy_table(runs).to_numpy()]
    return "\n".join(lines)


def _order(runner: Runner, dataset: str, variant: Variant, seed: int) -> str:
    store = runner.store
    plan_dataset(store, dataset, variant.planner, variant.options)
    queries = [
        query._replace(n=max(round(query.n * variant.times), 1))
        for query in read_plan(store, dataset, variant.planner)
    ]
    exemplars = runner.pictures(dataset) / f"exemplars-{variant.exemplars}"
    if not exemplars.exists():
        make_training_digits(seed).write_exemplars(exemplars, most=variant.exemplars)
    making: Mapping[str, Any] = {**MAKING, "exemplars": str(exemplars)}
    wanted = {"recipe": "procedural", "making": making, "seed": f"{variant.title} {seed}"}
    return create_job(store, dataset, variant.planner, queries, settings=wanted)


if __name__ == "__main__":
    main()
