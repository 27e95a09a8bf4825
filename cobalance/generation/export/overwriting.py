"""Check whether an export may replace a folder: only an unchanged one of the same job and format.

Changes are found by ``SHA256SUMS``, which is written last. Files beside it, which people edit, are
read and compared, and so are those in subfolders that were modified later than it: reading all of a
large export would take about as long as writing it. A changed image is missed if the folder was
copied afterwards without the files' times.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from cobalance.base import Setting
from cobalance.generation.export.options import ExportError

MARKER = "cobalance-export.json"
SUMS = "SHA256SUMS"
_REMEDY = (
    " Name another folder, or replace this one and all that is in it (",
    Setting("overwrite"),
    ").",
)


def check_target(target: Path, identity: Mapping[str, object], *, overwrite: bool) -> None:
    """Refuse to replace a folder unless it is empty, missing, or an unchanged export of the same.

    Deleted files do not count as a change.

    Parameters
    ----------
    identity : mapping of str to object
        Dataset, format and job of the new export.
    overwrite : bool
        Allow any contents. The home folder, the working folder and their parents are never
        replaced.

    Raises
    ------
    ExportError
        The folder must not be replaced, or is a file.
    """
    nearest = next(path for path in (target, *target.parents) if path.exists())
    if not nearest.is_dir():
        raise ExportError(f"{nearest} is a file. Name a folder.")
    if nearest != target or next(target.iterdir(), None) is None:
        return

    home, here = Path.home(), Path.cwd()
    if target in (home, here, *home.parents, *here.parents):
        raise ExportError(f"{target} would be replaced as a whole. Name a folder in it.")
    if not overwrite:
        _check_same(target, identity)


def _check_same(target: Path, identity: Mapping[str, object]) -> None:
    """Raise ExportError unless a folder is an unchanged export of this identity."""
    digests = _digests(target)
    foreign = _foreign_file(target, digests)
    if foreign is not None:
        raise ExportError(f"{target} holds {foreign!r}, which no export wrote.", *_REMEDY)
    changed = _find_changed(target, digests)
    if changed is not None:
        raise ExportError(
            f"{target} holds {changed!r}, which was changed after it was exported.", *_REMEDY
        )

    marker = msgspec.json.decode((target / MARKER).read_bytes(), type=dict[str, object])
    if any(marker.get(key) != value for key, value in identity.items()):
        export = f"the dataset {marker.get('name')!r} as {marker.get('format')}"
        if marker.get("job"):
            export = f"job {marker['job']}, {export}"
        raise ExportError(f"{target} is another export: {export}.", *_REMEDY)


def _digests(target: Path) -> dict[str, str]:
    """Digest of each file of an export, by path; empty if the folder is not an export."""
    if not ((target / MARKER).is_file() and (target / SUMS).is_file()):
        return {}
    digests = {}
    for line in (target / SUMS).read_text(encoding="utf-8", errors="replace").splitlines():
        digest, _, name = line.partition("  ")
        digests[name] = digest
    return digests


def _foreign_file(target: Path, digests: Mapping[str, str]) -> str | None:
    """Find a file or empty folder that is not part of the export."""
    exported = {SUMS, *digests}
    for parent, folders, files in os.walk(target):
        for name in sorted(files):
            path = (Path(parent) / name).relative_to(target).as_posix()
            if path not in exported:
                return path
        if not files and not folders:
            return f"{Path(parent).relative_to(target).as_posix()}/"
    return None if MARKER in digests else SUMS


def _find_changed(target: Path, digests: Mapping[str, str]) -> str | None:
    """Find a file that was changed after the export."""
    sums = (target / SUMS).stat()
    # The earlier of both: a copy that keeps modification times has new status-change times.
    sealed_ns = min(sums.st_mtime_ns, sums.st_ctime_ns)
    for name in sorted(digests):
        path = target / name
        if not path.is_file():
            continue
        status = path.lstat()
        if "/" in name and max(status.st_mtime_ns, status.st_ctime_ns) <= sealed_ns:
            continue

        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digests[name]:
                return name
    return None
