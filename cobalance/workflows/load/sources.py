"""Files to import annotations from: uploads from the browser, or a folder on the server.

Uploads are in a private temporary folder while the page has them.
"""

import os
import shutil
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from cobalance.base import InputError, MachineError, OptionError
from cobalance.ingest import (
    FoundFile,
    PackedPictures,
    describe_file,
    find_files,
    find_packed,
    reword,
    take_out_pictures,
    with_whole,
)
from cobalance.workflows.login_file import is_loopback
from cobalance.workflows.settings import Settings

WHOLE = "the files"
"""The name of a folder of them in messages."""
EVERYWHERE = Path(Path.cwd().anchor)
"""The folder that all others are in."""
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
        with _disk_of(folder):
            for name, content in contents.items():
                (folder / name).write_bytes(content)
        with _named_plainly(folder):
            yield folder


@contextmanager
def _disk_of(folder: Path) -> Iterator[None]:
    """Raise MachineError if the disk of a temporary folder is full."""
    try:
        yield
    except OSError as error:
        raise MachineError(
            f"{folder.parent}: {error.strerror}. Make room there and send the file again."
        ) from error


class Uploads:
    """Files from the browser, in a private temporary folder for as long as this is in use.

    Pictures inside Parquet files are taken out of them, so that images have addresses.

    Parameters
    ----------
    contents : sequence of streamlit.runtime.uploaded_file_manager.UploadedFile
        At least one; of each the ``name``, ``file_id`` and ``getbuffer()``.

    Raises
    ------
    MachineError
        The disk is full.
    """

    def __init__(self, contents: Sequence[Any]) -> None:
        self.identity: tuple[object, ...] = tuple(content.file_id for content in contents)
        folder = Path(mkdtemp(prefix="cobalance-"))
        # A check or a load may still read them when the page has other files.
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path, self._pictures, self.thumbnails = (
            folder / name for name in ("files", "pictures", "thumbnails")
        )

        with _disk_of(folder):
            for part in (self.path, self._pictures):
                part.mkdir()
            for name, content in zip(_names(contents), contents, strict=True):
                (self.path / name).write_bytes(content.getbuffer())
                # As the shards of a WebDataset, the file is the folder of its pictures.
                take_out_pictures(self.path / name, self._pictures / name)

    def files(self) -> list[FoundFile]:
        """All files, described."""
        with self.open_files() as folder:
            files = []
            for path in sorted(folder.iterdir()):
                unknown = FoundFile(path.name, path.stat().st_size, None, "is no text")
                files.append(describe_file(path, path.name) or unknown)
            return with_whole(folder, files) if len(files) > 1 else files

    def open_files(self) -> AbstractContextManager[Path]:
        """Open the folder; errors do not name it."""
        return _named_plainly(self.path)

    def find_pictures(self, proof: Iterable[str], addresses: Iterable[str]) -> PackedPictures:
        """The pictures of images among the files; some of the `proof` are unpacked for a look."""
        pictures = find_packed((self.path, self._pictures), addresses)
        with _disk_of(self.path.parent):
            pictures.unpack(self.thumbnails, {*proof})
        return pictures


def _names(contents: Iterable[Any]) -> list[str]:
    """Each file's name on disk: without folders, printable, unique."""
    names: list[str] = []
    for content in contents:
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

    def open_files(self) -> AbstractContextManager[Path]:
        """Open the folder itself."""
        return _named_plainly(self.path)


Source = Uploads | ServerFolder
"""Source of an import's files: `identity` differs when they differ."""


def import_roots(settings: Settings, address: str | None) -> tuple[Path, ...]:
    """The folders that annotations and images may be loaded from.

    Without COBALANCE_IMPORTS these are the working folder and, after it, all that the app's user
    may read, while nobody else can come: the app listens on loopback, and there is no login.

    Parameters
    ----------
    address : str or None
        That the server listens on; None for all.
    """
    if settings.cobalance_imports is not None:
        return tuple(path.expanduser().resolve() for path in settings.cobalance_imports)
    if address is not None and is_loopback(address) and settings.cobalance_auth_file is None:
        return (Path.cwd(), EVERYWHERE)
    return ()


def inside(path: str, root: Path) -> Path:
    """Resolve a path in one of the folders of `import_roots`, following links.

    Raises
    ------
    OptionError
        It leads out of the folder, even if it does not exist.
    """
    # A NUL, a name too long, or a loop of links leads nowhere.
    with suppress(OSError, ValueError, RuntimeError):
        target = (root / Path(path.strip()).expanduser()).resolve()
        if target.is_relative_to(root):
            return target
    raise OptionError(
        f"{path!r} is not in {root}. Name a path in it, or have COBALANCE_IMPORTS name the folder "
        "that it is in."
    )


def inside_any(path: str, roots: Sequence[Path]) -> Path:
    """Resolve a path in the first of some folders that has it, as `inside` does.

    Raises
    ------
    OptionError
        It is in none of them.
    """
    places = []
    for root in roots:
        with suppress(OptionError):
            places.append(inside(path, root))
    if not places:
        return inside(path, roots[0])
    # A path that is in none of them yet may be meant for the first.
    return next(filter(os.path.exists, places), places[0])
