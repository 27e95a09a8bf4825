"""Look for image files, also beside the annotations, and keep the folder that has them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cobalance.graph.errors import Part, Setting
from cobalance.graph.plugins import is_installed
from cobalance.graph.progress import Progress, silent
from cobalance.graph.records import Annotations
from cobalance.graph.safe_text import mask_credentials, safe_text
from cobalance.graph.wording import inflect
from cobalance.ingest.images.roots import ImageRoots
from cobalance.ingest.images.uris import strip_secrets
from cobalance.workflows.folders import Folders, change_added, usable
from cobalance.workflows.load.image_places import file_identity

SECONDS = 3.0
_REPORTED = 1_000  # images from one report of progress to the next


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
        The place that is kept for later commands.
    hidden : Path or None
        A place beside the annotations with files that are not used, as earlier places have others
        of the same names.
    """

    images: int
    named: int
    looked_for: int
    missing: tuple[str, ...]
    places: tuple[str, ...]
    kept: Path | None
    hidden: Path | None

    def describe(self) -> tuple[Part, ...]:
        """The same in sentences, with the setting that mends it; see `graph.errors.render`."""
        if not self.named:
            return ("Images: none names a file, so that none can be shown, edited or exported.",)
        files = f"{self.looked_for:,} files"
        if self.looked_for < self.named:
            files += f" looked for ({self.named:,} in all)"
        kept = "" if self.kept is None else f"; {self.kept} is kept for later commands"
        said: list[Part] = [f"Images: {self.looked_for:,} of {files} found{kept}."]
        if self.missing:
            said = [
                f"Images: {len(self.missing):,} of {files} not found, such as "
                f"{safe_text(strip_secrets(self.missing[0]))}; "
                f"{looked_in(self.places)}{kept}. Set ",
                Setting("images"),
                " to the folder, ZIP file or URL that has them.",
            ]
        if self.hidden is not None:
            said += [
                f" Files of {self.hidden} are not used where an earlier place has others of the "
                "same names; to use them, name that folder first in ",
                *(Setting("images"), "."),
            ]
        if self.named < self.images:
            said += [f" {inflect(self.images - self.named, 'images')} without a file's name."]
        return tuple(said)


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
    annotations: Annotations,
    file: Path | None,
    *,
    within: Sequence[Path] | None = None,
    seconds: float = SECONDS,
    progress: Progress = silent,
) -> FoundImages:
    """Look for image files in all places of images, and beside their annotations.

    Of the annotations' own folder or ZIP file and ``images`` in the folder, the one that has the
    most of what is found nowhere else becomes a place of images for all commands, pages and workers
    of this home. Without the extra ``worker``, which reads URLs and ZIP files, only folders are
    looked in.

    Parameters
    ----------
    file : Path or None
        The annotation file, folder or archive; None where there is none.
    within : sequence of Path or None
        Resolved folders that a place has to be in to be kept, besides those of COBALANCE_IMPORTS;
        None for anywhere.
    seconds : float
        After that no more are looked for, as there may be millions, and places far away. They are
        taken in a random order, so that those that were looked for stand for all.

    Raises
    ------
    OptionError
        The list of kept places cannot be read or written.
    """
    uris = annotations.images["uri"].dropna().to_numpy()
    known = folders.image_roots()
    beside = [] if file is None else _beside(file, folders, within)
    if not is_installed("worker"):  # it reads URLs and ZIP files
        known = tuple(place for place in known if Path(place).is_dir())
        beside = [place for place in beside if place.is_dir()]
    searches = [ImageRoots(known), *(ImageRoots([str(place)]) for place in beside)]
    end = time.monotonic() + seconds
    files: list[list[str]] = []
    drawn = np.random.default_rng(0).permutation(uris)
    for done, uri in enumerate(drawn):
        if done and time.monotonic() > end:
            break
        if done % _REPORTED == 0:
            progress("look for images", done, len(uris))
        files.append([file_identity(search, uri) for search in searches])
    found = np.array(files, dtype=object).reshape(-1, len(searches))
    there, others = found != "", found[:, 1:]
    missing = ~there[:, 0]
    gains = (there[:, 1:] & missing[:, None]).sum(axis=0)
    kept = None
    if gains.any():
        best = int(gains.argmax())
        kept = beside[best]
        missing &= others[:, best] == ""
        change_added(folders.home, lambda places: [*places, kept])
    differ = (there[:, 1:] & there[:, :1] & (others != found[:, :1])).any(axis=0)
    return FoundImages(
        len(annotations.images),
        len(uris),
        len(files),
        tuple(drawn[: len(files)][missing]),
        tuple(dict.fromkeys([*map(str, beside), *known])),
        kept,
        next((place for place, other in zip(beside, differ, strict=True) if other), None),
    )


def _beside(file: Path, folders: Folders, within: Sequence[Path] | None) -> list[Path]:
    """The places beside the annotations that may be kept, the narrowest first."""
    place = file.resolve()
    folder = place if place.is_dir() else place.parent
    archive = [place] if place.suffix.lower() == ".zip" else []
    return [
        found
        for found in (*archive, (folder / "images").resolve(), folder)
        if found.exists()
        and usable(found, folders.imports)
        and (within is None or any(found.is_relative_to(root) for root in within))
    ]
