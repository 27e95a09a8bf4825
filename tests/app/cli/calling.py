"""The command line as people call it: in a process of its own, or in this one, which is quicker."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from subprocess import CompletedProcess
from unittest.mock import patch

from cobalance.app.__main__ import main
from cobalance.app.cli.shared import terminal

EXTRAS = {
    "worker": ("dbos", "fsspec", "imagehash", "PIL"),
    "models": ("torch", "diffusers", "transformers"),
    "demo": ("sklearn", "skimage"),
    "app": ("streamlit",),
}
"""The extras, each with packages that it installs."""


def call(
    environment: Mapping[str, str],
    *arguments: object,
    width: int = 10_000,
    together: bool = False,
) -> "CompletedProcess[str]":
    """Run a command in this process, with an environment and output of its own.

    As into a pipe: a line for a row, whatever ``COLUMNS`` is, unless a `width` is given. With
    `together` standard error is in standard output, where it came.
    """
    terminal.out.width = width
    words = [str(argument) for argument in arguments]
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    with (
        patch.dict(os.environ, _with_jvm_options(environment), clear=True),
        patch.object(sys, "argv", ["cobalance", *words]),
        patch.object(sys.modules["__main__"], "__package__", ""),  # `python -m pytest`, too
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out if together else err),
    ):
        try:
            main()
            code: object = 0
        except SystemExit as ended:
            code = ended.code or 0
    assert isinstance(code, int), code
    return CompletedProcess(words, code, _text(out), _text(err))


def spawn(
    environment: Mapping[str, str], *arguments: object, answer: str | None = None
) -> "CompletedProcess[str]":
    """Run a command in a process of its own, with an answer to what it asks."""
    return _python(environment, "-m", "cobalance.app", *map(str, arguments), answer=answer)


def run_code(environment: Mapping[str, str], code: str) -> str:
    """Standard output of some code, run in a process of its own that has to succeed."""
    done = _python(environment, "-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_without(
    environment: Mapping[str, str], extras: Iterable[str], *arguments: object
) -> "CompletedProcess[str]":
    """Run a command in a process that lacks the packages of some extras."""
    command = [*map(str, arguments)]
    code = f"{hide(extras)}; sys.argv = ['cobalance', *{command!r}]; "
    return _python(environment, "-c", f"{code}from cobalance.app.__main__ import main; main()")


def run_each_without(
    environment: Mapping[str, str], extras: Iterable[str], commands: Iterable[Iterable[str]]
) -> "list[CompletedProcess[str]]":
    """Run commands one after the other in one process that lacks the packages of some extras."""
    words = [[*command] for command in commands]
    code = f"{hide(extras)}; from tests.app.cli.calling import call; import json, os; "
    ended = f"[call(os.environ.copy(), *command) for command in {words!r}]"
    code += f"print(json.dumps([(d.returncode, d.stdout, d.stderr) for d in {ended}]))"
    told = json.loads(run_code(environment, code))
    return [CompletedProcess(word, *one) for word, one in zip(words, told, strict=True)]


def hide(extras: Iterable[str]) -> str:
    """Code after which the packages of some extras cannot be imported."""
    missing = [name for extra in extras for name in EXTRAS[extra]]
    return f"import sys; sys.modules.update(dict.fromkeys({missing!r}))"


def _python(
    environment: Mapping[str, str], *arguments: str, answer: str | None = None
) -> "CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *arguments],
        env=_with_jvm_options(environment),
        input=answer,
        capture_output=True,
        text=True,
        check=False,
    )


def _with_jvm_options(environment: Mapping[str, str]) -> dict[str, str]:
    """Add the options of the JVM that make the servers of tests start cheaply."""
    name = "JAVA_TOOL_OPTIONS"
    options = {name: os.environ[name]} if name in os.environ else {}
    return options | dict(environment)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
