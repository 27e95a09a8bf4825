"""Plug-ins of packages and files that cannot be used: why, and that all others can."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cobalance.annotation.annotators import ANNOTATORS
from cobalance.base import plugin_offers
from cobalance.base.errors import UnknownNameError
from cobalance.base.registry import PluginError, Plugins
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.training.methods import METHODS
from cobalance.generation.backends import BACKENDS
from cobalance.generation.export import EXPORTERS
from cobalance.generation.filters import FILTERS
from cobalance.generation.planning.planners import PLANNERS
from cobalance.ingest.formats import FORMATS
from cobalance.ingest.load import detect_format
from cobalance.workflows.plugins import list_plugins, usable_plugins
from tests.support.own_plugins import SOURCES

BRIGHT = (SOURCES / "bright.py").read_text(encoding="utf-8")

Install = Callable[..., None]


@pytest.fixture(autouse=True)
def _modules() -> Iterator[None]:
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith(("cobalance_plugins.", "acme_")):
            del sys.modules[name]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a package with entry points on the import path, with what pip writes of it."""

    def write(package: str, points: str, **modules: str) -> None:
        folder = tmp_path / package
        about = folder / f"{package}-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(points)
        for name, text in modules.items():
            (folder / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(folder)
        plugin_offers._of_packages.cache_clear()

    yield write
    plugin_offers._of_packages.cache_clear()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of COBALANCE_PLUGINS, with an empty one for filters."""
    found = tmp_path / "plugins"
    (found / "filters").mkdir(parents=True)
    monkeypatch.setenv("COBALANCE_PLUGINS", str(found))
    return found


def points(*names: str, group: str = "filters", module: str = "acme_bright") -> str:
    return f"[cobalance.{group}]\n" + "".join(f"{name} = {module}\n" for name in names)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("def (", "SyntaxError: "),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("PLUGIN = {'name': 'bright'}", "its PLUGIN has to be a cobalance.generation.filters."),
        (BRIGHT.replace('"bright", "The', '"dark", "The'), "filter.FilterPlugin of this name"),
        (BRIGHT + "\nPLUGINS = PLUGIN\nPLUGIN = None\n", "filter.FilterPlugin of this name"),
        (BRIGHT.replace('"worker"', '"gpu"'), "there is no extra 'gpu' (known: "),
        (BRIGHT.replace("def open_filter", "def open_it"), "it does not define open_filter"),
        (BRIGHT.replace("filter(options: BrightOptions)", "filter()"), "take the call (options)"),
    ],
)
def test_a_plugin_that_cannot_be_used(install: Install, code: str, said: str) -> None:
    install("acme", points("bright"), acme_bright=code)
    with pytest.raises(PluginError) as raised:
        FILTERS.check("bright", {})
    assert str(raised.value).startswith("The filter bright of acme 1.0 cannot be used: ")
    assert said in str(raised.value)
    assert str(raised.value).endswith(". Correct or remove it.")
    assert "bright" in list(FILTERS)
    assert "bright" not in dict(FILTERS.items())
    assert FILTERS["blank"].name == "blank"
    assert list_plugins()["problem"].tolist() == [str(raised.value)]
    assert usable_plugins() == frozenset()


def test_a_declaration_of_another_kind(install: Install) -> None:
    install("acme", points("bright", group="filters"), acme_bright=BRIGHT)
    FILTERS.open("bright")
    install("other", points("bright", group="formats"))
    with pytest.raises(PluginError, match=r"has to be a cobalance\.ingest\.reader\.Format of"):
        _ = FORMATS["bright"]


def test_names_that_several_want(install: Install, folder: Path) -> None:
    install("acme", points("bright", "clip"), acme_bright=BRIGHT)
    (folder / "filters" / "bright.py").write_text(BRIGHT)
    with pytest.raises(PluginError, match=r"bright of acme 1\.0, .*py .*: several have this name"):
        _ = FILTERS["bright"]
    assert FILTERS["clip"].extra == "models"
    problems = list_plugins()["problem"].tolist()
    assert "The filter clip of acme 1.0 is not used: cobalance has its own." in problems
    (folder / "filters" / "bright.py").unlink()
    assert FILTERS["bright"].purpose == "The image is not dark."
    with pytest.raises(UnknownNameError, match="unknown filter 'bribht'"):
        _ = FILTERS["bribht"]


def test_a_package_that_a_plugin_lacks_when_it_is_opened(install: Install) -> None:
    lacking = BRIGHT.replace("    return BrightFilter(options)", "    import acme_missing")
    install("acme", points("bright"), acme_bright=lacking)
    FILTERS.check("bright", {"threshold": 0.5})
    with pytest.raises(PluginError, match="acme_missing is not installed"):
        FILTERS.open("bright")


OPENED: list[tuple[Plugins[Any, Any], str, str, str, str]] = [
    (FILTERS, "bright", "def judge", "def judges", "the call judge(requests, made)"),
    (FILTERS, "bright", "return BrightFilter(options)", "return 1", "returns has to take the call"),
    (FILTERS, "bright", "return BrightFilter(options)", "1 / 0", "opened (ZeroDivisionError: div"),
    (BACKENDS, "flat", "generate(self, r", "generate(self, *, r", "the call generate(requests)"),
    (ANNOTATORS, "daylight", "def describe", "def tell", "open_annotator returns has to take the"),
    (PLANNERS, "tolerant", "return plan_images", "return lambda c: 1", "(cliques, options) or"),
    (METHODS, "part", "open_method = Part", "open_method = dict", "the call prepare(training) or"),
    (EXPORTERS, "listing", "lambda stream, staging: L", "lambda: L", "the call (stream, staging)"),
    (METRICS, "sure_share", "compute=_compute", "compute=len", "has to take the call (inputs, opt"),
]


@pytest.mark.parametrize(("registry", "name", "right", "wrong", "said"), OPENED)
def test_one_that_is_opened_takes_the_calls_of_its_kind(
    folder: Path, registry: Plugins[Any, Any], name: str, right: str, wrong: str, said: str
) -> None:
    code = (SOURCES / f"{'confidence' if name == 'sure_share' else name}.py").read_text("utf-8")
    assert right in code
    (folder / registry.group).mkdir(exist_ok=True)
    file = folder / registry.group / f"{name}.py"
    file.write_text(code.replace(right, wrong))
    with pytest.raises(PluginError) as raised:
        registry.open(name)
    assert str(raised.value).startswith(f"The {registry.kind} {name} of {file} cannot be used: ")
    assert said in str(raised.value)


def test_a_reader_takes_the_calls_of_a_format(folder: Path) -> None:
    (folder / "formats").mkdir()
    lines = (SOURCES / "lines.py").read_text(encoding="utf-8")
    (folder / "formats" / "lines.py").write_text(lines.replace("def read(", "def reads("))
    with pytest.raises(
        PluginError, match=r"its reader has to take the call read\(path, options, p"
    ):
        _ = FORMATS["lines"]


def test_a_folder_whose_name_is_misspelt(folder: Path) -> None:
    (folder / "filters").rename(folder / "filter")
    (folder / "filter" / "bright.py").write_text(BRIGHT)
    with pytest.raises(PluginError, match=rf"of .*/filter/bright\.py .* not in {folder}/filters"):
        FILTERS.check("bright", {})
    (problem,) = list_plugins()["problem"]
    assert "is not looked into. Did you mean 'filters'?" in problem


def test_a_file_is_run_once_it_is_sound_and_its_own(folder: Path) -> None:
    file = folder / "filters" / "bright.py"
    file.write_text("half a")
    with pytest.raises(PluginError, match=r"SyntaxError.*Correct or remove it"):
        _ = FILTERS["bright"]
    file.write_text(BRIGHT)
    file.chmod(0o666)
    with pytest.raises(PluginError, match="everybody may write"):
        _ = FILTERS["bright"]
    file.chmod(0o644)
    folder.chmod(0o777)
    with pytest.raises(PluginError, match=f"everybody may write {folder}; run chmod o-w on it"):
        _ = FILTERS["bright"]
    folder.chmod(0o755)
    assert FILTERS["bright"] is FILTERS["bright"]
    assert FILTERS.list_offered("bright", "blank", None) == ["filter bright"]
    assert usable_plugins() == {"filter bright"}
    assert "bright" not in list(BACKENDS)


def test_formats_of_others_are_asked_last(folder: Path, tmp_path: Path) -> None:
    lines = (SOURCES / "lines.py").read_text(encoding="utf-8")
    (folder / "formats").mkdir()
    (folder / "formats" / "lines.py").write_text(
        lines.replace("return head.startswith(FIRST.encode())", "return head.nothing")
    )
    (tmp_path / "pets.csv").write_text("id,label,objects\n1,cat,sofa\n")
    assert detect_format(tmp_path / "pets.csv") == "csv"
