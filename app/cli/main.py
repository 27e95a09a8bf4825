"""The command line: register all commands, print errors, set the exit code.

Exit codes: 2 for an option, value or name (of a dataset, plan, job or class) that cannot be used,
1 for any other failure, 130 on Ctrl-C, else 0.
"""

import sys
from typing import Annotated, NoReturn

import typer
from typer import rich_utils
from typer.main import get_command

from app.cli.commands import (
    annotate,
    assistant,
    check,
    console,
    datasets,
    demo,
    diagnosis,
    embeddings,
    enqueue,
    evaluate,
    export_graph,
    jobs,
    load,
    plan,
    report,
    results,
    server,
    tags,
    web,
)
from app.cli.common import notes
from app.cli.terminal import Terminal, print_traceback
from app.cli.wording import in_shell
from app.version import print_version
from graph.errors import (
    CobalanceError,
    DatasetExistsError,
    DatasetNotFoundError,
    JobNotFoundError,
    OptionError,
)

rich_utils.Console = Terminal  # type: ignore[attr-defined]  # for help and errors of usage

EXIT_CODES = (
    "Exit codes: 0 on success; 1 on failure, and the message says why and what to do; 2 if an "
    "option, a value or the name of a dataset, plan, job or class cannot be used; 130 if "
    "interrupted: run the command again to continue."
)

app = typer.Typer(
    name="cobalance",
    help="Find the concept combinations that lean to one class in an image dataset, and plan the "
    "images that rebalance it.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command()(demo.demo)
app.command("app")(web.app)
app.command()(load.ingest)
app.add_typer(datasets.app, name="datasets")
app.add_typer(tags.app, name="tags")
app.add_typer(embeddings.app, name="embeddings")
app.command()(diagnosis.mine)
app.command()(diagnosis.imbalances)
app.command()(check.check)
app.command()(plan.plan)
app.command()(report.report)
app.command()(enqueue.enqueue)
app.command()(jobs.jobs)
app.command()(jobs.work)
app.command()(jobs.cancel)
app.command()(jobs.retry)
app.command()(results.rebalance)
app.command()(results.export)
app.command("export-graph")(export_graph.export_graph)
app.add_typer(annotate.app, name="annotate")
app.add_typer(evaluate.app, name="evaluate")
app.command()(console.cypher)
app.command("mcp")(assistant.mcp)
app.add_typer(server.app, name="store")


def _print_version(wanted: bool) -> None:
    if wanted:
        print_version()
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show tracebacks of errors. May also follow the command."),
    ] = False,
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Options of all commands."""
    context.ensure_object(dict)["debug"] = debug


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


def exit_code(error: CobalanceError) -> int:
    """The exit code of an error: 2 for a name or value that cannot be used, else 1.

    Examples
    --------
    >>> exit_code(OptionError("the budget is 0")), exit_code(CobalanceError("the disk is full"))
    (2, 1)
    """
    unusable = (OptionError, DatasetNotFoundError, DatasetExistsError, JobNotFoundError)
    return 2 if isinstance(error, unusable) else 1


def run() -> NoReturn:
    """Run the command line, and end the process with its exit code."""
    state: dict[str, bool] = {}
    sys.excepthook = print_traceback
    try:
        get_command(app)(debug_first(sys.argv[1:]), obj=state)
    except CobalanceError as error:
        if state.get("debug"):
            print_traceback(type(error), error, error.__traceback__)
        else:
            notes.print("[bold red]Error:[/] ", end="")
            notes.print(error.worded(in_shell), markup=False)
        sys.exit(exit_code(error))
    sys.exit(0)
