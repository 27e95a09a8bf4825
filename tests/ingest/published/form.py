"""A published form: files in a publisher's layout, the command that reads them, and the truth."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from cobalance.base.records import ALL_IMAGES

WIDTH, HEIGHT = 64, 48
Box = tuple[float, float, float, float]


class Seen(NamedTuple):
    """What is right of one image; `boxes` are those of some concepts, in pixels."""

    concepts: frozenset[str]
    class_name: str
    split: str | None
    boxes: Mapping[str, Sequence[Box]]


def seen(
    *concepts: str,
    cls: str = ALL_IMAGES,
    split: str | None = None,
    **boxes: Box | Sequence[Box],
) -> Seen:
    """Concepts of an image, with its class and split; a keyword is a concept with its boxes.

    A concept with a space in its name has an underscore in its keyword.
    """
    places = {
        name if ": " in name else name.replace("_", " "): [box]
        if isinstance(box[0], int | float)
        else sorted(box)
        for name, box in boxes.items()
    }
    return Seen(frozenset([*concepts, *places]), cls, split, places)


@dataclass(frozen=True)
class Form:
    """A published form of a dataset.

    Parameters
    ----------
    name, title : str
        The name of the function that writes it, and the dataset's name for people.
    command : str
        What stands after ``cobalance ingest``, in the folder of the files.
    images : mapping of str to Seen
        All images of the small dataset, by id, address, or a part of either that no other has.
    write : callable
        Writes the files; its docstring names where the layout is documented.
    left_open : tuple of str
        Categories of concepts that are not compared, such as ``age`` of ``age: 18 to 40``: bins
        of numbers, which have tests of their own, and what the publisher leaves to the reader.
    """

    name: str
    title: str
    command: str
    images: Mapping[str, Seen]
    write: Callable[[Path], None] = field(repr=False)
    left_open: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """The module that it is in, which is a section of docs/datasets.md."""
        return self.write.__module__


FORMS: dict[str, Form] = {}


def form(
    title: str, command: str, images: Mapping[str, Seen], *left_open: str
) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    """Register the function that writes a form."""

    def register(write: Callable[[Path], None]) -> Callable[[Path], None]:
        name = write.__name__
        assert name not in FORMS, name
        FORMS[name] = Form(name, title, " ".join(command.split()), images, write, left_open)
        return write

    return register


@cache
def pixels(ending: str = "jpg", width: int = WIDTH, height: int = HEIGHT) -> bytes:
    """A picture of a format."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), (90, 120, 60)).save(
        file, "PNG" if ending == "png" else "JPEG"
    )
    return file.getvalue()


def put(path: Path, content: str | bytes) -> None:
    """Write a file, and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def put_pictures(folder: Path, names: Iterable[str]) -> None:
    """Write pictures."""
    for name in names:
        put(folder / name, pixels("png" if name.lower().endswith("png") else "jpg"))


def put_json(path: Path, document: Any, indent: int | None = None) -> None:
    """Write JSON."""
    put(path, json.dumps(document, indent=indent))


def put_lines(path: Path, rows: Iterable[Any]) -> None:
    """Write a JSON document a line."""
    put(path, "".join(json.dumps(row) + "\n" for row in rows))


def put_csv(path: Path, header: str, rows: Iterable[Sequence[Any]]) -> None:
    """Write CSV as pandas and spreadsheets do; the header is a comma-separated line."""
    file = io.StringIO()
    out = csv.writer(file, lineterminator="\n")
    if header:
        file.write(f"{header}\n")
    out.writerows(rows)
    put(path, file.getvalue())
