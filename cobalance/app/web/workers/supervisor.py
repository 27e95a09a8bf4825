"""Start worker processes, keep their output, and restart crashed ones a few times."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Literal

from cobalance.base import CobalanceError, ConflictError, inflect
from cobalance.base.safe_text import safe_text
from cobalance.workflows import Settings, is_loopback

COMMAND = (sys.executable, "-m", "cobalance.app.web.workers.worker_process")
PAUSES_S = (1.0, 5.0, 25.0)
"""Before the first restart, the second and so on; then no more."""
STEADY_S = 600.0
"""A worker that has run for so long has all its restarts again."""
MOST_LINES, MOST_CHARACTERS = 5000, 2000
_LAST_LINES_S = 5.0
_DEVICES = Path("/dev")

State = Literal["running", "restarting", "stopping", "ended", "failed"]


def workers_allowed(settings: Settings, address: str | None) -> int:
    """Number of workers that the web app may start on its machine.

    Without COBALANCE_WORKERS it is one, and only while no other machine can reach the app: it
    listens on loopback, and there is no login. `address` is what the server listens on; None for
    all.
    """
    if settings.cobalance_workers is not None:
        return settings.cobalance_workers
    is_own = address is not None and is_loopback(address) and settings.cobalance_auth_file is None
    return int(is_own)


def gpu_of(number: int, environment: Mapping[str, str], devices: Path = _DEVICES) -> dict[str, str]:
    """The variable by which a worker, numbered from 1, sees one GPU of several, in turn.

    CUDA_VISIBLE_DEVICES in the environment limits which GPUs there are; `devices` is the folder
    with the system's devices, of which no library need be asked.

    Examples
    --------
    >>> gpu_of(3, {"CUDA_VISIBLE_DEVICES": "4,7"}), gpu_of(1, {"CUDA_VISIBLE_DEVICES": "4"})
    ({'CUDA_VISIBLE_DEVICES': '4'}, {})
    """
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        # The driver's devices are /dev/nvidia0, nvidia1 and so on, among others such as nvidiactl.
        n_devices = sum(path.name[6:].isdigit() for path in devices.glob("nvidia*"))
        gpus = list(map(str, range(n_devices)))
    else:
        gpus = list(map(str.strip, visible.split(",")))

    # With one GPU there is nothing to choose.
    if len(gpus) < 2:
        return {}
    return {"CUDA_VISIBLE_DEVICES": gpus[(number - 1) % len(gpus)]}


class LocalWorker:
    """A worker process that is supervised from a thread of this one.

    `pauses_s` are those before each restart after it has died.

    Attributes
    ----------
    reason : str
        Why it last died; empty if it has not.
    restarts : int
        How often it was started again.
    """

    def __init__(
        self,
        number: int,
        command: Sequence[str],
        environment: Mapping[str, str],
        pauses_s: Sequence[float] = PAUSES_S,
    ) -> None:
        self.number = number
        self.started_at = time.time()
        self.reason = ""
        self.restarts = 0
        self._command, self._environment = list(command), dict(environment)
        self._pauses_s = list(pauses_s)
        self._lines: deque[str] = deque(maxlen=MOST_LINES)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self._state: State = "running"

        # Last, as the thread reads all of these.
        self._thread = threading.Thread(target=self._supervise, name=f"worker {number}")
        self._thread.daemon = True
        self._thread.start()

    @property
    def state(self) -> State:
        """Its present state."""
        return "stopping" if self.was_stopped and not self.is_over else self._state

    @property
    def was_stopped(self) -> bool:
        """Whether somebody has told it to end."""
        return self._stopping.is_set()

    @property
    def is_over(self) -> bool:
        """Whether it has ended and is not started again."""
        return self._state in ("ended", "failed")

    @property
    def pid(self) -> int | None:
        """Id of its process; None while none runs."""
        # Read once, as the thread may replace it meanwhile.
        process = self._process
        if process is None or process.returncode is not None:
            return None
        return process.pid

    def lines(self) -> list[str]:
        """The last lines that it wrote, the oldest first."""
        return list(self._lines)

    def stop(self) -> None:
        """End it when the images under way are done; once more, at once."""
        with self._lock:
            if self._stopping.is_set():
                self._kill()
            elif self._process is not None:
                # It alone: what it has started is its own to end.
                self._process.terminate()
            self._stopping.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for its end; return whether it is over."""
        self._thread.join(timeout_s)
        return self.is_over

    def _supervise(self) -> None:
        pauses_s = list(self._pauses_s)
        while True:
            began = time.monotonic()
            code = self._run_once()
            if self._stopping.is_set() or code == 0:
                self._state = "ended"
                return
            self.reason = self._why(code)
            self._lines.append(f"-- {self.reason}")

            # A long run shows that it can run: all restarts are due again.
            if time.monotonic() - began >= STEADY_S:
                pauses_s = list(self._pauses_s)
            if not pauses_s:
                self._state = "failed"
                return

            self._state = "restarting"
            if self._stopping.wait(pauses_s.pop(0)):
                self._state = "ended"
                return
            self.restarts += 1
            self._state = "running"

    def _run_once(self) -> int:
        """Run the process to its end, kill the rest of its group, and return its exit code."""
        with self._lock:
            if self._stopping.is_set():
                return 0
            try:
                # Its input closes with this process, and it ends with its input.
                self._process = process = subprocess.Popen(  # noqa: S603
                    self._command,
                    env=self._environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    start_new_session=True,
                )
            except OSError as error:
                self._lines.append(f"It cannot be started: {error.strerror}")
                return -1

        # Outside of the lock, as `stop` takes it while the process runs.
        reading = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        reading.start()
        code = process.wait()

        # What is left of its group may hold the output open, and the GPU.
        with self._lock:
            self._kill()
        reading.join(_LAST_LINES_S)
        if process.stdin is not None:
            process.stdin.close()
        return code

    def _read(self, output: IO[str]) -> None:
        with output:
            while line := output.readline(MOST_CHARACTERS):
                if text := safe_text(line.rstrip()):
                    self._lines.append(text)

    def _kill(self) -> None:
        """Kill its process with all children."""
        # The process may have ended by itself.
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _why(self, code: int) -> str:
        """Why the process has ended: the signal, or its exit code and last line."""
        if code >= 0:
            last = next(filter(None, reversed(self._lines)), "")
            return f"It ended with exit code {code}{f': {last}' if last else '.'}"
        if -code not in signal.valid_signals():
            return f"It was ended by signal {-code}."

        # The out-of-memory killer of Linux uses this signal.
        name = signal.Signals(-code).name
        if name == "SIGKILL":
            name = f"{name}, as the system does when memory runs out"
        return f"It was ended by {name}."


class LocalWorkers:
    """The workers of this process; parameters as of `LocalWorker`."""

    def __init__(
        self, command: Sequence[str] = COMMAND, pauses_s: Sequence[float] = PAUSES_S
    ) -> None:
        self._command, self._pauses_s = command, pauses_s
        self._all: dict[int, LocalWorker] = {}
        self._lock = threading.Lock()

    def all(self) -> list[LocalWorker]:
        """All workers, ended ones included until they are forgotten."""
        with self._lock:
            return list(self._all.values())

    def running(self) -> list[LocalWorker]:
        """Workers that have not ended."""
        return [worker for worker in self.all() if not worker.is_over]

    def start(self, most: int, environment: Mapping[str, str] = os.environ) -> LocalWorker:
        """Start a worker, if fewer than `most` run, and forget the ended ones.

        Raises
        ------
        CobalanceError
            None may be started, or (`ConflictError`) so many run already.
        """
        with self._lock:
            running = {n: worker for n, worker in self._all.items() if not worker.is_over}
            if not most:
                raise CobalanceError(
                    "This app may start no worker. Whoever runs it can set COBALANCE_WORKERS, or "
                    "run `cobalance work`."
                )
            if len(running) >= most:
                raise ConflictError(
                    f"This app may start {inflect(most, 'workers')}, and as many run. Whoever "
                    "runs it can raise COBALANCE_WORKERS."
                )

            # The lowest free number, as GPUs go to the workers by their numbers.
            number = next(n for n in range(1, most + 1) if n not in running)
            worker_environment = {**environment, **gpu_of(number, environment)}
            worker = LocalWorker(number, self._command, worker_environment, self._pauses_s)
            self._all = {**running, number: worker}
            return worker

    def forget(self, number: int) -> None:
        """Forget a worker that has ended."""
        with self._lock:
            worker = self._all.get(number)
            if worker is not None and worker.is_over:
                del self._all[number]
