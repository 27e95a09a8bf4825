"""`cobalance plugins`: list plug-ins of packages and files, and what is wrong with them."""

from typing import Annotated

import typer

from cobalance.app.cli.shared.options import FormatOption, OutputOption
from cobalance.app.cli.shared.tables import Format, write_frame
from cobalance.app.cli.shared.terminal import notes


def plugins(
    own: Annotated[bool, typer.Option("--all", help="Also cobalance's own.")] = False,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """List the plug-ins of installed packages and of the folder COBALANCE_PLUGINS.

    docs/extending.md says how to write one: a format, planner, recipe, backend, filter, annotator,
    training method, metric or export format.
    """
    from cobalance.workflows.plugins import list_plugins

    frame = list_plugins(own=own)
    if format_ is not Format.TABLE:
        write_frame(frame, format_, output)
        return
    if frame.empty:
        notes.print("There are only cobalance's own plug-ins: see cobalance plugins --all.")
        return
    usable = frame[frame["problem"] == ""]
    missing = usable["extra"] + " (not installed)"
    shown = usable.assign(extra=usable["extra"].where(usable["installed"], missing))
    if len(usable):
        write_frame(shown.drop(columns=["installed", "problem"]), format_, output)
    for problem in frame.loc[frame["problem"] != "", "problem"].drop_duplicates():
        notes.print(problem)
