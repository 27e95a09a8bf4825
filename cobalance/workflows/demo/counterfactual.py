"""Counterfactual demonstration: each picture with each group in it, the best of six kept.

The recipe ``resampled`` from end to end on drawn figures
(`cobalance.workflows.demo.figure_scenes`), by the backend that needs no model: captions are edited,
images planned, made in the real queue, ranked, and put beside or in place of the real ones. Then
every set of things is equally frequent in all groups.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cobalance.base import Progress, silent
from cobalance.counting import MiningOptions, mine_cliques
from cobalance.generation import ExportOptions, ExportReport
from cobalance.generation.output.job_manifest import read_job_manifest
from cobalance.graph import (
    MAX_SIZE,
    GraphStore,
    Job,
    load_incidence,
    mine_dataset,
    read_job,
    read_saved,
)
from cobalance.ingest import ReadOptions, read_annotations
from cobalance.workflows.demo.draw_figures import CAPTIONS, INSTANCES, write_figures
from cobalance.workflows.demo.figure_scenes import GROUPS, NAME, make_scenes
from cobalance.workflows.demo.runner import Runner, prefix_of
from cobalance.workflows.export import export_job
from cobalance.workflows.load.dataset import load_dataset
from cobalance.workflows.plan import CounterfactualPlan, plan_counterfactual_dataset
from cobalance.workflows.rebalance import RebalancedDataset, rebalance_job
from cobalance.workflows.settings import Settings

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

EVERY = "all pictures"
"""What shows the empty set of things."""

Counts = Mapping[tuple[str, ...], Mapping[str, int]]
"""Images of each group by what they show; the empty set is shown by all."""

# Rows of twins, and of edited captions.
_SHOWN = 3


@dataclass(frozen=True)
class Outcome:
    """A dataset that was made, and its counts, by the kernel and by the database from the images.

    `unpaired` are edited images that lack a group, by the query ``unpaired-counterfactuals``.
    """

    merged: RebalancedDataset
    counts: Counts
    by_cypher: Counts
    unpaired: int

    @property
    def unequal(self) -> list[tuple[str, ...]]:
        """Sets of things that are not equally frequent in all groups, by either count."""
        unequal = []
        for names in sorted({*self.counts, *self.by_cypher}):
            counts = self.counts.get(names, {})
            if counts != self.by_cypher.get(names) or len(set(counts.values())) != 1:
                unequal.append(names)
        return unequal


@dataclass(frozen=True)
class Mistakes:
    """Counts of candidates and chosen ones, each also with a planted mistake."""

    candidates: int
    flawed: int
    chosen: int
    chosen_flawed: int


@dataclass(frozen=True)
class CounterfactualDemo:
    """Results of each step.

    `images` and `before` are the size and the counts of the dataset itself, `outcomes` those of
    what was made, by which real images it has (``all`` or ``none``). `twins` are the first rows of
    the query ``counterfactual-twins``, `captions` some as they were and edited to each group;
    `exported` is the folder of the export.
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
    runner = Runner(store, settings, progress)
    runner.check_leftovers(dict.fromkeys(DATASETS.values(), NAME))
    images = _load(runner)
    planned = plan_counterfactual_dataset(
        store, runner.folders.captions, NAME, RECIPE, progress=progress
    )

    settings_of_job = {"recipe": RECIPE, "consent": CONSENT, "seed": SEED, **MAKING}
    ordered = runner.order(NAME, RECIPE, settings_of_job)
    (job,) = runner.run(
        read_job, [ordered], lambda _, done, total: progress("make images", done, total)
    )
    before = count_by_kernel(store, NAME)
    outcomes = {real: _merge(runner, job, real) for real in DATASETS}

    exported = runner.place / "demo" / EXPORT
    report = export_job(
        store,
        runner.folders,
        job,
        "coco",
        exported,
        ExportOptions(overwrite=True),
        result={"real": "all"},
        progress=progress,
    )
    return CounterfactualDemo(
        images=images,
        planned=planned,
        job=job,
        mistakes=_count_mistakes(runner, job),
        before=before,
        outcomes=outcomes,
        twins=read_saved(store, "counterfactual-twins", dataset=DATASETS["all"], limit=_SHOWN),
        captions=_edited_captions(planned),
        exported=exported,
        report=report,
    )


def _load(runner: Runner) -> int:
    """Draw the pictures, load them with their captions, and mine them; return how many."""
    folder, progress = runner.pictures(NAME), runner.progress
    scenes = make_scenes()
    progress("draw pictures", 0, len(scenes))
    write_figures(folder, scenes, prefix=prefix_of(NAME))
    progress("draw pictures", len(scenes), len(scenes))

    groups = dict(zip(GROUPS, GROUPS, strict=True))
    options = ReadOptions(class_category=groups, captions=folder / CAPTIONS, split="train")
    load_dataset(
        runner.store,
        runner.folders,
        NAME,
        read_annotations(folder / INSTANCES, options),
        source=INSTANCES,
        if_exists="replace",
        demo=True,
        progress=progress,
    )

    mine_dataset(runner.store, NAME, MiningOptions(), max_cliques=10_000, progress=progress)
    return len(scenes)


def _merge(runner: Runner, job: Job, real: str) -> Outcome:
    """Make a dataset, and count in it twice."""
    name = DATASETS[real]
    merged = rebalance_job(
        runner.store, runner.folders, job, name, result={"real": real}, progress=runner.progress
    )
    unpaired = len(read_saved(runner.store, "unpaired-counterfactuals", dataset=name))
    counts = count_by_kernel(runner.store, name)
    return Outcome(merged, counts, count_by_cypher(runner.store, name), unpaired)


def count_by_kernel(store: GraphStore, dataset: str) -> Counts:
    """Count every set of things that some image shows whole, by the mining kernel."""
    incidence = load_incidence(store, dataset)
    cliques = mine_cliques(incidence, max_size=MAX_SIZE, common=())
    counts: dict[tuple[str, ...], Mapping[str, int]] = {(): cliques.class_images()}
    for names, of_classes in zip(cliques.names(), cliques.counts.tolist(), strict=True):
        counts[tuple(sorted(names))] = dict(zip(cliques.classes, of_classes, strict=True))
    return counts


def count_by_cypher(store: GraphStore, dataset: str) -> Counts:
    """Count every set of things that all groups show, by the database from the images."""
    sizes = read_saved(store, "classes", dataset=dataset)
    counts: dict[tuple[str, ...], Mapping[str, int]] = {
        (): dict(zip(sizes["class"], sizes["images"].astype(int), strict=True))
    }

    for size in range(1, MAX_SIZE + 1):
        rows = read_saved(store, f"imbalances-from-images-{size}", dataset=dataset)
        for names, of_groups in zip(rows["concepts"], rows["counts"], strict=True):
            counts[tuple(sorted(names))] = {group: int(n) for group, n in of_groups}
    return counts


def count_table(demo: CounterfactualDemo) -> pd.DataFrame:
    """Images of each group by the things in them, in all datasets."""
    counts = {NAME: demo.before}
    for real, outcome in demo.outcomes.items():
        counts[DATASETS[real]] = outcome.counts
    sets = sorted(
        set[tuple[str, ...]]().union(*counts.values()), key=lambda names: (len(names), names)
    )

    rows = []
    for names in sets:
        row = {"show": " + ".join(names) or EVERY}
        for dataset, of_dataset in counts.items():
            of_groups = of_dataset.get(names, {})
            row[dataset] = " : ".join(str(of_groups.get(group, 0)) for group in GROUPS)
        rows.append(row)
    return pd.DataFrame(rows)


def _count_mistakes(runner: Runner, job: Job) -> Mistakes:
    manifest = read_job_manifest(runner.store, runner.output, job.id)
    flawed = manifest["settings"].map(lambda text: "mistake" in json.loads(text))
    chosen = manifest["verdict"] == "accepted"

    return Mistakes(
        candidates=len(manifest),
        flawed=int(flawed.sum()),
        chosen=int(chosen.sum()),
        chosen_flawed=int(flawed[chosen].sum()),
    )


def _edited_captions(planned: CounterfactualPlan) -> pd.DataFrame:
    """The prompts' captions of the first sources, one column a group."""
    sources = planned.selection.sources.head(_SHOWN)
    table = sources[["id", "class_name"]].set_axis(["image", "class"], axis="columns")
    for group in GROUPS:
        table[group] = [captions[group] for captions in sources["caption"]]
    return table
