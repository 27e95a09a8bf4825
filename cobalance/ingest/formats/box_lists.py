"""Text files of boxes, a line each: KITTI, VisDrone, DOTA, WIDER FACE and MOT Challenge.

https://www.cvlibs.net/datasets/kitti/eval_object.php
https://github.com/VisDrone/VisDrone2018-DET-toolkit
https://captain-whu.github.io/DOTA/dataset.html
http://shuoyang1213.me/WIDERFACE
https://motchallenge.net/instructions
"""

import re
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import PurePosixPath

from cobalance.base import group_pairs
from cobalance.ingest.collector import VIDEO
from cobalance.ingest.formats.tool_reader import Picture, Read, Records, ToolReader
from cobalance.ingest.reader import formats_of
from cobalance.vision import place_of

_Row = Sequence[str]
_Add = Callable[[Picture, _Row], None]
_AERIAL = ("pedestrian", "people", "bicycle", "car", "van", "truck", "tricycle", "awning-tricycle",
           "bus", "motor", "others")  # fmt: skip
_STREET = ("pedestrian", "person on vehicle", "car", "bicycle", "motorbike",
           "non motorized vehicle", "static person", "distractor", "occluder",
           "occluder on the ground", "occluder full", "reflection", "crowd")  # fmt: skip
_DOTA_SOURCE = ("imagesource:", "gsd:")
_NUMBER = re.compile(r"-?[\d.]+(e[-+]?\d+)?")
_LENGTH = re.compile(r"(?m)^seqLength\s*=\s*(\d{1,7})\s*$")
_PICTURE = re.compile(r"(?i).*\.[a-z]\w{1,4}")
_ZEROS = re.compile(r"(?:0\s+){3,}0")
_OF_FACES = ("blur", "expression", "illumination", "invalid", "occlusion", "pose")


def _rows(content: bytes, between: str | None) -> list[list[str]]:
    return [line.split(between) for line in content.decode().splitlines() if line.strip()]


def _picture(add: _Add, name: str, rows: Sequence[_Row], **metadata: str) -> Picture:
    picture = Picture(name, metadata=metadata)
    for row in rows:
        add(picture, row)
    return picture


def _of_image(add: _Add, between: str | None, file: str, read: Read) -> Records:
    """Read the objects of the image that a file is called as."""
    yield "", partial(_picture, add, PurePosixPath(file).stem, _rows(read(file), between))


def _kitti_row(picture: Picture, row: _Row) -> None:
    """Add an object; in regions called DontCare nobody looked."""
    # People's own names have spaces, and numbers follow the name.
    n_words = next((i for i, cell in enumerate(row) if i and _NUMBER.fullmatch(cell)), len(row))
    name, numbers = " ".join(row[:n_words]), row[n_words:]
    truncated, occluded = numbers[:2]
    left, top, right, bottom = map(float, numbers[3:7])

    if name != "DontCare":
        box = left, top, right - left, bottom - top
        picture.add(name, {"box": box}, {"truncated": truncated, "occluded": occluded})


def _kitti_tracking(file: str, read: Read) -> Records:
    """Frames of a video up to the last one with a line; each line begins with its frame."""
    frames = group_pairs((int(row[0]), row[2:]) for row in _rows(read(file), None))
    path = PurePosixPath(file)
    folder = path.parent.with_name(path.parent.name.replace("label", "image"))
    video = str(folder / path.stem)
    for frame in range(max(frames, default=-1) + 1):
        name = f"{video}/{frame:06}.png"
        make = partial(_picture, _kitti_row, name, frames.get(frame, []), **{VIDEO: video})
        yield f"frame {frame}", make


def _visdrone_row(picture: Picture, row: _Row) -> None:
    """Add an object, unless its flag is 0; code 0 is an ignored region."""
    x, y, w, h, flag, code = map(int, row[:6])
    if flag and code:
        attributes = {"truncation": row[6], "occlusion": row[7]}
        picture.add(dict(enumerate(_AERIAL, 1))[code], {"box": (x, y, w, h)}, attributes)


def _dota_row(picture: Picture, row: _Row) -> None:
    """Add an object with its four corners, unless the line tells the source of the image."""
    if not row[0].startswith(_DOTA_SOURCE):
        corners = [*map(float, row[:8])]
        place = place_of([*zip(corners[::2], corners[1::2], strict=True)])
        picture.add(row[8], place, {"difficult": row[9]})


def _wider_face(file: str, read: Read) -> Records:
    """Read a path, the number of faces, and a line for each; without any often one of zeros."""
    lines = deque(filter(None, map(str.strip, read(file).decode().splitlines())))
    while lines:
        path = lines.popleft()
        # Datumaro leaves the number of no faces out.
        count = 0
        if lines and not _PICTURE.fullmatch(lines[0]):
            count = int(lines.popleft())

        faces = list[_Row]()
        while lines and len(faces) < count:
            faces.append(lines.popleft().split())
        if len(faces) < count:
            raise ValueError(f"{path[:80]} has {len(faces)} of {count} faces")
        if not count and lines and _ZEROS.fullmatch(lines[0]):
            lines.popleft()
        yield path, partial(_picture, _face_row, path, faces)


def _face_row(picture: Picture, row: _Row) -> None:
    """Add a face; Datumaro writes a dash for unknown values, and a label behind."""
    x, y, w, h = map(float, row[:4])
    answers = zip(_OF_FACES, row[4:10], strict=True)
    attributes = {name: answer for name, answer in answers if answer != "-"}
    picture.add(" ".join(row[10:]) or "face", {"box": (x, y, w, h)}, attributes)


def _mot(file: str, read: Read) -> Records:
    """Frames up to the last of seqinfo.ini, or with a box; labels.txt names another's codes."""
    names: Sequence[str] = _STREET
    # The codes are those of MOT Challenge, unless names lie beside the file.
    with suppress(KeyError, OSError):
        names = read(file.removesuffix("gt.txt") + "labels.txt").decode().splitlines()

    frames = group_pairs((int(row[0]), row) for row in _rows(read(file), ","))
    n_frames = max(frames, default=0)
    # The last frames of a video may show nothing.
    with suppress(KeyError, OSError):
        about = read(file.removesuffix("gt.txt").removesuffix("gt/") + "seqinfo.ini").decode()
        if length := _LENGTH.search(about):
            n_frames = max(n_frames, int(length[1]))
    root = file.removesuffix("gt.txt").removesuffix("gt/")
    metadata, add = {VIDEO: root.rstrip("/") or "sequence"}, partial(_mot_row, names)
    for frame in range(1, n_frames + 1):
        name = f"{root}img1/{frame:06}.jpg"
        yield f"frame {frame}", partial(_picture, add, name, frames.get(frame, []), **metadata)


def _mot_row(names: Sequence[str], picture: Picture, row: _Row) -> None:
    """Add an object, unless its flag is 0; its pixels count from 1."""
    x, y, w, h, flag = map(float, row[2:7])
    if flag:
        attributes = {"visibility": row[8]}
        # Code -1 is a pedestrian, as 1 is.
        name = dict(enumerate(names, 1))[abs(int(row[7]))]
        picture.add(name, {"box": (x - 1, y - 1, w, h)}, attributes)


PLUGINS = formats_of(
    {
        "kitti": ToolReader(
            "KITTI object detection: a text file of objects for each image",
            (rb"\A\s*\Z|\A[A-Za-z_][\w -]*? (-?[\d.]+ ){13}-?[\d.]+(\s|\Z)",),
            partial(_of_image, _kitti_row, None),
            (".txt",),
        ),
        "kitti-tracking": ToolReader(
            "KITTI tracking: a text file of objects for each video",
            (rb"\A\d+ -?\d+ [A-Za-z_][\w -]*? (-?[\d.]+ ){13}-?[\d.]+(\s|\Z)",),
            _kitti_tracking,
            (".txt",),
        ),
        "visdrone": ToolReader(
            "VisDrone detection: a text file of boxes for each image",
            (rb"\A\s*\Z|\A(-?\d+,){7}-?\d+,?\s",),
            partial(_of_image, _visdrone_row, ","),
            (".txt",),
        ),
        "dota": ToolReader(
            "DOTA: a text file of turned boxes for each image",
            (
                rb"\A(imagesource:[^\n]*\n)?(gsd:[^\n]*\n)?\s*"
                rb"(\Z|(-?[\d.]+ ){8}[A-Za-z][\w-]* \d\s)",
            ),
            partial(_of_image, _dota_row, None),
            (".txt",),
        ),
        "wider-face": ToolReader(
            "WIDER FACE: a text file of images and their faces",
            (rb"\A\S.*\.\w+\s*\n\d+\s*\n(-?[\d.]+ ){4}((-|\d+|True|False) ){5}(-|\d+)\s",),
            _wider_face,
            (".txt",),
        ),
        "mot": ToolReader(
            "MOT Challenge: gt.txt with the boxes of a video's frames",
            (rb"\A\d+,-?\d+(,-?[\d.]+){7,8}\s",),
            _mot,
            ("gt.txt",),
        ),
    }
)
