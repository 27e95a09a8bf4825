"""Hugging Face's imagefolder: a folder per split, with images and a metadata table.

https://huggingface.co/docs/datasets/image_dataset
"""

from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from cobalance.base import Options
from cobalance.generation.export import exporter
from cobalance.generation.export.describing.image_table import IMAGE_TABLE, image_row
from cobalance.generation.export.images.image import ExportImage
from cobalance.generation.export.staging import Staging
from cobalance.generation.export.tables import (
    TEXT_COLUMNS,
    Column,
    TableFile,
    TableWriter,
    table_writer,
)
from cobalance.vision import is_turned, read_header, read_orientation, upright_box

_SHARED = ("image_id", "label", "concepts", "width", "height", "synthetic")
_COLUMNS = {
    "file_name": Column(pa.string(), "The image's file, beside this one."),
    **{name: IMAGE_TABLE.columns[name] for name in _SHARED},
    "prompt": Column(pa.string(), "What a generated image was made from."),
    "objects": Column(
        pa.struct(
            [("bbox", pa.list_(pa.list_(pa.float64()))), ("categories", pa.list_(pa.string()))]
        ),
        "Where concepts are: x, y, width and height in pixels.",
    ),
    **TEXT_COLUMNS,
}

PLUGIN = exporter.ExportPlugin(
    "imagefolder",
    "An image folder for load_dataset of Hugging Face.",
    extra="worker",
    layout="""\
- A folder for each split, with its images and their `metadata.parquet`; `captions` and `license`
  where they are known.
- `manifest.parquet`: all images with their regions, original addresses and digests.

```python
from datasets import load_dataset

dataset = load_dataset("path/to/this/folder")  # or "imagefolder", data_dir=...
```
""",
)


@dataclass(frozen=True, eq=False)
class _ImageFolderWriter:
    staging: Staging
    splits: dict[str | None, str]
    tables: dict[str, TableWriter] = field(default_factory=dict)

    def add(self, image: ExportImage) -> exporter.ImageLocation:
        split = self.splits[image.split]
        if split not in self.tables:
            opened = table_writer(self.staging, _table(split))
            self.tables[split] = self.staging.opened.enter_context(opened)
        location = exporter.write_image(self.staging, split, image)
        self.tables[split].add(_row(image, location))
        return location

    def finish(self) -> exporter.WriterReport:
        self.staging.opened.close()
        splits = sorted(self.tables)
        return exporter.WriterReport(
            tables=tuple(map(_table, splits)),
            patterns={split: f"{split}/**" for split in splits},
        )


def _table(split: str) -> TableFile:
    return TableFile(f"{split}/metadata.parquet", f"The images of the split {split}.", _COLUMNS)


def _row(image: ExportImage, location: exporter.ImageLocation) -> dict[str, Any]:
    """Build an image's row of ``metadata.parquet``."""
    image = _upright(image)
    values = image_row(image, location)
    boxed = [region for region in image.regions if region.box is not None]

    return {
        "file_name": image.file_name,
        **{name: values[name] for name in (*_SHARED, *TEXT_COLUMNS)},
        "prompt": image.provenance["prompt"] if image.provenance else None,
        "objects": {
            "bbox": [region.box for region in boxed],
            "categories": [region.concept for region in boxed],
        },
    }


def _upright(image: ExportImage) -> ExportImage:
    """An image with the size and the boxes that it has when `datasets` opens it, turned by EXIF."""
    size = image.width_px, image.height_px
    if image.content is None or None in size or not is_turned(image.content):
        return image
    header, orientation = read_header(image.content), read_orientation(image.content)
    stored = header.width_px, header.height_px
    # With another size than in its file, it was annotated as it is shown.
    if size != stored or stored[0] == stored[1]:
        return image

    regions = tuple(
        replace(region, box=upright_box(region.box, orientation, stored))
        for region in image.regions
        if region.box is not None
    )
    return replace(image, width_px=stored[1], height_px=stored[0], regions=regions)


def open_export_format(_options: Options) -> exporter.StartExport:
    """Start exports: a folder per split, with ``metadata.parquet``."""
    return lambda stream, staging: _ImageFolderWriter(staging, stream.splits)
