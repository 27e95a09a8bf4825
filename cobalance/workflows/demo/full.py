"""Full demonstration: diagnose, plan, generate, filter, merge, diagnose again, and train.

Each seed has its own digits, plan and job. Jobs run in the real queue with the real filters, by the
backend that needs no model; it pastes pieces of training images and never sees test images.
Held-out and test images are a dataset of their own.

Does rebalancing help a classifier? That is section 4 of Chakraborty et al., ConBias, small enough
for a laptop: a linear model on 60 principal components of the pixels is trained on D and on D with
the generated images, and tested on real images with every combination equally often. The baselines
rebalance without new images; all but JTT need to know the group of each training image, DFR that of
further, held-out images.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import pandas as pd
from threadpoolctl import threadpool_limits

from cobalance.base import Annotations, ImageRecord, Progress, silent, text_if
from cobalance.evaluation import COMMON, Shortcuts, mean_text
from cobalance.evaluation.metrics import group_accuracy
from cobalance.generation import PlanOptions
from cobalance.graph import (
    GraphStore,
    Job,
    count_synthetic,
    read_evaluation,
    read_job,
    read_task,
    write_annotations,
)
from cobalance.statistics import Comparison
from cobalance.workflows.cells import change_text
from cobalance.workflows.demo import draw_digits
from cobalance.workflows.demo.runner import Runner, load_digits, prefix_of
from cobalance.workflows.evaluate.order import EvaluationOrder, order_evaluations
from cobalance.workflows.evaluate.stored import read_saved_predictions
from cobalance.workflows.plan import Planned, compare_datasets, plan_dataset
from cobalance.workflows.rebalance import rebalance_job
from cobalance.workflows.settings import Settings

PLANNER = "conbias"
SEEDS = (0, 1, 2)
MAKING: Mapping[str, float] = {"feather_px": 0}
"""No feathering: the edges of D's digits are hard, and two pixels are a large part of them."""
SHORTCUTS = Shortcuts({"background": draw_digits.BACKGROUNDS, "thing": draw_digits.THINGS})


@dataclass(frozen=True)
class Line:
    """A line of the table: its title for people, method and training set; ``real`` is D.

    Names are those of `cobalance.evaluation.training.methods.METHODS` and
    `cobalance.evaluation.training.data.registry.SETS`.
    """

    title: str
    method: str = "erm"
    training_set: str = "real"


BASE = Line("D")
GENERATED = Line("D and the generated images", training_set="augmented")
LINES = (
    BASE,
    Line("D, groups over-sampled", "over-sampling"),
    Line("D, groups sub-sampled", "sub-sampling"),
    Line("D, groups weighted", "upweight"),
    Line("D, GroupDRO", "group-dro"),
    Line("D, just train twice", "jtt"),
    Line("D, last layer on held-out images (DFR)", "dfr"),
    Line("the generated images alone", training_set="synthetic"),
    GENERATED,
)
MEASURES = {
    "cb": "balanced %",
    "worst": "worst group %",
    "ood": "out of distribution %",
    "id": "in distribution %",
}
"""Columns of the table, each with its title."""


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
    """Results by seed, accuracies of all (from `train_and_test`), and the mean time of an image."""

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
    """Run the demonstration for some seeds, reusing results of an earlier run.

    Raises
    ------
    OptionError
        The output folder is not on this machine.
    ConflictError
        A rebalanced dataset exists without the one that it was made from.
    CobalanceError
        A job or an evaluation failed.
    MissingExtraError
        scikit-learn is not installed.
    """
    runner = Runner(store, settings, progress)
    names = [draw_digits.NAME + text_if(seed != 0, f"-{seed}") for seed in seeds]
    runner.check_leftovers({f"{name}-rebalanced": name for name in names})
    plans: list[Planned] = []
    orders: list[str] = []
    for seed, name in zip(seeds, names, strict=True):
        progress(f"draw {name}", 0, None)
        load_digits(runner, name, draw_digits.make_training_digits(seed))
        _write_held_out(runner, name, seed)
        options = PlanOptions(min_size=1, max_size=2)
        plans.append(plan_dataset(store, name, PLANNER, options, progress=progress))
        settings_of_job = {
            "recipe": "procedural",
            "making": {**MAKING, "exemplars": str(runner.pictures(name) / "exemplars")},
            "seed": f"demo-{seed}",
        }
        orders.append(runner.order(name, PLANNER, settings_of_job))

    # Jobs of all seeds share the queue, so that the time is that of all images.
    started = time.perf_counter()
    jobs = runner.run(read_job, orders)
    seconds = time.perf_counter() - started

    results: list[SeedResult] = []
    datasets: dict[int, tuple[str, str]] = {}
    for seed, name, planned, job in zip(seeds, names, plans, jobs, strict=True):
        rebalanced = rebalance_job(store, runner.folders, job, progress=progress).dataset
        change = compare_datasets(store, name, rebalanced, by="rates")
        results.append(SeedResult(name, rebalanced, planned, job, change))
        datasets[seed] = (name, rebalanced)

    accuracies = train_and_test(runner, datasets)
    images = sum(job.wanted for job in jobs)
    return FullDemo(tuple(results), accuracies, seconds / images)


def _write_held_out(runner: Runner, dataset: str, seed: int) -> None:
    """Write and load held-out and test images, which have every combination equally often."""
    name = held_out_name(dataset)
    records: list[ImageRecord] = []
    for part in (draw_digits.make_held_out_digits(seed), draw_digits.make_test_digits(seed)):
        folder = runner.pictures(name) / part.split
        draw_digits.write_images(folder, part.table["id"], part.pixels)
        records += part.annotations(folder=f"{prefix_of(name)}{part.split}/").records()

    write_annotations(
        runner.store,
        name,
        Annotations.from_records(records),
        source="digits on photographs, with every combination equally often",
        if_exists="replace",
        progress=runner.progress,
    )


def held_out_name(dataset: str) -> str:
    """The dataset with the held-out and the test images of a dataset."""
    return f"{dataset}-held-out"


def train_and_test(
    runner: Runner, made: Mapping[int, tuple[str, str]], lines: Sequence[Line] = LINES
) -> pd.DataFrame:
    """Evaluate models that are trained on D by each method, and on D with the generated images.

    The evaluations are kept; those of an earlier run with the same images are used again. Every
    seed has training images of its own, so that none weights them at random.

    Parameters
    ----------
    made : mapping of int to tuple of two str
        By seed, D and D with the generated images.

    Returns
    -------
    pandas.DataFrame
        A row a seed and line: ``seed``, ``training`` (the title), ``images``, and the accuracies of
        `measure_accuracies`.
    """
    evaluations: dict[tuple[int, Line], str] = {}
    for seed, (real, rebalanced) in made.items():
        for training_set, grouped in groupby(lines, lambda line: line.training_set):
            of_set = list(grouped)
            order = EvaluationOrder(
                train=(real if training_set == BASE.training_set else rebalanced,),
                training_sets=(training_set,),
                methods=tuple(line.method for line in of_set),
                seeds=(seed,),
                test=held_out_name(real),
                validation=held_out_name(real),
                validation_split="validation",
                shortcuts=SHORTCUTS,
                learner_options={"bootstrap": False},
            )
            ids = order_evaluations(runner.store, order).ids
            for line, evaluation in zip(of_set, ids, strict=True):
                evaluations[seed, line] = evaluation

    # Matrices so small go faster without a second thread, and twice as fast on a busy machine.
    with threadpool_limits(1):
        runner.run(
            read_task,
            list(evaluations.values()),
            lambda *_: runner.progress("train and test", 0, None),
        )

    n_real, rows = 2 * sum(draw_digits.IMAGES.values()), []
    for (seed, line), evaluation in evaluations.items():
        synthetic = count_synthetic(runner.store, made[seed][1])
        images = {"real": n_real, "synthetic": synthetic}
        saved = read_saved_predictions(runner.output, read_evaluation(runner.store, evaluation))
        row = {
            "seed": seed,
            "training": line.title,
            "images": images.get(line.training_set, n_real + synthetic),
        }
        rows.append({**row, **measure_accuracies(saved)})
    return pd.DataFrame(rows)


def measure_accuracies(predictions: pd.DataFrame) -> dict[str, float]:
    """Accuracies of a run, from 0 to 1.

    Parameters
    ----------
    predictions : pandas.DataFrame
        From `cobalance.evaluation.predictions.check_predictions`, with a column for each shortcut.

    Returns
    -------
    dict of str to float
        ``cb``: mean over groups of class, background and thing. ``worst``: of the worst of them.
        ``ood``: over the images whose background and thing are both the other class's. ``id``: over
        those whose both are their own class's, as in most training images.
    """
    common = predictions[(predictions[list(SHORTCUTS.names)] == COMMON).all(axis=1)]
    return {
        "cb": float(group_accuracy.balanced_accuracy(predictions)["value"].iloc[0]),
        "worst": float(group_accuracy.worst_group(predictions)["value"].iloc[0]),
        "ood": float(group_accuracy.out_of_distribution(predictions)["value"].iloc[0]),
        "id": float((common["predicted"] == common["class_name"]).mean()),
    }


def accuracy_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation over the seeds as text, in per cent: a row a line, in order."""
    by_line = runs.groupby("training", sort=False)
    images = by_line["images"].mean().round().astype(int)
    columns = {"trained on": images.index, "images": images.to_numpy()}
    for name, title in MEASURES.items():
        columns[title] = by_line[name].agg(lambda values: mean_text(values.mean(), values.std()))
    return pd.DataFrame(columns).reset_index(drop=True)


def made_table(results: Sequence[SeedResult]) -> pd.DataFrame:
    """Accepted and rejected images of each seed's job, and imbalances before and after."""
    rows = []
    for result in results:
        job, totals = result.job, result.change.totals()
        row = {
            "dataset": result.rebalanced,
            "wanted": job.wanted,
            "accepted": job.accepted,
            "rejected": job.rejected,
            "lean to a class": change_text(totals["leaning_before"], totals["leaning_after"]),
            "largest difference": change_text(
                totals["largest_before"], totals["largest_after"], ".1%"
            ),
        }
        rows.append(row)
    return pd.DataFrame(rows)
