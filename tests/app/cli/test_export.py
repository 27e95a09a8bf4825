"""Results from the command line: real files and objects, two rounds, and what is not there."""

import json
import os
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cobalance.annotation.annotators.linear_probe import LinearProbe
from cobalance.base.records import PlannedQuery
from cobalance.generation.planning.plan import Plan, PlanOptions
from cobalance.generation.planning.plan_file import plan_to_json
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.jobs.lifecycle import cancel_job

SMALL = ("--set", "making.width_px=48", "--set", "making.height_px=48", "--filter", "none")
SQUARE = [[8, 8, 40, 8, 40, 40, 8, 40]]
CATEGORIES = ("cat", "dog", "sofa", "grass")


@pytest.fixture
def environment(environment, tmp_path):
    return environment | {"COBALANCE_IMAGES": str(tmp_path / "photos")}


def coco(numbers, class_name, folder):
    """Photographs of a class: each with its outline and a sofa, every other one with grass."""
    annotations = []
    for number in numbers:
        Image.effect_noise((48, 48), number).convert("RGB").save(folder / f"{number}.png")
        shown = {class_name: {"segmentation": SQUARE}, "sofa": {"bbox": [1, 2, 20, 10]}}
        if number % 2:
            shown["grass"] = {"bbox": [0, 30, 48, 18]}
        annotations += [
            {"image_id": number, "category_id": CATEGORIES.index(name), **where}
            for name, where in shown.items()
        ]
    images = [{"id": n, "file_name": f"{n}.png", "width": 48, "height": 48} for n in numbers]
    names = [{"id": number, "name": name} for number, name in enumerate(CATEGORIES)]
    return {"images": images, "annotations": annotations, "categories": names}


@pytest.fixture
def pets(run, store, dataset, tmp_path):
    """Cats for testing and dogs for training, mined."""
    (tmp_path / "photos").mkdir()
    for split, class_name, numbers in (("test", "cat", range(1, 5)), ("train", "dog", range(5, 9))):
        file = tmp_path / f"{split}.json"
        file.write_text(json.dumps(coco(numbers, class_name, tmp_path / "photos")))
        classes = ("--class-category", "cat", "--class-category", "dog")
        options = (*classes, "--assign-split", split, "--if-exists", "append")
        run("ingest", file, "--dataset", dataset, *options)
    run("mine", dataset, "--max-size", 2)
    yield dataset
    for made in ("rebalanced", "found"):
        if find_dataset(store, f"{dataset}-{made}") is not None:
            drop_dataset(store, f"{dataset}-{made}")


@pytest.fixture
def order(run, tmp_path):
    """Order some images of a class, and give the job's id."""

    def enqueue(dataset, class_name, concepts, n):
        plan = Plan("conbias", PlanOptions(1, 1), (PlannedQuery(class_name, concepts, n),))
        (tmp_path / "plan.json").write_bytes(plan_to_json(plan))
        done = run("enqueue", dataset, "--plan-file", tmp_path / "plan.json", *SMALL)
        return done.stdout.strip()

    return enqueue


def test_two_rounds(run, store, pets, order, tmp_path, environment):
    first = order(pets, "cat", ("sofa",), 2)
    unfinished = f"Job {first} is queued: 0 of 2 images so far."
    assert unfinished in run("rebalance", first, exit_code=1).stderr
    assert unfinished in run("export", first, tmp_path / "real").stderr
    run("work", "--until-idle")
    done = run("export", first, tmp_path / "alone", "--generated-only")
    assert "so far" not in done.stderr
    table = pd.read_parquet(tmp_path / "alone" / "manifest.parquet")
    assert table["split"].tolist() == ["test", "test"]  # of the only cats there are

    here = environment["COBALANCE_OUTPUT"]
    environment["COBALANCE_OUTPUT"] = str(tmp_path / "elsewhere")
    refused = run("rebalance", first, exit_code=1).stderr
    assert f"elsewhere has 0 of the 2 accepted images of job {first}. Name the folder" in refused
    assert f"{pets}-rebalanced" not in run("datasets", "list").stdout
    environment["COBALANCE_OUTPUT"] = here
    lost = min((tmp_path / "generated" / first / "images").iterdir())
    kept = shutil.move(lost, tmp_path / "lost.png")
    refused = run("rebalance", first, exit_code=1).stderr
    assert f"has 1 of the 2 accepted images of job {first}." in refused
    assert f"such as {first}/images/{lost.name}" in refused
    shutil.move(kept, lost)
    assert "so far" not in run("rebalance", first).stderr

    def annotated(*options, exit_code=0):
        return run("rebalance", first, "--into", f"{pets}-found", *options, exit_code=exit_code)

    assert "Name it with --annotator" in annotated("--set", "threshold=1", exit_code=2).stderr
    probe, linear = tmp_path / "probe.npz", ("--annotator", "linear-probe")
    LinearProbe(("sofa", "grass"), 2, np.zeros((2, 36)), np.array([3.0, -3.0])).save(probe)
    bad = annotated(*linear, "--set", "threshold=2", exit_code=2).stderr
    assert "The annotator linear-probe: threshold is 2" in bad
    annotated(*linear, "--set", f"model={probe}", "--set", "threshold=0.01")  # 0.5 by default
    rows = store.read(
        "MATCH (:Image {dataset: $d, synthetic: true})-[:CONTAINS]->(c:Concept) "
        "RETURN DISTINCT c.name AS name",
        d=f"{pets}-found",
    )
    assert {row["name"] for row in rows} == {"sofa", "grass"}

    second = order(f"{pets}-rebalanced", "dog", ("grass",), 1)
    run("work", "--until-idle")
    done = run("export", second, tmp_path / "out", "--as", "coco")
    assert "8 real images, 3 generated images" in done.stdout
    table = pd.read_parquet(tmp_path / "out" / "manifest.parquet")
    made = table[table["synthetic"]].reset_index(drop=True)
    assert made["label"].value_counts().to_dict() == {"cat": 2, "dog": 1}
    assert dict(zip(made["label"], made["split"], strict=True)) == {"cat": "test", "dog": "train"}
    origin = pd.read_parquet(tmp_path / "out" / "generated.parquet")
    assert set(origin["candidate"]) == set(made["image_id"])
    assert origin["job"].value_counts().to_dict() == {first: 2, second: 1}
    earlier = pd.read_parquet(tmp_path / "generated" / first / "manifest.parquet")
    both = earlier.merge(origin, on="candidate", suffixes=("_then", ""))
    for name in ("sha256", "seed", "prompt", "source_image", "model", "made_at"):
        assert both[name].equals(both[f"{name}_then"]), name
    assert both["concepts"].map(list).tolist() == [["sofa"]] * 2
    for path, digest in zip(origin["path"], origin["sha256"], strict=True):
        assert digest in set(made["sha256"])
        assert (tmp_path / "out" / path).is_file()
    card = (tmp_path / "out" / "README.md").read_text()
    assert "| all |  | 8 | 3 | 11 |" in card
    assert "- 8 real images with objects" in card
    assert "- 3 generated images with objects" in card
    for split in ("train", "test"):
        said = json.loads(
            (tmp_path / "out" / "annotations" / f"instances_{split}.json").read_text()
        )
        assert {category["name"] for category in said["categories"]} == {"sofa", "grass"}
        for image in said["images"]:
            assert image["cobalance"]["synthetic"] == ("generated" in image["cobalance"])

    done = run("export", second, tmp_path / "alone of both", "--generated-only")
    assert "0 real images, 3 generated images" in done.stdout
    assert "8 real images" in run("export", second, tmp_path / "weights", "--as", "weights").stdout
    again = run("export", second, tmp_path / "out", "--as", "coco")
    assert "8 real images, 3 generated images" in again.stdout
    refused = run("export", first, tmp_path / "out", "--as", "coco", exit_code=1).stderr
    assert re.search(rf"is another export: job {second}, .*--overwrite", refused)

    lost.unlink()
    refused = run("export", second, tmp_path / "out", "--as", "coco", exit_code=1).stderr
    assert "Put the file back that was there when it was made" in refused
    done = run("export", second, tmp_path / "out", "--as", "coco", "--skip-missing")
    assert "8 real images, 2 generated images, 1 generated image left out" in done.stdout
    shutil.rmtree(tmp_path / "generated" / first)
    refused = run("export", second, tmp_path / "out", "--as", "coco", exit_code=1).stderr
    assert f"has 0 of the 2 generated images that the dataset has from job {first}." in refused
    os.replace(tmp_path / "generated" / second, tmp_path / "generated" / "moved")
    refused = run("export", second, tmp_path / "out", "--as", "coco", exit_code=1).stderr
    assert f"has 0 of the 1 accepted images of job {second}." in refused


def test_a_job_that_ended_early_says_so(run, pets, order, store, tmp_path):
    job = order(pets, "cat", ("sofa",), 2)
    cancel_job(store, job)
    done = run("export", job, tmp_path / "out")
    assert f"Job {job} is cancelled: 0 of 2 images so far." in done.stderr
    assert "8 real images, 0 generated images" in done.stdout
