"""The command line: register all commands, print errors, set the exit code.

Exit codes: 2 for an option or value that cannot be used, 1 for any other failure, 130 on Ctrl-C,
else 0.
"""

import gc
import logging
import os
import re
import sys
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from cobalance.app.cli.shared.collector import collector_paused
from cobalance.app.cli.shared.completion import complete_names
from cobalance.app.cli.shared.declared import first_line
from cobalance.app.cli.shared.deferred import imports_deferred
from cobalance.app.cli.shared.remedies import in_shell
from cobalance.app.cli.shared.terminal import Terminal, notes, print_traceback
from cobalance.base.errors import CobalanceError, OptionError
from cobalance.base.run_log import Level

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
        "report": "report.report",
        "cypher": "cypher.cypher",
    },
    "Make images": {
        "plan": "plan.plan",
        "plan-edits": "plan_edits.plan_edits",
        "resample": "resample.resample",
        "enqueue": "enqueue.enqueue",
        "work": "jobs.work",
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
        named = args[0] if args else ""
        if named in HOMES:
            self.load(named)
        elif not ctx.resilient_parsing:
            for name in HOMES:
                self.load(name)
            groups = [
                name for name in HOMES if named in getattr(self.commands[name], "commands", ())
            ]
            if groups:
                meant = " or ".join(f"'cobalance {group} {named}'" for group in groups)
                ctx.fail(f"No such command {named!r}. Did you mean {meant}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error of usage says what to do."""
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            if not error.format_message():  # help is printed
                raise
            place: Any = getattr(error, "ctx", None) or ctx
            place.fail(_with_remedy(error.format_message(), place))

    def load(self, name: str) -> None:
        """Import a command, or group of commands, in place of its first line."""
        module, _, attribute = HOMES[name].partition(".")
        with collector_paused(), imports_deferred():
            found = getattr(import_module(f"cobalance.app.cli.{module}"), attribute)
            from cobalance.app.cli.shared.options import prepare
        if isinstance(found, typer.Typer):
            found.info.help = _summary(name)
            group = found
            for command in group.registered_commands:
                command.callback = command.callback and prepare(command.callback)
        else:
            group = typer.Typer()
            group.command()(prepare(found))
        group.rich_markup_mode, group._add_completion = "markdown", False
        self.commands[name] = get_command(group)
        self.commands[name].name = name
        complete_names(self.commands[name])
        _arrange_options(self.commands[name])

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with the first line of each command in its panel."""
        imported = self.commands
        self.commands = {
            name: TyperCommand(name, help=_summary(name), rich_help_panel=panel)
            for panel, homes in COMMANDS.items()
            for name in homes
        }
        super().format_help(ctx, formatter)
        self.commands = imported


def _with_remedy(message: str, ctx: Any) -> str:
    """A message about usage with what was meant, and without the words of libraries."""
    message = message.replace(": Value error, ", ": ", 1)
    inner = getattr(ctx.command, "commands", None)
    if message.startswith("No such command") and inner and ctx.parent and "Did you" not in message:
        return f"{message} The commands of {ctx.command_path}: {', '.join(inner)}."
    found = re.fullmatch(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", message)
    if found is None:
        return message
    if any("--dataset" in parameter.opts for parameter in ctx.command.params):
        return f"{message}. Did you mean --dataset {found[1]}?"
    takes = [one.metavar for one in ctx.command.params if one.param_type_name == "argument"]
    return f"{message}. {ctx.command_path} takes {' '.join(takes) or 'no argument, only options'}."


def _arrange_options(command: Any) -> None:
    """Put the options of a command, or of those in a group, into panels if they are many.

    A flag has an opposite only where one is named: none of Typer's ``--no-...``.
    """
    for inner in getattr(command, "commands", {}).values():
        _arrange_options(inner)
    panels = {name: panel for panel, names in OPTION_PANELS.items() for name in names.split()}
    options = [one for one in command.params if one.param_type_name == "option"]
    for option in options:
        option.secondary_opts = [o for o in option.secondary_opts if not o.startswith("--no-")]
    for option in options if len(options) > _MOST_IN_ONE else ():
        option.rich_help_panel = option.rich_help_panel or panels.get(option.opts[0])


def _summary(name: str) -> str:
    """A command's first line, or a group's: the module's, after the name."""
    module, _, attribute = HOMES[name].partition(".")
    if attribute != "app" or name == "app":
        return first_line(f"app.cli.{module}", attribute)
    said = first_line(f"app.cli.{module}").partition(": ")[2]
    return said[:1].upper() + said[1:]


def _print_version(wanted: bool) -> None:
    if wanted:
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
    if log_level is not None:  # for workers that the command starts as well
        os.environ["COBALANCE_LOG"] = log_level
    if log_file is not None:
        os.environ["COBALANCE_LOG_FILE"] = str(log_file.absolute())
    if "--help" not in sys.argv:
        from cobalance.workflows.settings import LogSettings

        LogSettings.from_environment().write_log()
        _note_unread_variables()


def _note_unread_variables() -> None:
    """Note variables named like settings that nothing reads; NEO4J_ ones only if one is alike."""
    from cobalance.workflows.settings import Settings

    fields = Settings.model_fields.items()
    known = [
        one.upper() for f, of in fields for one in getattr(of.validation_alias, "choices", [f])
    ]
    for name in sorted({one.upper() for one in os.environ} - {*known}):
        alike = get_close_matches(name, known, n=1, cutoff=0.8)
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
    kept = [argument for argument in arguments[:end] if argument != "--debug"]
    return ["--debug", *kept, *arguments[end:]]


def run() -> NoReturn:
    """Run the command line, and end the process with its exit code."""
    if "_COBALANCE_COMPLETE" not in os.environ:  # a Tab prints neither help nor errors of usage
        from typer import rich_utils

        rich_utils.Console = Terminal  # type: ignore[attr-defined]
    state: dict[str, bool] = {}
    sys.excepthook = print_traceback
    arguments = debug_first(sys.argv[1:])
    named = next((word for word in arguments if word in HOMES), None)
    try:
        command_line()(arguments, obj=state)
    except CobalanceError as error:
        logging.getLogger(__name__).info("%s failed: %s: %s", named, type(error).__name__, error)
        if state.get("debug"):
            print_traceback(type(error), error, error.__traceback__)
        else:
            notes.print("Error: ", style="bold red", end="")
            notes.print(error.render(in_shell))
        sys.exit(2 if isinstance(error, OptionError) else 1)
    finally:
        gc.freeze()  # not walked when the process ends: a quarter of the time of a short command
    sys.exit(0)
