"""What of the generation helps a model: which cliques, how many images, and how varied.

    python -m benchmarks.rebalancing [--seeds 5] [--budgets 40,80,160,400] [--csv runs.csv]

The digits of `cobalance demo --full`, with a linear model on them: the baselines once, then other
plans and other making of the same datasets, each trained on with D by ERM. Plans are the planner's
own, with the options that `cobalance plan` has; jobs run in the real queue with the real filters.

With budgets, plans of each planner within each budget take the place of the other variants, and
beside them as many real images are dropped by `cobalance resample pruning`. A CSV file has each
seed's accuracies.

Everything is in folders and a server of its own, which are gone afterwards.
"""

import argparse
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from cobalance.base.records import Annotations
from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.plans import read_plan
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.status import read_job
from cobalance.workflows.demo.draw_digits import make_training_digits
from cobalance.workflows.demo.full import (
    GENERATED,
    MAKING,
    MEASURES,
    accuracy_table,
    run_full_demo,
    train_and_test,
)
from cobalance.workflows.demo.runner import Runner, prefix_of
from cobalance.workflows.plan.planners import plan_dataset
from cobalance.workflows.plan.resample import resample_dataset
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


PLANNERS = "whole-images", "conbias", "minimal"
VARIANTS = (
    Variant("the demo's plan: sizes 1 and 2"),
    Variant("size 1 alone", PlanOptions(min_size=1, max_size=1)),
    Variant("size 2 alone", PlanOptions(min_size=2, max_size=2)),
    Variant("an eighth of each query's images", times=1 / 8),
    Variant("a quarter of them", times=1 / 4),
    Variant("half of them", times=1 / 2),
    Variant("twice as many", times=2),
    Variant("four times as many", times=4),
    Variant("looks cut from 1 image of each concept", exemplars=1),
    Variant("looks cut from 5 images of each concept", exemplars=5),
    Variant("looks cut from 20 images of each concept", exemplars=20),
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budgets", help="numbers of images, with commas between")
    parser.add_argument("--csv", type=Path, default=os.devnull, help="a file of all runs")
    given = parser.parse_args()
    budgets = [int(text) for text in given.budgets.split(",")] if given.budgets else []
    with tempfile.TemporaryDirectory(prefix="cobalance-benchmark-") as folder:
        os.environ["COBALANCE_HOME"] = folder
        settings = Settings.from_environment().model_copy(
            update={"cobalance_home": Path(folder), "cobalance_output": f"{folder}/generated"}
        )
        try:
            with open_store(settings) as store:
                print(f"| trained on | images | {' | '.join(MEASURES.values())} |")
                print("| --- " * 6 + "|", flush=True)
                for runs in measure(store, settings, range(given.seeds), budgets):
                    print(for_people(runs), flush=True)
                    runs.to_csv(given.csv, mode="a", header=not given.csv.exists(), index=False)
        finally:
            if settings.neo4j_uri is None:
                local_server.stop(settings.local_server())


def measure(
    store: GraphStore, settings: Settings, seeds: range, budgets: Sequence[int]
) -> Iterator[pd.DataFrame]:
    """Accuracies of the baselines, then of each variant, or of all that is done within budgets."""
    runner = Runner(store, settings)
    base = run_full_demo(store, settings, seeds=seeds)
    yield base.accuracies
    datasets = {seed: one.dataset for seed, one in zip(seeds, base.results, strict=True)}
    variants = [
        Variant(f"{name}, at most {most} images", replace(WHOLE, budget=most), planner=name)
        for most in budgets
        for name in PLANNERS
    ]
    for at, variant in enumerate(variants or VARIANTS):
        orders = [_order(runner, dataset, variant, seed) for seed, dataset in datasets.items()]
        made = {}
        for seed, job in zip(seeds, runner.run(read_job, orders), strict=True):
            made[seed] = datasets[seed], f"{datasets[seed]}-variant-{at}"
            rebalance_job(store, runner.folders, job, made[seed][1])
        yield train_and_test(runner, made, [replace(GENERATED, title=variant.title)])
    for budget in budgets:
        made = {seed: (of, f"{of}-pruned-{budget}") for seed, of in datasets.items()}
        left = [_prune(runner, *of, budget, seed) for seed, of in made.items()]
        line = replace(GENERATED, title=f"D, at most {budget} images pruned")
        yield train_and_test(runner, made, [line]).assign(images=left)


def for_people(runs: pd.DataFrame) -> str:
    """Rows of a Markdown table: mean and standard deviation over the seeds, in per cent."""
    table = accuracy_table(runs).to_numpy()
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in table)


def _prune(runner: Runner, dataset: str, into: str, budget: int, seed: int) -> int:
    """Write what pruning leaves of a dataset into another; the number of images left."""
    options = replace(WHOLE, budget=budget)
    listed, _ = resample_dataset(runner.store, dataset, "pruning", options, seed)
    kept = set(listed["image"][listed["times"] > 0])
    records = make_training_digits(seed).annotations(folder=prefix_of(dataset)).records()
    left = Annotations.from_records(record for record in records if record.id in kept)
    write_annotations(runner.store, into, left, source=f"{dataset}, pruned")
    return len(kept)


def _order(runner: Runner, dataset: str, variant: Variant, seed: int) -> str:
    store = runner.store
    plan_dataset(store, dataset, variant.planner, variant.options)
    queries = [
        query._replace(n=n)
        for query in read_plan(store, dataset, variant.planner)
        if (n := round(query.n * variant.times))
    ]
    exemplars = runner.pictures(dataset) / f"exemplars-{variant.exemplars}"
    if not exemplars.exists():
        make_training_digits(seed).write_exemplars(exemplars, most=variant.exemplars)
    making: Mapping[str, Any] = {**MAKING, "exemplars": str(exemplars)}
    wanted = {"recipe": "procedural", "making": making, "seed": f"{variant.title} {seed}"}
    return create_job(store, dataset, variant.planner, queries, settings=wanted)


if __name__ == "__main__":
    main()
