"""Worker processes of the web app: started, stopped, started again, and never left behind."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from cobalance.app.web.workers.supervisor import LocalWorkers, gpu_of, workers_allowed
from cobalance.base.errors import CobalanceError, ConflictError
from cobalance.workflows.settings import Settings
from tests.support.waiting import until

Start = Callable[..., LocalWorkers]

# Ends at SIGTERM with a word, as a worker does.
POLITE = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: (print("bye"), sys.exit(0)))
print("hello", flush=True)
signal.pause()
"""
# Has a child, and does not end at SIGTERM.
STUBBORN = """
import signal, subprocess, sys
signal.signal(signal.SIGTERM, lambda *_: print("not yet", flush=True))
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
print(child.pid, flush=True)
while True:
    signal.pause()
"""


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a worker that runs a program; all are ended after the test."""
    made: list[LocalWorkers] = []

    def run(program: str, pauses_s: tuple[float, ...] = ()) -> LocalWorkers:
        workers = LocalWorkers([sys.executable, "-c", program], pauses_s)
        made.append(workers)
        workers.start(1)
        return workers

    yield run
    for worker in (one for workers in made for one in workers.all()):
        worker.stop()
        worker.stop()
        worker.wait(30)


def is_gone(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    return True


def test_a_worker_ends_when_it_is_told_to(start: Start) -> None:
    (worker,) = start(POLITE).all()
    until(lambda: worker.lines() == ["hello"])
    assert (worker.state, worker.pid is not None) == ("running", True)
    assert worker.pid is not None
    assert os.getpgid(worker.pid) == worker.pid != os.getpgid(0)
    worker.stop()
    assert worker.wait(300)
    assert (worker.state, worker.lines(), worker.reason) == ("ended", ["hello", "bye"], "")


def test_told_twice_it_ends_at_once_with_what_it_has_started(start: Start) -> None:
    (worker,) = start(STUBBORN).all()
    until(worker.lines)
    child = int(worker.lines()[0])
    worker.stop()
    until(lambda: "not yet" in worker.lines())
    assert worker.state == "stopping"
    worker.stop()
    assert worker.wait(300)
    assert worker.state == "ended"
    until(lambda: is_gone(child))


def test_one_that_dies_is_started_again_a_few_times(start: Start) -> None:
    (worker,) = start("print('the GPU is\\x1b[31m gone'); raise SystemExit(3)", (0, 0.01)).all()
    assert worker.wait(300)
    assert (worker.state, worker.restarts) == ("failed", 2)
    assert worker.reason == "It ended with exit code 3: the GPU is\\x1b[31m gone"
    assert sum(line.startswith("the GPU") for line in worker.lines()) == 3


def test_one_that_is_killed_comes_back_and_says_why(start: Start) -> None:
    (worker,) = start(POLITE, (0,)).all()
    until(worker.lines)
    first = worker.pid
    assert first is not None
    os.kill(first, 9)
    until(lambda: worker.lines().count("hello") == 2)
    assert worker.pid not in (None, first)
    assert worker.reason == "It was ended by SIGKILL, as the system does when memory runs out."
    assert (worker.state, worker.restarts) == ("running", 1)


def test_it_may_be_stopped_while_it_waits_for_its_restart(start: Start) -> None:
    (worker,) = start("raise SystemExit(1)", (3600,)).all()
    until(lambda: worker.state == "restarting")
    worker.stop()
    assert worker.wait(300)
    assert worker.state == "ended"


def test_what_floods_its_output_is_kept_short(start: Start) -> None:
    program = "print('x' * 10**6); [print(n) for n in range(20_000)]"
    (worker,) = start(program).all()
    assert worker.wait(300)
    assert (len(worker.lines()), worker.lines()[-1]) == (5000, "19999")
    (long,) = start("print('x' * 10_000)").all()
    assert long.wait(300)
    assert "".join(long.lines()) == "x" * 10_000
    assert max(map(len, long.lines())) == 2000


def test_a_program_that_is_not_there_is_said() -> None:
    workers = LocalWorkers(["/no/such/program"], ())
    worker = workers.start(1)
    assert worker.wait(300)
    assert worker.state == "failed"
    assert worker.lines()[0] == "It cannot be started: No such file or directory"


def test_no_more_run_than_are_allowed(start: Start) -> None:
    workers = start(POLITE)
    with pytest.raises(ConflictError, match="may start 1 worker, and as many run"):
        workers.start(1)
    with pytest.raises(CobalanceError, match="may start no worker"):
        workers.start(0)
    assert [one.number for one in (workers.start(2), *workers.running())] == [2, 1, 2]
    first, second = workers.all()
    workers.forget(1)  # it runs
    assert first in workers.all()
    until(first.lines)
    first.stop()
    first.wait(30)
    assert workers.running() == [second]
    assert workers.start(2).number == 1
    assert first not in workers.all()


@pytest.mark.parametrize(
    ("number", "address", "login", "allowed"),
    [
        (None, "127.0.0.1", False, 1),
        (None, "::1", False, 1),
        (None, "127.0.0.1", True, 0),
        (None, "0.0.0.0", False, 0),
        (None, None, False, 0),
        (0, "127.0.0.1", False, 0),
        (4, None, True, 4),
    ],
)
def test_how_many_are_allowed(
    number: int | None, address: str | None, login: bool, allowed: int
) -> None:
    settings = Settings(
        cobalance_workers=number, cobalance_auth_file=Path("auth.toml") if login else None
    )
    assert workers_allowed(settings, address) == allowed


def test_workers_take_gpus_in_turn(tmp_path: Path) -> None:
    assert [gpu_of(n, {}, tmp_path) for n in (1, 2)] == [{}, {}]
    for name in ("nvidia0", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    assert gpu_of(2, {}, tmp_path) == {}
    (tmp_path / "nvidia3").touch()
    seen = [gpu_of(n, {}, tmp_path)["CUDA_VISIBLE_DEVICES"] for n in (1, 2, 3)]
    assert seen == ["0", "1", "0"]
    assert gpu_of(1, {"CUDA_VISIBLE_DEVICES": ""}, tmp_path) == {}


APP = """
import signal, sys
from cobalance.app.web.workers.supervisor import LocalWorkers
worker = LocalWorkers([sys.executable, "-c", sys.argv[1]]).start(1)
while not worker.lines():
    pass
print(worker.pid, worker.lines()[0], flush=True)
signal.pause()
"""
# Not even SIGTERM ends it, nor its child.
WORKER = """
import signal, subprocess, sys, threading
from cobalance.app.web.workers.worker_process import end_with_app
signal.signal(signal.SIGTERM, lambda *_: None)
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
print(child.pid, flush=True)
threading.Thread(target=end_with_app, args=(0.1,), daemon=True).start()
while True:
    signal.pause()
"""


@pytest.mark.parametrize("number", [9, 15])
def test_nothing_is_left_behind_when_the_app_is_killed(number: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", APP, WORKER], stdout=subprocess.PIPE, text=True
    ) as app:
        assert app.stdout is not None
        pids = [int(pid) for pid in app.stdout.readline().split()]
        assert len(pids) == 2
        assert not any(map(is_gone, pids))
        app.send_signal(number)
    for pid in pids:
        until(lambda pid=pid: is_gone(pid))
