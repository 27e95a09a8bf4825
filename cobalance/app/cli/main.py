"""The command line: register all commands, print errors, set the exit code.

Exit codes: 2 for an option or value that cannot be used, 1 for any other failure, 130 on Ctrl-C,
else 0.
"""

import logging
import os
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from typer import rich_utils
from typer.main import get_command

from cobalance.app.cli.shared.collector import collector_paused, freeze_objects
from cobalance.app.cli.shared.remedies import in_shell
from cobalance.app.cli.shared.terminal import Terminal, notes, print_traceback
from cobalance.graph.errors import CobalanceError, OptionError
from cobalance.graph.run_log import Level
from cobalance.workflows.settings import LogSettings

rich_utils.Console = Terminal  # type: ignore[attr-defined]  # for help and errors of usage

EXIT_CODES = (
    "Exit codes: 0 on success; 1 on failure, and the message says why and what to do; 2 if an "
    "option or its value cannot be used; 130 if interrupted: run the command again to continue."
)

COMMANDS = {
    "demo": "demo.demo",
    "app": "serve.app",
    "ingest": "ingest.ingest",
    "datasets": "datasets.app",
    "tags": "tags.app",
    "embeddings": "embeddings.app",
    "mine": "diagnose.mine",
    "imbalances": "diagnose.imbalances",
    "summary": "diagnose.summary",
    "compare": "compare.app",
    "plan": "plan.plan",
    "plan-edits": "plan_edits.plan_edits",
    "resample": "resample.resample",
    "report": "report.report",
    "enqueue": "enqueue.enqueue",
    "jobs": "jobs.app",
    "work": "jobs.work",
    "rebalance": "export.rebalance",
    "export": "export.export",
    "annotate": "annotate.app",
    "evaluate": "evaluate.app",
    "cypher": "cypher.cypher",
    "store": "store.app",
}
"""Each command, or group of commands, with its place in `app.cli`; help has commands
in this order, then groups."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cobalance {version('cobalance')}")
        raise typer.Exit


def _options(
    context: typer.Context,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show tracebacks of errors. May also follow the command."),
    ] = False,
    log_level: Annotated[
        Level | None,
        typer.Option(help="Log from this level on; see docs/operate.md.", case_sensitive=False),
    ] = None,
    log_file: Annotated[
        Path | None, typer.Option(help="Append the log to this file, by default from info on.")
    ] = None,
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Options of all commands."""
    context.ensure_object(dict)["debug"] = debug
    if log_level is not None:  # for workers that the command starts as well
        os.environ["COBALANCE_LOG"] = log_level
    if log_file is not None:
        os.environ["COBALANCE_LOG_FILE"] = str(log_file.absolute())
    LogSettings.from_environment().write_log()


def command_line(*names: str) -> typer.Typer:
    """The program with some of its `COMMANDS`, or with all if none is named.

    To import them all takes half a second, which one command can do without.
    """
    app = typer.Typer(
        name="cobalance",
        help="Find the concept combinations that lean to one class in an image dataset, and plan "
        "the images that rebalance it.",
        epilog=EXIT_CODES,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_options)
    for name in names or COMMANDS:
        module, _, attribute = COMMANDS[name].partition(".")
        command = getattr(import_module(f"cobalance.app.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    return app


def debug_first(arguments: list[str]) -> list[str]:
    """Move `--debug` in front of the command, unless it stands after a `--`.

    Examples
    --------
    >>> debug_first(["mine", "cars", "--debug"])
    ['--debug', 'mine', 'cars']
    >>> debug_first(["mine", "--", "--debug"])
    ['mine', '--', '--debug']
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    if "--debug" not in arguments[:end]:
        return arguments
    kept = [argument for argument in arguments[:end] if argument != "--debug"]
    return ["--debug", *kept, *arguments[end:]]


def run() -> NoReturn:
    """Run the command line, and end the process with its exit code."""
    state: dict[str, bool] = {}
    sys.excepthook = print_traceback
    arguments = debug_first(sys.argv[1:])
    log = ("--log-level", "--log-file")
    before = zip(["", *arguments], arguments, strict=False)
    named = next((one for last, one in before if one[:1] != "-" and last not in log), None)
    try:
        with collector_paused():
            app = command_line(named) if named in COMMANDS else command_line()
        freeze_objects()
        get_command(app)(arguments, obj=state)
    except CobalanceError as error:
        logging.getLogger(__name__).info("%s failed: %s: %s", named, type(error).__name__, error)
        if state.get("debug"):
            print_traceback(type(error), error, error.__traceback__)
        else:
            notes.print("Error: ", style="bold red", end="")
            notes.print(error.render(in_shell))
        sys.exit(2 if isinstance(error, OptionError) else 1)
    sys.exit(0)
