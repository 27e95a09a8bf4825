"""The wheel holds all that a diagnosis needs, in an environment without this repository.

By hand, with all packages from the index: ``python -m venv new && new/bin/pip install .``, and then
the blocks of docs/python.md.
"""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

DIST = "it's a folder"  # which a shell would split, and end a string at
NAME = "cobalance-0.1.0-py3-none-any.whl"

EXAMPLE = """
import cobalance as cb
data = cb.read("cars.csv")
print(cb.imbalances(data, max_size=2).title())
print(cb.__file__)
"""


def run(*command: object, cwd: Path) -> str:
    # Without what the tests' own environment says of paths.
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel; third-party packages come from that of the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / DIST, cwd=ROOT)
    (wheel,) = (folder / DIST).glob("*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "new", cwd=folder)
    python = folder / "new" / "bin" / "python"
    run(
        sys.executable, "-m", "uv", "pip", "install", "--quiet", "--offline", "--no-deps",
        "--python", python, wheel, cwd=folder,
    )  # fmt: skip
    (site,) = (folder / "new" / "lib").glob("python*/site-packages")
    (site / "third_party.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "new"


def test_three_lines_run_where_only_the_wheel_is(installed, tmp_path):
    (tmp_path / "cars.csv").write_text("id,label,objects\n1,a,cow|road\n2,b,cow\n3,b,road\n")
    title, file = run(installed / "bin" / "python", "-c", EXAMPLE, cwd=tmp_path).splitlines()
    assert title == (
        "3 concept combinations, 0 lean to a class (q ≤ 0.05), 1 more has a gap without such "
        "evidence; images: a 1, b 2"
    )
    assert Path(file).is_relative_to(installed)
    assert (Path(file).parent / "py.typed").exists()


def test_the_command_runs_where_only_the_wheel_is(installed, tmp_path):
    assert run(installed / "bin" / "cobalance", "--version", cwd=tmp_path).startswith(
        "cobalance 0."
    )


def test_an_extra_is_added_from_where_this_copy_came_from(installed, tmp_path):
    python = installed / "bin" / "python"
    ask = "from graph.installation import install_command; print(install_command('graphs'))"
    command = run(python, "-c", ask, cwd=tmp_path).strip()
    assert NAME in command
    pip = f"'{sys.executable}' -m pip --python '{python}'"
    options = "--dry-run --no-index --no-deps --ignore-installed --disable-pip-version-check"
    shell = f'pip() {{ {pip} "$@" {options}; }}; {command}'
    assert "Would install cobalance-0.1.0" in run("sh", "-c", shell, cwd=tmp_path)

    (record,) = (installed / "lib").glob("python*/site-packages/cobalance-*/direct_url.json")
    written = record.read_text()
    for url, expected in (
        (ROOT.as_uri(), f"pip install '{ROOT}[graphs]'"),
        ((installed / NAME).as_uri(), f"pip install '{NAME}[graphs]'"),
        (f"https://example.org/{NAME}", f"pip install '{NAME}[graphs]'"),
    ):
        record.write_text(json.dumps({"url": url}))
        assert run(python, "-c", ask, cwd=tmp_path).strip() == expected
    record.unlink()
    assert run(python, "-c", ask, cwd=tmp_path).strip() == f"pip install '{NAME}[graphs]'"
    record.write_text(written)
