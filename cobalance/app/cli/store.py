"""`cobalance store`: show, start and stop the database server; serve it to an assistant."""

import typer

from cobalance.app.cli.shared.progress import progress_bars
from cobalance.app.cli.shared.stores import environment, opened_store
from cobalance.app.cli.shared.terminal import notes, out

app = typer.Typer(no_args_is_help=True)


@app.command()
def status() -> None:
    """Show which database is in use and whether it answers."""
    from cobalance.workflows.store import open_store

    settings = environment()
    if settings.neo4j_uri is not None:
        with open_store(settings) as store:
            version = store.server_version()
        out.print(
            f"{settings.neo4j_uri}, database {settings.neo4j_database}: Neo4j {version} answers."
        )
        return
    from cobalance.graph.database.local import server_control as local_server

    server = local_server.status(settings.local_server())
    folder = settings.local_server().home
    if server is None:
        out.print(f"The local server is not running; any command starts it. Data: {folder}")
        return
    out.print(
        f"The local server is {server.phase} at {server.uri}: process {server.pid}, "
        f"{server.resident_mb:,.0f} MB, up {server.running_s / 60:,.0f} min.\n"
        f"Data: {folder}\nLog:  {server.log}\n"
        "It stops by itself when nobody is connected for a while (COBALANCE_IDLE_STOP_S)."
    )


@app.command()
def start() -> None:
    """Start the local server, or check that the configured one answers."""
    with opened_store():
        pass
    status()


@app.command()
def stop() -> None:
    """Stop the local server and keep its data."""
    settings = environment()
    if settings.neo4j_uri is not None:
        notes.print("NEO4J_URI is set: cobalance did not start that server and leaves it alone.")
        raise typer.Exit(1)
    from cobalance.graph.database.local import server_control as local_server

    with progress_bars():
        stopped = local_server.stop(settings.local_server())
    notes.print("Stopped." if stopped else "The local server was not running.")


@app.command()
def mcp() -> None:
    """Serve saved queries, read-only Cypher and imbalances to an assistant that starts this.

    It speaks the Model Context Protocol on standard input and output, and opens no port. An
    assistant is configured with the command `cobalance` and the arguments `store mcp`.
    """
    from cobalance.app.mcp_server import open_assistant
    from cobalance.workflows.store import open_store

    with open_store(environment()) as store:
        open_assistant(store).run("stdio")
