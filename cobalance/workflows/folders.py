"""Where a process keeps and finds files, and the image folders that were added to its home."""

import json
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec
from filelock import FileLock

from cobalance.base import MachineError, T, make_folder
from cobalance.graph import write_private
from cobalance.vision import DatasetFiles
from cobalance.vision.stored.output_folder import OutputFolder

FILE = "image_folders.json"


@dataclass(frozen=True)
class Folders:
    """Folders of a process, for use cases to write to and read from.

    Parameters
    ----------
    home : Path
        What is kept: boxes, captions, embeddings, properties, exports.
    cache : Path
        What can be had again.
    output : str
        The folder or URL that workers write images to.
    images : tuple of str
        Folders, ZIP files and URLs of image files, in the order of the search.
    imports : tuple of Path or None
        In which folders added image folders count; None is in all.
    """

    home: Path
    cache: Path
    output: str
    images: tuple[str, ...] = ()
    imports: tuple[Path, ...] | None = None

    @property
    def regions(self) -> Path:
        """Boxes and outlines of all datasets."""
        return self.home / "regions"

    @property
    def captions(self) -> Path:
        """Captions and licences of all datasets' images."""
        return self.home / "captions"

    @property
    def embeddings(self) -> Path:
        """Embeddings of all datasets' images."""
        return self.home / "embeddings"

    @property
    def properties(self) -> Path:
        """Properties of all datasets' image files."""
        return self.home / "properties"

    def uploaded_pictures(self, dataset: str) -> tuple[str, ...]:
        """The folder with the pictures that came with a dataset's upload, if it has one."""
        folder = picture_files(self.home).path(dataset)
        return (str(folder),) if folder.is_dir() else ()

    @property
    def exports(self) -> Path:
        """Exports that the web app writes."""
        return self.home / "exports"

    def open_output(self) -> OutputFolder:
        """Open the workers' output folder; errors as of `OutputFolder`."""
        return OutputFolder(self.output)

    def image_roots(self, dataset: str | None = None) -> tuple[str, ...]:
        """Folders and URLs of image files, in the order of the search.

        First the dataset's own, uploaded or beside its annotations, then those that were added for
        it, then those for all datasets: set, added in the web app, and workers' output. Other
        datasets' places are none of them.
        """
        places = DatasetPlaces() if dataset is None else read_dataset_places(self.home, dataset)
        uploaded = () if dataset is None else self.uploaded_pictures(dataset)
        of_dataset = self._usable(map(Path, (*places.own, *places.added)))
        added = self._usable(read_added(self.home))
        has_output = "://" in self.output or Path(self.output).is_dir()
        output = [self.output] if has_output else []
        return tuple(dict.fromkeys((*uploaded, *of_dataset, *self.images, *added, *output)))

    def _usable(self, paths: Iterable[Path]) -> list[str]:
        return [str(path) for path in paths if usable(path, self.imports)]


@dataclass(frozen=True)
class DatasetPlaces:
    """Folders and ZIP files of one dataset's images: beside its annotations, and added for it."""

    own: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


class PictureFiles(DatasetFiles):
    """A folder of pictures for each dataset."""

    def drop(self, dataset: str) -> None:
        """Delete a dataset's pictures, if it has some."""
        path = self.path(dataset)
        if path.exists():
            with self.writing():
                shutil.rmtree(path)

    def rename(self, dataset: str, new: str) -> None:
        """Rename a dataset's folder, replacing any leftover of a dropped dataset."""
        # A folder takes the place of an empty one alone.
        if self.path(dataset).exists():
            self.drop(new)
        super().rename(dataset, new)

    def copy(self, dataset: str, into: str) -> None:
        """Give a dataset's pictures to another dataset, too, without room for a second copy.

        Raises
        ------
        MachineError
            The folder cannot be written.
        """
        self.drop(into)
        path = self.path(dataset)
        if path.exists():
            with self.writing():
                shutil.copytree(path, self.path(into), copy_function=_link)


def _link(source: str, target: str) -> None:
    """Link a file, or copy it on a disk that has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def picture_files(home: Path) -> PictureFiles:
    """The pictures that came with each dataset's upload."""
    return PictureFiles(home / "uploads", "uploaded pictures", "pictures")


def place_files(home: Path) -> DatasetFiles:
    """The files with the places of each dataset's images."""
    return DatasetFiles(home / "image_places", "places of images", "json")


def read_dataset_places(home: Path, dataset: str) -> DatasetPlaces:
    """The places of a dataset's images, whether they can still be used or not.

    Raises
    ------
    MachineError
        The file in the home cannot be read.
    """
    return _read(place_files(home).path(dataset), DatasetPlaces, DatasetPlaces())


def change_dataset_places(
    home: Path, dataset: str, change: Callable[[DatasetPlaces], DatasetPlaces]
) -> None:
    """Change the places of a dataset's images by a function, one process at a time.

    Raises
    ------
    MachineError
        The file in the home cannot be read or written.
    """
    files = place_files(home)
    with files.writing(), files.replacing(dataset) as path:
        places = change(read_dataset_places(home, dataset))
        if places != DatasetPlaces():
            write_private(path, json.dumps(asdict(places)))


def read_added(home: Path) -> tuple[Path, ...]:
    """All that were added for all datasets, whether they can still be used or not.

    Before datasets had places of their own, those beside annotations were kept here, too.

    Raises
    ------
    MachineError
        The file in the home cannot be read.
    """
    return tuple(map(Path, _read(home / FILE, list[str], [])))


def usable(path: Path, within: Iterable[Path] | None) -> bool:
    """Whether an added place leads where it led when it was added, and is in one of the folders.

    Parameters
    ----------
    within : iterable of Path or None
        As COBALANCE_IMPORTS has them; None allows every place.
    """
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    # A link may have taken its place since it was added.
    if resolved != path:
        return False
    return within is None or any(
        path.is_relative_to(root.expanduser().resolve()) for root in within
    )


def change_added(home: Path, change: Callable[[tuple[Path, ...]], Iterable[Path]]) -> None:
    """Change the added image folders by a function, one process at a time.

    Raises
    ------
    MachineError
        The file in the home cannot be read or written.
    """
    path = home / FILE
    try:
        make_folder(home)
        with FileLock(home / f".{FILE}.lock"):
            places = dict.fromkeys(map(str, change(read_added(home))))
            write_private(path, json.dumps(list(places), indent=1))
    except OSError as error:
        raise MachineError(
            f"{path}: it cannot be written ({error.strerror or error}). Make room there, or have "
            "COBALANCE_HOME name another folder."
        ) from error


def _read(path: Path, kind: type[T], missing: T) -> T:
    """Read a JSON file of places; `missing` if the file does not exist."""
    try:
        return msgspec.convert(json.loads(path.read_bytes()), kind)
    except FileNotFoundError:
        return missing
    except (OSError, ValueError, msgspec.ValidationError) as error:
        raise MachineError(f"{path}: it cannot be read ({error}). Mend or delete it.") from error
