"""docs/extending.md: its examples are the files of a package, which is installed, and each used."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cobalance.base.progress import silent
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.workflows.demo.loading import load_demo
from cobalance.workflows.settings import Settings
from tests.browser.server import environment_of
from tests.docs.extensions import USES
from tests.support.own_plugins import ROOT, SOURCES

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def failures(
    tmp_path_factory: pytest.TempPathFactory, settings: Settings, store: GraphStore, site: Path
) -> dict[str, str]:
    """For each heading the traceback of its example's use; in a process of its own."""
    folder = tmp_path_factory.mktemp("extending")
    for path, code in re.findall(
        r"```python\n# ((?:mine|app)/[\w/]+\.py)\n(.*?)```", PAGE, re.DOTALL
    ):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code, encoding="utf-8")
    home = {} if settings.neo4j_uri else {"COBALANCE_HOME": str(settings.cobalance_home)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.docs.extensions", str(folder)],
        env={**os.environ, **home, "PYTHONPATH": os.pathsep.join(map(str, (folder, site, ROOT)))},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    read: dict[str, str] = json.loads(done.stdout)
    return read


@pytest.mark.parametrize("heading", USES)
def test_an_example(failures: dict[str, str], heading: str) -> None:
    assert failures[heading] == ""


def test_each_example_is_a_file_of_the_package_and_is_used() -> None:
    shown = dict(re.findall(r"```python\n# cobalance_mine/(\w+)\.py\n(.*?)```", PAGE, re.DOTALL))
    files = {path.stem: path.read_text(encoding="utf-8") for path in SOURCES.glob("[!_]*.py")}
    assert shown == files
    parts = re.split(r"^###? ", PAGE, flags=re.MULTILINE)[1:]
    assert {part.partition("\n")[0] for part in parts if "```python\n#" in part} == set(USES)


def test_the_first_file(tmp_path: Path, settings: Settings, store: GraphStore) -> None:
    lines = re.search(r"^((?:    [^\n]+\n)+)\n```text\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
    assert lines is not None
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    command = f"cobalance() {{ '{sys.executable}' -m cobalance.app \"$@\"; }}\n{lines[1]}"
    load_demo(store, silent)
    try:
        done = subprocess.run(
            ["sh", "-euc", command],
            env={**environment_of(settings), "PYTHONPATH": str(ROOT)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        drop_dataset(store, "urbancars")
    shown = [line.rstrip() for line in done.stdout.splitlines()]
    assert shown == lines[2].splitlines(), done.stderr
