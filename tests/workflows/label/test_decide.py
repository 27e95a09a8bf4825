"""Whatever happens to runs and their dataset, the diagnosis is that of what is accepted now."""

from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pytest

from cobalance.annotation.annotators.annotator import Scores
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.annotation.labelling.settings import LabelledAttribute, LabelSettings
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.cliques import mine_cliques
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.annotations.runs import NewRun, create_run, decide_run, end_run, list_runs
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.read import load_incidence
from cobalance.graph.dataset.write import write_annotations
from cobalance.vision.stored.output_folder import OutputFolder, OutputMissingError
from cobalance.workflows.label.decide import change_thresholds, decide_labels, delete_annotations
from cobalance.workflows.load.dataset import drop_dataset, load_dataset, rename_dataset

OWN = ("cow", "o'hare {x}", "sky")
LOOKED_FOR = ("sky", "</script>", "cow", "sky")
OUTLINE = '{"size": [2, 2], "counts": [1, 3]}'


class World:
    """A dataset with runs, and what it should hold by plain sets."""

    def __init__(self, store, settings, folder, dataset, seed):
        self.store, self.settings, self.folder = store, settings, folder
        self.names, self.random = [dataset, f"{dataset} renamed"], Random(seed)
        self.records = [self.image(at) for at in range(12)]
        self.own = Annotations.from_records(self.records)
        self.runs = {}
        self.load()

    @property
    def name(self):
        return self.names[0]

    def image(self, at):
        mentions = [
            Mention(name, box=(1.5, 2, 3, 4), area_px2=0.1, segmentation=OUTLINE, crowd=at % 5 == 0)
            for name in OWN
            for _ in range(self.random.choice([0, 0, 1, 2]))
        ]
        mentions += [Mention("tree", "caption", 0.5)] * self.random.choice([0, 1])
        return ImageRecord(f"{at}", "ab"[at % 2], tuple(mentions), split="train", width_px=at + 1)

    def load(self):
        load_dataset(self.store, self.settings.folders(), self.name, self.own, source="a test")

    def load_interrupted(self):
        write_annotations(self.store, self.name, self.own, source="a test")
        self.load()

    def load_afresh(self):
        drop_dataset(self.store, self.settings.folders(), self.name)
        self.runs = {}
        self.load()

    def label(self):
        """Add a run over some images of the dataset, and one that it does not have."""
        draw = np.random.default_rng(self.random.randrange(1000))
        ids = [f"{at}" for at in range(3, 14)]
        matrix = draw.choice(np.float32([0, 0.2, 0.5, 1]), (len(ids), len(LOOKED_FOR)))
        matrix[2] = np.nan
        settings = LabelSettings(
            annotator="extract",
            attributes=[LabelledAttribute(category="", concept=n, caption=n) for n in LOOKED_FOR],
            rule="threshold",
            threshold=0.5,
            images=len(ids),
            chunk_images=6,
        )
        new = NewRun("label", "o'model {x}", settings.model_dump(mode="json"))
        run = create_run(self.store, self.name, new)
        files = ScoreFiles(self.folder, run)
        for chunk, start in enumerate(range(0, len(ids), 6)):
            part = slice(start, start + 6)
            files.write_scores(chunk, ids[part], Scores(matrix[part], None, len(self.runs) % 2 > 0))
        end_run(self.store, run)
        self.runs[run] = {"scores": dict(zip(ids, matrix, strict=True)), "limit": 0.5, "in": False}

    def accept(self):
        run = self.random.choice(list(self.runs))
        decide_labels(self.store, self.folder, run, "accepted")
        self.runs[run]["in"] = True

    def reject(self):
        run = self.accepted()
        decide_labels(self.store, self.folder, run, "rejected")
        self.runs[run]["in"] = False

    def accepted(self):
        return self.random.choice([run for run, of in self.runs.items() if of["in"]])

    def change(self):
        run = self.random.choice(list(self.runs))
        limit = self.random.choice([0, 0.2, 0.5, 1, 1.5])
        change_thresholds(self.store, self.folder, run, threshold=limit)
        self.runs[run]["limit"] = limit

    def reject_interrupted(self):
        """Killed after it was decided, and before the labels are derived anew."""
        run = self.accepted()
        decide_run(self.store, run, "rejected")
        self.delete(run)

    def delete(self, run=None):
        rejected = [run for run, of in self.runs.items() if not of["in"]]
        if run is None and not rejected:
            return
        run = run or self.random.choice(rejected)
        delete_annotations(self.store, self.folder, run)
        del self.runs[run]

    def rename(self):
        rename_dataset(self.store, self.settings.folders(), *self.names)
        self.names.reverse()

    def shows(self, record):
        found = {mention.concept for mention in record.mentions}
        for run in self.runs.values():
            if run["in"] and record.id in run["scores"]:
                row = run["scores"][record.id]
                found |= {n for n, s in zip(LOOKED_FOR, row, strict=True) if s >= run["limit"]}
        return found

    def expected(self):
        return Counter(
            (clique, record.class_name)
            for record in self.records
            for size in (1, 2)
            for clique in combinations(sorted(self.shows(record)), size)
        )

    def counted(self):
        incidence = load_incidence(self.store, self.name)
        return counts_of(mine_cliques(incidence, max_size=2, common=()))

    def mined(self):
        options = MiningOptions(max_size=2, common=())
        mine_dataset(self.store, self.name, options, max_cliques=1000)
        return counts_of(load_cliques(self.store, self.name))


@pytest.fixture
def world(store, settings, dataset, tmp_path):
    places = {"cobalance_home": tmp_path, "cobalance_output": str(tmp_path)}
    own = settings.model_copy(update=places)
    return World(store, own, OutputFolder(str(tmp_path)), dataset, 0)


def counts_of(cliques):
    return Counter(
        {
            (tuple(cliques.concepts[at] for at in members if at >= 0), class_name): int(count)
            for members, counts in zip(cliques.members, cliques.counts, strict=True)
            for class_name, count in zip(cliques.classes, counts, strict=True)
            if count
        }
    )


def test_the_diagnosis_is_that_of_what_is_accepted(store, world):
    former = world.mined()
    steps = [world.load, world.load_interrupted, world.load_afresh, world.change, world.delete,
             world.reject_interrupted, world.rename, world.reject]  # fmt: skip
    world.random.shuffle(steps)
    for step in steps:
        while len(world.runs) < 2:
            world.label()
        world.accept()
        assert world.counted() == world.expected()
        step()
        assert world.counted() == world.expected(), step
    assert world.mined() == world.expected()
    for run in world.runs:
        decide_labels(store, world.folder, run, "rejected")
    assert world.mined() == former
    report = write_annotations(store, world.name, world.own, source="a test")
    assert (report.created, report.updated, report.unchanged) == (0, 0, len(world.records))
    assert not any(run.outdated for run in list_runs(store, world.name))


def test_a_run_without_its_scores_is_not_accepted(store, world, tmp_path):
    world.label()
    (tmp_path / "annotations" / next(iter(world.runs)) / "scores/part-000001.parquet").unlink()
    with pytest.raises(OutputMissingError, match=r"1 of 2 chunks, such as .*part-000001"):
        world.accept()
    assert [run.state for run in list_runs(store, world.name)] == ["done"]
    world.load()
    assert world.counted() == world.expected()
