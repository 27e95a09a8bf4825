"""Files to import annotations from: uploads from the browser, or a folder on the server.

Uploads are written to a private temporary folder while they are read.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cobalance.base import InputError, MachineError, OptionError
from cobalance.ingest.preview import WHOLE_FOLDER, FoundFile, describe_file, find_files, with_whole
from cobalance.ingest.problems import reword
from cobalance.workflows.login_file import is_loopback
from cobalance.workflows.settings import Settings

WHOLE = "the files"
"""The name of a folder of them in messages."""
# Characters; file systems allow 255 bytes.
_LONGEST_NAME = 120


@contextmanager
def _named_plainly(folder: Path) -> Iterator[Path]:
    """Name files in errors without their folder, which is a temporary one or the server's."""
    try:
        yield folder
    except InputError as error:
        raise reword(reword(error, f"{folder}/", ""), str(folder), WHOLE) from None


@contextmanager
def temporary_files(contents: Mapping[str, bytes | memoryview]) -> Iterator[Path]:
    """Write uploads to files of a private folder, which errors do not name.

    Raises MachineError when its disk is full.
    """
    with TemporaryDirectory(prefix="cobalance-") as temporary:
        folder = Path(temporary)
        try:
            for name, content in contents.items():
                (folder / name).write_bytes(content)
        except OSError as error:
            raise MachineError(
                f"{folder.parent}: {error.strerror}. Make room there and send the file again."
            ) from error
        with _named_plainly(folder):
            yield folder


@dataclass(frozen=True)
class Uploads:
    """Files from the browser.

    Parameters
    ----------
    contents : tuple of streamlit.runtime.uploaded_file_manager.UploadedFile
        At least one; of each the ``name``, ``file_id`` and ``getbuffer()``.
    """

    contents: tuple[Any, ...]

    @property
    def identity(self) -> tuple[object, ...]:
        """The uploads' ids."""
        return tuple(content.file_id for content in self.contents)

    def files(self) -> list[FoundFile]:
        """All files, described."""
        with self.open_files() as folder:
            files = []
            for name in self._names():
                path = folder / name
                unknown = FoundFile(name, path.stat().st_size, None, "is no text")
                files.append(describe_file(path, name) or unknown)
            return with_whole(folder, files) if len(files) > 1 else files

    def open_files(self, *names: str) -> AbstractContextManager[Path]:
        """Write files to a private folder, and remove it afterwards."""
        contents = dict(zip(self._names(), self.contents, strict=True))
        selected = names or tuple(contents)
        if WHOLE_FOLDER in names:
            selected = tuple(contents)
        return temporary_files({name: contents[name].getbuffer() for name in selected})

    def _names(self) -> list[str]:
        """Each file's name on disk: without folders, printable, unique."""
        names: list[str] = []
        for content in self.contents:
            name = safe_name(content.name)
            number = 2
            while name in names:
                name = f"{number} {safe_name(content.name)}"
                number += 1
            names.append(name)
        return names


def safe_name(name: str) -> str:
    r"""A safe file name for an upload: it cannot lead to another folder.

    Examples
    --------
    >>> safe_name("../../etc/passwd"), safe_name("C:\\cars.csv"), safe_name("..")
    ('passwd', 'cars.csv', 'file')
    """
    last = name.replace("\\", "/").rpartition("/")[2][-_LONGEST_NAME:]
    readable = "".join(c if c.isprintable() else "_" for c in last).strip(". ")
    return readable.encode()[-2 * _LONGEST_NAME :].decode(errors="ignore") or "file"


@dataclass(frozen=True)
class ServerFolder:
    """A folder on the server.

    Parameters
    ----------
    path : Path
        From `inside`.
    file : str or None
        The file in it that was chosen.
    """

    path: Path
    file: str | None = None

    @classmethod
    def at(cls, path: Path) -> "ServerFolder":
        """The folder at a path, or that of the file at a path."""
        return cls(path.parent, path.name) if os.path.isfile(path) else cls(path)

    @property
    def identity(self) -> tuple[object, ...]:
        """The paths, with the time when a file came or went."""
        try:
            changed = self.path.stat().st_mtime_ns
        except OSError:
            changed = None
        return (str(self.path), self.file, changed)

    def files(self) -> list[FoundFile]:
        """The annotation files and companion files in it; the chosen file first."""
        files = find_files(self.path)
        if self.file is None:
            return files
        chosen = describe_file(self.path / self.file, self.file)
        others = [file for file in files if file.name != self.file]
        return [chosen, *others] if chosen is not None else others

    def open_files(self, *_names: str) -> AbstractContextManager[Path]:
        """Open the folder itself."""
        return _named_plainly(self.path)


Source = Uploads | ServerFolder
"""Source of an import's files: `identity` differs when they differ."""


def import_roots(settings: Settings, address: str | None) -> tuple[Path, ...]:
    """The folders that annotations may be loaded from.

    Without COBALANCE_IMPORTS it is the working folder, and only while no other machine can reach
    the app: it listens on loopback, and there is no login.

    Parameters
    ----------
    address : str or None
        That the server listens on; None for all.
    """
    if settings.cobalance_imports is not None:
        return tuple(path.expanduser().resolve() for path in settings.cobalance_imports)
    if address is not None and is_loopback(address) and settings.cobalance_auth_file is None:
        return (Path.cwd(),)
    return ()


def inside(path: str, root: Path) -> Path:
    """Resolve a path in one of the folders of `import_roots`, following links.

    Raises
    ------
    OptionError
        It leads out of the folder, even if it does not exist.
    """
    # A NUL, a name too long, or a loop of links leads nowhere.
    try:
        target = (root / path.strip()).resolve()
    except (OSError, ValueError, RuntimeError):
        target = root.parent
    if target != root and not target.is_relative_to(root):
        raise OptionError(
            f"{path!r} is not in {root}. Name a path in it, or have COBALANCE_IMPORTS name the "
            "folder that it is in."
        )
    return target
