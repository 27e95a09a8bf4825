"""Back up datasets to one file while others use the store; restore them in any store."""

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from glob import escape
from importlib.metadata import version
from itertools import chain, product
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, is_zipfile

from cobalance.base import (
    DataError,
    OptionError,
    Progress,
    check_known,
    inflect,
    log_run,
    make_file,
    needs_extra,
    replacing,
    silent,
)
from cobalance.graph import (
    ANNOTATION_RUN,
    EVALUATION,
    JOB,
    NODES,
    PARTS,
    TASK,
    GraphStore,
    Part,
    Restoration,
    Rows,
    dataset_state,
    list_datasets,
    read_cut,
)
from cobalance.graph.database.migrations import VERSION
from cobalance.vision.stored.output_folder import OutputFolder, OutputMissingError
from cobalance.workflows.backup.archive import Reader, open_backup, open_new, write_rows
from cobalance.workflows.folders import Folders
from cobalance.workflows.load.dataset import dataset_files, drop_dataset

FORMAT = 1
"""Version of the file's format: earlier ones are read, later ones are not."""

_MANIFEST = "manifest.json"
_OUTPUT = "output/"
_FOLDERS = {JOB: "", ANNOTATION_RUN: "annotations/", EVALUATION: "evaluations/"}
"""Nodes that have a folder in the output folder, of their id's name, and where it is."""
_GENERATED = {"images", "masks", "checkpoints"}


@dataclass(frozen=True)
class Backup:
    """Contents of a backup, or of the part that was restored.

    Parameters
    ----------
    datasets : tuple of str
        By name.
    left_out : mapping of str to str
        Datasets that were not whole, each with the reason.
    created_at : str
        When the backup was made, in UTC.
    bytes, digest
        Size of the file, and its SHA-256.
    """

    datasets: tuple[str, ...]
    left_out: Mapping[str, str]
    created_at: str
    bytes: int
    digest: str

    @classmethod
    def of(cls, path: Path, about: Mapping[str, Any]) -> "Backup":
        """Describe a file by its manifest."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = os.fstat(file.fileno()).st_size
        return cls(
            datasets=tuple(about["datasets"]),
            left_out=dict(about["left_out"]),
            created_at=str(about["created_at"]),
            bytes=size,
            digest=digest,
        )

    def describe(self) -> str:
        """Describe datasets and size, and below that time and digest."""
        return (
            f"{inflect(len(self.datasets), 'datasets')} ({', '.join(self.datasets)}), "
            f"{self.bytes / 1e6:,.1f} MB.\n"
            f"As of {self.created_at[:16]}Z; SHA-256 {self.digest}"
        )


@log_run
def back_up(
    store: GraphStore,
    folders: Folders,
    target: Path,
    datasets: Sequence[str] = (),
    *,
    with_generated: bool = False,
    progress: Progress = silent,
) -> Backup:
    """Write datasets, by default all, and their files to one file; the store does not change.

    The file takes its place when it is whole. Writes to the datasets wait while their nodes and
    edges are read; reads do not.

    Raises
    ------
    NotFoundError, StaleError
        One of the named datasets does not exist, or is not whole.
    DataError, OptionError
        No dataset is whole; or the target is a file that is no backup.
    """
    for name in datasets:
        dataset_state(store, name).require_complete()
    if target.exists() and not is_zipfile(target):
        raise OptionError(f"{target} is there and is no backup. Name another file.")
    names = sorted(set(datasets)) or list_datasets(store)["dataset"].tolist()
    # A backup that was killed has left its part of a file.
    for part_file in target.parent.glob(f".{escape(target.name)}.*.tmp"):
        part_file.unlink(missing_ok=True)

    with replacing(target) as path:
        make_file(path)

        def write(
            whole: dict[str, Any], left_out: dict[str, str], rows: Rows
        ) -> tuple[dict[str, Any], list[str]]:
            if not whole:
                raise DataError(" ".join(["The store has no whole dataset.", *left_out.values()]))
            created_at = datetime.now(UTC).isoformat(timespec="seconds")
            with open_new(path, "w") as archive:
                roots = _write_cut(archive, folders, list(whole), rows, progress)
            return {"created_at": created_at, "datasets": whole, "left_out": left_out}, roots

        about, roots = read_cut(store, names, write)
        about |= {"format": FORMAT, "schema": VERSION, "cobalance": version("cobalance")}
        with open_new(path, "a") as archive:
            # After the graph: the files that a record names were there before it.
            if with_generated:
                _write_output(archive, folders, roots, progress, generated=True)
            write_rows(archive, _MANIFEST, [[about]])
        with path.open("rb") as file:
            os.fsync(file.fileno())
        return Backup.of(path, about)


def _write_cut(
    archive: ZipFile, folders: Folders, datasets: list[str], rows: Rows, progress: Progress
) -> list[str]:
    """Write the graph, the files of datasets and outputs; return folders in the output folder."""
    for done, part in enumerate(PARTS):
        progress("read graph", done, len(PARTS))
        write_rows(archive, part.name, rows(part))

    for files, dataset in product(dataset_files(folders), datasets):
        with suppress(FileNotFoundError):
            file = files.path(dataset)
            archive.write(file, _file_part(file), ZIP_STORED)

    roots = _list_folders(rows)
    _write_output(archive, folders, roots, progress)
    return roots


def _file_part(path: Path) -> str:
    """The part with a dataset's file of the home, which is named after the dataset."""
    return f"home/{path.parent.name}/{path.name}"


def _list_folders(rows: Rows) -> list[str]:
    """Folders in the output folder of the jobs, runs and evaluations among rows."""
    return [
        f"{folder}{row[1]['id']}/" for node, folder in _FOLDERS.items() for row in rows(NODES[node])
    ]


def _write_output(
    archive: ZipFile,
    folders: Folders,
    roots: list[str],
    progress: Progress,
    *,
    generated: bool = False,
) -> None:
    """Add either the generated files of folders or all but these; deleted ones are left out."""
    # Without folders the extra worker, which opens the output folder, may be missing.
    if not roots:
        return

    output = folders.open_output()
    names = [
        name
        for name in chain.from_iterable(map(output.walk, roots))
        if generated != _GENERATED.isdisjoint(name.split("/"))
    ]

    for done, name in enumerate(names):
        progress("read output", done, len(names))
        with suppress(OutputMissingError):
            archive.writestr(_OUTPUT + name, output.read(name), ZIP_STORED)


@log_run
def restore(
    store: GraphStore,
    folders: Folders,
    queue_url: str,
    source: Path,
    datasets: Sequence[str] = (),
    *,
    replace: bool = False,
    progress: Progress = silent,
) -> Backup:
    """Check a backup, and write its datasets to a store; if interrupted, run it again.

    Nothing is dropped or written before all of it is checked. Datasets are marked until all of it
    is written. Jobs and tasks that waited or ran are queued, once
    what the queue has of them is forgotten; chunks whose record is restored are not made again.

    Raises
    ------
    DataError
        The file is no backup, is damaged, or was written by a later cobalance.
    UnknownNameError
        It has no such dataset.
    ConflictError
        The store has a dataset of one of the names, or parts of one under another name; or another
        process writes one meanwhile.
    """
    with open_backup(source) as backup:
        backup.verify(source, progress)
        about = _read_manifest(backup, source)
        check_known("dataset", datasets, about["datasets"])
        chosen = {name: about["datasets"][name] for name in sorted(datasets or about["datasets"])}
        restoration = Restoration(store, chosen)
        existing = restoration.find_existing(replace=replace)

        def rows(part: Part) -> Iterator[list[Any]]:
            all_rows = backup.rows(part.name, part.kinds)
            return (row for row in all_rows if not chosen.keys().isdisjoint(row[:-1:2]))

        for done, part in enumerate(PARTS):
            progress("check rows", done, len(PARTS))
            restoration.check(part, rows(part))

        # All that may be missing is opened before the first write.
        work = [row[1]["id"] for node in (JOB, TASK) for row in rows(NODES[node])]
        starts = tuple(_OUTPUT + root for root in _list_folders(rows))
        names = [name for name in backup.namelist() if name.startswith(starts)]
        output = folders.open_output() if names else None
        if work:
            with needs_extra("Restoring jobs", "worker"):
                from cobalance.generation.jobs.job_queue import forget_work

        report = Backup.of(source, about | {"datasets": chosen})
        for name in chosen:
            restoration.begin(name, report.digest)
            if name in existing:
                drop_dataset(store, folders, name, progress)
                restoration.begin(name, report.digest)
        for done, part in enumerate(PARTS):
            progress("write graph", done, len(PARTS))
            restoration.write(part, rows(part))
        _restore_files(backup, folders, chosen)
        if output is not None:
            _restore_output(backup, output, names, progress)
        if work:
            forget_work(queue_url, work)
        restoration.finish(about["schema"])
        return report


def _read_manifest(backup: Reader, source: Path) -> dict[str, Any]:
    """The manifest; DataError for a backup that a later version has written."""
    ((about,),) = backup.rows(_MANIFEST, (dict,))
    parts = {name for name in backup.namelist() if name.startswith("graph/")}
    unknown = parts.difference(part.name for part in PARTS)

    if about["format"] > FORMAT or about["schema"] > VERSION or unknown:
        raise DataError(
            f"{source} was written by cobalance {about['cobalance']}, which stores more than "
            "this version knows. Upgrade cobalance."
        )
    return dict(about)


def _restore_files(backup: Reader, folders: Folders, datasets: Iterable[str]) -> None:
    for files, dataset in product(dataset_files(folders), datasets):
        name = _file_part(files.path(dataset))
        if name in backup.NameToInfo:
            with files.writing(), files.replacing(dataset) as path, path.open("wb") as file:
                shutil.copyfileobj(backup.open(name), file)


def _restore_output(
    backup: Reader, output: OutputFolder, names: Sequence[str], progress: Progress
) -> None:
    for done, name in enumerate(names):
        progress("write output", done, len(names))
        fill = partial(shutil.copyfileobj, backup.open(name))
        output.write_large(name.removeprefix(_OUTPUT), fill)
