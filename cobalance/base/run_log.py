"""Log when operations begin and end, with their numbers; write the log to a terminal or a file."""

import functools
import inspect
import json
import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from cobalance.base.errors import OptionError
from cobalance.base.plurals import text_if
from cobalance.base.safe_text import safe_text

P = ParamSpec("P")
R = TypeVar("R")

Level = StrEnum("Level", "DEBUG INFO WARNING ERROR")
LogFormat = StrEnum("LogFormat", "TEXT JSON")

# Levels of phases; others are logged at INFO.
_LEVELS = {"stage": logging.DEBUG}


def log_run(function: Callable[P, R]) -> Callable[P, R]:
    """Log an operation's begin, end or error to its module's logger, at INFO; stages at DEBUG.

    The begin names the arguments that are texts, numbers or of a length, the end those of the
    result; an error comes with how far each stage of ``progress`` was. Each record has the same as
    fields, in its attribute ``run``.

    Examples
    --------
    >>> log_run(len)("abc")
    3
    """
    log = logging.getLogger(function.__module__)
    signature, name = inspect.signature(function), function.__qualname__

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        # Without a log an operation costs no more than a call.
        if not log.isEnabledFor(logging.INFO):
            return function(*args, **kwargs)

        call = signature.bind(*args, **kwargs)
        call.apply_defaults()
        stages: dict[str, str] = {}

        def write(
            phase: str, text: str, values: Iterable[tuple[str, object]] = (), **more: object
        ) -> None:
            numbers = [*_numbers(values)]
            message = " ".join([f"{name}{text}", *(words for words, _, _ in numbers)])
            record = {"workflow": name, "phase": phase, **more}
            if numbers:
                record["numbers"] = {number: value for _, number, value in numbers}
            log.log(_LEVELS.get(phase, logging.INFO), "%s", message, extra={"run": record})

        if callable(report := call.arguments.get("progress")):

            def progress(stage: str, done: int, total: int | None) -> None:
                if stage not in stages:
                    write("stage", f": {stage}", stage=stage)
                stages[stage] = f"{stage} {done}{text_if(total is not None, f'/{total}')}"
                report(stage, done, total)

            call.arguments["progress"] = progress

        write("begins", " begins:", call.arguments.items())
        began = time.monotonic()
        try:
            result = function(*call.args, **call.kwargs)
        except BaseException as error:
            took_s, kind, done = time.monotonic() - began, type(error).__name__, [*stages.values()]
            text = f" failed after {took_s:.1f} s ({', '.join(done)}): {kind}: {error}"
            write("failed", text, duration_s=took_s, stages=done, error=kind)
            raise
        took_s = time.monotonic() - began
        write("ended", f" ended after {took_s:.1f} s:", [("result", result)], duration_s=took_s)
        return result

    return run


def _numbers(values: Iterable[tuple[str, object]]) -> Iterator[tuple[str, str, object]]:
    """Words, name and value of texts, numbers and lengths, also of the fields of dataclasses."""
    for name, value in values:
        if isinstance(value, Path):
            yield f"{name}={str(value)!r}", name, str(value)
        elif isinstance(value, str | int | float):
            yield f"{name}={value!r}", name, value
        elif is_dataclass(value) and name != "folders":
            # The folders of cobalance are left out: they are the same in all operations.
            yield from _numbers((field.name, getattr(value, field.name)) for field in fields(value))
        elif isinstance(value, Sized) and not isinstance(value, Mapping):
            yield f"{name}: {len(value)}", name, len(value)


class _Line(logging.Formatter):
    """One record, without credentials and control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return safe_text(super().format(record))


class _Object(logging.Formatter):
    """One record as a JSON object on a line, without credentials and control characters."""

    def format(self, record: logging.LogRecord) -> str:
        values = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
            **getattr(record, "run", {}),
        }

        if record.exc_info:
            values["exception"] = self.formatException(record.exc_info)
        return json.dumps(_safe(values), ensure_ascii=False)


def _safe(value: Any) -> Any:
    """A value for JSON, each text in it as `safe_text` writes it."""
    if isinstance(value, dict):
        return {name: _safe(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return list(map(_safe, value))
    if isinstance(value, float) and isfinite(value):
        return round(value, 6)
    if isinstance(value, int):
        return value
    return safe_text(str(value))


class _Terminal(logging.Handler):
    """Write to the current standard error, which progress bars replace."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"{self.format(record)}\n")


def write_log(level: Level | None, file: Path | None, format_: LogFormat = LogFormat.TEXT) -> None:
    """Write the log from a level on to a file, by default INFO, or without one to standard error.

    Warnings are written to standard error in any case, without either by Python itself. As JSON
    these are those of other packages, too.

    Raises
    ------
    OptionError
        The file cannot be written.
    """
    is_json = format_ is LogFormat.JSON
    if level is None and file is None and not is_json:
        return

    handlers: list[logging.Handler] = [_Terminal(logging.WARNING if file else logging.NOTSET)]
    if file is not None:
        try:
            handlers.append(logging.FileHandler(file, encoding="utf-8"))
        except OSError as error:
            raise OptionError(
                f"The log file {file} cannot be written: {error.strerror}."
            ) from error
    formatter: logging.Formatter = _Object()
    if not is_json:
        formatter = _Line("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
    for handler in handlers:
        handler.setFormatter(formatter)

    log = logging.getLogger("cobalance")
    default = Level.INFO if file or not is_json else Level.WARNING
    log.setLevel((level or default).upper())
    log.handlers = handlers
    # Whoever reads standard error as JSON gets nothing else: all packages log through the root.
    if is_json:
        log.handlers = []
        logging.getLogger().handlers = handlers
        logging.captureWarnings(capture=True)
