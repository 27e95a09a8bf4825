"""Pictures in a folder or an archive, matched to the images that annotations name."""

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from itertools import product
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from cobalance.base import InputError, MissingExtraError, group_pairs
from cobalance.ingest.names import split_of_path, upwards
from cobalance.ingest.trees import FileTree
from cobalance.vision import (
    IMAGE_ENDINGS,
    MAX_BYTES,
    VIDEO_ENDINGS,
    ImageFileError,
    is_turned,
    read_header,
)

ENDINGS = (*IMAGE_ENDINGS, *VIDEO_ENDINGS)
_HEADER_BYTES = 1 << 16
_DRIVE = re.compile(r"^[A-Za-z]:/")
_PLAIN_FOLDERS = {"data", "image", "images", "img", "imgs", "jpegimages", "photos", "pictures"}
# Pictures in such folders are drawn of annotations, or of other pictures.
_DRAWN = re.compile(
    r"(masks?([-_](png|dir))?|segmentation.*|semantic.*|instances?|panoptic.*|labels?"
    r"|(train|val|valid|test)[-_]?(annot|masks?|labels?)|labeled.*|annotations?|ann([-_]dir)?|gt.*"
    r"|ground[-_ ]?truths?|trimaps?|depth.*|disparity|edges|thumb.*|previews?)"
)
# Layers of an image, which are called as the image with such a word and a number.
_LAYER = re.compile(r"(.+?)_(?:seg|parts)(?:_\d+)?")


class NamedPicture(NamedTuple):
    """A picture as annotations name it: by a path, an address or a name with or without ending.

    `file` is the annotation file's own path in the folder or archive, `split` its image's,
    `frame` where the picture is in a video, empty for none, and `full_name` is tried before `name`.
    """

    name: str
    file: str = ""
    split: str | None = None
    frame: str = ""
    full_name: str = ""


class _Match(NamedTuple):
    """A picture, and the distance of its name and its folder from the annotations'."""

    path: str
    distance: tuple[int, int]


class PictureMatcher:
    """Finds the picture of each image among the files of a folder or an archive.

    A name agrees with a file if it is the end of its path, percent-encoded or not, with another
    ending if there is none of its own; an address from elsewhere agrees if all folders here are in
    it, but for those with names such as ``images``. Pictures are looked for in the nearest folder
    above the annotation file that has one of its pictures. No picture is guessed: not where two
    agree, nor where another image names it more closely.

    Parameters
    ----------
    paths : sequence of str
        All pictures and videos, by their paths in the folder or archive.
    root : str
        Path of the folder or archive itself.

    Examples
    --------
    >>> pictures = PictureMatcher(["images/a b.png", "images/sea/1.png"])
    >>> pictures.match(map(NamedPicture, ["a%20b.png", "1.jpg", "land/1.png"]))
    ['images/a b.png', 'images/sea/1.png', None]
    """

    def __init__(self, paths: Sequence[str], root: str = "") -> None:
        self._root = root.replace("\\", "/").strip("/")
        self._paths = {*paths}
        self._by_name = group_pairs(
            (posixpath.basename(name), path)
            for path in paths
            for name in {path, _without_ending(path)}
        )

    def match(self, named: Iterable[NamedPicture]) -> list[str | None]:
        """Path of each picture; None where it is not there, or which it is is not sure."""
        pictures = list(named)
        by_folder = group_pairs(
            (posixpath.dirname(picture.file), row) for row, picture in enumerate(pictures)
        )
        matches: dict[int, _Match] = {}
        for folder, rows in by_folder.items():
            matches |= self._of_folder(folder, rows, pictures)

        names = group_pairs((match, _plain(pictures[row].name)) for row, match in matches.items())
        # Of the matches of a path, the closest is put last, in the place of others.
        closest = {match.path: match for match in sorted(names, reverse=True)}
        sure = {match for match in closest.values() if len({*names[match]}) == 1}
        paths = {row: match.path for row, match in matches.items() if match in sure}
        return list(map(paths.get, range(len(pictures))))

    def free(self, address: str) -> str | None:
        """The address of a picture that is not here; None if it leads to another image's."""
        name = _plain(address)
        spellings = (name, unquote(name), f"images/{name}", f"images/{unquote(name)}")
        if not self._paths.isdisjoint(spellings):
            return None
        return address

    def _of_folder(
        self, folder: str, rows: Sequence[int], pictures: Sequence[NamedPicture]
    ) -> dict[int, _Match]:
        """Matches of the images that the annotation files of a folder name."""
        for steps, above in enumerate(dict.fromkeys([*upwards(folder), ""])):
            matches = {
                row: match
                for row in rows
                if (match := self._find(pictures[row], folder, above, steps)) is not None
            }
            if matches:
                return matches
        return {}

    def _find(self, picture: NamedPicture, folder: str, above: str, steps: int) -> _Match | None:
        """The picture below a folder that a name fits closest; None for none or several."""
        spellings = dict.fromkeys(map(_plain, (picture.name, unquote(picture.name))))
        forms: tuple[Callable[[str], str], ...] = (str, _without_ending)
        for distance, (form, spelling) in enumerate(product(forms, spellings)):
            name = form(spelling)
            paths = self._by_name.get(posixpath.basename(name), ())
            near = [path for path in paths if not above or path.startswith(f"{above}/")]
            # A label folder has a picture folder of the same kind, such as KITTI's label_2.
            bases = (folder, above, f"{above}/images", folder.replace("label", "image"))
            for base in bases:
                target = posixpath.normpath(posixpath.join(base, name)).lstrip("/")
                exact = [path for path in near if target in (path, form(path))]
                if len(exact) == 1:
                    return _Match(exact[0], (distance, steps))

            agreeing = [
                path
                for path in near
                if self._agrees(name, form(path))
                and split_of_path(path) in (None, picture.split or split_of_path(path))
            ]
            if len(agreeing) > 1:
                # Folders of pictures and of annotations may be called alike, such as by the day.
                last = posixpath.basename(folder)
                end = f"/{last}/{name}"
                agreeing = [path for path in agreeing if f"/{form(path)}".endswith(end)]
                if len(agreeing) != 1:
                    return None
            if agreeing:
                return _Match(agreeing[0], (distance, steps))
        return None

    def _agrees(self, name: str, path: str) -> bool:
        """Whether a name may be meant by a path."""
        folders = path.split("/")[:-1]
        if "/" not in name:
            is_drawn = any(_DRAWN.fullmatch(part.lower()) for part in folders)
            return name == posixpath.basename(path) and not is_drawn
        if not name.startswith("/"):
            # Steps upwards are taken out.
            below = posixpath.normpath(f"/{name}")
            return f"/{self._root}/{path}".endswith(below)

        # Of an address, folders that are called alike everywhere need not agree.
        telling = [part for part in folders if part.lower() not in _PLAIN_FOLDERS]
        end = "/".join(["", *telling, posixpath.basename(path)])
        return posixpath.normpath(name).endswith(end)


def pictures_beside(
    paths: Iterable[str], placed: Iterable[str], stems: Collection[str]
) -> list[str]:
    """Pictures in the folders of some `placed` ones that are neither those nor drawn of any.

    Parameters
    ----------
    paths : iterable of str
        All pictures, by their paths.
    placed : iterable of str
        Paths of the pictures that are images already.
    stems : collection of str
        Names without ending of pictures that are left out.

    Examples
    --------
    >>> paths = ["a/1.jpg", "a/1.png", "a/2.jpg", "a/2_mask.png", "b/3.jpg"]
    >>> pictures_beside(paths, ["a/1.jpg"], ())
    ['a/2.jpg']
    """
    taken = set(map(_without_ending, placed))
    folders = set(map(posixpath.dirname, taken))

    pictures = list[str]()
    for path in paths:
        whole = _without_ending(path)
        folder, stem = posixpath.split(whole)
        if folder not in folders or whole in taken or stem in stems:
            continue
        layer = _LAYER.fullmatch(stem)
        if layer is not None and posixpath.join(folder, layer[1]) in taken:
            continue
        if not _is_drawn(stem):
            taken.add(whole)
            pictures.append(path)
    return pictures


def pictures_elsewhere(paths: Iterable[str], placed: Iterable[str]) -> list[str]:
    """Pictures in other folders than some `placed` ones, that are drawn of none."""
    folders = set(map(posixpath.dirname, placed))
    pictures = list[str]()
    for path in paths:
        *above, stem = _without_ending(path).split("/")
        if "/".join(above) in folders or _is_drawn(stem):
            continue
        if not any(_DRAWN.fullmatch(folder.lower()) for folder in above):
            pictures.append(path)
    return pictures


def _is_drawn(stem: str) -> bool:
    """Whether the last word of a picture's name says that it is drawn of another."""
    return _DRAWN.fullmatch(re.split(r"[-_. ]", stem.lower())[-1]) is not None


def unsized_note(n_images: int) -> str:
    """Say that boxes are left out, which are relative to sizes that nobody knows."""
    return f"boxes of {n_images:,} images left out, as their sizes are unknown"


def picture_size(tree: FileTree, name: str) -> tuple[int, int] | None:
    """Width and height of a picture of a tree, as it is shown; None if it does not say them."""
    # Some formats say how large they are at their end.
    for most in (_HEADER_BYTES, MAX_BYTES):
        with suppress(ImageFileError, MissingExtraError, InputError):
            with tree.open(name, anywhere=True) as file:
                content = file.read(most)

            header = read_header(content)
            stored = header.width_px, header.height_px
            if is_turned(content):
                return stored[::-1]
            return stored
    return None


def _plain(name: str) -> str:
    """A name with ``/`` between folders; of an address its path, which begins with one."""
    if "://" in name:
        return "/" + urlsplit(name).path.lstrip("/")
    name = name.replace("\\", "/").strip()
    return _DRIVE.sub("/", name).removeprefix("./")


def _without_ending(path: str) -> str:
    stem, ending = posixpath.splitext(path)
    if ending.lower() not in ENDINGS:
        return path
    return stem
