"""`cobalance plugins`: list plug-ins of packages and files, and why some cannot be used."""

from typing import Annotated

import typer

from cobalance.app.cli.shared import TableOutput, notes
from cobalance.workflows import plugins as plugin_lists


def plugins(
    to: TableOutput,
    own: Annotated[bool, typer.Option("--all", help="Also cobalance's own.")] = False,
) -> None:
    """List the plug-ins of installed packages and of the folder COBALANCE_PLUGINS.

    docs/extending.md says how to write one.
    """
    frame = plugin_lists.list_plugins(own=own)
    if not to.is_shown:
        to.write(frame)
    else:
        if frame.empty:
            notes.print("There are only cobalance's own plug-ins: see cobalance plugins --all.")
        else:
            # What else lies in the folder of files has a row without a kind.
            to.write(frame[frame["kind"] != ""].drop(columns="problem"))
        for problem in dict.fromkeys(filter(None, frame["problem"])):
            notes.print(problem)
