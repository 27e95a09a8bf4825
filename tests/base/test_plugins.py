"""Registries of what is imported when it is used, and options that are checked before."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from cobalance.base.errors import (
    DuplicateNameError,
    MissingExtraError,
    OptionError,
    UnknownNameError,
)
from cobalance.base.plugins import Plugin
from cobalance.base.registry import Plugins
from tests.base.plugin_registries import DECLARATIONS, REGISTRIES

BAD = {
    "The filter clip has no option 'treshold'. Did you mean 'threshold'? Its options: batch_size, "
    "device, dtype, model, offline, prefix, revision, text, threshold.": {
        "filters": {"clip": {"treshold": 0.65}}
    },
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
OPTIONAL = ("torch", "transformers", "diffusers", "imagehash", "PIL", "dbos", "fsspec", "sklearn")
WITHOUT = f"""
import json, sys
sys.modules.update(dict.fromkeys({OPTIONAL!r}))
"""
LIST = """
from tests.base.plugin_registries import DECLARATIONS
found = [[name, plugin.purpose] for one in DECLARATIONS for name, plugin in one.items()]
print(json.dumps(found))
"""
ORDER = """
from cobalance.generation.jobs.settings import read_job_settings
from cobalance.base.errors import OptionError
said = []
for settings in json.loads(sys.argv[1]):
    try:
        read_job_settings(settings)
    except OptionError as error:
        said.append(str(error))
print(json.dumps(said))
"""


def run_without_extras(code: str, *arguments: str) -> Any:
    command = [sys.executable, "-c", WITHOUT + code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_plugins_are_listed_without_the_packages_of_any_extra() -> None:
    expected = [[name, plugin.purpose] for one in DECLARATIONS for name, plugin in one.items()]
    assert run_without_extras(LIST) == expected
    assert all(purpose.endswith(".") for _, purpose in expected)


def test_options_are_checked_without_the_packages_of_any_extra() -> None:
    assert run_without_extras(ORDER, json.dumps(list(BAD.values()))) == list(BAD)


@pytest.mark.parametrize(
    ("registry", "name"),
    [pytest.param(one, name, id=f"{one.kind} {name}") for one in REGISTRIES for name in one],
)
def test_an_opener_takes_the_options_that_it_declares(
    registry: Plugins[Any, Any], name: str
) -> None:
    opener = registry.opener(name)
    hints = get_type_hints(opener.__init__ if isinstance(opener, type) else opener)
    assert next(iter(hints.values())) == registry[name].options


@pytest.fixture
def readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plugins[str, Plugin]]:
    for name, extra, body in (
        ("plain", None, "return 'open'"),
        ("model", "models", "import no_such_package"),
        ("broken", "models", "import graph.no_such_module"),
        ("misnamed", None, "return 'open'"),
    ):
        declared = "other" if name == "misnamed" else name
        (tmp_path / f"{name}_reader.py").write_text(
            "from cobalance.base.plugins import Plugin\n"
            f"PLUGIN = Plugin({declared!r}, 'Reads.', {extra!r})\n"
            f"def open_reader(options):\n    {body}\n"
        )
    monkeypatch.syspath_prepend(tmp_path)
    yield Plugins("reader", {"plain": "plain_reader", "model": "model_reader"})
    for module in [name for name in sys.modules if name.endswith("_reader") and "." not in name]:
        del sys.modules[module]


def test_a_plugin_that_takes_no_options(readers: Plugins[str, Plugin]) -> None:
    assert readers.open("plain") == readers.open("plain", {}) == "open"
    with pytest.raises(OptionError, match=r"The reader plain has no option 'a'. .* options: none"):
        readers.open("plain", {"a": 1})


def test_a_package_that_is_missing(readers: Plugins[str, Plugin]) -> None:
    readers.check("model", {})
    with pytest.raises(MissingExtraError, match=r"(?s)The reader model .* install .*\[models\]'"):
        readers.open("model")


def test_a_module_that_an_installed_package_lacks_is_a_defect(
    readers: Plugins[str, Plugin],
) -> None:
    readers.register("broken", "broken_reader")
    with pytest.raises(ModuleNotFoundError, match=r"graph\.no_such_module"):
        readers.open("broken")


def test_a_record_under_another_name_is_refused(readers: Plugins[str, Plugin]) -> None:
    readers.register("misnamed", "misnamed_reader")
    with pytest.raises(TypeError, match=r"Declare PLUGIN with the name .misnamed."):
        readers.items()


def test_a_module_is_imported_when_it_is_asked_for(readers: Plugins[str, Plugin]) -> None:
    assert (list(readers), len(readers)) == (["plain", "model"], 2)
    assert not {"plain_reader", "model_reader"} & set(sys.modules)
    assert readers["plain"].purpose == "Reads."
    assert "model_reader" not in sys.modules
    with pytest.raises(DuplicateNameError, match="reader 'plain' is registered already"):
        readers.register("plain", "other_reader")


@pytest.mark.parametrize("ask", [Plugins.check, Plugins.open])
def test_a_plugin_that_is_not_there(readers: Plugins[str, Plugin], ask: Any) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown reader 'x'. Known: model, plain"):
        ask(readers, "x", {})
