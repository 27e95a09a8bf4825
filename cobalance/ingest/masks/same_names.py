"""Pictures of the same names as others: drawn ones, which a look tells, and bands or sizes."""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from cobalance.base import group_pairs

Looks = Callable[[str], bool]
"""Opens a picture: whether it looks drawn."""
Pairs = Iterator[tuple[str, str | None]]
"""Pictures that are no images, and the image that each is drawn of, None where that is not sure."""
MOST_LOOKS_A_FOLDER = 3
_BAND = re.compile(r"(b|band)_?\d{1,2}a?|red|green|blue|nir|swir\d?|vv|vh|ir|tir|lwir|thermal"
                   r"|infrared|visible|rgb|pan|rededge\d?|hr|lr|upsampled|x[2348]",
                   re.IGNORECASE)  # fmt: skip
_VISIBLE = {"rgb", "visible", "hr"}
_ALIKE = 0.9  # of names that folders of the same things share
_MOST_FOLDERS = 12  # of the same things; more are classes of numbered pictures
_LOSSY = (".jpg", ".jpeg")


def look_at(paths: Sequence[str], looks: Looks) -> bool:
    """Whether the first pictures of several look drawn."""
    return all(map(looks, paths[:MOST_LOOKS_A_FOLDER]))


def find_drawn_beside(paths: Sequence[str], looks: Looks) -> Pairs:
    """Drawn pictures in the folder of an image of the same name, such as 1.png beside 1.jpg."""
    # Of one kind of file there are no such pairs, however many pictures there are.
    endings = {path.rpartition(".")[2] for path in paths}
    if len(endings) < 2:
        return

    images_by_folder: dict[str, dict[str, str]] = {}
    by_name = group_pairs((posixpath.splitext(path)[0], path) for path in paths)
    for name, pictures in by_name.items():
        images = list(filter(_is_lossy, pictures))
        if len(pictures) == 2 and len(images) == 1:
            mask = next(path for path in pictures if path != images[0])
            images_by_folder.setdefault(posixpath.dirname(name), {})[mask] = images[0]

    for image_of in images_by_folder.values():
        if look_at(list(image_of), looks):
            yield from image_of.items()


def _is_lossy(path: str) -> bool:
    return path.lower().endswith(_LOSSY)


def find_drawn_folders(paths: Sequence[str], looks: Looks) -> Pairs:
    """Pictures of folders beside others with the same names: drawn ones, and further bands."""
    by_folder = group_pairs((path.rpartition("/")[0], path) for path in paths)
    siblings = group_pairs((posixpath.dirname(folder), folder) for folder in by_folder if folder)
    for folders in siblings.values():
        if not 1 < len(folders) <= _MOST_FOLDERS:
            continue
        names = {folder: _by_name(by_folder[folder]) for folder in folders}
        if not _are_alike(list(names.values())):
            continue

        if all(map(band_of, folders)):
            yield from _further_bands(names)
        else:
            yield from _drawn_folders(names, looks)


def _further_bands(names: Mapping[str, Mapping[str, str]]) -> Pairs:
    """Pictures of all bands but the one that people see best, or the first."""
    visible = [folder for folder in names if band_of(folder) in _VISIBLE]
    first = min(visible or names)
    for folder, pictures in names.items():
        if folder != first:
            yield from dict.fromkeys(pictures.values()).items()


def _drawn_folders(names: Mapping[str, Mapping[str, str]], looks: Looks) -> Pairs:
    """Pictures of folders that look drawn, where others do not."""
    images, drawn = list[str](), list[str]()
    for folder, pictures in names.items():
        is_drawn = look_at(list(pictures.values()), looks)
        (drawn if is_drawn else images).append(folder)

    image_of: Mapping[str, str] = {}
    if len(images) == 1:
        image_of = names[images[0]]
    if images:
        for folder in drawn:
            for name, path in names[folder].items():
                yield path, image_of.get(name)


def band_of(folder: str) -> str:
    """The band that a folder is called by; empty for none."""
    parts = re.split(r"[-_ ]+", posixpath.basename(folder).lower())
    return next(filter(_BAND.fullmatch, parts), "")


def without_band(name: str) -> str:
    """A picture's name without the word for its band.

    Examples
    --------
    >>> without_band("red_patch_1")
    'patch_1'
    """
    parts = name.split("_")
    return "_".join(part for part in parts if not _BAND.fullmatch(part)) or name


def stem_of(path: str) -> str:
    """A picture's name without folders and ending, in lower case."""
    return posixpath.splitext(posixpath.basename(path))[0].lower()


def _by_name(paths: Iterable[str]) -> dict[str, str]:
    """Pictures of a folder by their names, without their band's."""
    return {without_band(stem_of(path)): path for path in paths}


def _are_alike(names: Sequence[Mapping[str, str]]) -> bool:
    """Whether nearly all names are in each of some folders."""
    common = set(names[0]).intersection(*names[1:])
    return len(common) >= _ALIKE * max(map(len, names))
