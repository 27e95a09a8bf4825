"""The command line: register all commands, print errors, set the exit code.

Exit codes: 2 for an option or value that cannot be used, 1 for any other failure, 130 on Ctrl-C,
else 0.
"""

import ast
import gc
import logging
import os
import re
import sys
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from cobalance.app.cli.shared import (
    Terminal,
    avoid_huge_pages,
    collector_paused,
    complete_names,
    imports_deferred,
    in_shell,
    notes,
    print_traceback,
)
from cobalance.base import CobalanceError, Level, OptionError

EXIT_CODES = (
    "Exit codes: 0 on success; 1 on failure, and the message says why and what to do; 2 if an "
    "option or its value cannot be used; 130 if interrupted: run the command again to continue."
)

COMMANDS = {
    "Start": {"demo": "demo.demo"},
    "Load": {
        "ingest": "ingest.ingest",
        "datasets": "datasets.app",
        "tags": "tags.app",
        "embeddings": "embeddings.app",
    },
    "Diagnose": {
        "mine": "diagnose.mine",
        "imbalances": "diagnose.imbalances",
        "summary": "diagnose.summary",
        "cooccurrences": "diagnose.cooccurrences",
        "properties": "properties.properties",
        "compare": "compare.app",
        "gate": "gate.gate",
        "record": "record.record",
        "report": "report.report",
        "cypher": "cypher.cypher",
    },
    "Make images": {
        "plan": "plan.plan",
        "plan-edits": "plan_edits.plan_edits",
        "resample": "resample.resample",
        "backends": "backends.backends",
        "enqueue": "enqueue.enqueue",
        "work": "jobs.work",
        "benchmark-worker": "benchmark_worker.benchmark_worker",
        "jobs": "jobs.app",
        "rebalance": "export.rebalance",
        "export": "export.export",
    },
    "Label": {"annotate": "annotate.app"},
    "Evaluate": {"evaluate": "evaluate.app"},
    "Serve": {"app": "serve.app"},
    "Manage": {"store": "store.app", "plugins": "plugins.plugins"},
}
"""Each command, or group of commands, with its place in `app.cli`, in panels by purpose."""

HOMES = {name: home for panel in COMMANDS.values() for name, home in panel.items()}


OPTION_PANELS = {
    "Which ones": "--class --concept --clique --split --min-size --max-size --max-q --max-images",
    "Model": "--url --model --local --key-file --timeout --at-once --send-images",
    "Questions": "--categories --attributes --rounds --temperature --phrase --noun --llm-prompts",
    "Data": "--training-set --test --test-split --train-split --validation --validation-split "
    "--shortcuts --equal-numbers --group-table --training --table --with --images --real-images",
    "People": "--people --overlap --consent --alters-real-people --children --no-derivatives",
    "Result": "--format --output --limit --sheet --rates --results",
}
"""Panels of options in the help of commands with more than `_MOST_IN_ONE`."""
_MOST_IN_ONE = 12
_UsageError: Any = typer.BadParameter.__base__


class Program(TyperGroup):
    """All commands: help lists them by their first lines, and a call imports the one it names."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """Import the command that is called; a group's own, called without it, is pointed to."""
        name = next(iter(args), "")
        if name in HOMES:
            self.load(name)
        elif not ctx.resilient_parsing:
            self._point_to_groups(ctx, name)
        return super().resolve_command(ctx, args)

    def _point_to_groups(self, ctx: Any, name: str) -> None:
        """Fail for a command of a group that was called without it."""
        for home in HOMES:
            self.load(home)
        groups = [home for home in HOMES if name in getattr(self.commands[home], "commands", ())]
        if groups:
            meant = " or ".join(f"'cobalance {group} {name}'" for group in groups)
            ctx.fail(f"No such command {name!r}. Did you mean {meant}?")

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error of usage names a remedy."""
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            # An error without a message prints the help.
            if not error.format_message():
                raise
            place: Any = getattr(error, "ctx", None) or ctx
            place.fail(_with_remedy(error.format_message(), place))

    def load(self, name: str) -> None:
        """Import a command, or group of commands, in place of its first line."""
        module, _, attribute = HOMES[name].partition(".")
        with collector_paused(), imports_deferred():
            loaded = getattr(import_module(f"cobalance.app.cli.{module}"), attribute)
            from cobalance.app.cli.shared import prepare

        group = loaded
        if isinstance(loaded, typer.Typer):
            loaded.info.help = _summary(name)
            for registered in loaded.registered_commands:
                registered.callback = registered.callback and prepare(registered.callback)
        else:
            group = typer.Typer()
            group.command()(prepare(loaded))
        group.rich_markup_mode = "markdown"
        # Completion is an option of the whole program.
        group._add_completion = False

        command = get_command(group)
        command.name = name
        complete_names(command)
        _arrange_options(command)
        self.commands[name] = command

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with the first line of each command in its panel."""
        # Only the first lines are needed, which are read without importing any command.
        imported = self.commands
        self.commands = {
            name: TyperCommand(name, help=_summary(name), rich_help_panel=panel)
            for panel, homes in COMMANDS.items()
            for name in homes
        }

        super().format_help(ctx, formatter)
        self.commands = imported


def _with_remedy(message: str, ctx: Any) -> str:
    """Reword a message about usage: with a remedy, and without the words of libraries."""
    message = message.replace(": Value error, ", ": ", 1)
    commands = getattr(ctx.command, "commands", None)
    is_unknown = message.startswith("No such command") and "Did you" not in message
    if is_unknown and commands and ctx.parent:
        return f"{message} The commands of {ctx.command_path}: {', '.join(commands)}."

    extra = re.fullmatch(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", message)
    if extra is None:
        return message
    if any("--dataset" in parameter.opts for parameter in ctx.command.params):
        return f"{message}. Did you mean --dataset {extra[1]}?"
    arguments = [p.metavar for p in ctx.command.params if p.param_type_name == "argument"]
    takes = " ".join(arguments) or "no argument, only options"
    return f"{message}. {ctx.command_path} takes {takes}."


def _arrange_options(command: Any) -> None:
    """Put the options of a command, or of those in a group, into panels if they are many.

    A flag has an opposite only where one is named: none of Typer's ``--no-...``.
    """
    for inner in getattr(command, "commands", {}).values():
        _arrange_options(inner)

    options = [option for option in command.params if option.param_type_name == "option"]
    for option in options:
        option.secondary_opts = [o for o in option.secondary_opts if not o.startswith("--no-")]
    if len(options) <= _MOST_IN_ONE:
        return

    panels = {name: panel for panel, names in OPTION_PANELS.items() for name in names.split()}
    for option in options:
        option.rich_help_panel = option.rich_help_panel or panels.get(option.opts[0])


def _summary(name: str) -> str:
    """A command's first line, or a group's: the module's, after the name."""
    module, _, attribute = HOMES[name].partition(".")
    # The command `app` is a function of that name; elsewhere it is a group of commands.
    if attribute != "app" or name == "app":
        return _first_line(module, attribute)
    summary = _first_line(module).partition(": ")[2]
    return summary[:1].upper() + summary[1:]


def _first_line(module: str, function: str = "") -> str:
    """The first line of a command's docstring, or of its module's, read from the source."""
    tree = _parse(module)
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    documented = next((node for node in functions if node.name == function), tree)
    return (ast.get_docstring(documented) or "").partition("\n")[0]


@cache
def _parse(module: str) -> ast.Module:
    """The source of a module of commands, of which help may list several."""
    file = Path(__file__).parent.joinpath(*module.split("."))
    if file.is_dir():
        file /= "__init__"
    return ast.parse(file.with_suffix(".py").read_text(encoding="utf-8"))


def _print_version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

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
    # In the environment, so that workers that the command starts log alike.
    if log_level is not None:
        os.environ["COBALANCE_LOG"] = log_level
    if log_file is not None:
        os.environ["COBALANCE_LOG_FILE"] = str(log_file.absolute())
    if "--help" not in sys.argv:
        from cobalance.workflows import LogSettings

        LogSettings.from_environment().write_log()
        _note_unread_variables()


def _note_unread_variables() -> None:
    """Note variables named like settings that nothing reads; NEO4J_ ones only if one is alike."""
    from cobalance.workflows import Settings

    names: list[str] = []
    for field_name, field in Settings.model_fields.items():
        names += map(str.upper, getattr(field.validation_alias, "choices", [field_name]))

    for name in sorted({*map(str.upper, os.environ)}.difference(names)):
        alike = get_close_matches(name, names, n=1, cutoff=0.8)
        if name.startswith("COBALANCE_") or (name.startswith("NEO4J_") and alike):
            hint = f" Did you mean {alike[0]}?" if alike else " See docs/cli.md, Environment."
            notes.print(f"{name} is set, and nothing reads it.{hint}")


def command_line() -> Program:
    """The program; its commands are imported when they are called, or by `Program.load`."""
    app = typer.Typer(
        cls=Program,
        name="cobalance",
        help="Find the concept combinations that lean to one class in an image dataset, and plan "
        "the images that rebalance it.",
        epilog=EXIT_CODES,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )

    app.callback()(_options)
    program = cast("Program", get_command(app))
    program.commands.update({name: TyperCommand(name) for name in HOMES})
    return program


def whole_program() -> Program:
    """The program with all its commands imported, as its documentation needs them."""
    program = command_line()
    for name in HOMES:
        program.load(name)
    return program


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
    others = [argument for argument in arguments[:end] if argument != "--debug"]
    return ["--debug", *others, *arguments[end:]]


def run() -> NoReturn:
    """Run the command line, and end the process with its exit code."""
    # A Tab prints neither help nor errors of usage.
    if "_COBALANCE_COMPLETE" not in os.environ:
        from typer import rich_utils

        rich_utils.Console = Terminal  # type: ignore[attr-defined]

    avoid_huge_pages()
    sys.excepthook = print_traceback
    state: dict[str, bool] = {}
    arguments = debug_first(sys.argv[1:])

    command = next((word for word in arguments if word in HOMES), None)
    try:
        command_line()(arguments, obj=state)
    except CobalanceError as error:
        logging.getLogger(__name__).info("%s failed: %s: %s", command, type(error).__name__, error)
        if state.get("debug"):
            print_traceback(type(error), error, error.__traceback__)
        else:
            notes.print("Error: ", style="bold red", end="")
            notes.print(error.render(in_shell))
        sys.exit(2 if isinstance(error, OptionError) else 1)
    finally:
        # The collector would walk all objects once more when the process ends: a quarter of the
        # time of a short command.
        gc.freeze()
    sys.exit(0)
