"""Visual Genome: objects with WordNet synsets, their attributes, or their relations, as JSON.

https://homes.cs.washington.edu/~ranjay/visualgenome/api.html
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import msgspec

from cobalance.base import group_pairs
from cobalance.ingest.formats.tool_reader import Picture, Read, Records, ToolReader

_SENSE = re.compile(r"(?<=.)\.[a-z]\.\d+$")  # behind the lemma


class _Object(msgspec.Struct, gc=False):
    """An object of an image; its fields vary between versions of the dataset."""

    x: float | None = None
    y: float | None = None
    w: float | None = None
    h: float | None = None
    names: list[str] = []
    name: str | None = None
    synsets: list[str] = []
    attributes: list[str] | None = None


class _Relation(msgspec.Struct, gc=False):
    subject: _Object
    predicate: str
    object: _Object


class _Image(msgspec.Struct, gc=False):
    """An image with its objects, or with its size in ``image_data.json``."""

    image_id: int | str | None = None
    id: int | str | None = None
    image_url: str | None = None
    url: str | None = None
    width: int | None = None
    height: int | None = None
    objects: list[_Object] = []
    attributes: list[_Object] = []
    relationships: list[_Relation] = []

    def key(self) -> str:
        number = self.id if self.image_id is None else self.image_id
        return "" if number is None else str(number)

    def things(self) -> Iterator[_Object]:
        yield from (*self.objects, *self.attributes)
        for relation in self.relationships:
            yield from (relation.subject, relation.object)


def _records(file: str, read: Read) -> Records:
    """Images of a file, with sizes and addresses from ``image_data.json`` if it lies beside."""
    images, data = _decode(read(file)), dict[str, _Image]()
    with suppress(KeyError, OSError):
        beside = read(str(PurePosixPath(file).with_name("image_data.json")))
        data = {image.key(): image for image in _decode(beside)}

    words = _words(
        synset for image in images for thing in image.things() for synset in thing.synsets
    )

    for number, image in enumerate(images):
        data_of_image = data.get(image.key(), image)
        yield f"[{number}]", partial(_picture, image, data_of_image, words)


def _decode(content: bytes) -> list[_Image]:
    return msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"), type=list[_Image])


def _words(synsets: Iterable[str]) -> dict[str, str]:
    """A concept for each synset: its lemma, or all of it where the lemma has several senses."""
    senses = group_pairs((_SENSE.sub("", synset), synset) for synset in set(synsets))
    return {
        synset: lemma.replace("_", " ") if len(group) == 1 else synset
        for lemma, group in senses.items()
        for synset in group
    }


def _picture(image: _Image, data: _Image, words: Mapping[str, str]) -> Picture:
    """Objects by their first synset, else their first name; attributes and relations are more."""
    picture = Picture(image.key(), data.width, data.height)
    if url := image.image_url or data.url:
        picture.file = "/".join(url.rsplit("/", 2)[-2:])

    def add(thing: _Object) -> str:
        place: dict[str, Any] = {}
        if None not in (thing.x, thing.y, thing.w, thing.h):
            place["box"] = (thing.x, thing.y, thing.w, thing.h)
        name = words[thing.synsets[0]] if thing.synsets else (*thing.names, thing.name or "")[0]
        for concept in (name, *(thing.attributes or ())):
            picture.add(concept, place)
        return name

    for thing in (*image.objects, *image.attributes):
        add(thing)
    for relation in image.relationships:
        phrase = add(relation.subject), relation.predicate, add(relation.object)
        picture.add(" ".join(phrase), {})
    return picture


VISUAL_GENOME = ToolReader(
    "Visual Genome: objects, attributes or relationships as one JSON file",
    (
        rb"\A(\xef\xbb\xbf)?\s*\[",
        rb'"(objects|attributes|relationships)": ?\[',
        rb'"(names|synsets|predicate)"',
    ),
    _records,
)
