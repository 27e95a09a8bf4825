"""`cobalance store backup` and `restore`: datasets in one file, and back."""

from pathlib import Path
from typing import Annotated

import typer

from cobalance.app.cli.shared.stores import environment, folders, opened_store
from cobalance.app.cli.shared.terminal import notes, out

_Datasets = Annotated[
    list[str] | None, typer.Argument(help="Only these datasets; all by default.", metavar="DATASET")
]


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write; an earlier backup is replaced.")],
    datasets: _Datasets = None,
    with_generated: Annotated[
        bool, typer.Option("--with-generated", help="With images and models that workers made.")
    ] = False,
) -> None:
    """Write datasets, and all that was done with them, to one file; the store stays in use.

    The file has the graph, boxes, captions, embeddings, and the state of jobs and tasks. It has no
    users, passwords or image files of yours.
    """
    from cobalance.workflows.backup.store_backup import back_up

    with opened_store() as (store, progress):
        report = back_up(
            *(store, folders(), file, datasets or ()),
            with_generated=with_generated,
            progress=progress,
        )
    for name, reason in report.left_out.items():
        notes.print(f"Left out: {name}. {reason}")
    out.print(f"{file}: {report.describe()}", soft_wrap=True)


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `store backup` has written.")],
    datasets: _Datasets = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Drop datasets of the same names first.")
    ] = False,
) -> None:
    """Check a backup, then write its datasets to the store; interrupted, run it again."""
    from cobalance.workflows.backup.store_backup import restore as restore_backup

    settings = environment()
    with opened_store() as (store, progress):
        report = restore_backup(
            *(store, settings.folders(), settings.queue_url(), file, datasets or ()),
            replace=replace,
            progress=progress,
        )
    out.print(f"Restored: {report.describe()}", soft_wrap=True)
