"""One file for each dataset in a folder: replaced at once, by one writer at a time."""

import filecmp
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from filelock import FileLock

from cobalance.base import MachineError, Setting, make_folder


@dataclass(frozen=True)
class DatasetFiles:
    """Files of one kind in a folder; messages name their `content`, such as ``"regions"``."""

    folder: Path
    content: str
    ending: str = "parquet"

    def path(self, dataset: str) -> Path:
        """Path of a dataset's file: readable, and unique to its name.

        Examples
        --------
        >>> DatasetFiles(Path("regions"), "regions").path("a/b").name
        'a%2Fb-c14cddc033f64b9d.parquet'
        """
        digest = hashlib.sha256(dataset.encode()).hexdigest()[:16]
        return self.folder / f"{quote(dataset, safe=' ')[:100]}-{digest}.{self.ending}"

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the folder against other writers, and remove temporary files of killed ones.

        Raises
        ------
        MachineError
            The folder cannot be written to.
        """
        try:
            make_folder(self.folder)
            with FileLock(self.folder / ".lock"):
                # Nobody else writes now: what is temporary was left by a writer that was killed.
                for leftover in self.folder.glob(".*.tmp"):
                    leftover.unlink(missing_ok=True)
                yield
        except OSError as error:
            raise MachineError(
                f"{self.folder}: the {self.content} cannot be written ({error.strerror or error}). "
                "Make room there, or set ",
                Setting("home"),
                " to another folder.",
            ) from error

    @contextmanager
    def replacing(self, dataset: str) -> Iterator[Path]:
        """A path to write a dataset's new file to, inside `writing`.

        The new file takes the old one's place if the block ends without an error; if it has
        written none, the old one is deleted.
        """
        path = self.path(dataset)
        temporary = path.with_name(f".{path.stem}.{secrets.token_hex(8)}.tmp")

        try:
            yield temporary
            if temporary.exists():
                os.replace(temporary, path)
            else:
                path.unlink(missing_ok=True)
        finally:
            temporary.unlink(missing_ok=True)

    def drop(self, dataset: str) -> None:
        """Delete a dataset's file, if it has one."""
        path = self.path(dataset)
        if path.exists():
            with self.writing():
                path.unlink(missing_ok=True)

    def rename(self, dataset: str, new: str) -> None:
        """Rename a dataset's file, replacing any leftover of a dropped dataset."""
        path, target = self.path(dataset), self.path(new)
        if path.exists():
            with self.writing():
                os.replace(path, target)
        elif path != target:
            self.drop(new)

    def copy(self, dataset: str, into: str) -> None:
        """Copy a dataset's file to another dataset, replacing its own unless they are equal.

        Raises
        ------
        MachineError
            The file cannot be written.
        """
        path, target = self.path(dataset), self.path(into)
        if not path.exists():
            self.drop(into)
            return

        with self.writing():
            if target.exists() and filecmp.cmp(path, target, shallow=False):
                return
            with self.replacing(into) as temporary:
                shutil.copyfile(path, temporary)
