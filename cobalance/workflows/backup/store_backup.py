"""Back up datasets to one file while others use the store; restore them in any store."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from glob import escape
from importlib.metadata import version
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from filelock import FileLock, Timeout

from cobalance.graph.backup import KINDS, Cut, Restoration, open_cut
from cobalance.graph.database.annotation_nodes import ANNOTATION_RUN
from cobalance.graph.database.declarations import DATASET
from cobalance.graph.database.evaluation_nodes import EVALUATION, TASK
from cobalance.graph.database.job_nodes import JOB
from cobalance.graph.database.migrations import VERSION
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.state import dataset_state, find_dataset, list_datasets
from cobalance.graph.errors import (
    Action,
    ConflictError,
    DataError,
    OptionError,
    Setting,
    check_known,
    needs_extra,
)
from cobalance.graph.files import make_folder, replacing
from cobalance.graph.plurals import inflect
from cobalance.graph.progress import Progress, silent
from cobalance.graph.run_log import log_run
from cobalance.workflows.backup.archive import Reader, Writer, open_backup
from cobalance.workflows.folders import Folders
from cobalance.workflows.load.dataset import dataset_files, drop_dataset

FORMAT = 1
"""Version of the file's format: earlier ones are read, later ones are not."""

_EDGES = "graph/edges.jsonl"
_NODES = {f"graph/{label}.jsonl": node for label, node in KINDS.items()}
_OUTPUT = "output/"
_ROOTS = {JOB: "", ANNOTATION_RUN: "annotations/", EVALUATION: "evaluations/"}
"""Nodes that have a folder in the output folder, named by their key, and where it is."""
_GENERATED = {"images", "masks", "checkpoints"}
_REPORTED = 10_000  # rows


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
    """Write datasets, with all that belongs to them, to a file; nothing in the store changes.

    The file takes its place when it is whole. Writes to the datasets wait while their nodes and
    edges are read; reads do not.

    Parameters
    ----------
    datasets : sequence of str
        Which; all for none.
    with_generated : bool
        Also the images, masks and trained models in the output folder.

    Raises
    ------
    NotFoundError, StaleError
        One of the named datasets does not exist, or is not whole.
    DataError, OptionError
        No dataset is whole; or the target is a file that is no backup.
    ConflictError
        Another backup or restore of this home is under way.
    """
    for name in datasets:
        dataset_state(store, name).require_complete()
    if target.exists() and not is_zipfile(target):
        raise OptionError(f"{target} is there and is no backup. Name another file.")
    names = sorted(set(datasets)) or list_datasets(store)["dataset"].tolist()
    with _lock_home(folders):
        for left in target.parent.glob(f".{escape(target.name)}.*.tmp"):
            left.unlink(missing_ok=True)  # a killed backup's
        with replacing(target) as temporary, temporary.open("wb") as file:
            writer = Writer(file)
            with open_cut(store, names) as cut:
                created_at = datetime.now(UTC).isoformat(timespec="seconds")
                if not cut.datasets:
                    reasons = " ".join(["The store has no whole dataset.", *cut.left_out.values()])
                    raise DataError(reasons)
                roots = _add_graph(cut, writer, progress)
                for files in dataset_files(folders):
                    for at, dataset in enumerate(cut.datasets):
                        with suppress(FileNotFoundError), files.path(dataset).open("rb") as own:
                            writer.add_file(_file_part(files.folder, at), own)
                made = [name for root in roots for name in folders.open_output().walk(root)]
                generated = [name for name in made if not _GENERATED.isdisjoint(name.split("/"))]
                _add_output(folders, sorted({*made}.difference(generated)), writer, progress)
            if with_generated:  # the files that a record names were there before it
                _add_output(folders, generated, writer, progress)
            about = {
                "format": FORMAT,
                "schema": VERSION,
                "cobalance": version("cobalance"),
                "created_at": created_at,
                "datasets": list(cut.datasets),
                "left_out": dict(cut.left_out),
            }
            digest = writer.finish(about)
            file.flush()
            os.fsync(file.fileno())
        size = target.stat().st_size
    return Backup(tuple(cut.datasets), cut.left_out, created_at, size, digest)


@contextmanager
def _lock_home(folders: Folders) -> Iterator[None]:
    """Let no other backup or restore of this home run during the block."""
    make_folder(folders.home)
    try:
        with FileLock(folders.home / ".backup.lock", timeout=0):
            yield
    except Timeout as error:
        message = "Another backup or restore is under way. Try again when it has ended."
        raise ConflictError(message) from error


def _file_part(folder: Path, position: int) -> str:
    """The part with a file of a folder of the home, of the dataset at a position."""
    return f"home/{folder.name}/{position}.parquet"


def _add_graph(cut: Cut, writer: Writer, progress: Progress) -> list[str]:
    """Add all nodes and edges; return the output folders of jobs, runs and evaluations."""
    done, roots = 0, list[str]()

    def report(rows: Iterator[Any]) -> Iterator[Any]:
        nonlocal done
        for row in rows:
            done += 1
            if done % _REPORTED == 0:
                progress("read graph", done, None)
            yield row

    for name, node in _NODES.items():
        writer.add_rows(name, report(cut.nodes(node)))
        if node in _ROOTS:
            roots += [f"{_ROOTS[node]}{row[node.key.name]}" for row in cut.nodes(node)]
    writer.add_rows(_EDGES, report(cut.edges()))
    return roots


def _add_output(folders: Folders, names: list[str], writer: Writer, progress: Progress) -> None:
    """Add files of the output folder; one that was deleted meanwhile is left out."""
    if not names:  # the extra worker may be missing, too
        return
    from cobalance.ingest.stored.output_folder import OutputMissingError

    output = folders.open_output()
    for done, name in enumerate(names):
        progress("read output", done, len(names))
        with suppress(OutputMissingError):
            writer.add_file(_OUTPUT + name, BytesIO(output.read(name)))


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
    """Restore datasets with all that belongs to them, after the whole file has been checked.

    Interrupted, it leaves datasets that are marked as not whole; run again, it ends right.

    Parameters
    ----------
    queue_url : str
        The queue of this store's workers. What it has of the restored jobs and tasks is deleted:
        what was not done when the backup was made is queued again.
    datasets : sequence of str
        Which; all of the backup for none.
    replace : bool
        Drop datasets of these names first.

    Raises
    ------
    DataError
        The file is no backup, is damaged, or was written by a later cobalance.
    UnknownNameError
        It has no such dataset.
    ConflictError
        The store has a dataset of one of the names, or parts of one under another name; or another
        backup or restore of this home is under way.
    """
    with open_backup(source) as backup, _lock_home(folders):
        _check(backup, source, progress)
        check_known("dataset", datasets, backup.about["datasets"])
        names = tuple(name for name in backup.about["datasets"] if name in datasets or not datasets)
        restoration = Restoration(store, names)
        roots = _find_roots(backup, restoration)
        there = [state for name in names if (state := find_dataset(store, name))]
        taken = [repr(state.name) for state in there if state.restoring is None]
        if taken and not replace:
            raise ConflictError(
                f"The store has {', '.join(taken)} already. To have what the backup has in their "
                "place, restore with ",
                *(Setting("replace", True), "."),
            )
        for state in there:
            drop_dataset(store, folders, state.name, progress)
        restoration.begin(backup.digest)
        _write_graph(backup, restoration, progress)
        _write_files(backup, folders, names, roots, progress)
        work = [row[node.key.name] for node in (JOB, TASK) for row in _nodes(backup, node, names)]
        if work:
            with needs_extra("Restoring jobs", "worker"):
                from cobalance.generation.jobs.job_queue import forget_work
            forget_work(queue_url, work)
        restoration.finish(backup.about["schema"])
        about, size = backup.about, source.stat().st_size
        return Backup(names, about["left_out"], about["created_at"], size, backup.digest)


def _check(backup: Reader, source: Path, progress: Progress) -> None:
    """Raise DataError for a damaged backup, or one of a later version."""
    about, known = backup.about, {*_NODES, _EDGES}
    unknown = [name for name in backup.parts if name.startswith("graph/") and name not in known]
    if about["format"] > FORMAT or about["schema"] > VERSION or unknown:
        raise DataError(
            f"{source} was written by cobalance {about['cobalance']}, which stores more than this "
            "version knows. Upgrade cobalance."
        )
    backup.verify(progress)


def _nodes(backup: Reader, node: Any, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The nodes of a kind in some datasets."""
    rows = backup.rows(f"graph/{node.label}.jsonl", dict)
    return (row for row in rows if row[DATASET] in names)


def _find_roots(backup: Reader, restoration: Restoration) -> tuple[str, ...]:
    """Output folders of restored jobs, runs and evaluations; ConflictError if one is taken."""
    roots = list[str]()
    for node, parent in _ROOTS.items():
        keys = [row[node.key.name] for row in _nodes(backup, node, restoration.datasets)]
        owner = restoration.find_owner(node, keys)
        if owner is not None:
            raise ConflictError(
                f"The store has the same jobs, runs or evaluations in {owner!r}, one of these "
                "datasets under another name. ",
                Action("drop_dataset", owner),
                " first, or restore into another store.",
            )
        roots += [f"{_OUTPUT}{parent}{key}/" for key in keys]
    return tuple(roots)


def _write_graph(backup: Reader, restoration: Restoration, progress: Progress) -> None:
    total = sum(part.get("rows", 0) for part in backup.parts.values())
    nodes = (restoration.add_nodes(node, backup.rows(name, dict)) for name, node in _NODES.items())
    done = 0
    for written in chain(
        chain.from_iterable(nodes), restoration.add_edges(backup.rows(_EDGES, list))
    ):
        done += written
        progress("write graph", done, total)


def _write_files(
    backup: Reader,
    folders: Folders,
    names: Sequence[str],
    roots: tuple[str, ...],
    progress: Progress,
) -> None:
    """Write the files beside the graph, and the restored ones of the output folder."""
    for files in dataset_files(folders):
        for at, dataset in enumerate(backup.about["datasets"]):
            part = _file_part(files.folder, at)
            if dataset in names and part in backup.parts:
                with files.writing(), files.replacing(dataset) as path, path.open("wb") as target:
                    shutil.copyfileobj(backup.open(part), target)
    parts = [name for name in backup.parts if name.startswith(roots)]
    if not parts:  # the extra worker may be missing, too
        return
    output = folders.open_output()
    for done, name in enumerate(parts):
        progress("write output", done, len(parts))
        with backup.open(name) as file:
            output.write_large(name.removeprefix(_OUTPUT), partial(shutil.copyfileobj, file))
