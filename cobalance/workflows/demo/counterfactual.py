"""Counterfactual demonstration: each picture with each group in it, the best of six kept.

The recipe ``resampled`` from end to end on drawn figures (`cobalance.workflows.demo.scenes`), by
the backend that needs no model: captions are edited, images planned, made in the real queue,
ranked, and put beside or in place of the real ones. Then every set of things is equally frequent in
all groups.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cobalance.generation.export import ExportOptions, ExportReport
from cobalance.generation.output.job_manifest import read_job_manifest
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.mining_options import MiningOptions
from cobalance.graph.dataset.plans import read_plan
from cobalance.graph.errors import CobalanceError
from cobalance.graph.jobs.status import Job, read_job
from cobalance.graph.private_files import make_folder
from cobalance.graph.progress import Progress, silent
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.workflows.demo.counts import Counts, ask, count_by_cypher, count_by_kernel
from cobalance.workflows.demo.figures import CAPTIONS, INSTANCES, write_figures
from cobalance.workflows.demo.runs import (
    check_leftovers,
    earlier_job,
    output_folder,
    pictures_folder,
    prefix_of,
    queue_url,
)
from cobalance.workflows.demo.scenes import GROUPS, NAME, make_scenes
from cobalance.workflows.export.job import export_job
from cobalance.workflows.load.dataset import load_dataset
from cobalance.workflows.merge import RebalancedDataset, merge_job
from cobalance.workflows.order.job import order_plan
from cobalance.workflows.order.settings import check_settings
from cobalance.workflows.plan.edits import CounterfactualPlan, plan_counterfactual_dataset
from cobalance.workflows.settings import Settings
from cobalance.workflows.work.run import run_here

RECIPE = "resampled"
SEED = "demo-counterfactual"
CONSENT = "The figures are drawn by a program; nobody is depicted."
MAKING: Mapping[str, Any] = {
    "backend": "procedural",
    "making": {"paint": "object", "mistakes": 0.2},
    "masks": {"masks": "regions", "object": list(GROUPS)},
    "segmenter": None,
    "filters": {"sanity": {}, "same_colours": {}},
    "rank_by": {"same_colours": 1.0},
    "best_of": 6,
}
"""What differs from the recipe: nothing that needs a model, and six candidates, not thirty."""
DATASETS: Mapping[str, str] = {"all": f"{NAME}-augmented", "none": f"{NAME}-synthetic"}
"""The datasets that are made, by which real images they have."""
EXPORT = f"{NAME}-export"

_SHOWN = 3  # rows of twins, and of edited captions


@dataclass(frozen=True)
class Outcome:
    """A dataset that was made, and what is counted in it.

    Parameters
    ----------
    merged : RebalancedDataset
        Its name, and how many images it has and does not have.
    counts : mapping
        Counts by the kernel.
    by_cypher : mapping
        The same, counted by the database from the images.
    unpaired : int
        Edited images that lack a group, by the query ``unpaired-counterfactuals``.
    """

    merged: RebalancedDataset
    counts: Counts
    by_cypher: Counts
    unpaired: int

    @property
    def unequal(self) -> list[tuple[str, ...]]:
        """Sets of things that are not equally frequent in all groups, by either count."""
        return [
            names
            for names in sorted({*self.counts, *self.by_cypher})
            if (found := self.counts.get(names, {})) != self.by_cypher.get(names)
            or len(set(found.values())) != 1
        ]


@dataclass(frozen=True)
class Mistakes:
    """Candidates, those with a planted mistake, and the same of those that were chosen."""

    candidates: int
    flawed: int
    chosen: int
    chosen_flawed: int


@dataclass(frozen=True)
class CounterfactualDemo:
    """Results of each step.

    Parameters
    ----------
    images : int
        In the dataset.
    planned : CounterfactualPlan
        What was planned, and which images were left out.
    job : Job
        Ended.
    mistakes : Mistakes
        What choosing the best has avoided.
    before : mapping
        Counts of the dataset itself.
    outcomes : mapping of str to Outcome
        By which real images the dataset has: ``all`` or ``none``.
    twins : pandas.DataFrame
        The first rows of the query ``counterfactual-twins``.
    captions : pandas.DataFrame
        Some captions, as they were and edited to each group.
    exported : Path
        Folder of the export.
    report : ExportReport
        Of the export.
    """

    images: int
    planned: CounterfactualPlan
    job: Job
    mistakes: Mistakes
    before: Counts
    outcomes: Mapping[str, Outcome]
    twins: pd.DataFrame
    captions: pd.DataFrame
    exported: Path
    report: ExportReport


def run_counterfactual_demo(
    store: GraphStore, settings: Settings, *, progress: Progress = silent
) -> CounterfactualDemo:
    """Run the demonstration; the dataset and the job of an earlier run are used again.

    Raises
    ------
    OptionError
        The output folder is not on this machine.
    ConflictError
        A dataset that was made of the figures exists without them.
    CobalanceError
        The job failed.
    MissingExtraError
        scikit-image or scikit-learn, whose photographs are used, is not installed.
    """
    make_folder(output_folder(settings))
    check_leftovers(store, dict.fromkeys(DATASETS.values(), NAME))
    images = _load(store, settings, progress)
    planned = plan_counterfactual_dataset(
        store, settings.folders().captions, NAME, RECIPE, progress=progress
    )
    job = _make(store, settings, progress)
    before = count_by_kernel(store, NAME)
    outcomes = {real: _merge(store, settings, job, real, progress) for real in DATASETS}
    exported = output_folder(settings) / "demo" / EXPORT
    report = export_job(
        store,
        settings.folders(),
        job,
        "coco",
        exported,
        ExportOptions(overwrite=True),
        result={"real": "all"},
        progress=progress,
    )
    twins = ask(store, "counterfactual-twins", DATASETS["all"], limit=_SHOWN)
    mistakes = _count_mistakes(store, settings, job)
    captions = _edited_captions(planned)
    return CounterfactualDemo(
        images, planned, job, mistakes, before, outcomes, twins, captions, exported, report
    )


def _load(store: GraphStore, settings: Settings, progress: Progress) -> int:
    """Draw the pictures, load them with their captions, and mine them; return how many."""
    folder = pictures_folder(settings, NAME)
    scenes = make_scenes()
    progress("draw pictures", 0, len(scenes))
    write_figures(folder, scenes, prefix=prefix_of(NAME))
    progress("draw pictures", len(scenes), len(scenes))
    options = ReadOptions(
        class_category={group: group for group in GROUPS},
        captions=folder / CAPTIONS,
        split="train",
    )
    load_dataset(
        store,
        settings.folders(),
        NAME,
        read_annotations(folder / INSTANCES, options),
        source=INSTANCES,
        replace=True,
        progress=progress,
    )
    mine_dataset(store, NAME, MiningOptions(), max_cliques=10_000, progress=progress)
    return len(scenes)


def _make(store: GraphStore, settings: Settings, progress: Progress) -> Job:
    """Order the plan's images, or resume the job of an earlier run, and work until it has ended."""
    job = earlier_job(store, NAME, SEED)
    if job is None:
        wanted = {"recipe": RECIPE, "consent": CONSENT, "seed": SEED, **MAKING}
        queries = read_plan(store, NAME, RECIPE)
        places = settings.folders().image_roots()
        checked = check_settings(wanted)
        job = order_plan(store, NAME, RECIPE, queries, checked, progress, places=places)
    run_here(
        settings,
        [job],
        queue_url(settings),
        lambda _job, done, total: progress("make images", done, total),
    )
    ended = read_job(store, job)
    if ended.state != "done":
        raise CobalanceError(
            f"Job {job} is {ended.state}, and not done. {ended.error} When that is mended, run the "
            "demonstration again; it goes on from there."
        )
    return ended


def _merge(
    store: GraphStore, settings: Settings, job: Job, real: str, progress: Progress
) -> Outcome:
    """Make a dataset, and count in it twice."""
    name = DATASETS[real]
    merged = merge_job(
        store, settings.folders(), job, name, result={"real": real}, progress=progress
    )
    unpaired = len(ask(store, "unpaired-counterfactuals", name))
    return Outcome(merged, count_by_kernel(store, name), count_by_cypher(store, name), unpaired)


def _count_mistakes(store: GraphStore, settings: Settings, job: Job) -> Mistakes:
    manifest = read_job_manifest(store, settings.folders().open_output(), job.id)
    flawed = manifest["settings"].map(lambda text: "mistake" in json.loads(text))
    chosen = manifest["verdict"] == "accepted"
    return Mistakes(len(manifest), int(flawed.sum()), int(chosen.sum()), int(flawed[chosen].sum()))


def _edited_captions(planned: CounterfactualPlan) -> pd.DataFrame:
    """The prompts' captions of the first sources, one column a group."""
    sources = planned.selection.sources.head(_SHOWN)
    return pd.DataFrame(
        {
            "image": sources["id"],
            "class": sources["class_name"],
            **{group: [of[group] for of in sources["caption"]] for group in GROUPS},
        }
    )
