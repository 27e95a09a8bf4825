"""Does rebalancing help a classifier? The paper's experiment, small enough for a laptop.

Section 4 of Chakraborty et al., ConBias: a classifier is trained on D and on D with the generated
images, and tested on real images with every combination equally often. The baselines rebalance
without new images; all but JTT need to know the group of each training image, DFR that of further,
held-out images.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from cobalance.evaluation.metrics.accuracy import (
    balanced_accuracy,
    out_of_distribution,
    worst_group,
)
from cobalance.evaluation.shortcuts import COMMON, Shortcuts, shortcut_groups
from cobalance.evaluation.training.data.examples import code_examples
from cobalance.evaluation.training.data.hold_out import check_held_out
from cobalance.evaluation.training.data.images import LabelledImages
from cobalance.evaluation.training.data.sets import check_apart, training_set
from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Learner, Run
from cobalance.evaluation.training.run import Recipe, Trained, train_run
from cobalance.graph.errors import needs_extra
from cobalance.graph.progress import Progress, silent
from cobalance.workflows.demo.digits import BACKGROUNDS, THINGS

SHORTCUTS = Shortcuts({"background": BACKGROUNDS, "thing": THINGS})


@dataclass(frozen=True)
class Line:
    """A line of the table: what is trained on, and how.

    Parameters
    ----------
    title : str
        For people.
    method : str
        A name in `cobalance.evaluation.training.methods.METHODS`.
    training_set : str
        A name in `cobalance.evaluation.training.data.sets.SETS`: ``real`` is D.
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


RECIPE = Recipe(learner_options={"bootstrap": False})
"""Every seed has training images of its own, so that it need not weight them at random."""


@dataclass(frozen=True, eq=False)
class Result:
    """What a line gives for a seed: the trained model with its predictions, and its accuracies."""

    line: Line
    trained: Trained
    accuracies: dict[str, float]


def compare(
    rebalanced: LabelledImages,
    test: LabelledImages,
    held_out: LabelledImages,
    seed: int,
    progress: Progress = silent,
    lines: Sequence[Line] = LINES,
) -> list[Result]:
    """Train on D by each method, and on D with the generated images; test each.

    The classifier is `cobalance.evaluation.training.learners.linear`: 60 principal components of
    the pixels, and logistic regression on top.

    Parameters
    ----------
    rebalanced : LabelledImages
        D with the generated images.
    test, held_out : LabelledImages
        Real images that share nothing with D, with every combination equally often; the methods
        that need held-out images get the second.
    seed : int
        Seed of the training.

    Raises
    ------
    LeakError
        Test images are synthetic or are trained on.
    MissingExtraError
        scikit-learn is not installed.
    """
    with needs_extra("The demonstration with images", "demo"):
        from threadpoolctl import threadpool_limits
    found: list[Result] = []
    # matrices so small go faster without a second thread, and twice as fast on a busy machine
    with threadpool_limits(1):
        for chosen in dict.fromkeys(line.training_set for line in lines):
            images = training_set(rebalanced, chosen)
            check_apart(images, test)
            check_apart(held_out, test)
            check_held_out(images, held_out)
            parts = {"training": images, "test": test, "held out": held_out}
            groups = pd.concat([shortcut_groups(one.frame, SHORTCUTS) for one in parts.values()])
            coded = code_examples(parts, groups)
            learner = RECIPE.prepare(coded["training"], Run(seed))
            for line in lines:
                if line.training_set == chosen:
                    progress(f"train: {line.title}", len(found), len(lines))
                    found.append(_train(line, coded, groups, seed, learner))
    progress("train", len(lines), len(lines))
    order = {line: at for at, line in enumerate(lines)}
    return sorted(found, key=lambda result: order[result.line])


def _train(
    line: Line, coded: dict[str, Examples], groups: pd.DataFrame, seed: int, learner: Learner
) -> Result:
    trained = train_run(
        replace(RECIPE, method=line.method),
        Run(seed),
        coded["training"],
        coded["held out"],
        coded["test"],
        prepared=learner,
    )
    of_test = groups[groups["image"].isin(coded["test"].ids)]
    return Result(line, trained, measure_accuracies(trained.predictions, of_test))


def measure_accuracies(predictions: pd.DataFrame, groups: pd.DataFrame) -> dict[str, float]:
    """Accuracies of a run, from 0 to 1.

    Returns
    -------
    dict of str to float
        ``cb``: mean over groups of class, background and thing. ``worst``: of the worst of them.
        ``ood``: over the images whose background and thing are both the other class's. ``id``: over
        those whose both are their own class's, as in most training images.
    """
    of_images = predictions.merge(groups, on="image")
    common = of_images[(of_images[list(SHORTCUTS.names)] == COMMON).all(axis=1)]
    with_counts = predictions.assign(n=1.0)
    return {
        "cb": float(balanced_accuracy(with_counts, groups)["value"].iloc[0]),
        "worst": float(worst_group(with_counts, groups)["value"].iloc[0]),
        "ood": float(out_of_distribution(with_counts, groups)["value"].iloc[0]),
        "id": float((common["predicted"] == common["class_name"]).mean()),
    }


def run_table(results: Sequence[Result], seed: int) -> pd.DataFrame:
    """A row a line: ``seed``, ``training`` (its title), ``images``, and the accuracies."""
    return pd.DataFrame(
        [
            {
                "seed": seed,
                "training": result.line.title,
                "images": result.trained.record["training_images"],
                **result.accuracies,
            }
            for result in results
        ]
    )


def summarise(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean and spread over the seeds.

    Returns
    -------
    pandas.DataFrame
        A row a line, in the order of the runs: ``training``, ``images``, and for each of `MEASURES`
        the mean in per cent, and under ``cb_sd`` and so on the standard deviation over the seeds
        (of a sample; NaN for one seed), in points.
    """
    grouped = runs.groupby("training", sort=False)
    summary = grouped["images"].mean().round().astype(int).to_frame()
    for name in MEASURES:
        summary[name] = grouped[name].mean() * 100
        summary[f"{name}_sd"] = grouped[name].std(ddof=1) * 100
    return summary.reset_index()


def for_people(summary: pd.DataFrame) -> pd.DataFrame:
    """Format a summary for printing: ``mean ± spread``, in per cent."""
    shown: dict[str, Any] = {"trained on": summary["training"], "images": summary["images"]}
    for name, title in MEASURES.items():
        shown[title] = [
            f"{mean:.1f}" + ("" if np.isnan(spread) else f" ± {spread:.1f}")
            for mean, spread in zip(summary[name], summary[f"{name}_sd"], strict=True)
        ]
    return pd.DataFrame(shown)
