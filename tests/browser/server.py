"""The web app as a process of its own, as a person starts it."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from cobalance.workflows.settings import Settings
from tests.support.waiting import until

START_S = 300
STOP_S = 120


@dataclass(frozen=True)
class WebApp:
    """A running app.

    Parameters
    ----------
    process : subprocess.Popen
        Its process.
    url : str
        Its address on this machine.
    said : str
        The line in which it says so.
    log : Path
        What it writes to standard error.
    """

    process: "subprocess.Popen[str]"
    url: str
    said: str
    log: Path

    @property
    def netloc(self) -> str:
        """Host and port."""
        return urlsplit(self.url).netloc

    def crashes(self) -> list[str]:
        """Tracebacks that it logged, but those of connections that closed as Streamlit read."""
        log = self.log.read_text(encoding="utf-8")
        logged = log.split("Traceback (most recent call last):")[1:]
        return [text for text in logged if "in _websocket_endpoint" not in text]

    def get(
        self, path: str, method: str = "GET", body: bytes | None = None, **headers: str
    ) -> tuple[int, Mapping[str, str], str]:
        """Status, headers and body, whatever the status."""
        with closing(http.client.HTTPConnection(self.netloc, timeout=30)) as connection:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode(errors="replace")

    def health(self) -> tuple[int, dict[str, str]]:
        """Status and answer of the health endpoint."""
        status, _, body = self.get("/healthz")
        return status, json.loads(body)


def environment_of(settings: Settings) -> dict[str, str]:
    """An environment in which a process finds the store of `settings`, and nobody logs in."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("STREAMLIT_", "COBALANCE_"))
    }
    environment["COBALANCE_CACHE"] = str(settings.cobalance_cache)
    environment["COBALANCE_HOME"] = str(settings.cobalance_home)
    return environment


def _port(said: str) -> int | None:
    return next(urlsplit(word).port for word in said.split() if "://" in word)


@contextmanager
def running(
    folder: Path,
    environment: Mapping[str, str],
    *arguments: str,
    port: int = 0,
    program: Sequence[str] = (sys.executable, "-m", "cobalance.app"),
) -> Iterator[WebApp]:
    """Run `cobalance app` in `folder`, which is its home too, until the end of the block."""
    command = [*program, "app", "--no-browser", "--port", str(port)]
    log = folder / "app.log"
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(
            [*command, *arguments],
            cwd=folder,
            env={**environment, "HOME": str(folder), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            said = process.stdout.readline().strip()  # empty if it ends without a word
            assert said, log.read_text(encoding="utf-8")
            app = WebApp(process, f"http://127.0.0.1:{_port(said)}", said, log)
            until(lambda: app.health()[0] == 200, START_S)
            yield app
        finally:
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
