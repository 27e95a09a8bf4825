"""`cobalance mcp`: let an assistant read datasets, over the Model Context Protocol."""

from cobalance.app.assistant import open_assistant
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store


def mcp() -> None:
    """Serve saved queries, read-only Cypher and imbalances to an assistant that starts this.

    It speaks the Model Context Protocol on standard input and output, and opens no port. An
    assistant is configured with the command `cobalance` and the argument `mcp`.
    """
    with open_store(Settings.from_environment()) as store:
        open_assistant(store).run("stdio")
