"""Visual Genome: objects with names and WordNet synsets, as one JSON file."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from cobalance.graph.progress import Progress
from cobalance.graph.records import Annotations, Box
from cobalance.ingest.collector import Collector
from cobalance.ingest.documents import UNDECODABLE, decoding_fault
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems

_SENSE = re.compile(r"^(?P<lemma>.+)\.[a-z]\.\d+$")


class Object(msgspec.Struct, gc=False):
    """An object of an image; its fields vary between versions of the dataset."""

    x: float | None = None
    y: float | None = None
    w: float | None = None
    h: float | None = None
    names: list[str] = []
    name: str | None = None
    synsets: list[str] = []


class Image(msgspec.Struct, gc=False):
    """The objects of an image."""

    objects: list[Object]
    image_id: int | str | None = None
    id: int | str | None = None
    image_url: str | None = None


class ImageData(msgspec.Struct, gc=False):
    """An entry of ``image_data.json``."""

    image_id: int | str | None = None
    id: int | str | None = None
    url: str | None = None
    width: int | None = None
    height: int | None = None


@dataclass(frozen=True)
class VisualGenome:
    """Reader of Visual Genome's objects.

    An object is a mention of its first synset, or of its first name if it has none. A synset is
    called by its lemma (``man.n.01`` is "man") unless the file has another sense of that.
    Sizes and addresses of images come from ``image_data.json`` if it lies beside the file.
    """

    description: str = "Visual Genome objects: names, synsets and boxes as one JSON file"
    uses: frozenset[str] = frozenset({"categories"})

    def detects(self, _path: Path, head: bytes) -> bool:
        """Whether it is a list of images with objects that have names."""
        start = head.lstrip()
        return (
            start.startswith(b"[")
            and b'"objects"' in start
            and (b'"synsets"' in start or b'"names"' in start)
        )

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Annotations:
        """Read all images and their objects."""
        problems = Problems(str(path), options)
        progress("read", 0, None)
        images = _decode(path, list[Image], problems)
        beside = path.with_name("image_data.json")
        data: dict[str, ImageData] = {}
        if beside.is_file():
            sizes = _decode(beside, list[ImageData], problems.beside(str(beside)))
            data = {_id(one): one for one in sizes}
        word_of = _words(
            synset for image in images for it in image.objects for synset in it.synsets
        )
        collector = Collector(problems, options)
        for number, image in enumerate(images):
            known = data.get(_id(image), ImageData())
            url = image.image_url or known.url
            row = collector.image(
                _id(image),
                f"[{number}]",
                uri=None if url is None else "/".join(url.rsplit("/", 2)[-2:]),
                width=known.width,
                height=known.height,
            )
            for at, one in enumerate(image.objects):
                name = word_of[one.synsets[0]] if one.synsets else (*one.names, one.name or "")[0]
                collector.mention(row, name, f"[{number}].objects[{at}]", box=_box(one))
            if number % 1024 == 0:
                progress("check", number, len(images))
        progress("check", len(images), len(images))
        notes = [f"{path}: sizes of images from {beside.name}"] if data else []
        return collector.annotations(progress, notes)


def _decode(path: Path, type_: Any, problems: Problems) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes().removeprefix(b"\xef\xbb\xbf"), type=type_)
    except UNDECODABLE as error:
        reason = f"is not what Visual Genome has: {decoding_fault(error)}"
        raise problems.fatal(reason, "Name its objects.json, as it was published.") from None


def _id(image: Image | ImageData) -> str:
    number = image.id if image.image_id is None else image.image_id
    return "" if number is None else str(number)


def _words(synsets: Iterable[str]) -> dict[str, str]:
    """A concept for each synset: its lemma, or all of it where the lemma has several senses."""
    senses = defaultdict(set)
    for synset in synsets:
        found = _SENSE.match(synset)
        senses[found["lemma"] if found else synset].add(synset)
    return {
        synset: lemma.replace("_", " ") if len(group) == 1 else synset
        for lemma, group in senses.items()
        for synset in group
    }


def _box(one: Object) -> Box | None:
    if one.x is None or one.y is None or one.w is None or one.h is None:
        return None
    return one.x, one.y, one.w, one.h
