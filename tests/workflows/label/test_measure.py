"""Labels in the graph's files, measured against datasets and files."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from cobalance.annotation.annotators.annotator import Scores
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.annotation.labelling.settings import LabelSettings
from cobalance.annotation.measuring.matching import TruthAttribute
from cobalance.annotation.measuring.truth import GroundTruth
from cobalance.base.errors import ConflictError, DataError, OptionError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.annotations.attributes import ProposedAttribute, save_attributes
from cobalance.graph.annotations.runs import NewRun, create_run, end_run
from cobalance.graph.dataset.write import write_annotations
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.label.compare import compare_generator
from cobalance.workflows.label.decide import decide_labels
from cobalance.workflows.label.measure import measure_run, measure_vocabulary, truth_of_dataset

SCORES = {"sky": [0.9, 0.4, 0.6, 0.1], "o'sea {x}": [0.1, 0.2, 0.3, 0.9]}


@pytest.fixture
def folder(tmp_path):
    return OutputFolder(str(tmp_path))


def label(store, dataset, folder, model="m", **changes):
    settings = LabelSettings.read(
        {
            "annotator": "owlv2",
            "level": "object",
            "attributes": [{"category": "", "concept": n, "caption": n} for n in SCORES],
            "rule": "threshold",
            "threshold": 0.5,
            "images": 4,
            "chunk_images": 3,
            **changes,
        }
    )
    new = NewRun("label", model, settings.model_dump(mode="json"))
    create_run(store, dataset, new)
    files = ScoreFiles(folder, new.id)
    ids = [f"{at}" for at in range(4)]
    uris = [f"{one}.png" for one in ids]
    files.write_images(pa.table({"id": ids, "uri": uris, "synthetic": [False] * 4}))
    matrix = np.array(list(SCORES.values()), np.float32).T
    files.write_scores(0, ids[:3], Scores(matrix[:3]))
    files.write_scores(1, ids[3:], Scores(matrix[3:]))
    end_run(store, new.id)
    return new.id


@pytest.fixture
def run(store, dataset, folder):
    shown = [("sky",), ("sky", "o'sea {x}"), (), ("o'sea {x}",)]
    records = [
        ImageRecord(f"{at}", "bird", tuple(Mention(name) for name in names), uri=f"{at}.png")
        for at, names in enumerate(shown)
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="test")
    return label(store, dataset, folder)


def test_a_run_is_measured_against_a_dataset(store, dataset, folder, run):
    found = measure_run(store, folder, run, truth_of_dataset(store, dataset))
    table = found.scores.set_index("concept")
    assert table.loc["sky", ["auc", "precision", "recall", "f1"]].tolist() == [0.75, 0.5, 0.5, 0.5]
    assert table.loc["o'sea {x}", "auc"] == 0.75
    assert found.macro["auc"] == (0.75, 2, 0)
    assert found.macro["precision"].value == 0.75
    assert found.unmatched_images == 0
    before = truth_of_dataset(store, dataset).shows
    decide_labels(store, folder, run, "accepted")
    assert truth_of_dataset(store, dataset).shows.equals(before)  # no truth that a model found


def test_a_run_is_measured_against_files_and_opposites(store, folder, run):
    shows = pd.DataFrame({"No_Sky": [0.0, 0.0, 1.0]}, index=["x/0.png", "1", "2.jpg"])
    found = measure_run(store, folder, run, GroundTruth(shows))
    assert found.scores["truth"].tolist() == ["not No_Sky"]
    assert found.scores["auc"].tolist() == [0.5]
    assert (found.unmatched_images, found.unmatched_concepts) == (1, ("o'sea {x}",))
    with pytest.raises(DataError, match="No concept"):
        measure_run(store, folder, run, GroundTruth(shows.rename(columns={"No_Sky": "x"})))
    with pytest.raises(DataError, match="No image"):
        measure_run(store, folder, run, GroundTruth(shows.set_axis(["u", "v", "w"])))
    with pytest.raises(DataError, match="no ground truth is for"):
        measure_run(store, folder, run, GroundTruth(shows), {"sky": TruthAttribute("Sea")})


def test_what_was_proposed_is_measured_by_spelling(store, dataset, run):
    proposal = create_run(store, dataset, NewRun("propose", "m", {}))
    attributes = [ProposedAttribute("c", name, "image", name) for name in ("Blue-Bill", "red bill")]
    save_attributes(store, proposal, attributes)
    found = measure_vocabulary(store, dataset, ["blue_bill", "zzz"])
    assert (found.proposed, found.known, found.recall) == (2, 2, 0.5)
    assert (found.dimension, found.fraction) == (1, 0.5)


def test_a_generated_dataset_is_compared_with_its_training_set(store, dataset, folder, run):
    found = compare_generator(store, folder, dataset, dataset).table
    assert found[["category", "attribute", "real"]].to_numpy().tolist() == [
        ["concepts", "o'sea {x}", 50],
        ["concepts", "sky", 50],
    ]
    assert found["difference"].tolist() == [0, 0]
    both = compare_generator(
        store, folder, dataset, dataset, real_run=run, generated_run=run
    )  # as labelled: sky in two, o'sea in one of four
    assert dict(zip(both.table["attribute"], both.table["real"], strict=True)) == {
        "sky": 50,
        "o'sea {x}": 25,
    }
    with pytest.raises(OptionError, match="a run of each"):
        compare_generator(store, folder, dataset, dataset, real_run=run)
    with pytest.raises(OptionError, match="does not label"):
        compare_generator(store, folder, dataset, "other", real_run=run, generated_run=run)
    assert both.notes == ()
    changed = create_run(store, dataset, NewRun("label", "m", {}), tasks=[{"chunk": 0}])
    with pytest.raises(ConflictError, match="is queued"):
        compare_generator(store, folder, dataset, dataset, real_run=run, generated_run=changed)
    proposed = create_run(store, dataset, NewRun("propose", "m", {}))
    with pytest.raises(OptionError, match="by scores"):
        compare_generator(store, folder, dataset, dataset, real_run=run, generated_run=proposed)


def test_what_else_may_make_a_difference_is_said(store, dataset, folder, run):
    other = label(store, dataset, folder, model="n", threshold=0.95)
    both = {"real_run": run, "generated_run": other}
    found = compare_generator(store, folder, dataset, dataset, **both)
    assert found.table["generated"].tolist() == [0, 0]
    (note,) = found.notes
    assert "label differently (model, threshold)" in note
    poor = f"{dataset} renamed"
    only = [ImageRecord("0", "bird", (Mention("=sea"), Mention("sky")))]
    write_annotations(store, poor, Annotations.from_records(only), source="test")
    found = compare_generator(store, folder, dataset, poor)
    assert [note.partition(", and")[0] for note in found.notes] == [
        f"Only in {dataset!r}", f"Only in {poor!r}"
    ]  # fmt: skip
    assert [note.rpartition(": ")[2] for note in found.notes] == ["o'sea {x}.", "=sea."]
