"""WebDataset: tar files for sequential reading; files of one name make a sample.

https://github.com/webdataset/webdataset
"""

import math
import tarfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import msgspec
from pydantic import Field

from cobalance.base import Mention, Options, positions_of
from cobalance.generation.export import exporter
from cobalance.generation.export.images.image import ExportImage
from cobalance.generation.export.images.stream import ImageStream
from cobalance.generation.export.staging import Staging


class WebDatasetOptions(Options):
    """Size limits of a shard; it ends where either is reached.

    Parameters
    ----------
    shard_bytes : int
        Most bytes of samples.
    shard_images : int
        Most images.
    """

    shard_bytes: int = Field(default=512 * 1024**2, ge=1)
    shard_images: int = Field(default=10_000, ge=1)


PLUGIN = exporter.ExportPlugin(
    "webdataset",
    "Tar files for sequential reading.",
    extra="worker",
    options=WebDatasetOptions,
    shuffled=True,
    layout="""\
- `shards/<split>-<number>.tar`: samples, in an order that mixes classes, and real and generated
  images. Each has the image under its own ending, `cls` (the class's number) and `json` (id, class,
  concepts, regions of concepts, objects: the regions of its class; captions, licence and
  attribution where known; for generated images the prompt, the seed and the model).
- `classes.json`: the classes in order of their numbers.
- `manifest.parquet`: all images; `file` is the shard, `key` the image's name in it.

```python
import glob

import webdataset as wds

dataset = wds.WebDataset(sorted(glob.glob("shards/train-*.tar")), shardshuffle=False).decode("pil")
```
""",
)


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
    options: WebDatasetOptions
    splits: dict[str | None, str]
    classes: dict[str, int]
    shards: dict[str, _Shard] = field(default_factory=dict)
    n_shards: Counter[str] = field(default_factory=Counter)

    def add(self, image: ExportImage) -> exporter.ImageLocation:
        split = self.splits[image.split]
        parts = {
            str(image.suffix): image.content or b"",
            "cls": str(self.classes[image.class_name]).encode(),
            "json": msgspec.json.encode(_sample_json(image)),
        }
        shard = self._shard(split, sum(map(_tar_size, parts.values())))

        for suffix, part in parts.items():
            # Time, owner and group stay 0, so that equal images make equal shards.
            entry = tarfile.TarInfo(f"{image.stem}.{suffix}")
            entry.size, entry.mode = len(part), 0o644
            shard.tar.addfile(entry, BytesIO(part))
        shard.n_images += 1
        return exporter.ImageLocation(image.uri, shard.name, image.file_name)

    def finish(self) -> exporter.WriterReport:
        for shard in self.shards.values():
            shard.opened.close()
        splits = sorted(self.shards)
        return exporter.WriterReport(
            {"shards": self.n_shards.total()},
            patterns={split: f"shards/{split}-*.tar" for split in splits},
        )

    def _shard(self, split: str, n_bytes: int) -> _Shard:
        """The split's open shard; a new one if `n_bytes` no longer fit."""
        shard = self.shards.get(split)
        # The first image of a shard is written whatever its size.
        if shard is not None and shard.n_images:
            is_full = shard.tar.offset + n_bytes > self.options.shard_bytes
            if is_full or shard.n_images >= self.options.shard_images:
                shard.opened.close()
                shard = None
        if shard is not None:
            return shard

        name = f"shards/{split}-{self.n_shards[split]:06d}.tar"
        self.n_shards[split] += 1
        opened = ExitStack()
        self.staging.opened.push(opened)
        file = opened.enter_context(self.staging.open(name))
        tar = tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT)  # noqa: SIM115
        self.shards[split] = _Shard(name, opened.enter_context(tar), opened)
        return self.shards[split]


def _tar_size(part: bytes) -> int:
    """Size of a file in a tar archive, with header and padding, in bytes."""
    block = tarfile.BLOCKSIZE
    return block + math.ceil(len(part) / block) * block


def _sample_json(image: ExportImage) -> dict[str, Any]:
    return {
        **exporter.image_facts(image),
        "width": image.width_px,
        "height": image.height_px,
        "regions": list(map(_region_json, image.regions)),
        "objects": list(map(_region_json, image.objects)),
    }


def _region_json(region: Mention) -> dict[str, Any]:
    outline = region.segmentation
    return {
        "concept": region.concept,
        "bbox": region.box,
        "score": region.score,
        "segmentation": None if outline is None else msgspec.Raw(outline.encode()),
        "crowd": region.crowd,
    }


def open_export_format(options: WebDatasetOptions) -> exporter.StartExport:
    """Start exports: ``shards/``, and ``classes.json``, the names of the numbered classes."""

    def start(stream: ImageStream, staging: Staging) -> _ShardWriter:
        staging.write("classes.json", msgspec.json.encode(stream.classes) + b"\n")
        numbers = positions_of(stream.classes)
        return _ShardWriter(staging, options, stream.splits, numbers)

    return start
