"""COCO instances: images with boxes and outlines of concepts, one JSON file per split.

https://cocodataset.org/#format-data
"""

import csv
import io
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, Any

import msgspec

from cobalance.base import Mention, Options
from cobalance.generation.export import exporter
from cobalance.generation.export.images.coco_regions import coco_region
from cobalance.generation.export.images.image import ExportImage, ImageText
from cobalance.generation.export.images.stream import ImageStream
from cobalance.generation.export.staging import Staging

_KINDS = ("real", "generated")

PLUGIN = exporter.ExportPlugin(
    "coco",
    "COCO instances: images, and JSON with boxes and outlines of concepts.",
    extra="worker",
    can_reference=True,
    layout="""\
- `images/`: the images; `file_name` is the path in this folder, or the image's own address if it
  was not copied.
- `annotations/instances_<split>.json`: COCO instances. Categories are concepts, and an annotation
  is a known region of one; concepts without a region are in `images[].cobalance`, with the image's
  own id, class, concepts, split and address, whether it is synthetic, and how it was generated.
  A region that is only a box has that box as its outline.
- `annotations/objects_<split>.json`: regions of the images' classes, for those images where they
  are known: the object that a generated image was made around, with its mask, and the annotated
  instances of a real one. Categories are classes. "Images" above counts the real and generated
  images with such objects. If only some have them, a detector trained on all images would learn
  that the others do not show their class: train it on the images of this file.
- `annotations/captions_<split>.json`: COCO captions of the images that have some; those of
  generated images are edited, and the unedited ones are in `images[].cobalance`. Licences are in
  `licenses`, as in COCO, and origins in `images[].attribution`.
- `classes.csv`: the class of each image, by its number in the COCO files.
- `manifest.parquet`: all images with all concepts and their regions.

Images keep their ids where all of the real ones are whole numbers, as they are in COCO, and
generated ones are numbered after them; else all are numbered from 1.

```python
from pycocotools.coco import COCO

coco = COCO("annotations/instances_train.json")
```

cobalance can ingest `annotations/instances_<split>.json` with `classes.csv` as the class file, for
the concepts with a region, or `manifest.parquet`, for all of them; with
`annotations/captions_<split>.json` as the file of captions.
""",
)


class _Categories:
    """Category numbers from 1: known names in order, then others as they come."""

    def __init__(self, known: list[str]) -> None:
        self._ids = _number(known)

    def id_of(self, name: str) -> int:
        return self._ids.setdefault(name, len(self._ids) + 1)

    def records(self, supercategory: str) -> list[dict[str, Any]]:
        return [
            {"id": number, "name": name, "supercategory": supercategory}
            for name, number in self._ids.items()
        ]


class _CocoFile:
    """Writes a COCO file image by image; `buffer` holds the annotations until all are written."""

    def __init__(self, file: IO[bytes], buffer: IO[bytes], description: str) -> None:
        self._file, self._buffer = file, buffer
        self._n_images = self.n_annotations = 0
        self._licenses: dict[tuple[str | None, str | None], int] = {}
        file.write(b'{"info":' + msgspec.json.encode({"description": description}) + b',"images":[')

    def add_image(self, entry: dict[str, Any], text: ImageText) -> None:
        if text.license or text.license_url:
            numbers = self._licenses
            number = numbers.setdefault((text.license, text.license_url), len(numbers) + 1)
            entry = {**entry, "license": number}
        self._file.write((b",\n" if self._n_images else b"\n") + msgspec.json.encode(entry))
        self._n_images += 1

    def add_annotation(self, entry: dict[str, Any]) -> None:
        self.n_annotations += 1
        numbered = msgspec.json.encode({"id": self.n_annotations, **entry})
        self._buffer.write((b",\n" if self.n_annotations > 1 else b"\n") + numbered)

    def finish(self, categories: list[dict[str, Any]] | None = None) -> None:
        self._file.write(b'\n],"annotations":[')
        self._buffer.seek(0)
        while part := self._buffer.read(1 << 20):
            self._file.write(part)

        licenses = [
            {"id": number, "name": name or url, "url": url}
            for (name, url), number in self._licenses.items()
        ]
        rest: dict[str, Any] = {"licenses": licenses}
        if categories is not None:
            rest["categories"] = categories
        # The object was begun with the images, so that the rest of it goes on without its brace.
        self._file.write(b"\n]," + msgspec.json.encode(rest).removeprefix(b"{") + b"\n")


@dataclass(eq=False)
class _CocoWriter:
    staging: Staging
    splits: dict[str | None, str]
    numbers: dict[str, int]
    concepts: _Categories
    classes: _Categories = field(default_factory=lambda: _Categories([]))
    files: dict[str, _CocoFile] = field(default_factory=dict)
    opened: ExitStack = field(default_factory=ExitStack)
    labels: list[tuple[int, str]] = field(default_factory=list)
    counts: Counter[str] = field(
        default_factory=lambda: Counter({f"{kind} images with objects": 0 for kind in _KINDS})
    )

    def __post_init__(self) -> None:
        self.staging.opened.push(self.opened)

    def add(self, image: ExportImage) -> exporter.ImageLocation:
        location = exporter.write_image(self.staging, "images", image)
        number = self.numbers[image.id]
        self.labels.append((number, image.class_name))

        values = {
            "id": number,
            "file_name": location.uri,
            "width": image.width_px,
            "height": image.height_px,
            "attribution": image.text.attribution,
            "cobalance": exporter.image_facts(image),
        }
        entry = {name: value for name, value in values.items() if value is not None}

        split = self.splits[image.split]
        instances = self._file(f"instances_{split}")
        instances.add_image(entry, image.text)
        self._annotate(instances, image, image.regions, self.concepts, "regions")

        if image.objects:
            objects = self._file(f"objects_{split}")
            objects.add_image(entry, image.text)
            self._annotate(objects, image, image.objects, self.classes, "objects")
            self.counts[f"{_KINDS[image.synthetic]} images with objects"] += 1

        if image.text.captions:
            captions = self._file(f"captions_{split}")
            captions.add_image(entry, image.text)
            for caption in image.text.captions:
                captions.add_annotation({"image_id": number, "caption": caption})
            self.counts["captions"] += len(image.text.captions)
        return location

    def finish(self) -> exporter.WriterReport:
        for name, file in sorted(self.files.items()):
            if name.startswith("objects_"):
                file.finish(self.classes.records("class"))
            elif name.startswith("captions_"):
                file.finish()
            else:
                file.finish(self.concepts.records("concept"))
        self.opened.close()

        table = io.StringIO()
        rows = [("image_id", "label"), *sorted(self.labels)]
        csv.writer(table, lineterminator="\n").writerows(rows)
        self.staging.write("classes.csv", table.getvalue().encode())
        return exporter.WriterReport(dict(self.counts))

    def _file(self, name: str) -> _CocoFile:
        if name not in self.files:
            file = self.opened.enter_context(self.staging.open(f"annotations/{name}.json"))
            folder = self.staging.folder
            buffer = self.opened.enter_context(tempfile.TemporaryFile(dir=folder))  # noqa: SIM115
            self.files[name] = _CocoFile(file, buffer, f"{name}, written by cobalance")
        return self.files[name]

    def _annotate(
        self,
        file: _CocoFile,
        image: ExportImage,
        regions: Sequence[Mention],
        categories: _Categories,
        kind: str,
    ) -> None:
        """Write regions of an image to a file, and count written ones and those left out."""
        for region in regions:
            annotated = coco_region(region, image.width_px, image.height_px)
            if annotated is None:
                self.counts[f"{kind} without box and outline"] += 1
                continue

            self.counts[kind] += 1
            annotation = {
                "image_id": self.numbers[image.id],
                "category_id": categories.id_of(region.concept),
                "bbox": annotated.box,
                "area": annotated.area_px2,
                "iscrowd": int(region.crowd),
                "segmentation": msgspec.Raw(annotated.segmentation),
            }

            if region.score is not None:
                annotation["score"] = region.score
            file.add_annotation(annotation)


def _numbers(stream: ImageStream) -> dict[str, int]:
    """Number the images, as COCO's tools need whole numbers for ids."""
    real = [image.id for image in stream.listed if not image.synthetic]
    made = [image.id for image in stream.listed if image.synthetic]
    if real and all(map(_is_number, real)):
        numbers = {name: int(name) for name in real}
        first = max(numbers.values()) + 1
        return numbers | _number(made, first)
    return _number([*real, *made])


def _number(names: Sequence[str], first: int = 1) -> dict[str, int]:
    return {name: number for number, name in enumerate(names, start=first)}


def _is_number(name: str) -> bool:
    # Numbers of up to 15 digits are exact even where JSON's numbers are read as floats, and a
    # leading zero would be lost.
    is_whole = len(name) <= 15 and name.isascii() and name.isdigit()
    return is_whole and str(int(name)) == name


def open_export_format(_options: Options) -> exporter.StartExport:
    """Start exports: ``images/``, ``annotations/`` and the table of classes."""
    return lambda stream, staging: _CocoWriter(
        staging, stream.splits, _numbers(stream), _Categories(stream.concepts)
    )
