"""Registries of what is imported when it is used, and options that are checked before."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from generation.backends import BACKENDS
from generation.filters import FILTERS
from generation.sources.segmenters import SEGMENTERS
from graph.errors import MissingExtraError, OptionError, UnknownNameError
from graph.plugins import Plugin, Plugins
from ingest.annotators import ANNOTATORS

ALL: tuple[Plugins[Any], ...] = (BACKENDS, FILTERS, SEGMENTERS, ANNOTATORS)

BAD = {
    "The filter clip has no option 'treshold'. Its options: batch_size, device, dtype, model, "
    "offline, prefix, revision, text, threshold.": {"filters": {"clip": {"treshold": 0.65}}},
    "The filter objects: threshold is 3: input should be less than or equal to 1.": {
        "filters": {"objects": {"threshold": 3}}
    },
    "The filter duplicates: distance is -1: input should be greater than or equal to 0.": {
        "filters": {"duplicates": {"distance": -1}}
    },
    "The segmenter sam has no option 'box'. Its options: batch_size, device, dtype, model, "
    "offline, revision.": {"segmenter": "sam", "segmenter_options": {"box": 1}},
    "The segmenter parsing: batch_size is 0: input should be greater than or equal to 1.": {
        "segmenter": "parsing",
        "segmenter_options": {"batch_size": 0},
    },
}
ORDER = """
import json, sys
from generation.jobs.settings import read_job_settings
from graph.errors import OptionError
said = []
for settings in json.loads(sys.argv[1]):
    try:
        read_job_settings(settings)
    except OptionError as error:
        said.append(str(error))
extras = {"torch", "transformers", "diffusers", "imagehash", "PIL"} & set(sys.modules)
print(json.dumps([said, sorted(extras)]))
"""


def test_options_are_checked_without_the_packages_of_any_extra() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ORDER, json.dumps(list(BAD.values()))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [list(BAD), []]


@pytest.mark.parametrize(
    ("registry", "name"),
    [pytest.param(one, name, id=f"{one.kind} {name}") for one in ALL for name in one],
)
def test_an_opener_takes_the_options_that_are_registered(registry: Plugins[Any], name: str) -> None:
    opener = registry[name].load(f"open_{registry.kind}", name)
    hints = get_type_hints(opener)
    del hints["return"]
    assert list(hints.values()) == [registry[name].options]


@pytest.fixture
def readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plugins[str]:
    (tmp_path / "plain_reader.py").write_text("def open_reader(options):\n    return 'open'\n")
    (tmp_path / "model_reader.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    readers: Plugins[str] = Plugins("reader")
    readers.register("plain", Plugin("plain_reader", "worker", "Reads."))
    readers.register("model", Plugin("model_reader", "models", "Reads with a model."))
    return readers


def test_a_plugin_that_takes_no_options(readers: Plugins[str]) -> None:
    assert readers.open("plain") == readers.open("plain", {}) == "open"
    with pytest.raises(OptionError, match=r"The reader plain has no option 'a'. .* options: none"):
        readers.open("plain", {"a": 1})


def test_a_package_that_is_missing(readers: Plugins[str]) -> None:
    readers.check("model", {})
    with pytest.raises(MissingExtraError, match=r"(?s)The reader model .*cobalance\[models\]"):
        readers.open("model")


@pytest.mark.parametrize("ask", [Plugins.check, Plugins.open])
def test_a_plugin_that_is_not_there(readers: Plugins[str], ask: Any) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown reader 'x'. Known: model, plain"):
        ask(readers, "x", {})
