"""Worker ids: machine and process, so that a dead process is noticed on its own machine."""

import hashlib
import os
import socket
import uuid
from functools import cache
from pathlib import Path

import psutil


def new_worker_id() -> str:
    """A new id for a worker in this process."""
    return f"{_machine()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def is_dead(worker: str) -> bool:
    """Whether a worker's process ran on this machine and has ended."""
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
    """Name this machine, or container: different for another one with the same host name."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        about = f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        about = f"{uuid.getnode()}"
    return f"{socket.gethostname()}:{hashlib.sha256(about.encode()).hexdigest()[:6]}"
