"""Run a worker process on each GPU."""

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

from cobalance.graph.errors import CobalanceError, OptionError, needs_extra
from cobalance.graph.wording import inflect


def gpu_numbers(gpus: str) -> list[int]:
    """Parse numbers of GPUs, separated by commas, or ``all``.

    Raises
    ------
    OptionError
        The text is neither, or there is no such GPU.
    """
    with needs_extra("A worker on a GPU", "models"):
        import torch
    there = range(torch.cuda.device_count())
    try:
        wanted = list(there) if gpus == "all" else [int(number) for number in gpus.split(",")]
    except ValueError:
        raise OptionError(f"--gpus {gpus!r}: give numbers such as 0,1, or all.") from None
    missing = [number for number in wanted if number not in there]
    if missing or not wanted:
        raise OptionError(
            f"--gpus {gpus!r}: this machine has {inflect(len(there), 'GPUs')} that torch can use. "
            "Leave the option out to work without."
        )
    return wanted


def run_on_gpus(
    numbers: Sequence[int],
    environment: Mapping[str, str],
    *,
    until_idle: bool,
    dead_after_s: float,
) -> None:
    """Run a worker process on each GPU, until all have ended.

    Parameters
    ----------
    environment : mapping of str to str
        The variables from which they read their settings.

    Raises
    ------
    CobalanceError
        Some of them failed.
    """
    command = [sys.executable, "-m", "cobalance.app", "work", "--dead-after", str(dead_after_s)]
    command += ["--until-idle"] if until_idle else []
    workers = [
        subprocess.Popen(command, env={**environment, "CUDA_VISIBLE_DEVICES": str(number)})  # noqa: S603
        for number in numbers
    ]

    def pass_on(number: int, _frame: object) -> None:
        if number != signal.SIGINT:  # which a terminal sends to them, too
            for worker in workers:
                worker.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        failed = [worker for worker in workers if worker.wait() != 0]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if failed:
        raise CobalanceError(f"{len(failed)} of {len(workers)} workers failed; see above.")
