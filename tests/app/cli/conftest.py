"""Commands with an output folder and a queue of the test's own."""

import pytest

from tests.app.cli.calling import call, spawn
from tests.browser.server import environment_of


@pytest.fixture
def environment(settings, tmp_path):
    return environment_of(settings) | {
        "COBALANCE_OUTPUT": str(tmp_path / "generated"),
        "COBALANCE_QUEUE": f"sqlite:///{tmp_path}/queue.sqlite",
        "PYTHONWARNINGS": "error",
    }


@pytest.fixture
def run(environment):
    def command(*arguments, exit_code=0):
        # A worker's process is its own: it ends with what it registers for signals and the queue.
        done = (spawn if arguments[0] == "work" else call)(environment, *arguments)
        assert done.returncode == exit_code, done.stderr
        return done

    return command
