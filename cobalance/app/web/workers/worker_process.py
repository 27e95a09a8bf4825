"""Process of a worker that the web app has started, and that ends with the app.

Its standard input is a pipe of which the app alone holds the other end: it closes when the app
ends, however that happens. The process leads a group of its own, which ends with it.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from cobalance.base import CobalanceError, Progress
from cobalance.workflows import Settings, in_environment

IDLE_S = 600.0
"""A worker that finds nothing to do for so long ends, and frees the GPU."""

GRACE_S = 5.0
_SAY_EVERY_S = 10.0
_say = partial(print, flush=True)


def main() -> None:
    """Run a worker until it is told to end, has long had nothing to do, or the app has ended."""
    threading.Thread(target=end_with_app, name="end with the app", daemon=True).start()
    # Once the thread listens, as this takes long to import.
    from cobalance.workflows import run_worker

    try:
        settings = Settings.from_environment()
        settings.write_log()
        run_worker(settings, idle_s=IDLE_S, say=_say, progress_bars=_progress)
    except CobalanceError as error:
        _say(error.render(in_environment))
        sys.exit(1)


def end_with_app(grace_s: float = GRACE_S) -> None:
    """Wait for the end of the app; then end, and with the whole group after `grace_s` seconds."""
    # The pipe has nothing to read until the app ends and closes it.
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace_s)
    if os.getpid() == os.getpgrp():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


@contextmanager
def _progress() -> Iterator[Progress]:
    """Give a progress callback that says how far a job is, now and then."""
    reported: dict[str, tuple[float, int]] = {}

    def report(stage: str, done: int, total: int | None) -> None:
        now_s = time.monotonic()
        before_s, before = reported.get(stage, (now_s - _SAY_EVERY_S, -1))
        is_due = done == total or now_s - before_s >= _SAY_EVERY_S
        if done != before and is_due:
            reported[stage] = now_s, done
            of_total = "" if total is None else f" of {total:,}"
            _say(f"{stage}: {done:,}{of_total}")

    yield report


if __name__ == "__main__":
    main()
