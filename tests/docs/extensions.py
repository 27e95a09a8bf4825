"""Use the examples of docs/extending.md; run in a process of its own by their test.

Arguments: a folder to write to. Prints a JSON object: for each kind, empty or a traceback.
"""

import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from PIL import Image
from streamlit.testing.v1 import AppTest

from cobalance.annotation.annotators import ANNOTATORS
from cobalance.app.cli.main import COMMANDS, HOMES, command_line
from cobalance.base.errors import InputError, OptionError, UnknownNameError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.cliques import Cliques
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.metric import Inputs, score_metrics
from cobalance.evaluation.predictions import check_predictions
from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Run
from cobalance.evaluation.training.methods import METHODS
from cobalance.evaluation.training.run import Recipe, train_run
from cobalance.generation.backends import BACKENDS
from cobalance.generation.export import ExportDataset, ExportOptions, export
from cobalance.generation.filters import FILTERS
from cobalance.generation.image_request import ImageRequest, SourceImage
from cobalance.generation.jobs.settings import read_job_settings
from cobalance.generation.output.manifest import manifest_frame
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.planners import plan
from cobalance.generation.recipes import RECIPES
from cobalance.generation.sources.segmenters import SEGMENTERS
from cobalance.generation.worker.resources import TaskRun
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.queries.binding import bind_named
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.graph.tasks.lifecycle import end_task, read_task, start_task
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.notebook.evaluations import evaluate
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store


def request(concepts: tuple[str, ...] = ("sofa",)) -> ImageRequest:
    image = np.full((20, 30, 3), 200, dtype=np.uint8)
    mask = np.zeros((20, 30), dtype=bool)
    mask[5:15, 5:15] = True
    source = SourceImage("a", "a.png", image, mask)
    return ImageRequest("job/000000/000000", "cat", concepts, "a photo of a sofa", 7, source)


def backend(_folder: Path) -> None:
    opened = BACKENDS.open("flat", {"darkest": 100})
    first, again = opened.generate([request(), request()])
    assert np.array_equal(first.image, again.image)
    assert (first.image[5:15, 5:15] == 200).all()
    assert len(np.unique(first.image[~first.mask], axis=0)) == 1
    assert first.image.min() >= 100


def filter_(_folder: Path) -> None:
    made = BACKENDS.open("flat", {"darkest": 200}).generate([request()])
    assert FILTERS.open("bright").judge([request()], made)[0].accepted
    dark = FILTERS.open("bright", {"threshold": 1}).judge([request()], made)[0]
    assert "less than 1" in dark.reason


def segmenter(_folder: Path) -> None:
    image = np.zeros((20, 30, 3), dtype=np.uint8)
    mask = SEGMENTERS.open("ellipse", {"share": 0.5}).segment(image, (10, 0, 8, 16))
    assert (mask.shape, mask.dtype) == ((20, 30), bool)
    assert np.argwhere(mask).min(axis=0).tolist() == [4, 12]
    assert np.argwhere(mask).max(axis=0).tolist() == [11, 15]


def recipe(_folder: Path) -> None:
    settings = read_job_settings({"recipe": "plain-ground"})
    assert (settings.backend, settings.making) == ("flat", {"darkest": 128})
    assert settings.masks.instances == "all"
    assert settings.extras == ["worker"]
    made = BACKENDS.open(settings.backend, settings.making).generate([request()])
    for name, options in settings.filter_options().items():
        assert FILTERS.open(name, options).judge([request()], made)[0].accepted
    options = BACKENDS[settings.backend].options.model_fields
    assert all(field.option in options for field in RECIPES["plain-ground"].fields)
    changed = read_job_settings({"recipe": "plain-ground", "making": {"darkest": 9}})
    assert changed.making == {"darkest": 9}


def planner(_folder: Path) -> None:
    cliques = Cliques(np.array([[0], [1]]), np.array([[50, 100], [95, 100]]), np.array([100, 100]),
                      ("lamp", "sofa"), ("cat", "dog"))  # fmt: skip
    sizes = PlanOptions(min_size=1)
    assert [one.n for one in plan(cliques, "tolerant", sizes).queries] == [40]
    made = plan(cliques, "tolerant", sizes, {"tolerance": 0})
    assert sorted(one.n for one in made.queries) == [5, 50]


def annotation_format(folder: Path) -> None:
    file = folder / "pets.txt"
    file.write_text("#lines\n1.jpg cat sofa lamp\n2.jpg dog\n")
    loaded = read_annotations(file, ReadOptions())
    assert [record.id for record in loaded.records()] == ["1.jpg", "2.jpg"]


def export_format(folder: Path) -> None:
    picture = folder / "1.png"
    Image.new("RGB", (8, 8), "red").save(picture)
    real = pd.DataFrame(
        {
            "id": ["a"],
            "class": ["cat"],
            "split": ["train"],
            "uri": ["1.png"],
            "width_px": pd.array([8], dtype="Int64"),
            "height_px": pd.array([8], dtype="Int64"),
            "concepts": [["sofa"]],
        }
    )
    none = manifest_frame([])
    dataset = ExportDataset("pets", real, none, lambda _: picture.read_bytes(), lambda _: b"", None)
    export(dataset, "listing", folder / "out", ExportOptions())
    assert (folder / "out" / "images.txt").read_text().endswith("\tcat\n")


def annotator(_folder: Path) -> None:
    images = [np.full((4, 4, 3), value, dtype=np.uint8) for value in (250, 5)]
    opened = ANNOTATORS.open("daylight", {"threshold": 0.5})
    found = opened.annotate(images, ["day", "night"])
    assert [[one.concept for one in each] for each in found] == [["day"], ["night"]]
    assert opened.annotate(images, ["sofa"]) == [[], []]


def training_method(_folder: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (40, 2, 2, 3), dtype=np.uint8)
    labels, unknown = np.arange(40) % 2, np.full(40, -1)
    noise[labels == 1] //= 4
    images = Examples(
        [str(row) for row in range(40)],
        *(labels, unknown, unknown),
        ("cat", "dog"),
        lambda rows: list(noise[rows]),
    )
    assert len(METHODS.open("part", {"share": 0.25}).rows(images, np.random.default_rng(0))) == 10
    found = train_run(Recipe("part"), Run(0), images, None, images).predictions
    assert (found["predicted"] == found["class_name"]).mean() > 0.8


def metric(_folder: Path) -> None:
    table = pd.DataFrame(
        {"image": range(4), "class_name": list("abab"), "p_a": [0.95, 0.6, 0.7, 0.2]}
    ).assign(p_b=lambda frame: 1 - frame["p_a"])
    inputs = Inputs(check_predictions(table))
    assert METRICS.open("sure_share")(inputs)["value"].tolist() == [0.25]
    scored = score_metrics(inputs, {"sure_share": {"above": 0.65}}).frame
    assert scored[["value", "n"]].to_numpy().tolist() == [[0.75, 4]]
    assert "sure_share" in set(score_metrics(inputs).frame["metric"])


def table(folder: Path) -> None:
    file = folder / "ratings.csv"
    file.write_text("Image,rating\na,2\nb,5\nc,5\n")
    arguments = ["evaluate", "score", "--with", f"ratings={file}", "--format", "json"]
    done = CliRunner().invoke(command_line(), arguments, obj={})
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)
    assert (row["metric"], row["value"], row["n"]) == ("mean_rating", 4, 3)
    assert evaluate(ratings=file).frame["value"].tolist() == [4]

    file.write_text("image,rating\na,0\n")
    with pytest.raises(InputError, match="rating is '0', which is less than 1"):
        evaluate(ratings=file)
    with pytest.raises(OptionError, match="the metric mean_rating needs ratings; given: nothing"):
        METRICS.open("mean_rating")(Inputs())
    with pytest.raises(UnknownNameError, match=r"unknown table 'ratigns'\. Did you mean 'ratings'"):
        evaluate(ratigns=file)


def task_kind(folder: Path) -> None:
    from mine.census import KIND, order_census, run_census

    records = [ImageRecord("a", "cat"), ImageRecord("b", "dog"), ImageRecord("c", "dog")]
    name = f"census {folder.name}"
    with open_store(Settings.from_environment()) as store:
        write_annotations(store, name, Annotations.from_records(records), source="test")
        try:
            ordered = order_census(store, name)
            started = start_task(store, ordered, 0)
            assert started is not None
            assert started.kind == KIND
            seen: list[tuple[str, int, int | None]] = []
            run = TaskRun(
                ordered,
                started.dataset,
                started.settings,
                lambda ask: ask(store),
                lambda *said: seen.append(said),
            )
            end_task(store, ordered, 0, note=run_census(run))
            assert seen[-1] == ("count", 1, 1)
            assert read_task(store, ordered).note == "dog: 2, cat: 1"
        finally:
            drop_dataset(store, name)


def saved_query(folder: Path) -> None:
    from mine.lonely import QUERIES

    for query in QUERIES:
        CATALOGUE.register(query.name, query)
    mentions = (Mention("sofa"), Mention("lamp"))
    records = [ImageRecord("a", "cat", mentions), ImageRecord("b", "dog", mentions[:1])]
    name = f"extending {folder.name}"
    with open_store(Settings.from_environment()) as store:
        write_annotations(store, name, Annotations.from_records(records), source="test")
        try:
            query, bound = bind_named(store, "lonely-concepts", {"dataset": name, "most": 1})
            rows = store.read(query.text, **bound)
        finally:
            drop_dataset(store, name)
    assert [dict(row) for row in rows] == [{"concept": "lamp", "images": 1}]


def load_file(path: Path, name: str) -> ModuleType:
    """Import a file under the name that it would have in the package."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def census_dataset(folder: Path) -> Iterator[str]:
    """A dataset of two dogs and a cat."""
    records = [ImageRecord("a", "dog"), ImageRecord("b", "cat"), ImageRecord("c", "dog")]
    name = f"extending {folder.name}"
    with open_store(Settings.from_environment()) as store:
        write_annotations(store, name, Annotations.from_records(records), source="test")
        try:
            yield name
        finally:
            drop_dataset(store, name)


def web_page(folder: Path) -> None:
    module = "cobalance.app.web.page.census.page"
    page = load_file(folder / "app/web/page/census/page.py", module).PAGE
    assert (page.title, page.path) == ("Census", "census")

    def script() -> None:
        import sys

        sys.modules["cobalance.app.web.page.census.page"].PAGE.draw()

    with census_dataset(folder) as name:
        app = AppTest.from_function(script, default_timeout=300)
        app.session_state["dataset"] = name
        app.run()
        assert not app.exception
        assert {metric.label: metric.value for metric in app.metric} == {"cat": "1", "dog": "2"}


def command(folder: Path) -> None:
    load_file(folder / "app/cli/census.py", "cobalance.app.cli.census")
    HOMES["census"] = "census.census"
    COMMANDS["Diagnose"]["census"] = "census.census"

    with census_dataset(folder) as name:
        done = CliRunner().invoke(command_line(), ["census", name, "--format", "csv"], obj={})
    assert done.exit_code == 0, done.output
    assert sorted(done.stdout.split()) == ["cat,1", "class,images", "dog,2"]


USES: dict[str, Callable[[Path], None]] = {
    "A backend": backend,
    "A filter": filter_,
    "A segmenter": segmenter,
    "A recipe": recipe,
    "A planner": planner,
    "A format": annotation_format,
    "An export format": export_format,
    "An annotator": annotator,
    "A training method": training_method,
    "A metric": metric,
    "A table": table,
    "A kind of task": task_kind,
    "A saved query": saved_query,
    "A page": web_page,
    "A command": command,
}


def main() -> None:
    folder = Path(sys.argv[1])
    failures = {}
    for heading, use in USES.items():
        failures[heading] = ""
        try:
            use(folder)
        except Exception:  # noqa: BLE001 - reported for each example
            said = StringIO()
            traceback.print_exc(file=said)
            failures[heading] = said.getvalue()
    sys.stdout.write(json.dumps(failures))


if __name__ == "__main__":
    assert os.path.isdir(sys.argv[1])
    main()
