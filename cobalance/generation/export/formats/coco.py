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
# Files with regions: what they are counted as, and what their categories are. Captions have none.
_COUNTED = {"instances": "regions", "objects": "objects"}
_SUPERCATEGORIES = {"instances": "concept", "objects": "class"}

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

    def finish(self, **rest: list[dict[str, Any]]) -> None:
        """Write the annotations and the licences, and further lists by name."""
        self._file.write(b'\n],"annotations":[')
        self._buffer.seek(0)
        while part := self._buffer.read(1 << 20):
            self._file.write(part)

        licenses = [
            {"id": number, "name": name or url, "url": url}
            for (name, url), number in self._licenses.items()
        ]
        # The object was begun with the images, so that the rest of it goes on without its brace.
        encoded = msgspec.json.encode({"licenses": licenses, **rest})
        self._file.write(b"\n]," + encoded.removeprefix(b"{") + b"\n")


@dataclass(eq=False)
class _CocoWriter:
    """Writes the files of all splits.

    `categories` are numbered from 1 by kind of file: known names in order, then others as they
    come.
    """

    staging: Staging
    splits: dict[str | None, str]
    numbers: dict[str, int]
    categories: dict[str, dict[str, int]]
    files: dict[tuple[str, str], _CocoFile] = field(default_factory=dict)
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

        self._annotate("instances", entry, image, image.regions)
        if image.objects:
            self._annotate("objects", entry, image, image.objects)
            self.counts[f"{_KINDS[image.synthetic]} images with objects"] += 1

        if image.text.captions:
            captions = self._file("captions", image)
            captions.add_image(entry, image.text)
            for caption in image.text.captions:
                captions.add_annotation({"image_id": number, "caption": caption})
            self.counts["captions"] += len(image.text.captions)
        return location

    def finish(self) -> exporter.WriterReport:
        for (kind, _), file in sorted(self.files.items()):
            file.finish(**self._list_categories(kind))
        self.opened.close()

        table = io.StringIO()
        rows = [("image_id", "label"), *sorted(self.labels)]
        csv.writer(table, lineterminator="\n").writerows(rows)
        self.staging.write("classes.csv", table.getvalue().encode())
        return exporter.WriterReport(dict(self.counts))

    def _list_categories(self, kind: str) -> dict[str, list[dict[str, Any]]]:
        """The categories of files of a kind under their name; nothing for captions."""
        if kind not in self.categories:
            return {}

        categories = [
            {"id": number, "name": name, "supercategory": _SUPERCATEGORIES[kind]}
            for name, number in self.categories[kind].items()
        ]
        return {"categories": categories}

    def _file(self, kind: str, image: ExportImage) -> _CocoFile:
        """The file of a kind that an image is in, by its split."""
        key = kind, self.splits[image.split]
        if key not in self.files:
            name = "_".join(key)
            file = self.opened.enter_context(self.staging.open(f"annotations/{name}.json"))
            folder = self.staging.folder
            buffer = self.opened.enter_context(tempfile.TemporaryFile(dir=folder))  # noqa: SIM115
            self.files[key] = _CocoFile(file, buffer, f"{name}, written by cobalance")
        return self.files[key]

    def _annotate(
        self, kind: str, entry: dict[str, Any], image: ExportImage, regions: Sequence[Mention]
    ) -> None:
        """Write an image with regions, and count written ones and those left out."""
        file, categories = self._file(kind, image), self.categories[kind]
        file.add_image(entry, image.text)
        for region in regions:
            annotated = coco_region(region, image.width_px, image.height_px)
            if annotated is None:
                self.counts[f"{_COUNTED[kind]} without box and outline"] += 1
            else:
                self.counts[_COUNTED[kind]] += 1
                annotation = {
                    "image_id": entry["id"],
                    "category_id": categories.setdefault(region.concept, len(categories) + 1),
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

    def start(stream: ImageStream, staging: Staging) -> _CocoWriter:
        categories = {"instances": _number(stream.concepts), "objects": {}}
        return _CocoWriter(staging, stream.splits, _numbers(stream), categories)

    return start
