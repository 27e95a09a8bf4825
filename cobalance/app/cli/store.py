"""`cobalance store`: the database server, connecting to it, backups, an assistant's access."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

from cobalance.app import mcp_server
from cobalance.app.cli.shared import (
    folders,
    in_shell,
    notes,
    opened_store,
    out,
    progress_bars,
    read_environment,
    tables,
)
from cobalance.graph.database.local import server_control as local_server
from cobalance.workflows import store as stores
from cobalance.workflows.backup import store_backup

app = typer.Typer(no_args_is_help=True)

_Shown = Annotated[
    Literal["table", "json"],
    typer.Option("--format", "-f", help="How to write the result.", show_default=True),
]
_Datasets = Annotated[
    list[str] | None, typer.Argument(help="Only these datasets; all by default.", metavar="DATASET")
]


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="The file to write; an earlier backup is replaced.")],
    datasets: _Datasets = None,
    with_generated: Annotated[bool, "With images and models that workers made."] = False,
) -> None:
    """Write datasets, and all that was done with them, to one file; the store stays in use.

    The file has the graph, boxes, captions, embeddings, and the state of jobs and tasks. It has no
    users, passwords or image files of yours.
    """
    with opened_store() as (store, progress):
        report = store_backup.back_up(
            store,
            folders(),
            file,
            datasets or (),
            with_generated=with_generated,
            progress=progress,
        )

    for name, reason in report.left_out.items():
        notes.print(f"Left out: {name}. {reason}")
    out.print(f"{file}: {report.describe()}", soft_wrap=True)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A file that `store backup` has written.")],
    datasets: _Datasets = None,
    replace: Annotated[bool, "Drop datasets of the same names first."] = False,
) -> None:
    """Check a backup, then write its datasets to the store; interrupted, run it again."""
    with opened_store() as (store, progress):
        report = store_backup.restore(
            store,
            folders(),
            read_environment().queue_url(),
            file,
            datasets or (),
            replace=replace,
            progress=progress,
        )

    out.print(f"Restored: {report.describe()}", soft_wrap=True)


@app.command()
def status(format_: _Shown = "table") -> None:
    """Show which database is in use, whether it answers, and whether encrypted."""
    facts = stores.store_status(read_environment())
    problem = facts["problem"]
    if format_ == "json":
        # Whoever reads JSON gets a problem as a value, and the exit code beside it.
        _write_json({**facts, "problem": problem and problem.render(in_shell)})
        raise typer.Exit(0 if problem is None else 1)
    if problem is not None:
        raise problem

    if facts["uri"] is None:
        text = "The local server is not running; any command starts it. Data: {data}"
    elif not facts["local"]:
        text = "{uri}, database {database}: {server} answers.\nConnection: {encryption}"
    else:
        text = (
            "The local server is {phase} at {uri}: {server}, process {pid}, {resident_mb:,.0f} MB, "
            "up {up_min:,.0f} min.\nConnection: {encryption}\nData: {data}\nLog:  {log}\n{stops}"
        )
    server = "Neo4j {version} {edition}".format(**facts)
    up_min, stops = (facts["running_s"] or 0) / 60, _stops(facts["idle_stop_s"])
    out.print(text.format(**facts, server=server, up_min=up_min, stops=stops))


def _stops(idle_stop_s: float | None) -> str:
    if idle_stop_s is None or math.isinf(idle_stop_s):
        return "It runs until `cobalance store stop`."
    time = f"{idle_stop_s / 60:,.3g} min"
    return f"It stops by itself when nobody is connected for {time} (COBALANCE_IDLE_STOP_S)."


def _write_json(values: Mapping[str, object]) -> None:
    tables.write_text(json.dumps(values, default=str, ensure_ascii=False, indent=1) + "\n", None)


@app.command()
def connection(format_: _Shown = "table") -> None:
    """Show how any Neo4j driver connects: address, user, and the file of the password.

    A local server is started for it.
    """
    settings = read_environment()
    with opened_store() as (store, _):
        details = stores.connection(settings, store)
    values = {name: value for name, value in vars(details).items() if name != "auth"}
    if format_ == "json":
        _write_json(values)
    else:
        values["password_file"] = (
            details.password_file or "none; it is in the variable NEO4J_PASSWORD"
        )
        for name, value in values.items():
            out.print(f"{name.replace('_', ' '):<15}{value}")

        # A driver that connects for a while only should know when the server stops.
        server = local_server.status(settings.local_server())
        if settings.neo4j_uri is None and server is not None:
            notes.print(_stops(server.idle_stop_s))


@app.command()
def start() -> None:
    """Start the local server, or check that the configured one answers."""
    with opened_store():
        pass
    status()


@app.command()
def stop() -> None:
    """Stop the local server and keep its data."""
    settings = read_environment()
    if settings.neo4j_uri is not None:
        notes.print("NEO4J_URI is set: cobalance did not start that server and leaves it alone.")
        raise typer.Exit(1)
    with progress_bars():
        stopped = local_server.stop(settings.local_server())
    notes.print("Stopped." if stopped else "The local server was not running.")


@app.command()
def mcp() -> None:
    """Serve saved queries, read-only Cypher and imbalances to an assistant that starts this.

    It speaks the Model Context Protocol on standard input and output, and opens no port. An
    assistant is configured with the command `cobalance` and the arguments `store mcp`.
    """
    with stores.open_store(read_environment()) as store:
        mcp_server.open_assistant(store, folders()).run("stdio")
