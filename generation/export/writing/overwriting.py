"""What an export would replace: only an earlier one of the same job and format that nobody changed.

``SHA256SUMS`` is the last file of an export to be written, and by it a changed one is told: files
beside it, which people edit, are read again, and so is every file below that was touched later. To
read all of a large export again would take about as long as to write it. What this does not see is
a change to an image in a folder that was copied afterwards, without the times of its files.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from generation.export.options import ExportError

MARKER = "cobalance-export.json"
SUMS = "SHA256SUMS"
_INSTEAD = (
    "Name another folder, or replace this one with all that is in it: --overwrite, or in Python "
    "overwrite=True."
)


def check_target(target: Path, whose: Mapping[str, object], *, overwrite: bool) -> None:
    """Refuse to write to a folder that is no earlier export of the same, or is no more what it was.

    Files of it that are gone are no reason.

    Raises
    ------
    ExportError
        It is a file, holds other files, changed ones or another export and `overwrite` is not set,
        or is one that nobody means to replace as a whole: a home folder, the working folder, or one
        around them.
    """
    nearest = next(place for place in (target, *target.parents) if place.exists())
    if not nearest.is_dir():
        raise ExportError(f"{nearest} is a file. Name a folder.")
    if nearest != target:
        return
    if next(target.iterdir(), None) is None:
        return
    around = {place for base in (Path.home(), Path.cwd()) for place in (base, *base.parents)}
    if target in around:
        raise ExportError(f"{target} would be replaced as a whole. Name a folder in it.")
    if not overwrite:
        _check_same(target, whose)


def _check_same(target: Path, whose: Mapping[str, object]) -> None:
    digests = _digests(target)
    stranger = _stranger(target, digests)
    if stranger is not None:
        raise ExportError(f"{target} holds {stranger!r}, which no export wrote. {_INSTEAD}")
    changed = _changed(target, digests)
    if changed is not None:
        raise ExportError(
            f"{target} holds {changed!r}, which was changed after it was exported. {_INSTEAD}"
        )
    held = msgspec.json.decode((target / MARKER).read_bytes(), type=dict[str, object])
    if any(held.get(key) != value for key, value in whose.items()):
        what = f"the dataset {held.get('name')!r} as {held.get('format')}"
        job = held.get("job")
        raise ExportError(
            f"{target} is another export: {f'job {job}, ' if job else ''}{what}. {_INSTEAD}"
        )


def _digests(target: Path) -> dict[str, str]:
    """Give the digest of each file of an export, by its path; nothing where there is none."""
    if not ((target / MARKER).is_file() and (target / SUMS).is_file()):
        return {}
    lines = (target / SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    parts = [line.partition("  ") for line in lines]
    return {name: digest for digest, _, name in parts}


def _stranger(target: Path, digests: Mapping[str, str]) -> str | None:
    """Give a file that the digests of an export do not name, or None where there is none."""
    known = {SUMS, *digests}
    for place, folders, files in os.walk(target):
        for name in sorted(files):
            path = (Path(place) / name).relative_to(target).as_posix()
            if path not in known:
                return path
        if not files and not folders:
            return f"{Path(place).relative_to(target).as_posix()}/"
    return None if MARKER in digests else SUMS


def _changed(target: Path, digests: Mapping[str, str]) -> str | None:
    """Give a file that is not what it was when it was written, or None where there is none."""
    sums = (target / SUMS).stat()
    # The earlier of both: a copy that keeps the times of change has times of its own beside them.
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
