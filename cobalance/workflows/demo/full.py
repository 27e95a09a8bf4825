"""Full demonstration: diagnose, plan, generate, filter, merge, diagnose again, and train.

Each seed has its own digits, plan and job. Jobs run in the real queue with the real filters, by the
backend that needs no model; it pastes pieces of training images and never sees test images.
Held-out and test images are a dataset of their own.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from cobalance.evaluation.training.data.dataset import read_dataset_images
from cobalance.evaluation.training.data.images import LabelledImages
from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.plans import read_plan
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.diagnosis.comparison import Comparison
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.status import Job, read_job
from cobalance.graph.private_files import make_folder
from cobalance.graph.progress import Progress, silent
from cobalance.graph.queries.comparison import compare_imbalances
from cobalance.graph.records import Annotations, ImageRecord
from cobalance.workflows.demo import digits
from cobalance.workflows.demo.digits import (
    Digits,
    make_held_out_digits,
    make_test_digits,
    make_training_digits,
)
from cobalance.workflows.demo.evaluations import record_results
from cobalance.workflows.demo.experiment import Result, compare, run_table
from cobalance.workflows.demo.loading import load_digits
from cobalance.workflows.demo.runs import (
    check_leftovers,
    earlier_job,
    output_folder,
    pictures_folder,
    prefix_of,
    queue_url,
)
from cobalance.workflows.merge import merge_job
from cobalance.workflows.plan.planners import Planned, plan_dataset
from cobalance.workflows.settings import Settings
from cobalance.workflows.work.run import run_here

PLANNER = "conbias"
SEEDS = (0, 1, 2)

MAKING: Mapping[str, float] = {"feather_px": 0}
"""No feathering: the edges of D's digits are hard, and two pixels are a large part of them."""


@dataclass(frozen=True)
class SeedResult:
    """D and its rebalanced copy, with the plan, the finished job and the imbalances of both."""

    dataset: str
    rebalanced: str
    planned: Planned
    job: Job
    change: Comparison


@dataclass(frozen=True)
class FullDemo:
    """Results by seed, accuracies of all (from `run_table`), and the mean time of an image."""

    results: tuple[SeedResult, ...]
    accuracies: pd.DataFrame
    seconds_per_image: float


def run_full_demo(
    store: GraphStore,
    settings: Settings,
    *,
    seeds: Sequence[int] = SEEDS,
    progress: Progress = silent,
) -> FullDemo:
    """Run the demonstration for some seeds; datasets and jobs of an earlier run are used again.

    Raises
    ------
    OptionError
        The output folder is not on this machine.
    ConflictError
        A rebalanced dataset exists without the one that it was made from.
    MissingExtraError
        scikit-learn is not installed.
    """
    make_folder(output_folder(settings))
    names = {seed: _name(seed) for seed in seeds}
    check_leftovers(store, {f"{name}-rebalanced": name for name in names.values()})
    drawn: dict[int, Digits] = {}
    for seed in seeds:
        progress("draw digits", len(drawn), len(seeds))
        drawn[seed] = make_training_digits(seed)
    progress("draw digits", len(seeds), len(seeds))
    planned = {
        seed: _diagnose(store, settings, names[seed], drawn[seed], _named(names[seed], progress))
        for seed in seeds
    }
    jobs = {seed: _order(store, settings, names[seed], seed) for seed in seeds}
    started = time.perf_counter()
    all_jobs = _total_progress([read_job(store, job) for job in jobs.values()], progress)
    run_here(settings, jobs.values(), queue_url(settings), all_jobs)
    seconds = time.perf_counter() - started
    ended = {seed: read_job(store, job) for seed, job in jobs.items()}
    for job in ended.values():
        all_jobs(f"job {job.id}", job.covered, job.wanted)
    results: list[SeedResult] = []
    for seed in seeds:
        name, job = names[seed], ended[seed]
        merged = merge_job(store, settings.folders(), job, progress=_named(name, progress))
        change = compare_imbalances(store, name, merged.dataset)
        results.append(SeedResult(name, merged.dataset, planned[seed], job, change))
    frames: list[pd.DataFrame] = []
    for seed, result in zip(seeds, results, strict=True):
        found = _evaluate(store, settings, result, seed, _named(names[seed], progress))
        frames.append(run_table(found, seed))
    images = sum(result.job.wanted for result in results)
    return FullDemo(tuple(results), pd.concat(frames, ignore_index=True), seconds / images)


def _evaluate(
    store: GraphStore, settings: Settings, result: SeedResult, seed: int, progress: Progress
) -> list[Result]:
    """Write held-out and test images, train on D and its rebalanced copy, test, and keep all."""
    name = held_out_name(result.dataset)
    folder = pictures_folder(settings, name)
    parts = make_held_out_digits(seed), make_test_digits(seed)
    records: list[ImageRecord] = []
    for part in parts:
        part.write(folder / part.split)
        records += part.annotations(folder=f"{prefix_of(name)}{part.split}/").records()
    write_annotations(
        store,
        name,
        Annotations.from_records(records),
        source="digits on photographs, with every combination equally often",
        replace=True,
        progress=progress,
    )
    rebalanced = read_images(store, settings, result.rebalanced, progress)
    apart = read_images(store, settings, name, progress)
    test, held_out = apart.of_split("test"), apart.of_split("validation")
    found = compare(rebalanced, test, held_out, seed, progress)
    record_results(
        store,
        settings.folders().open_output(),
        found,
        datasets=(result.dataset, result.rebalanced),
        apart=name,
        test=test,
    )
    return found


def read_images(
    store: GraphStore, settings: Settings, dataset: str, progress: Progress = silent
) -> LabelledImages:
    """Read the images of one of the demonstration's datasets, all of which are in one folder."""
    output = settings.folders().open_output()
    return read_dataset_images(store, dataset, lambda uri, _synthetic: output.read(uri), progress)


def held_out_name(dataset: str) -> str:
    """The dataset with the held-out and the test images of a dataset.

    Examples
    --------
    >>> held_out_name("digits")
    'digits-held-out'
    """
    return f"{dataset}-held-out"


def _name(seed: int) -> str:
    return digits.NAME if seed == 0 else f"{digits.NAME}-{seed}"


def _named(name: str, progress: Progress) -> Progress:
    """Report progress with the dataset's name before each stage."""
    return lambda stage, done, total: progress(f"{name}: {stage}", done, total)


def _total_progress(jobs: Sequence[Job], progress: Progress) -> Progress:
    """Report the progress of all jobs as one stage."""
    wanted = sum(job.wanted for job in jobs)
    covered = {f"job {job.id}": job.covered for job in jobs}

    def report(stage: str, done: int, _total: int | None) -> None:
        covered[stage] = done
        progress("make images", sum(covered.values()), wanted)

    return report


def _diagnose(
    store: GraphStore, settings: Settings, name: str, drawn: Digits, progress: Progress
) -> Planned:
    """Write D's files, load it into the graph, mine it and plan its images."""
    load_digits(store, settings, name, drawn, progress)
    return plan_dataset(
        store, name, PLANNER, PlanOptions(min_size=1, max_size=2), progress=progress
    )


def _order(store: GraphStore, settings: Settings, name: str, seed: int) -> str:
    """Order the plan's images, or resume the job of an earlier run."""
    own_seed = f"demo-{seed}"
    if (earlier := earlier_job(store, name, own_seed)) is not None:
        return earlier
    exemplars = pictures_folder(settings, name) / "exemplars"
    return create_job(
        store,
        name,
        PLANNER,
        read_plan(store, name, PLANNER),
        settings={
            "recipe": "procedural",
            "backend": "procedural",
            "making": {**MAKING, "exemplars": str(exemplars)},
            "seed": own_seed,
        },
    )
