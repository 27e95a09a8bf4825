"""A repository with a dataset: the gate runs as an Action, as a hook of pre-commit and in DVC.

pre-commit and DVC are installed from the registry, and run as people run them.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.app.cli.test_gate import EVEN, LEANING, write
from tests.workflows.gate.drawn import records

ROOT = Path(__file__).parents[2]
# That DVC imports a name which pathspec 1 does not have any more.
TOOLS = ("pre-commit==4.3.0", "dvc==3.63.0", "pathspec<1")
STAGES = """\
stages:
  gate:
    cmd: cobalance gate train.csv --baseline-file baseline.json --also metrics=gate.json
    deps: [train.csv, baseline.json]
    metrics:
      - gate.json:
          cache: false
"""
HOOKS = """\
repos:
  - repo: {repository}
    rev: {revision}
    hooks:
      - id: cobalance-gate
"""
RULES = 'data = "train.csv"\nbaseline = "baseline.json"\n'


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the programs of an environment of their own."""
    environment = tmp_path_factory.mktemp("tools") / "environment"
    uv = (sys.executable, "-m", "uv")
    subprocess.run([*uv, "venv", "--quiet", environment], check=True)
    python = environment / "bin" / "python"
    subprocess.run([*uv, "pip", "install", "--quiet", "--python", python, *TOOLS], check=True)
    return environment / "bin"


class Project:
    """A repository in a folder, with a home of its own."""

    def __init__(self, folder: Path, tools: Path) -> None:
        self.folder = folder
        path = os.pathsep.join([str(Path(sys.executable).parent), str(tools), os.environ["PATH"]])
        self.environment = os.environ | {
            "HOME": str(folder.parent),
            "PATH": path,
            "PYTHONPATH": str(ROOT),
            "GIT_AUTHOR_NAME": "A person",
            "GIT_AUTHOR_EMAIL": "person@example.org",
            "GIT_COMMITTER_NAME": "A person",
            "GIT_COMMITTER_EMAIL": "person@example.org",
            "DVC_NO_ANALYTICS": "1",
        }

    def run(self, *command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def commit(self) -> None:
        self.run("git", "add", "--all")
        committed = self.run("git", "commit", "--quiet", "--no-verify", "--message", "Data")
        assert committed.returncode == 0, committed.stderr


@pytest.fixture
def project(tmp_path: Path, tools: Path) -> Project:
    folder = tmp_path / "project"
    folder.mkdir()
    made = Project(folder, tools)
    made.run("git", "init", "--quiet")
    write(folder / "train.csv", records(0, 500, EVEN))
    (folder / "cobalance-gate.toml").write_text(RULES)
    assert made.run("cobalance", "gate", "--write-baseline").returncode == 0
    made.commit()
    return made


def lean(project: Project) -> None:
    write(project.folder / "train.csv", records(0, 500, LEANING))


def accept(project: Project) -> None:
    assert project.run("cobalance", "gate", "--write-baseline").returncode == 0


def run_action(project: Project, **inputs: str) -> tuple[int, str]:
    """Run the steps of action.yml as a runner does; gives the exit code and the summary."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    values = {name: given["default"] for name, given in action["inputs"].items()} | inputs
    summary, output = project.folder.parent / "summary.md", project.folder.parent / "output"
    summary.write_text("")
    outputs: dict[str, str] = {}

    for step in action["runs"]["steps"]:
        if not _holds(step.get("if", ""), values):
            continue
        output.write_text("")
        environment = {
            name: _fill(text, values, outputs) for name, text in step.get("env", {}).items()
        }
        done = project.run(
            "bash",
            "-euo",
            "pipefail",
            "-c",
            step["run"],
            **environment,
            RUNNER_TEMP=str(project.folder.parent),
            GITHUB_OUTPUT=str(output),
            GITHUB_STEP_SUMMARY=str(summary),
        )
        outputs |= dict(line.split("=", 1) for line in output.read_text().splitlines())
        if done.returncode:
            return done.returncode, summary.read_text()
    return 0, summary.read_text()


def _holds(condition: str, values: Mapping[str, str]) -> bool:
    """Whether a step runs: here none has anything to install, and no pull request is there."""
    if "inputs.install" in condition:
        return bool(values["install"])
    return "github.event" not in condition


def _fill(text: Any, values: Mapping[str, str], outputs: Mapping[str, str]) -> str:
    filled = str(text)
    for name, value in values.items():
        filled = filled.replace("${{ inputs." + name + " }}", value)
    for name, value in outputs.items():
        filled = filled.replace("${{ steps.gate.outputs." + name + " }}", value)
    return filled


def test_the_action_fails_on_a_new_lean_and_passes_once_it_is_accepted(project: Project) -> None:
    code, summary = run_action(project, install="")
    assert code == 0
    assert summary.startswith("### :white_check_mark: cobalance gate")

    lean(project)
    code, summary = run_action(project, install="")
    assert code == 3
    assert "| new | leans | cow is in " in summary

    accept(project)
    assert run_action(project, install="")[0] == 0


def test_dvc_stops_at_the_stage_and_follows_the_numbers(project: Project) -> None:
    (project.folder / "dvc.yaml").write_text(STAGES)
    assert project.run("dvc", "init", "--quiet").returncode == 0
    first = project.run("dvc", "repro")
    assert first.returncode == 0, first.stderr
    project.commit()

    lean(project)
    stopped = project.run("dvc", "repro")
    assert stopped.returncode != 0
    assert "cow is in " in stopped.stdout

    accept(project)
    assert project.run("dvc", "repro").returncode == 0
    compared = project.run("dvc", "metrics", "diff", "--json")
    assert '"leaning": {"old": 0.0, "new": 2.0' in compared.stdout


def test_pre_commit_runs_the_hook(project: Project) -> None:
    revision = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    hooks = HOOKS.format(repository=ROOT, revision=revision)
    (project.folder / ".pre-commit-config.yaml").write_text(hooks)
    project.commit()
    passed = project.run("pre-commit", "run", "--all-files")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "cobalance gate" in passed.stdout

    lean(project)
    failed = project.run("pre-commit", "run", "--all-files")
    assert failed.returncode == 1
    assert "cow is in " in failed.stdout
    accept(project)
    assert project.run("pre-commit", "run", "--all-files").returncode == 0
