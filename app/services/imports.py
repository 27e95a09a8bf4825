"""Loading annotations through the web app: the files, what is asked, and the check before a write.

Files come from the browser or from folders that the settings name. Either way they are read from
a folder: those from the browser are written to a private temporary one for as long as that takes.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import pandas as pd

from app.server.login import is_loopback
from app.settings import Settings
from graph.database.store import GraphStore
from graph.dataset.dry_run import dry_run
from graph.dataset.write import IngestReport
from graph.errors import InputError, OptionError, parts_of
from graph.progress import Progress
from graph.records import Annotations
from ingest.load import read_annotations
from ingest.options import ReadOptions
from ingest.preview import FoundFile, describe_file, find_files
from ingest.problems import SkippedRecord
from ingest.summary import first_images, images_by_class, images_by_concept

_LONGEST_NAME = 120  # characters; file systems allow 255 bytes


class Source(Protocol):
    """Where the files of an import are."""

    @property
    def identity(self) -> tuple[object, ...]:
        """Differs when the files differ."""

    def files(self) -> list[FoundFile]:
        """The files that may be of use."""

    def opened(self, *names: str) -> AbstractContextManager[Path]:
        """Give a folder with these files, or all, for as long as the context lasts."""


class Content(Protocol):
    """A file that a browser has sent."""

    @property
    def name(self) -> str:
        """Its name in the browser, perhaps with folders."""

    @property
    def file_id(self) -> str:
        """Differs for every upload."""

    def getbuffer(self) -> memoryview:
        """Its bytes."""


@dataclass(frozen=True)
class Uploads:
    """Files from the browser.

    Parameters
    ----------
    contents : tuple of Content
        At least one.
    """

    contents: tuple[Content, ...]

    @property
    def identity(self) -> tuple[object, ...]:
        """The uploads' ids."""
        return tuple(content.file_id for content in self.contents)

    def files(self) -> list[FoundFile]:
        """All files, whatever they hold."""
        found = []
        for name in self._names():
            with self.opened(name) as folder:
                file = describe_file(folder / name, name)
                size = (folder / name).stat().st_size
            found.append(file or FoundFile(name, size, None, "is no text"))
        return found

    @contextmanager
    def opened(self, *names: str) -> Iterator[Path]:
        """Write files to a folder that only this user can read, and remove it afterwards."""
        with TemporaryDirectory(prefix="cobalance-") as temporary:
            folder = Path(temporary)
            for name, content in zip(self._names(), self.contents, strict=True):
                if not names or name in names:
                    (folder / name).write_bytes(content.getbuffer())
            yield folder

    def _names(self) -> list[str]:
        """Each file's name on disk: without folders, readable, and no two the same."""
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
    r"""A name for a file from a browser that cannot lead to another folder.

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
    """A folder on the app's own machine.

    Parameters
    ----------
    path : Path
        From `inside`.
    file : str or None
        The file in it that was asked for.
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
        """The annotation files in it, and those that may go with them; what was asked for first."""
        found = find_files(self.path)
        if self.file is None:
            return found
        asked = describe_file(self.path / self.file, self.file)
        others = [file for file in found if file.name != self.file]
        return [asked, *others] if asked is not None else others

    @contextmanager
    def opened(self, *names: str) -> Iterator[Path]:  # noqa: ARG002
        """Give the folder itself."""
        yield self.path


def import_roots(settings: Settings, address: str | None) -> tuple[Path, ...]:
    """The folders that annotations may be loaded from.

    Without COBALANCE_IMPORTS it is the working folder, and only where nobody else can ask for it:
    the server listens on loopback, and nobody logs in from elsewhere.

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
    """A path in one of the folders of `import_roots`, with links followed.

    Raises
    ------
    OptionError
        It leads out of the folder, whether it exists or not.
    """
    try:
        found = (root / path.strip()).resolve()
    except (OSError, ValueError, RuntimeError):  # a NUL, a name too long, or a loop of links
        found = root.parent
    if found != root and not found.is_relative_to(root):
        raise OptionError(
            f"{path!r} is not in {root}. Name a path in it, or have COBALANCE_IMPORTS name the "
            "folder that it is in."
        )
    return found


def pairs(given: Iterable[str], *, needs_value: bool = False) -> dict[str, str]:
    """Read NAME=VALUE texts; a name alone stands for itself.

    Raises
    ------
    OptionError
        A text has no name or no value, or is a name alone where that is not allowed.

    Examples
    --------
    >>> pairs(["0=landbird", "1"])
    {'0': 'landbird', '1': '1'}
    """
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or (equals and not value) or (needs_value and not equals):
            raise OptionError(f"{text!r} is not NAME=VALUE, such as 0=landbird.")
        found[name] = value or name
    return found


@dataclass(frozen=True)
class ImportRequest:
    """What to load, and how.

    Parameters
    ----------
    file : str
        Name of the annotation file in its folder.
    dataset : str
        Name of the dataset to load into.
    options : ReadOptions
        As for `read_annotations`, with the names of companion files in place of their paths.
    input_format : str or None
        A name in `FORMATS`; None finds it from the content.
    replace : bool
        Delete the dataset's images that the file lacks.
    """

    file: str
    dataset: str
    options: ReadOptions
    input_format: str | None = None
    replace: bool = False


@dataclass(frozen=True, eq=False)
class CheckedImport:
    """What a request would load: read, checked and compared, and nothing written.

    Parameters
    ----------
    request : ImportRequest
        What was asked.
    annotations : Annotations
        What was read; messages name files without their folder.
    changes : IngestReport
        What writing them would do.
    classes, concepts, first : pandas.DataFrame
        What `ingest.summary` makes of the annotations.
    """

    request: ImportRequest
    annotations: Annotations
    changes: IngestReport
    classes: pd.DataFrame
    concepts: pd.DataFrame
    first: pd.DataFrame


def check_import(
    source: Source, request: ImportRequest, store: GraphStore, progress: Progress
) -> CheckedImport:
    """Read the whole file, and compare it with the dataset.

    Raises
    ------
    InputError
        The file, a record in it, or a companion cannot be used, or nothing is left.
    OptionError
        An option does not go with the format, or the dataset's name cannot be used.
    """
    # All files are opened: a companion may be any of them.
    with source.opened() as folder, named_plainly(folder):
        annotations = read_annotations(
            _in_folder(request.file, folder),
            _placed(request.options, folder),
            request.input_format,
            progress,
        )
        annotations = _without_folders(annotations, folder)
    changes = dry_run(
        store, request.dataset, annotations, replace=request.replace, progress=progress
    )
    return CheckedImport(
        request,
        annotations,
        changes,
        images_by_class(annotations),
        images_by_concept(annotations),
        first_images(annotations),
    )


def _placed(options: ReadOptions, folder: Path) -> ReadOptions:
    """Put companion files into the folder."""

    def at(path: Path | None) -> Path | None:
        return None if path is None else _in_folder(str(path), folder)

    words = options.classes.words
    if words is not None and words.endswith(".toml"):
        words = str(_in_folder(words, folder))
    return replace(
        options,
        classes=replace(
            options.classes,
            file=at(options.classes.file),
            captions=at(options.classes.captions),
            words=words,
        ),
        vocabulary=replace(options.vocabulary, file=at(options.vocabulary.file)),
        refine=replace(options.refine, concept_table=at(options.refine.concept_table)),
    )


def _in_folder(name: str, folder: Path) -> Path:
    """A file's path as messages name it, after a look that it is in the folder."""
    inside(name, folder.resolve())
    return folder / name


@contextmanager
def named_plainly(folder: Path) -> Iterator[None]:
    """Name files in errors without their folder, which says nothing to who has sent them."""
    try:
        yield
    except InputError as error:
        raise _without_folder(error, folder) from None


def _without_folder(error: InputError, folder: Path) -> InputError:
    reason, remedy = (
        [_plainly(part, folder) if isinstance(part, str) else part for part in parts_of(text)]
        for text in (error.reason, error.remedy)
    )
    record = error.record and _plainly(error.record, folder)
    return InputError(_plainly(error.file, folder), record, reason, remedy)


def _plainly(text: str, folder: Path) -> str:
    return text.replace(f"{folder}/", "")


def _without_folders(annotations: Annotations, folder: Path) -> Annotations:
    return replace(
        annotations,
        skipped=tuple(
            SkippedRecord(_without_folder(message.error, folder))
            if isinstance(message, SkippedRecord)
            else _plainly(message, folder)
            for message in annotations.skipped
        ),
        notes=tuple(_plainly(note, folder) for note in annotations.notes),
    )
