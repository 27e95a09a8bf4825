"""Log when operations begin and end, with their numbers; write the log to a terminal or a file."""

import functools
import inspect
import logging
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import ParamSpec, TypeVar

from cobalance.graph.errors import OptionError
from cobalance.graph.safe_text import safe_text

P = ParamSpec("P")
R = TypeVar("R")

Level = StrEnum("Level", "DEBUG INFO WARNING ERROR")


def log_run(function: Callable[P, R]) -> Callable[P, R]:
    """Log an operation's begin, end or error to its module's logger, at INFO; stages at DEBUG.

    The begin names the arguments that are texts, numbers or of a length, the end those of the
    result; an error comes with how far each stage of ``progress`` was.

    Examples
    --------
    >>> log_run(len)("abc")
    3
    """
    log = logging.getLogger(function.__module__)
    signature, name = inspect.signature(function), function.__qualname__

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if not log.isEnabledFor(logging.INFO):
            return function(*args, **kwargs)
        call = signature.bind(*args, **kwargs)
        call.apply_defaults()
        stages: dict[str, str] = {}
        if callable(report := call.arguments.get("progress")):

            def progress(stage: str, done: int, total: int | None) -> None:
                if stage not in stages:
                    log.debug("%s: %s", name, stage)
                stages[stage] = f"{stage} {done}" if total is None else f"{stage} {done}/{total}"
                report(stage, done, total)

            call.arguments["progress"] = progress
        log.info("%s begins: %s", name, " ".join(_numbers(call.arguments.items())))
        began = time.monotonic()
        try:
            result = function(*call.args, **call.kwargs)
        except BaseException as error:
            failed = f"{time.monotonic() - began:.1f} s ({', '.join(stages.values())})"
            log.info("%s failed after %s: %s: %s", name, failed, type(error).__name__, error)
            raise
        numbers = " ".join(_numbers([("result", result)]))
        log.info("%s ended after %.1f s: %s", name, time.monotonic() - began, numbers)
        return result

    return run


def _numbers(values: Iterable[tuple[str, object]]) -> Iterable[str]:
    """Texts and numbers with their names, and lengths, also of the fields of dataclasses."""
    for name, value in values:
        if isinstance(value, str | int | float | Path):
            yield f"{name}={str(value)!r}" if isinstance(value, str | Path) else f"{name}={value}"
        elif is_dataclass(value) and name != "folders":
            yield from _numbers((field.name, getattr(value, field.name)) for field in fields(value))
        elif isinstance(value, Sized) and not isinstance(value, Mapping):
            yield f"{name}: {len(value)}"


class _Line(logging.Formatter):
    """One record, without credentials and control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return safe_text(super().format(record))


class _Terminal(logging.Handler):
    """Write to the current standard error, which progress bars replace."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"{self.format(record)}\n")


def write_log(level: Level | None, file: Path | None) -> None:
    """Write the log from a level on to a file, by default INFO, or without one to standard error.

    Warnings are written to standard error in any case, without either by Python itself.

    Raises
    ------
    OptionError
        The file cannot be written.
    """
    if level is None and file is None:
        return
    handlers: list[logging.Handler] = [_Terminal(logging.WARNING if file else logging.NOTSET)]
    if file is not None:
        try:
            handlers.append(logging.FileHandler(file, encoding="utf-8"))
        except OSError as error:
            raise OptionError(
                f"The log file {file} cannot be written: {error.strerror}."
            ) from error
    for handler in handlers:
        handler.setFormatter(_Line("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    log = logging.getLogger("cobalance")
    log.handlers = handlers
    log.setLevel((level or Level.INFO).upper())
