"""Captions beside COCO's: Karpathy's splits as JSON, and lists of tokens as of Flickr8k."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa

from cobalance.base import UNDECODABLE, Annotations, Progress, decoding_fault
from cobalance.ingest.coco import captions_by_image
from cobalance.ingest.formats.coco_captions import Captions, require_vocabulary
from cobalance.ingest.frames import TEXT, ImageColumns, TextColumns
from cobalance.ingest.names import Coded, recode_names
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.outline import outline_of
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import formats_of

_TOKEN = re.compile(rb"[^\t\n]+\.(?:jpe?g|png)#\d+[\t ]", re.I)


class _Sentence(msgspec.Struct):
    raw: str | None = None
    tokens: list[str] = []


class _Image(msgspec.Struct):
    filename: str
    filepath: str = ""
    split: str | None = None
    sentences: list[_Sentence] = []


class _Karpathy(msgspec.Struct):
    images: list[_Image]


@dataclass
class _Captioned:
    """An image with its captions."""

    name: str
    captions: list[str]
    address: str
    split: str | None = None


@dataclass(frozen=True)
class CaptionList:
    """Reader of captions; each phrase of the vocabulary in them is a mention."""

    description: str
    uses: frozenset[str] = frozenset({"vocabulary", "own captions"})

    def detects(self, path: Path, head: bytes) -> bool:
        """Whether a file has images with sentences."""
        raise NotImplementedError

    def images(self, content: bytes, problems: Problems) -> Iterator[_Captioned]:
        """Images with their captions, in their order."""
        raise NotImplementedError

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Annotations:
        """Read images and captions, and find concepts (and classes) in the captions."""
        problems = Problems(str(path), options)
        require_vocabulary(options, problems)
        progress("read", 0, None)
        content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
        images: dict[str, _Captioned] = {}

        for image in self.images(content, problems):
            if image.name in images:
                problems.record(image.name, "is named twice", "Name each image once")
            else:
                images[image.name] = image
                problems.within("rows", len(images))

        if not images:
            raise problems.fatal("has no images", "Give a file with images and captions.")
        captions = _columns(list(images.values()), options)

        return captions.annotations(options, problems, progress)


def _columns(images: list[_Captioned], options: ReadOptions) -> Captions:
    n = len(images)
    captions = list(map(attrgetter("captions"), images))
    rows = np.repeat(np.arange(n), list(map(len, captions)))
    texts = list(chain.from_iterable(captions))
    split: Coded = recode_names(np.arange(n), list(map(attrgetter("split"), images)))
    if options.split is not None:
        split = Coded.constant(options.split, n)

    unknown = pa.nulls(n, pa.int64())
    columns = ImageColumns(
        pa.array(map(attrgetter("name"), images), TEXT),
        pa.array(map(attrgetter("address"), images), TEXT),
        unknown,
        unknown,
        split,
    )
    nothing = [None] * n
    by_image = captions_by_image(rows, texts, n)
    image_texts = TextColumns(np.arange(n), by_image, nothing, nothing, nothing)

    return Captions(columns, np.ones(n, dtype=bool), rows, texts, image_texts)


class Karpathy(CaptionList):
    """``dataset_coco.json`` and others of Andrej Karpathy's splits."""

    def detects(self, path: Path, head: bytes) -> bool:
        """Whether a JSON file has sentences of images."""
        del head
        return path.suffix.lower() == ".json" and outline_of(path).has("/images.sentences")

    def images(self, content: bytes, problems: Problems) -> Iterator[_Captioned]:
        """Images with their sentences."""
        try:
            images = msgspec.json.decode(content, type=_Karpathy).images
        except UNDECODABLE as error:
            raise problems.fatal(
                f"is no list of images with sentences ({decoding_fault(error)})",
                "Correct it.",
            ) from None

        for image in images:
            sentences = [sentence.raw or " ".join(sentence.tokens) for sentence in image.sentences]
            address = f"{image.filepath}/{image.filename}".lstrip("/")
            yield _Captioned(image.filename, sentences, address, image.split)


class TokenCaptions(CaptionList):
    """``Flickr8k.token.txt``, whose lines are ``1.jpg#0``, a tab and a caption."""

    def detects(self, path: Path, head: bytes) -> bool:
        """Whether the first line is a picture's name, a number and a caption."""
        return path.suffix.lower() != ".json" and _TOKEN.match(head.lstrip()) is not None

    def images(self, content: bytes, problems: Problems) -> Iterator[_Captioned]:
        """Images with the captions of their lines."""
        images: dict[str, _Captioned] = {}
        for number, line in enumerate(content.splitlines(), start=1):
            if not line.strip():
                continue
            if _TOKEN.match(line) is None:
                reason = "is not a picture's name, # and a number, a tab and a caption"
                problems.record(f"line {number}", reason, "Correct it")
            else:
                name, _, caption = line.decode(errors="replace").partition("#")
                image = images.setdefault(name, _Captioned(name, [], name))
                image.captions.append(re.split(r"\s", caption, maxsplit=1)[1].strip())

        yield from images.values()


PLUGINS = formats_of(
    {
        "karpathy": Karpathy("Karpathy's splits: images with sentences as one JSON file"),
        "token-captions": TokenCaptions("A picture's name, a number and a caption a line"),
    }
)
