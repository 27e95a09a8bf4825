"""What Dockerfile copies can be built, installed and used, as docker-compose.yml says.

There is no Docker here: the wheel is built from the copied files alone, and the commands of
docker-compose.yml run in an environment of its own, as a user without a home or a name.

By hand, with all packages from the index: ``python -m venv new && new/bin/pip install .``, and then
the blocks of docs/python.md.
"""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from ruamel.yaml import YAML

from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.jobs.status import list_jobs
from tests.waiting import until

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COPIED = [
    name for line in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.M) for name in line.split()
]
COMPOSE = YAML(typ="safe").load(ROOT / "docker-compose.yml")
HEADER = [
    line[4:]
    for line in (ROOT / "docker-compose.yml").read_text("utf-8").replace("\\\n#", "").splitlines()
    if line.startswith("#   ")
]
STRANGER = 23_456
"""A user id that no machine knows."""

DIST = "it's a folder"  # which a shell would split, and end a string at
NAME = "cobalance-0.1.0-py3-none-any.whl"

EXAMPLE = """
import cobalance as cb
data = cb.read("cars.csv")
print(cb.imbalances(data, max_size=2).title())
print(cb.__file__)
"""


def run(*command: object, cwd: Path, environment: dict[str, str] | None = None) -> str:
    if environment is None:  # without what the tests' own environment says of paths
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
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter; pytest takes that from its own."""
    with tempfile.TemporaryDirectory(prefix="cobalance-packaging-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(scope="module")
def installed(open_folder: Path) -> Path:
    """A new environment with the wheel of the sdist of what Dockerfile copies.

    Third-party packages come from the tests' environment.
    """
    for name in COPIED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(ROOT / name, open_folder / "copied" / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, open_folder / "copied" / name)
    build = (sys.executable, "-m", "hatchling", "build", "-d", open_folder / DIST, "-t")
    run(*build, "sdist", cwd=open_folder / "copied")
    (sdist,) = (open_folder / DIST).glob("*.tar.gz")
    with tarfile.open(sdist) as files:
        files.extractall(open_folder, filter="data")
    run(*build, "wheel", cwd=open_folder / sdist.name.removesuffix(".tar.gz"))
    (wheel,) = (open_folder / DIST).glob("*.whl")
    new = open_folder / "new"
    run(sys.executable, "-m", "venv", "--without-pip", new, cwd=open_folder)
    run(
        sys.executable, "-m", "uv", "pip", "install", "--quiet", "--offline", "--no-deps",
        "--compile-bytecode", "--python", new / "bin" / "python", wheel, cwd=open_folder,
    )  # fmt: skip
    (site_packages(new) / "third_party.pth").write_text(sysconfig.get_path("purelib"))
    return new


def site_packages(environment: Path) -> Path:
    (found,) = (environment / "lib").glob("python*/site-packages")
    return found


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
    ask = (
        "from cobalance.graph.installation import install_command; print(install_command('graphs'))"
    )
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


def test_the_wheel_has_all_of_the_package_and_nothing_else(installed):
    place = site_packages(installed)
    left_out = {"__pycache__", "frontend"}
    ours, built = (
        {
            path.relative_to(folder).as_posix()
            for path in (folder / "cobalance").rglob("*")
            if path.is_file() and not left_out & set(path.parts)
        }
        for folder in (ROOT, place)
    )
    assert built == ours
    assert {path.name for path in place.iterdir() if "cobalance" in path.name} == {
        "cobalance",
        "cobalance-0.1.0.dist-info",
    }
    (record,) = place.glob("cobalance-*/RECORD")
    tops = {line.partition("/")[0] for line in record.read_text().splitlines()}
    assert tops == {"..", "cobalance", "cobalance-0.1.0.dist-info"}


def test_every_package_is_imported_beside_packages_of_the_users_own(installed, users_own):
    names = sorted(
        path.parent.relative_to(ROOT).as_posix().replace("/", ".")
        for path in (ROOT / "cobalance").rglob("__init__.py")
    )
    code = "import sys\nfor name in sys.argv[1:]: __import__(name)\nimport app, graph"
    run(installed / "bin" / "python", "-W", "ignore", "-c", code, *names, cwd=users_own)
    assert len(names) > 50


@pytest.fixture(scope="module")
def users_own(open_folder: Path) -> Path:
    """A folder with ``app/`` and ``graph.py``, as anyone's project may have them."""
    folder = open_folder / "project"
    (folder / "app").mkdir(parents=True)
    for file in (folder / "app" / "__init__.py", folder / "graph.py"):
        file.write_text("mine = True\n")
    return folder


@dataclass
class Containers:
    """The services of docker-compose.yml as processes on this machine.

    Parameters
    ----------
    folder : Path
        Stands for the folder with docker-compose.yml.
    entry : list of str
        The image's command, behind what starts it as another user.
    environment : dict of str to str
        Variables that differ here.
    """

    folder: Path
    entry: list[str]
    environment: dict[str, str]

    def shell(self, lines: str) -> None:
        """Run lines in a shell of the same user."""
        run(*self.entry[:-1], "sh", "-euc", lines, cwd=self.folder)

    def run(self, name: str, *words: str) -> str:
        """Run a service with these words, and return what it prints."""
        command, cwd, environment = self._process(name, words)
        return run(*command, cwd=cwd, environment=environment)

    @contextmanager
    def up(self, name: str, *words: str) -> Iterator[None]:
        """Keep a service running."""
        command, cwd, environment = self._process(name, words)
        with subprocess.Popen(command, cwd=cwd, env=environment) as process:
            try:
                yield
            finally:
                process.terminate()

    def _process(self, name: str, words: Iterable[str]) -> tuple[list[str], Path, dict[str, str]]:
        service = COMPOSE["services"][name]
        volumes = [volume.split(":") for volume in service["volumes"]]
        places = {target: source for source, target, *_ in volumes}
        for secret in service["secrets"]:
            places[f"/run/secrets/{secret}"] = COMPOSE["secrets"][secret]["file"]

        def here(text: str) -> str:
            for inside, source in places.items():
                if f"{text}/".startswith(f"{inside}/"):
                    return str(self.folder / source) + text.removeprefix(inside)
            return text

        for source, _, *mode in volumes:
            (self.folder / source).chmod(0o555 if mode == ["ro"] else 0o755)
        working_folder = re.findall(r"^WORKDIR (.+)$", DOCKERFILE, re.MULTILINE)[-1]
        environment = {one: here(value) for one, value in service["environment"].items()}
        return (
            [*self.entry, *map(here, words)],
            Path(here(working_folder)),
            {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **environment, **self.environment},
        )


@pytest.fixture
def containers(installed, open_folder, users_own, address) -> Containers:
    """The services with the tests' database, in an empty folder.

    Packages of a user's own come first on the import path.
    """
    folder = open_folder / "here"
    folder.mkdir()
    uri, name, *_ = address
    environment = {"NEO4J_URI": uri, "NEO4J_USERNAME": name, "PYTHONPATH": str(users_own)}
    entry = [*as_a_stranger(installed), str(installed / "bin" / "cobalance")]
    if os.getuid() != 0 or len(entry) > 1:
        environment["HOME"] = "/"  # as whoever has no name
    if len(entry) > 1:
        os.chown(folder, STRANGER, STRANGER)
    return Containers(folder, entry, environment)


def as_a_stranger(installed: Path) -> list[str]:
    """What runs a command as a user that this machine does not know, where root may start one.

    Where Python is in a folder of root's alone, that user may read, but not write, all files.
    """
    if os.getuid() != 0:
        return []
    become = ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups"]
    read = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    for prefix in (become, become + read):
        try:
            run(*prefix, installed / "bin" / "python", "-c", "import numpy", cwd=ROOT)
        except (AssertionError, FileNotFoundError):
            continue
        return prefix
    warnings.warn("As root: setpriv could not start another user's process.", stacklevel=1)
    return []


@pytest.mark.filterwarnings("default:As root")
def test_the_commands_of_docker_compose_go_the_whole_way(containers, installed, address, store):
    folder = containers.folder
    first = next(n for n, line in enumerate(HEADER) if line.startswith("docker"))
    containers.shell("umask 077\n" + "\n".join(HEADER[:first]))
    assert (folder / ".env").read_text() == f"UID={folder.stat().st_uid}\n"
    secrets = sorted((folder / "secrets").iterdir())
    assert {folder / one["file"] for one in COMPOSE["secrets"].values()} == set(secrets)
    assert {path.stat().st_mode & 0o777 for path in secrets} == {0o644}  # user neo4j reads them
    assert (folder / "secrets").stat().st_mode & 0o777 == 0o700
    (folder / "secrets" / "neo4j_password").write_text(address[2])
    (folder / "secrets" / "queue_url").write_text(f"sqlite:///{folder}/home/queue.sqlite")
    write_annotations(folder / "data")

    printed: dict[str, str] = {}
    try:
        for line in HEADER[first:]:
            match shlex.split(line, comments=True)[2:]:
                case ["up", "-d", "app"]:
                    check_app(containers, installed)
                case ["run", "--rm", name, *words]:
                    words = [printed["enqueue"].strip() if one == "JOB" else one for one in words]
                    printed[words[0]] = containers.run(name, *words)
                case ["--profile", "cpu", "up", "-d", name]:
                    words = [*COMPOSE["services"][name]["command"], "--until-idle"]
                    printed[words[0]] = containers.run(name, *words)
                case needs_a_gpu:
                    assert needs_a_gpu == ["--profile", "gpu", "up", "-d", "gpu-worker"]
        (job,) = list_jobs(store, "instances")
    finally:
        for name in ("urbancars", "instances"):
            if find_dataset(store, name) is not None:
                drop_dataset(store, name)

    assert "The plan asks for 7,308 images" in printed["demo"]
    assert "The plan asks for 8 images (4 cat, 4 dog)" in printed["plan"]
    assert (job.id, job.accepted) == (printed["enqueue"].strip(), 8)
    assert any((folder / "home" / "regions").iterdir())  # the boxes outlive a container
    exported = folder / "data" / "balanced" / "annotations" / "instances_train.json"
    assert len(json.loads(exported.read_text())["images"]) == 24 + 8


def check_app(containers: Containers, installed: Path) -> None:
    """Start the web app, on loopback, and wait until its health check holds."""
    app = COMPOSE["services"]["app"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    words = [word.replace("0.0.0.0", "127.0.0.1") for word in app["command"]]
    _, _, *check = (word.replace("8501", port) for word in app["healthcheck"]["test"])
    ask = [installed / "bin" / "python", *check]
    with containers.up("app", *words, "--port", port):
        until(lambda: subprocess.run(ask, capture_output=True, check=False).returncode == 0)


def write_annotations(folder: Path) -> None:
    """Images with boxes: two of three cats lie on grass with a ball, two of three dogs do not."""
    names = ["cat", "dog", "grass", "ball", "sofa", "rug"]
    images: list[dict[str, Any]] = []
    boxes: list[dict[str, Any]] = []
    for i in range(24):
        shades = np.random.default_rng(i).integers(0, 255, (48, 64, 3), dtype=np.uint8)
        Image.fromarray(shades).save(folder / f"{i}.png")
        images.append({"id": i, "file_name": f"{i}.png", "width": 64, "height": 48})
        outside = i % 2 == (i % 6 > 3)
        for category in (i % 2, *((2, 3) if outside else (4, 5))):
            box = {"bbox": [8, 8, 24, 24], "area": 576, "iscrowd": 0}
            boxes.append({"id": len(boxes), "image_id": i, "category_id": category, **box})
    categories = [{"id": i, "name": name} for i, name in enumerate(names)]
    document = {"images": images, "annotations": boxes, "categories": categories}
    (folder / "instances.json").write_text(json.dumps(document))
