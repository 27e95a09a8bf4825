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
from cobalance.ingest.reader import format_of

# Part of speech and sense, behind the lemma of a synset: ".n.01" of "dog.n.01".
_SENSE = re.compile(r"(?<=.)\.[a-z]\.\d+$")


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
    images = _decode(read(file))
    data_by_key: dict[str, _Image] = {}
    with suppress(KeyError, OSError):
        image_data = read(str(PurePosixPath(file).with_name("image_data.json")))
        data_by_key = {image.key(): image for image in _decode(image_data)}

    concepts = _concepts_of_synsets(
        synset for image in images for thing in image.things() for synset in thing.synsets
    )

    for number, image in enumerate(images):
        data = data_by_key.get(image.key(), image)
        yield f"[{number}]", partial(_picture, image, data, concepts)


def _decode(content: bytes) -> list[_Image]:
    return msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"), type=list[_Image])


def _concepts_of_synsets(synsets: Iterable[str]) -> dict[str, str]:
    """A concept for each synset: its lemma, or all of it where the lemma has several senses."""
    senses = group_pairs((_SENSE.sub("", synset), synset) for synset in set(synsets))
    return {
        synset: lemma.replace("_", " ") if len(group) == 1 else synset
        for lemma, group in senses.items()
        for synset in group
    }


def _object_name(thing: _Object, concepts: Mapping[str, str]) -> str:
    """The concept of an object's first synset, else its first name, else the empty text."""
    if thing.synsets:
        return concepts[thing.synsets[0]]
    if thing.names:
        return thing.names[0]
    return thing.name or ""


def _picture(image: _Image, data: _Image, concepts: Mapping[str, str]) -> Picture:
    """An image with its objects, their attributes and their relations as concepts."""
    picture = Picture(image.key(), data.width, data.height)
    if url := image.image_url or data.url:
        picture.file = "/".join(url.rsplit("/", 2)[-2:])

    def add(thing: _Object) -> str:
        place: dict[str, Any] = {}
        if None not in (thing.x, thing.y, thing.w, thing.h):
            place["box"] = (thing.x, thing.y, thing.w, thing.h)
        name = _object_name(thing, concepts)
        for concept in (name, *(thing.attributes or ())):
            picture.add(concept, place)
        return name

    for thing in (*image.objects, *image.attributes):
        add(thing)
    for relation in image.relationships:
        phrase = add(relation.subject), relation.predicate, add(relation.object)
        picture.add(" ".join(phrase), {})
    return picture


PLUGIN = format_of(
    "visual-genome",
    ToolReader(
        "Visual Genome: objects, attributes or relationships as one JSON file",
        (rb"\A(\xef\xbb\xbf)?\s*\[",),
        _records,
        keys=("/objects|/attributes|/relationships", "names|synsets|predicate"),
    ),
)
