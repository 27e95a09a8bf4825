"""A Tab completes what there is, in a real bash, without opening the store."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cobalance.app.cli.shared.completion import keep_names
from cobalance.graph.dataset.write import make_dataset
from cobalance.workflows.store import open_store
from tests.app.cli.calling import run_code
from tests.app.cli.conftest import ORDER, SMALL

BASH = """
source <(_COBALANCE_COMPLETE=source_bash cobalance)
complete -p cobalance > /dev/null
COMP_WORDS=({words}); COMP_CWORD={at}
_cobalance_completion cobalance
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
START = """import sys
sys.argv[:] = ["cobalance"]
from cobalance.app.__main__ import main
try: main()
except SystemExit"""


@pytest.fixture
def home(environment):
    """The environment of a shell."""
    return environment | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"}


def press_tab(environment, *words):
    code = BASH.format(words=" ".join(map(shlex.quote, words)), at=len(words) - 1)
    done = subprocess.run(
        ["bash", "--norc", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_a_tab_completes_names_of_the_store(home, run, planned):
    job = run(*ORDER, planned, *SMALL).stdout.strip()
    run("datasets", "list")  # as any command that opens the store
    typed = planned.replace(" ", "\\ ")  # as bash needs it, one word
    assert typed in press_tab(home, "cobalance", "mine", planned[:3])
    away = home | {"NEO4J_URI": "bolt://127.0.0.1:9"}  # another store, of which nothing is known
    assert press_tab(away, "cobalance", "mine", planned[:3]) == [""]
    name = shlex.quote(planned)
    code = f"COMP_WORDS='cobalance imbalances {name} --concept c' COMP_CWORD=4"
    said = subprocess.run(
        ["bash", "-c", f"{code.replace(name, typed)} _COBALANCE_COMPLETE=complete_bash cobalance"],
        env=home, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stdout.split() == ["cow"]
    assert press_tab(home, "cobalance", "enqueue", "x", "--plan", "conb") == ["conbias"]
    assert press_tab(home, "cobalance", "jobs", "show", job[:5]) == [job]


def test_concepts_are_those_of_the_dataset(home, tmp_path):
    none = dict.fromkeys(("classes", "plans", "jobs", "tasks", "runs"), ())
    rows = [
        {"datasets": "cars", "concepts": ["cow"]} | none,
        {"datasets": "my streets", "concepts": ["crosswalk"]} | none,
    ]
    (tmp_path / "names.json").write_text(json.dumps({"/": rows}))
    own = {name: value for name, value in home.items() if not name.startswith("NEO4J_")}
    own["COBALANCE_HOME"] = str(tmp_path)
    for words, expected in (
        (("imbalances", "cars", "--concept", "c"), ["cow"]),
        (("imbalances", "my\\ streets", "--concept", "c"), ["crosswalk"]),
        (("mine", "c"), ["cars"]),
    ):
        assert press_tab(own, "cobalance", *words) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("data",), ["datasets"]),
        (("datasets", "ex"), ["export-graph"]),
        (("mine", "x", "--max"), ["--max-size", "--max-cliques"]),
        (("plan", "x", "--planner", "w"), ["whole-images"]),
        (("enqueue", "x", "--recipe", "pin"), ["pinpoint"]),
        (("enqueue", "x", "--filter", "safe"), ["safety"]),
        (("ingest", "f.csv", "--input-format", "coco-i"), ["coco-instances"]),
        (("ingest", "f.csv", "--input-format", "jso"), ["jsonl"]),
        (("export", "j", "f", "--as", "web"), ["webdataset"]),
        (("evaluate", "export", "f", "--as", ""), ["csv", "parquet", "latex", "html"]),
        (("imbalances", "x", "--format", "js"), ["json"]),
        (("cypher", "missing"), ["missing-concepts"]),
        (("tags", "role", "x", "t", "ex"), ["exclude"]),
    ],
)
def test_a_tab_completes_choices(home, words, expected):
    assert press_tab(home, "cobalance", *words) == expected


def test_zsh_gets_names_unquoted_with_what_they_are(home):
    asked = home | {
        "_COBALANCE_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "cobalance datasets li",
    }  # fmt: skip
    said = run_code(asked, f"{START}: pass")
    assert '"list":"List all datasets with their sizes and state."' in said


def test_a_tab_imports_nothing_slow(home):
    for words, at in (("cobalance ", 1), ("cobalance imbalances x --concept ", 4)):
        asked = home | {"COMP_WORDS": words, "COMP_CWORD": str(at)}
        asked["_COBALANCE_COMPLETE"] = "complete_bash"
        slow = ["numpy", "pandas", "neo4j", "pydantic_settings", "pyarrow", "typer.rich_utils"]
        listed = f"print([name for name in {slow} if name in sys.modules])"
        assert run_code(asked, f"{START}: {listed}").endswith("[]\n")


def test_names_of_a_minute_ago_do_until_a_command_writes(settings, dataset, tmp_path):
    kept = tmp_path / "names.json"
    with open_store(settings) as store:
        make_dataset(store, dataset)
        keep_names(store, tmp_path)
        store.has_written = False
        none = json.dumps({key: [] for key in json.loads(kept.read_text())})
        kept.write_text(none)
        keep_names(store, tmp_path)
        assert kept.read_text() == none
        os.utime(kept, (0, 0))
        keep_names(store, tmp_path)
        assert kept.read_text() != none
        kept.write_text(none)
        store.has_written = True
        keep_names(store, tmp_path)
        assert dataset in kept.read_text()


def test_a_home_that_cannot_be_written_costs_no_command(store, tmp_path):
    (tmp_path / "names.json").mkdir()
    keep_names(store, tmp_path)
    (tmp_path / "file").touch()
    keep_names(store, tmp_path / "file")
    keep_names(store, tmp_path / "new")
    assert (tmp_path / "new" / "names.json").stat().st_mode & 0o077 == 0
