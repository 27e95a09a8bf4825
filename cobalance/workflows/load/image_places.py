"""Where image files are: looked for also beside the annotations, and places that editors add.

The operator says in COBALANCE_IMPORTS in which folders they may be; see
`cobalance.workflows.load.sources.import_roots`.
"""

import os
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cobalance.base import (
    Annotations,
    BoolArray,
    CobalanceError,
    OptionError,
    Part,
    Progress,
    Setting,
    inflect,
    is_installed,
    mask_credentials,
    silent,
    text_if,
)
from cobalance.base.safe_text import safe_text
from cobalance.vision import ImageRoots, strip_secrets
from cobalance.workflows.folders import (
    DatasetPlaces,
    Folders,
    change_added,
    change_dataset_places,
    read_added,
    read_dataset_places,
    usable,
)
from cobalance.workflows.load.sources import EVERYWHERE, inside_any

IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")
# Folders below the one that is allowed.
_DEEPEST = 4
_MOST_FOLDERS = 2_000
# Files of a folder that are looked at.
_MOST_FILES = 64
SECONDS = 3.0
# Images from one report of progress to the next.
_REPORTED = 1_000


@dataclass(frozen=True)
class AddedPlace:
    """A folder or ZIP file that was added, and whether it is used."""

    path: Path
    used: bool


def added_places(folders: Folders, dataset: str | None = None) -> list[AddedPlace]:
    """Image folders that were added for a dataset, or for all, in search order."""
    paths = read_added(folders.home)
    if dataset is not None:
        paths = tuple(map(Path, read_dataset_places(folders.home, dataset).added))
    return [
        AddedPlace(path, usable(path, folders.imports) and os.path.exists(path)) for path in paths
    ]


def add_place(
    folders: Folders, path: str, roots: Sequence[Path], dataset: str | None = None
) -> Path:
    """Add a folder or ZIP file of images for all pages, commands and workers of this home.

    Parameters
    ----------
    path : str
        Absolute, ``~`` for the user's home included, or relative to one of the roots.
    roots : sequence of Path
        From `import_roots`: links are followed, and must not lead out of them.
    dataset : str or None
        The dataset whose images they are; None is for all datasets.

    Raises
    ------
    OptionError
        It is in none of the roots, is not there, or is neither a folder nor a ZIP file; or the home
        cannot be written.
    """
    place = _check_allowed(path, roots)
    if not os.path.isdir(place):
        if not os.path.exists(place):
            raise OptionError(f"{place} is not there. Name a folder or a ZIP file that is.")
        if not (place.suffix.lower() == ".zip" and zipfile.is_zipfile(place)):
            raise OptionError(f"{place} is neither a folder nor a ZIP file. Name one.")
    if not os.access(place, os.R_OK):
        raise OptionError(f"{place} cannot be read by the web app. Let its user read it.")

    _change(folders, dataset, lambda known: [*known, place])
    return place


def remove_place(folders: Folders, path: Path, dataset: str | None = None) -> None:
    """Take a folder or ZIP file off a dataset's list, or that for all; its files stay."""
    _change(folders, dataset, lambda known: [place for place in known if place != path])


def _change(
    folders: Folders, dataset: str | None, change: Callable[[Iterable[Path]], list[Path]]
) -> None:
    def change_own(places: DatasetPlaces) -> DatasetPlaces:
        added = dict.fromkeys(map(str, change(map(Path, places.added))))
        return replace(places, added=tuple(added))

    if dataset is None:
        change_added(folders.home, change)
    else:
        change_dataset_places(folders.home, dataset, change_own)


def _check_allowed(path: str, roots: Sequence[Path]) -> Path:
    """The path in the first root that has it, links followed."""
    if not roots:
        raise OptionError(
            "Whoever runs this app has named no folder that images may be added from. Ask them to "
            "name it in COBALANCE_IMPORTS, or the images themselves in COBALANCE_IMAGES."
        )
    if not path.strip():
        raise OptionError("There is no name. Name a folder or a ZIP file of images.")

    return inside_any(path, roots)


def offered_places(roots: Sequence[Path]) -> list[Path]:
    """Folders with image files, and ZIP files, in folders that images may be added from.

    The first of at most 2,000 folders, four folders deep; hidden ones and links are left out. A
    whole machine is not searched.
    """
    searched = (root for root in roots if root != EVERYWHERE)
    return list(dict.fromkeys(chain.from_iterable(map(_places, searched))))


def _places(root: Path) -> Iterator[Path]:
    for parent, folders, names in islice(os.walk(root), _MOST_FOLDERS):
        folder = Path(parent)
        # The walk goes on to the folders that stay in its list.
        if len(folder.relative_to(root).parts) == _DEEPEST:
            folders.clear()
        folders[:] = sorted(name for name in folders if not name.startswith("."))

        if any(name.lower().endswith(IMAGE_ENDINGS) for name in names[:_MOST_FILES]):
            yield folder
        for name in sorted(names):
            if name.lower().endswith(".zip"):
                yield folder / name


def places_with(uris: Sequence[str], roots: Sequence[Path], most: int = 3) -> list[Path]:
    """The places in which the most of some image files are, the best first; none without any.

    An address such as ``train/1.jpg`` is in the folder that ``train`` is in.
    """
    offered = offered_places(roots)
    above = chain.from_iterable(place.parents for place in offered)
    counts: dict[Path, int] = {}
    for place in dict.fromkeys([*offered, *above]):
        if any(map(place.is_relative_to, roots)):
            n_found = len(uris) - len(missing_files(uris, [str(place)]))
            if n_found:
                counts[place] = n_found

    # Of places with as many, the deepest is the nearest to the files.
    return sorted(counts, key=lambda place: (-counts[place], -len(place.parts), str(place)))[:most]


def missing_files(uris: Sequence[str], places: Sequence[str]) -> list[str]:
    """Image files that are in none of `Folders.image_roots`."""
    roots = ImageRoots(places)
    return [uri for uri in uris if not file_identity(roots, uri)]


def file_identity(roots: ImageRoots, uri: str) -> str:
    """Identity of an image file; empty if it is not found."""
    try:
        return roots.find(uri).identity
    except CobalanceError:
        return ""


@dataclass(frozen=True)
class FoundImages:
    """Which image files of a dataset are found, and where they were looked for.

    Parameters
    ----------
    images, named : int
        All images, and those that name a file.
    looked_for : int
        Named ones that were looked for, drawn by lot where they are not all.
    missing : tuple of str
        The addresses of those that are in none of the places.
    places : tuple of str
        Where they were looked for.
    kept : Path or None
        The place that is kept as the dataset's own for later commands.
    common : int
        Those that are in places for all datasets alone, where other datasets may have theirs.
    """

    images: int
    named: int
    looked_for: int
    missing: tuple[str, ...]
    places: tuple[str, ...]
    kept: Path | None
    common: int

    def describe(self) -> tuple[Part, ...]:
        """The same in sentences, with the setting that mends it; see `base.errors.render`."""
        if not self.named:
            return ("Images: none names a file, so that none can be shown, edited or exported.",)
        files = f"{self.looked_for:,} files"
        if self.looked_for < self.named:
            files += f" looked for ({self.named:,} in all)"
        kept = text_if(self.kept is not None, f"; {self.kept} is kept for later commands")

        parts: list[Part] = [f"Images: {self.looked_for:,} of {files} found{kept}."]
        if self.missing:
            parts = [
                f"Images: {len(self.missing):,} of {files} not found, such as "
                f"{safe_text(strip_secrets(self.missing[0]))}; "
                f"{looked_in(self.places)}{kept}. Set ",
                Setting("images"),
                " to the folder, ZIP file or URL that has them.",
            ]
        if self.common:
            parts.append(f" {self.common:,} of them are in places for all datasets alone.")
        if self.named < self.images:
            parts.append(f" {inflect(self.images - self.named, 'images')} without a file's name.")
        return tuple(parts)


def looked_in(places: Sequence[str]) -> str:
    """Where files were looked for, as a clause without passwords.

    Examples
    --------
    >>> looked_in(["/data/cars", "s3://key:secret@bucket"]), looked_in([])
    ('looked in /data/cars, s3://key:***@bucket', 'no place of image files is known')
    """
    if not places:
        return "no place of image files is known"
    return f"looked in {', '.join(map(mask_credentials, places))}"


def find_images(
    folders: Folders,
    dataset: str,
    annotations: Annotations,
    file: Path | None,
    *,
    append: bool = False,
    within: Sequence[Path] | None = None,
    seconds: float = SECONDS,
    progress: Progress = silent,
) -> FoundImages:
    """Look for image files beside their annotations, and in all places of the dataset's images.

    Of the annotations' own folder or ZIP file and ``images`` in the folder, the one that has most
    of them becomes the dataset's own place, which comes first for all commands, pages and workers
    of this home. Without the extra ``worker``, which reads URLs and ZIP files, only folders are
    looked in.

    Parameters
    ----------
    file : Path or None
        The annotation file, folder or archive; None where there is none.
    append : bool
        Whether the annotations were added to others, whose place stays the dataset's own, too.
    within : sequence of Path or None
        Resolved folders that a place has to be in to be kept, besides those of COBALANCE_IMPORTS;
        None for anywhere.
    seconds : float
        After that no more are looked for, as there may be millions, and places far away. They are
        taken in a random order, so that those that were looked for stand for all.

    Raises
    ------
    MachineError
        The list of kept places cannot be read or written.
    """
    uris = annotations.images["uri"].dropna().to_numpy()
    earlier = read_dataset_places(folders.home, dataset)
    beside = _beside(file, folders, within)
    own_places = earlier.own if append else ()
    added = [*folders.uploaded_pictures(dataset), *own_places, *earlier.added]
    common = list(folders.image_roots())
    # The extra reads URLs and ZIP files.
    if not is_installed("worker"):
        beside, added, common = _only_folders(beside), _only_folders(added), _only_folders(common)

    # Each place beside the annotations is searched by itself, to find the one that has most.
    searches = [*([place] for place in beside), added, common]
    drawn = np.random.default_rng(0).permutation(uris)
    is_in = _look_for(drawn, searches, seconds, progress)
    in_own, in_common = is_in[:, -2], is_in[:, -1]
    by_place = is_in[:, : len(beside)].sum(axis=0)

    new_place = None
    if by_place.any():
        best = int(by_place.argmax())
        in_own = in_own | is_in[:, best]
        own_places = tuple(dict.fromkeys((*own_places, beside[best])))
        if beside[best] not in earlier.own:
            new_place = Path(beside[best])

    if own_places != earlier.own:
        change_dataset_places(folders.home, dataset, lambda places: replace(places, own=own_places))
    return FoundImages(
        images=len(annotations.images),
        named=len(uris),
        looked_for=len(is_in),
        missing=tuple(drawn[: len(is_in)][~(in_own | in_common)]),
        places=tuple(dict.fromkeys([*beside, *added, *common])),
        kept=new_place,
        common=int((in_common & ~in_own).sum()),
    )


def _only_folders(places: Iterable[str]) -> list[str]:
    return [place for place in places if Path(place).is_dir()]


def _look_for(
    uris: "npt.NDArray[Any]", searches: Sequence[Sequence[str]], seconds: float, progress: Progress
) -> BoolArray:
    """Whether each image file is in each list of places; of those looked for in some seconds."""
    roots = list(map(ImageRoots, searches))
    end = time.monotonic() + seconds
    rows: list[list[bool]] = []

    for done, uri in enumerate(uris):
        # One is looked for however long it takes.
        if done and time.monotonic() > end:
            break
        if done % _REPORTED == 0:
            progress("look for images", done, len(uris))
        rows.append([bool(file_identity(search, uri)) for search in roots])
    return np.array(rows, dtype=bool).reshape(-1, len(roots))


def roots_to_load(
    folders: Folders, dataset: str, file: Path | None, within: Sequence[Path] | None
) -> tuple[str, ...]:
    """Where images are looked for once a file is loaded into a dataset, the nearest first.

    The dataset's earlier own place is none of them; parameters are as of `find_images`.
    """
    beside = _beside(file, folders, within)
    earlier = read_dataset_places(folders.home, dataset).own
    others = (root for root in folders.image_roots(dataset) if root not in earlier)
    return tuple(dict.fromkeys((*beside, *others)))


def _beside(file: Path | None, folders: Folders, within: Sequence[Path] | None) -> list[str]:
    """The places beside the annotations that may be kept, the narrowest first."""
    if file is None:
        return []
    place = file.resolve()
    folder = place if place.is_dir() else place.parent
    candidates = [(folder / "images").resolve(), folder]
    if place.suffix.lower() == ".zip":
        candidates.insert(0, place)

    return [
        str(candidate)
        for candidate in candidates
        if candidate.exists()
        and usable(candidate, folders.imports)
        and (within is None or any(map(candidate.is_relative_to, within)))
    ]
