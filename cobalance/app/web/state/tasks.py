"""Background tasks: one thread each, visible and cancellable from every session."""

import logging
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

from cobalance.app.web.state.access import require_editor
from cobalance.base import CobalanceError, Progress, log_run
from cobalance.base.safe_text import safe_text

logger = logging.getLogger(__name__)

# Keys of the tasks that this session has started.
_OWN = "_own_tasks"


class CancelledError(CobalanceError):
    """The user cancelled the task."""


@dataclass
class Task:
    """A background task with its progress and outcome; of one key only one runs at a time."""

    key: str
    label: str
    started: float = field(default_factory=time.monotonic)
    stage: str = ""
    done: int = 0
    total: int | None = None
    result: str | None = None
    error: CobalanceError | None = None
    ended: float | None = None
    _cancelled: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return not self._ended.is_set()

    def cancel(self) -> None:
        """Cancel at the next progress report; finished work stays, and a new run continues."""
        self._cancelled.set()

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end; return whether it has ended."""
        return self._ended.wait(timeout_s)

    def report(self, stage: str, done: int, total: int | None) -> None:
        """Report progress.

        Raises
        ------
        CancelledError
            The user has cancelled.
        """
        self.stage, self.done, self.total = stage, done, total
        if self._cancelled.is_set():
            raise CancelledError(
                f"Cancelled: {self.label}. What is done stays; start it again to go on."
            )

    @log_run
    def run(self, work: Callable[[Progress], str]) -> None:
        """Run the work, and keep its result or error."""
        try:
            self.result = work(self.report)
        except CobalanceError as error:
            logger.info("%s failed: %s", self.label, error)
            self.error = error
        except Exception:  # noqa: BLE001  # a defect: details go to the log alone
            logger.error("%s failed\n%s", self.label, safe_text(traceback.format_exc()))  # noqa: TRY400
            self.error = CobalanceError(
                f"{self.label} failed for a reason that is in the app's log. This is a defect."
            )
        finally:
            self.ended = time.monotonic()
            self._ended.set()


_tasks: dict[str, Task] = {}
_starting = threading.Lock()


def start(key: str, label: str, work: Callable[[Progress], str]) -> Task:
    """Start a task in a new thread, or return the running task with this key.

    Outcomes of this session's earlier tasks are dismissed. `work` takes a progress callback, and
    returns a sentence for the user when it has succeeded.

    Raises
    ------
    NotAllowedError
        The user may not change things.
    """
    require_editor()
    session_keys: set[str] = st.session_state.setdefault(_OWN, set())
    for earlier in list(session_keys):
        task = find(earlier)
        if task is None or not task.is_running:
            dismiss(earlier)
            session_keys.remove(earlier)
    session_keys.add(key)

    # Two sessions may start the same at the same time: the second one joins the first one's task.
    with _starting:
        running = _tasks.get(key)
        if running is not None and running.is_running:
            return running
        task = Task(key, label)
        _tasks[key] = task
    threading.Thread(target=task.run, args=(work,), name=label, daemon=True).start()
    return task


def find(key: str) -> Task | None:
    """The task with this key, if it runs or has ended and was not dismissed."""
    return _tasks.get(key)


def is_running(*keys: str) -> bool:
    """Whether a task with one of these keys runs."""
    tasks = map(find, keys)
    return any(task.is_running for task in tasks if task is not None)


def keys(*kinds: str) -> list[str]:
    """Keys of running tasks and of this session's tasks that begin with one of these words."""
    session_keys = st.session_state.get(_OWN, ())
    # Copied, as another session may start a task meanwhile.
    return [
        key
        for key, task in list(_tasks.items())
        if key.partition(" ")[0] in kinds and (task.is_running or key in session_keys)
    ]


def dismiss(key: str) -> None:
    """Forget a task that has ended."""
    _tasks.pop(key, None)
