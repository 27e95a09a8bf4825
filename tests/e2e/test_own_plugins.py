"""Plug-ins of an installed package, and of a folder: in commands, workers, the app and Python."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import cobalance as cb
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.evaluations.reading import list_evaluations
from cobalance.graph.jobs.reports import workers_alive
from cobalance.graph.jobs.status import read_job
from cobalance.workflows.settings import Settings
from tests.browser.server import environment_of
from tests.support.own_plugins import MINE, ROOT, write_files
from tests.support.waiting import until

CLASSES = ("--class-category", "cat", "--class-category", "dog")

Run = subprocess.CompletedProcess[str]


class Shell:
    """Runs commands with a dataset of pets, with the package or without."""

    def __init__(self, folder: Path, settings: Settings, site: Path) -> None:
        self.folder, self.site = folder, site
        self.environment = environment_of(settings) | {
            "COBALANCE_OUTPUT": str(folder / "made"),
            "COBALANCE_QUEUE": f"sqlite:///{folder}/queue.sqlite",
            "COBALANCE_IMAGES": str(folder),
            "COLUMNS": "200",
        }

    def start(self, *words: str, mine: bool = True, **more: str) -> subprocess.Popen[str]:
        path = [str(ROOT), *([str(self.site)] if mine else [])]
        return subprocess.Popen(
            [sys.executable, "-m", "cobalance.app", *words],
            env={**self.environment, "PYTHONPATH": os.pathsep.join(path), **more},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, code: int = 0, mine: bool = True, **more: str) -> Run:
        with self.start(*words, mine=mine, **more) as process:
            out, said = process.communicate()
        assert process.returncode == code, out + said
        assert "Traceback" not in said
        return Run(words, process.returncode, out, said)


@pytest.fixture
def shell(tmp_path: Path, settings: Settings, site: Path) -> Shell:
    return Shell(tmp_path, settings, site)


@pytest.fixture
def pets(shell: Shell, dataset: str) -> str:
    """Cats lie on grass and dogs on a rug, mostly; with boxes. Other images are in test.json."""
    names = ["cat", "dog", "grass", "rug"]
    images, boxes = [], []
    for i in range(12):
        shades = np.random.default_rng(i).integers(60, 255, (48, 64, 3), dtype=np.uint8)
        Image.fromarray(shades).save(shell.folder / f"{i}.png")
        images.append({"id": i, "file_name": f"{i}.png", "width": 64, "height": 48})
        ground = 2 if i % 2 == (i < 2) else 3
        for category in (i % 2, ground):
            box = {"bbox": [8, 8, 24, 24], "area": 576, "iscrowd": 0}
            boxes.append({"id": len(boxes), "image_id": i, "category_id": category, **box})
    categories = [{"id": i, "name": name} for i, name in enumerate(names)]
    for split, rows in (("train", range(8)), ("test", range(8, 12))):
        document = {
            "images": [one for one in images if one["id"] in rows],
            "annotations": [one for one in boxes if one["image_id"] in rows],
            "categories": categories,
        }
        (shell.folder / f"{split}.json").write_text(json.dumps(document))
    shell.run("ingest", "train.json", "--dataset", dataset, *CLASSES)
    shell.run("mine", dataset)
    return dataset


def test_a_worker_that_lacks_a_plugin_leaves_the_job_to_one_that_has_it(
    shell: Shell, pets: str, store: GraphStore
) -> None:
    listed = json.loads(shell.run("plugins", "--format", "json").stdout)
    assert {(row["kind"], row["name"]) for row in listed} == MINE
    assert {row["source"] for row in listed} == {"cobalance-mine 0.1.0"}
    assert not any(row["problem"] for row in listed)

    shell.run("plan", pets, "--planner", "tolerant", "--set", "tolerance=0", "--min-size", "1")
    ordered = shell.run("enqueue", pets, "--plan", "tolerant", "--recipe", "plain-ground")
    job = ordered.stdout.strip()
    needs = "worker, backend flat, filter bright, recipe plain-ground"
    assert read_job(store, job).extra == needs

    lacking = shell.start("work", mine=False)
    try:
        until(lambda: workers_alive(store, within_s=5))
        waits = shell.run("jobs", "list", mine=False).stderr
        assert (
            f"{job}: It waits for a worker that has the backend flat and the filter bright" in waits
        )
        done = shell.run("work", "--until-idle")
        assert f"Job {job} is done" in done.stderr
    finally:
        lacking.terminate()
        said = lacking.communicate()[1]
    assert f"{job} is left to workers that have the backend flat" in said
    found = read_job(store, job)
    assert (found.state, found.covered, found.remarks) == ("done", found.wanted, ())
    assert found.wanted > 0

    other = f"{pets} renamed"
    shell.run("rebalance", job, "--into", other, "--annotator", "daylight")
    drop_dataset(store, other)
    shell.run("export", job, "out", "--as", "listing")
    assert (shell.folder / "out" / "images.txt").read_text().count("\n") == 8 + found.wanted
    shell.run("ingest", "test.json", "--dataset", other, *CLASSES)
    how = ("--method", "part", "--set", "method.share=0.9", "--shortcuts", "none", "--here")
    shell.run("evaluate", "train", pets, "--test", other, *how)
    trained = list_evaluations(store, other)
    assert {(one.method, one.state) for one in trained} == {("part", "done")}


def test_files_of_a_folder_are_plugins_too(shell: Shell, tmp_path: Path) -> None:
    mine = write_files(tmp_path / "plugins")
    (mine / "filters" / "broken.py").write_text("import no_such_package\n")
    (tmp_path / "scored.csv").write_text(
        "image,class_name,p_a,p_b\n1,a,0.95,0.05\n2,b,0.4,0.6\n3,a,0.7,0.3\n4,b,0.01,0.99\n"
    )
    files = {"mine": False, "COBALANCE_PLUGINS": str(mine)}
    scored = shell.run(
        "evaluate", "score", "scored.csv", "--metric", "sure_share", "--format", "json", **files
    )
    assert [row["value"] for row in json.loads(scored.stdout)] == [0.5]
    listed = json.loads(shell.run("plugins", "--format", "json", **files).stdout)
    assert [row["source"] for row in listed] == [
        f"{mine}/filters/bright.py",
        f"{mine}/filters/broken.py",
        f"{mine}/metrics/sure_share.py",
    ]
    said = f"The filter broken of {mine}/filters/broken.py cannot be used: it cannot be imported ("
    assert [row["problem"].startswith(said) for row in listed] == [False, True, False]
    offered = shell.run("enqueue", "--help", **files).stdout.replace("│", " ")
    assert "bright, broken" in " ".join(offered.split())
    (mine / "filter").mkdir()
    (mine / "filters" / "bright.txt").touch()
    told = shell.run("plugins", **files).stderr
    assert f"{mine}/filter is not looked into. Did you mean 'filters'?" in told
    assert f"{mine}/filters/bright.txt is no plug-in: its name has to end in .py." in told
    gone = shell.run("plugins", code=2, mine=False, COBALANCE_PLUGINS=str(tmp_path / "gone"))
    assert "path does not point to a directory" in gone.stderr


@pytest.mark.usefixtures("mine_here")
def test_python_takes_plugins(tmp_path: Path) -> None:
    file = tmp_path / "pets.txt"
    lines = ["#lines", *(f"{i}.jpg {'cat sofa' if i < 6 else 'dog rug'} lamp" for i in range(9))]
    file.write_text("\n".join(lines))
    found = cb.read(file)
    assert found.images.equals(cb.read(file, input_format="lines").images)
    plan = cb.plan(found, planner="tolerant", tolerance=0, min_size=1)
    assert plan.frame.to_numpy().tolist() == [["dog", ("lamp",), 3]]
