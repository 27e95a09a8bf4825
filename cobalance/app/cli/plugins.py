"""`cobalance plugins`: list plug-ins of packages and files, and why some cannot be used."""

from typing import Annotated

import typer

from cobalance.app.cli.shared.options import FormatOption, OutputOption
from cobalance.app.cli.shared.tables import Format, write_frame
from cobalance.app.cli.shared.terminal import notes
from cobalance.workflows import plugins as plugin_lists


def plugins(
    own: Annotated[bool, typer.Option("--all", help="Also cobalance's own.")] = False,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """List the plug-ins of installed packages and of the folder COBALANCE_PLUGINS.

    docs/extending.md says how to write one.
    """
    frame = plugin_lists.list_plugins(own=own)
    if format_ is not Format.TABLE or output is not None:
        write_frame(frame, format_, output)
        return
    if frame.empty:
        notes.print("There are only cobalance's own plug-ins: see cobalance plugins --all.")
    else:
        write_frame(frame[frame["kind"] != ""].drop(columns="problem"), format_, None)
    for problem in dict.fromkeys(filter(None, frame["problem"])):
        notes.print(problem)
