"""The site builds without a warning, its index has every page; forms and workflows are valid."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*DOCS.glob("*.md"), *(DOCS / "decisions").glob("*.md")]
TEMPLATES = ".github/ISSUE_TEMPLATE"
SCHEMAS = {
    ".github/workflows/test.yml": "vendor.github-workflows",
    f"{TEMPLATES}/bug.yml": "vendor.github-issue-forms",
    f"{TEMPLATES}/idea.yml": "vendor.github-issue-forms",
    f"{TEMPLATES}/config.yml": "vendor.github-issue-config",
    "CITATION.cff": "vendor.citation-file-format",
}


def read_yaml(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    built = {path.parent.name for path in tmp_path.rglob("index.html")}
    assert {page.stem for page in DOCS.rglob("*.md") if "mine" not in str(page)} - {
        "README"
    } <= built


def test_the_index_leads_to_every_page() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w/.-]+\.md)", index))
    assert linked == {page.relative_to(DOCS).as_posix() for page in PAGES} - {"README.md"}


@pytest.mark.parametrize("path", SCHEMAS)
def test_a_form_or_workflow_is_valid(path: str) -> None:
    arguments = ["--builtin-schema", SCHEMAS[path], "--default-filetype", "yaml", str(ROOT / path)]
    done = CliRunner().invoke(check_jsonschema, arguments)
    assert done.exit_code == 0, done.output


def test_every_form_has_a_schema() -> None:
    files = [*(ROOT / ".github").rglob("*.yml"), *ROOT.glob("*.cff")]
    assert {path.relative_to(ROOT).as_posix() for path in files} == SCHEMAS.keys()


def test_the_workflow_runs_targets_and_folders_that_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+(?: [\w-]+)*): ", makefile, re.MULTILINE))
    targets = {name for line in targets for name in line.split()}

    jobs = read_yaml(".github/workflows/test.yml")["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    made = {name for command in commands for name in re.findall(r"make ([\w-]+)", command)}
    made |= set(jobs["versions"]["strategy"]["matrix"]["target"])
    assert made <= targets
    assert "test" in made

    folders = {name for command in commands for name in re.findall(r"tests/\w+", command)}
    assert all((ROOT / folder).is_dir() for folder in folders)


def test_the_workflow_has_every_python_that_the_package_names() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    named = set(re.findall(r"Programming Language :: Python :: (3\.\d+)", project))
    matrix = read_yaml(".github/workflows/test.yml")["jobs"]["linux"]["strategy"]["matrix"]
    assert named <= set(matrix["python"])


def test_hooks_run_programs_of_the_environment() -> None:
    (repository,) = read_yaml(".pre-commit-config.yaml")["repos"]
    programs = [hook["entry"].split()[0] for hook in repository["hooks"]]
    assert all((Path(sys.executable).parent / Path(program).name).exists() for program in programs)
