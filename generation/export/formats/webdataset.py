"""WebDataset: tar files that are read from start to end, a few files of one name a sample.

https://github.com/webdataset/webdataset
"""

import tarfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import msgspec

from generation.export.images.entry import ExportImage
from generation.export.images.loading import ImageStream
from generation.export.options import ExportOptions
from generation.export.writing.exporter import Placed, Writer, Written, about
from generation.export.writing.staging import Staging
from graph.records import Mention


@dataclass(frozen=True)
class WebDatasetExporter:
    """Writes ``shards/``, and the classes behind the numbers in ``classes.json``."""

    images: frozenset[str] = frozenset({"copy"})
    shuffled: bool = True
    layout: str = """\
- `shards/<split>-<number>.tar`: samples, in an order that mixes classes, and real and generated
  images. Each has the image under its own ending, `cls` (the class's number) and `json` (id, class,
  concepts, regions of concepts, and objects: where that is which gives the image its class; for
  generated images the prompt, the seed and the model).
- `classes.json`: the classes in order of their numbers.
- `manifest.parquet`: all images; `file` is the shard, `key` the image's name in it.

```python
import glob

import webdataset as wds

dataset = wds.WebDataset(sorted(glob.glob("shards/train-*.tar")), shardshuffle=False).decode("pil")
```
"""

    def open(self, stream: ImageStream, staging: Staging, options: ExportOptions) -> Writer:
        """Begin an export."""
        staging.write("classes.json", msgspec.json.encode(stream.classes) + b"\n")
        numbers = {name: number for number, name in enumerate(stream.classes)}
        return _ShardWriter(staging, options, stream.splits, numbers)


@dataclass(eq=False)
class _Shard:
    """A tar file that is open."""

    name: str
    tar: tarfile.TarFile
    opened: ExitStack
    n_images: int = 0


@dataclass(frozen=True, eq=False)
class _ShardWriter:
    staging: Staging
    options: ExportOptions
    splits: dict[str | None, str]
    classes: dict[str, int]
    shards: dict[str, _Shard] = field(default_factory=dict)
    n_shards: Counter[str] = field(default_factory=Counter)

    def add(self, image: ExportImage) -> Placed:
        split = self.splits[image.split]
        parts = {
            str(image.suffix): image.content or b"",
            "cls": str(self.classes[image.class_name]).encode(),
            "json": msgspec.json.encode(_said(image)),
        }
        shard = self._shard(split, sum(_stored(part) for part in parts.values()))
        for suffix, part in parts.items():
            entry = tarfile.TarInfo(f"{image.stem}.{suffix}")
            entry.size, entry.mode = len(part), 0o644  # time, owner and group are 0
            shard.tar.addfile(entry, BytesIO(part))
        shard.n_images += 1
        return Placed(image.uri, shard.name, image.file_name)

    def finish(self) -> Written:
        for shard in self.shards.values():
            shard.opened.close()
        splits = sorted(self.shards)
        return Written(
            {"shards": self.n_shards.total()},
            patterns={split: f"shards/{split}-*.tar" for split in splits},
        )

    def _shard(self, split: str, n_bytes: int) -> _Shard:
        """Give the split's open shard, a new one where so many bytes no longer fit in."""
        shard = self.shards.get(split)
        if shard is not None and shard.n_images:
            full = shard.tar.offset + n_bytes > self.options.shard_bytes
            if full or shard.n_images >= self.options.shard_images:
                shard.opened.close()
                shard = None
        if shard is None:
            shard = self.shards[split] = self._opened(split)
        return shard

    def _opened(self, split: str) -> _Shard:
        name = f"shards/{split}-{self.n_shards[split]:06d}.tar"
        self.n_shards[split] += 1
        opened = ExitStack()
        self.staging.opened.push(opened)
        file = opened.enter_context(self.staging.open(name))
        tar = tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT)  # noqa: SIM115
        return _Shard(name, opened.enter_context(tar), opened)


def _stored(part: bytes) -> int:
    """How many bytes of a tar file some content takes with its header."""
    block = tarfile.BLOCKSIZE
    return block + -(-len(part) // block) * block


def _said(image: ExportImage) -> dict[str, Any]:
    return {
        **about(image),
        "width": image.width_px,
        "height": image.height_px,
        "regions": [_place(region) for region in image.regions],
        "objects": [_place(region) for region in image.objects],
    }


def _place(region: Mention) -> dict[str, Any]:
    outline = region.segmentation
    return {
        "concept": region.concept,
        "bbox": region.box,
        "score": region.score,
        "segmentation": None if outline is None else msgspec.Raw(outline.encode()),
        "crowd": region.crowd,
    }


EXPORTER = WebDatasetExporter()
