"""Worker ids: they name the machine and the process, so that a death is seen where it happened."""

import hashlib
import os
import socket
import uuid
from functools import cache
from pathlib import Path

import psutil


def new_worker_id() -> str:
    """Name a worker of this process: machine, process and a random part."""
    return f"{_machine()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def is_gone(worker: str) -> bool:
    """Whether a worker ran on this machine and its process has ended.

    Parameters
    ----------
    worker : str
        From `new_worker_id`, here or elsewhere.
    """
    machine, _, pid = worker.rpartition(":")[0].rpartition(":")
    if machine != _machine() or not pid.isdigit():
        return False
    try:
        return bool(psutil.Process(int(pid)).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False


@cache
def _machine() -> str:
    """Name this machine: unlike one with the same host name, or a container with own processes."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        about = f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        about = f"{uuid.getnode()}"
    return f"{socket.gethostname()}:{hashlib.sha256(about.encode()).hexdigest()[:6]}"
