"""Where image files are: folders and ZIP files that editors add in the web app, without a restart.

The operator says in COBALANCE_IMPORTS in which folders they may be; see
`cobalance.workflows.load.sources.import_roots`.
"""

import os
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from cobalance.graph.errors import CobalanceError, OptionError
from cobalance.ingest.images.roots import ImageRoots
from cobalance.workflows.folders import Folders, change_added, read_added, usable
from cobalance.workflows.load.sources import inside

IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")
_DEEPEST = 4  # folders below the one that is allowed
_MOST_FOLDERS = 2_000
_MOST_FILES = 64  # of a folder that are looked at


@dataclass(frozen=True)
class AddedPlace:
    """A folder or ZIP file that was added, and whether it is used."""

    path: Path
    used: bool


def added_places(folders: Folders) -> list[AddedPlace]:
    """Added image folders, in search order."""
    return [
        AddedPlace(path, usable(path, folders.imports) and os.path.exists(path))
        for path in read_added(folders.home)
    ]


def add_place(folders: Folders, path: str, roots: Sequence[Path]) -> Path:
    """Add a folder or ZIP file of images for all pages, commands and workers of this home.

    Parameters
    ----------
    path : str
        Absolute, or relative to one of the roots.
    roots : sequence of Path
        From `import_roots`: links are followed, and must not lead out of them.

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
    home = folders.home
    change_added(home, lambda known: [*known, place])
    return place


def remove_place(folders: Folders, path: Path) -> None:
    """Take a folder or ZIP file off the list; its files stay."""
    home = folders.home
    change_added(home, lambda known: [one for one in known if one != path])


def _check_allowed(path: str, roots: Sequence[Path]) -> Path:
    """The path in the first root that has it, links followed."""
    if not roots:
        raise OptionError(
            "Whoever runs this app has named no folder that images may be added from. Ask them to "
            "name it in COBALANCE_IMPORTS, or the images themselves in COBALANCE_IMAGES."
        )
    if not path.strip():
        raise OptionError("There is no name. Name a folder or a ZIP file of images.")
    found = []
    for root in roots:
        try:
            found.append(inside(path, root))
        except OptionError:
            continue
    if not found:
        raise OptionError(
            f"{path!r} is not in {' or '.join(map(str, roots))}. Name a folder in it, or have "
            "COBALANCE_IMPORTS name the one that it is in."
        )
    return next(filter(os.path.exists, found), found[0])


def offered_places(roots: Sequence[Path]) -> list[Path]:
    """Folders with image files, and ZIP files, in folders that images may be added from.

    The first of at most 2,000 folders, four folders deep; hidden ones and links are left out.
    """
    return list(dict.fromkeys(place for root in roots for place in _places(root)))


def _places(root: Path) -> Iterator[Path]:
    for parent, folders, names in islice(os.walk(root), _MOST_FOLDERS):
        here = Path(parent)
        if len(here.relative_to(root).parts) == _DEEPEST:
            folders.clear()
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if any(name.lower().endswith(IMAGE_ENDINGS) for name in names[:_MOST_FILES]):
            yield here
        yield from (here / name for name in sorted(names) if name.lower().endswith(".zip"))


def places_with(uris: Sequence[str], roots: Sequence[Path], most: int = 3) -> list[Path]:
    """The places in which the most of some image files are, the best first; none without any.

    An address such as ``train/1.jpg`` is in the folder that ``train`` is in.
    """
    offered = offered_places(roots)
    above = [folder for place in offered for folder in place.parents]
    allowed = [
        place
        for place in dict.fromkeys([*offered, *above])
        if any(place.is_relative_to(root) for root in roots)
    ]
    counts = {place: len(uris) - len(missing_files(uris, [str(place)])) for place in allowed}
    best = sorted(allowed, key=lambda place: (-counts[place], -len(place.parts), str(place)))
    return [place for place in best if counts[place]][:most]


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
