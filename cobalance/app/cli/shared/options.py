"""Options that commands have in common, and the signatures that Typer reads from commands.

A command is a function whose parameters are its arguments and options. To keep that readable,
`prepare` understands two things that Typer does not know::

    def duplicates(to: TableOutput, limit: Annotated[int, "Most groups."] = 20) -> None: ...

1. The help of an option is a plain text behind its type. Options of several commands are types with
   a name, such as `Name` or `Count`, to which a command may add a help of its own.
2. A first parameter ``to`` is where the command's table goes: Typer sees the options ``--format``
   and ``--output`` instead, the same in all commands.

Typer therefore gets this signature, and the function is called with a `TableOutput`::

    def duplicates(
        limit: Annotated[int, typer.Option(help="Most groups.")] = 20,
        *,
        format_: FormatOption = Format.TABLE,
        output: OutputOption = None,
    ) -> None: ...
"""

import json
import sys
from collections.abc import Callable, Sequence
from copy import copy
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, get_args, get_origin

import typer

from cobalance.app.cli.shared.tables import Format, TableOutput
from cobalance.app.cli.shared.terminal import notes
from cobalance.base import OptionError, clean_name, inflect
from cobalance.graph.dataset import write


def confirm(question: str) -> None:
    """Ask a question, and end the command unless the answer is yes."""
    try:
        agreed = typer.confirm(question)
    except typer.Abort:
        # Somebody at a terminal has pressed Ctrl-C; elsewhere the input has ended.
        if sys.stdin.isatty():
            raise
        typer.echo(err=True)
        raise OptionError("Nobody is there to answer. To be asked nothing, give --yes.") from None

    if not agreed:
        raise typer.Abort


def clean_names(name: str | list[str] | None) -> str | list[str] | None:
    """Clean a name that was typed, or several, as the graph has them."""
    if name is None:
        return None
    if isinstance(name, list):
        return list(map(clean_name, name))
    return clean_name(name)


DatasetName = Annotated[
    str, typer.Argument(metavar="DATASET", help="Name of a dataset.", callback=clean_names)
]
# Options whose help each command gives behind them; `assignments.assign` reads the last.
Name = Annotated[str | None, typer.Option(callback=clean_names)]
Count = Annotated[int | None, typer.Option(min=1)]
DatasetOption = Annotated[str | None, typer.Option("--dataset", "-d", callback=clean_names)]
Assignments = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE")]

SettingsFile = Annotated[
    Path | None, typer.Option(help="A TOML file of settings; the options above win over it.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Random seed.")]
LimitOption = Annotated[int, typer.Option(min=1, help="Maximum number of rows.")]
SimilarityOption = Annotated[
    float, typer.Option(min=-1, max=1, help="The least cosine of two near duplicates.")
]
FormatOption = Annotated[
    Format, typer.Option("--format", "-f", help="How to write the result.", show_default=True)
]


def _check_output(context: typer.Context, output: Path | None) -> Path | None:
    """Refuse Parquet without an output file, before any work."""
    # Click reads options that are given before those left out: a format is known by now.
    if output is None and context.params.get("format_") == Format.PARQUET:
        raise OptionError("Parquet is not text. Name a file with --output FILE.")
    return output


OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Write to this file, not to standard output.", callback=_check_output
    ),
]


def prepare(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the signature that Typer reads.

    A text beside the type of an option, or behind what Typer is told of it, is its help. The first
    argument `to`, if there is one, is made of the options ``--format`` and ``--output``.
    """
    parameters = [
        parameter.replace(annotation=_with_help(parameter.annotation))
        for parameter in signature(command).parameters.values()
    ]
    if not parameters or parameters[0].name != "to":
        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return command

    @wraps(command)
    def run(format_: Format, output: Path | None, **options: Any) -> None:
        command(TableOutput(format_, output), **options)

    output_options = [
        Parameter("format_", Parameter.KEYWORD_ONLY, default=Format.TABLE, annotation=FormatOption),
        Parameter("output", Parameter.KEYWORD_ONLY, default=None, annotation=OutputOption),
    ]
    # `wraps` has given it the signature of the command, which has no such options.
    run.__signature__ = Signature([*parameters[1:], *output_options])  # type: ignore[attr-defined]
    return run


def _with_help(annotation: Any) -> Any:
    """The type of an option as Typer reads it, with the text behind it as help; others stay."""
    if get_origin(annotation) is not Annotated or not isinstance(get_args(annotation)[-1], str):
        return annotation

    kind, *options, text = get_args(annotation)
    # A copy: a type such as `Name` has one option for all commands, each with its own help.
    option = copy(options[0]) if options else typer.Option()
    option.help = text
    return Annotated[kind, option]


def note_limit(limit: int) -> None:
    """Note that only the first rows are shown."""
    rows = "row is" if limit == 1 else f"{limit:,} rows are"
    notes.print(f"Only the first {rows} shown; see --limit.")


def note_changed(report: "write.IngestReport", dataset: str) -> None:
    """Note how many images have other concepts, and the next command."""
    notes.print(
        f"{inflect(report.updated, 'images')} of {dataset} changed. To count concepts again: "
        f"cobalance mine {quote(dataset)}"
    )


def listed_names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Names of groups from an option: one text with commas, or the option given for each name.

    Examples
    --------
    >>> listed_names(["woman, man"]), listed_names(["a, b", "c"])
    (('woman', 'man'), ('a, b', 'c'))
    """
    if not names:
        return None
    # Where the option is given several times, a comma is part of a name.
    if len(names) == 1:
        names = names[0].split(",")
    return tuple(map(clean_name, names))


def read_clique(text: str) -> tuple[str, ...]:
    """Concepts of a clique as tables show it, or from JSON.

    Examples
    --------
    >>> read_clique("cow + road"), read_clique('["c + d"]')
    (('cow', 'road'), ('c + d',))
    """
    if not text.lstrip().startswith("["):
        return tuple(map(clean_name, text.split(" + ")))

    try:
        names = json.loads(text)
    except ValueError:
        names = None
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return tuple(map(clean_name, names))
    raise OptionError(f'--clique {text!r} is no list of names in JSON, such as ["a", "b"].')
