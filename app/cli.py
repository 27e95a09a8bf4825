"""The command line: `cobalance`, its commands, and how errors reach the person."""

import sys
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from app.commands import console, datasets, demo, diagnosis, jobs, load, results, server, web
from app.commands.common import notes
from graph.errors import CobalanceError, OptionError

app = typer.Typer(
    name="cobalance",
    help="Find the concept combinations that lean to one class in an image dataset, and plan the "
    "images that rebalance it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command()(demo.demo)
app.command("app")(web.app)
app.command()(load.ingest)
app.add_typer(datasets.app, name="datasets")
app.command()(diagnosis.mine)
app.command()(diagnosis.imbalances)
app.command()(diagnosis.plan)
app.command()(jobs.enqueue)
app.command()(jobs.jobs)
app.command()(jobs.work)
app.command()(jobs.cancel)
app.command()(jobs.retry)
app.command()(results.rebalance)
app.command()(results.export)
app.command()(console.cypher)
app.add_typer(server.app, name="store")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cobalance {version('cobalance')}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the traceback of an error; behind a command, too."),
    ] = False,
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Options before the command."""
    context.ensure_object(dict)["debug"] = debug


def debug_first(arguments: list[str]) -> list[str]:
    """The arguments with `--debug`, wherever it stands before a `--`, in front of the command.

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
    """Run the command line: 0 for success, 1 for a failure, 2 for usage, 130 when interrupted."""
    state: dict[str, bool] = {}
    try:
        app(debug_first(sys.argv[1:]), obj=state)
    except CobalanceError as error:
        if state.get("debug"):
            raise
        notes.print("[bold red]Error:[/] ", end="")
        notes.print(str(error), markup=False)
        sys.exit(2 if isinstance(error, OptionError) else 1)
    sys.exit(0)
