"""The command line as people call it: in a process of its own, or in this one, which is quicker."""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from subprocess import CompletedProcess
from unittest.mock import patch

from app.__main__ import main
from app.cli import common


def call(environment: Mapping[str, str], *arguments: object) -> "CompletedProcess[str]":
    """Run a command in this process, with an environment and output of its own.

    As into a pipe: a line for a row, whatever ``COLUMNS`` is. `spawn` where that matters.
    """
    common.out.width = 10_000  # as on import, if standard output is no terminal then
    words = [str(argument) for argument in arguments]
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    with (
        patch.dict(os.environ, environment, clear=True),
        patch.object(sys, "argv", ["cobalance", *words]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
            code: object = 0
        except SystemExit as ended:
            code = ended.code or 0
    assert isinstance(code, int), code
    return CompletedProcess(words, code, _text(out), _text(err))


def spawn(environment: Mapping[str, str], *arguments: object) -> "CompletedProcess[str]":
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "app", *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()  # type: ignore[attr-defined]


WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
from app.__main__ import main
sys.argv = ["cobalance", *{arguments!r}]
main()
"""
EXTRAS = {
    "worker": ("dbos", "fsspec", "imagehash", "PIL"),
    "models": ("torch", "diffusers", "transformers"),
    "demo": ("sklearn", "skimage"),
    "app": ("streamlit",),
}


def run_without(
    environment: Mapping[str, str], extras: Iterable[str], *arguments: object
) -> "CompletedProcess[str]":
    """Run a command in a process that lacks the packages of some extras."""
    missing = [name for extra in extras for name in EXTRAS[extra]]
    return subprocess.run(
        [sys.executable, "-c", WITHOUT.format(missing=missing, arguments=[*map(str, arguments)])],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
