"""The table of all images, part of every export with images; `ingest` reads it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from cobalance.base import Mention
from cobalance.generation.export.exporter import ImageLocation
from cobalance.generation.export.images.image import ExportImage
from cobalance.generation.export.tables import TEXT_COLUMNS, Column, TableFile

_REGION = pa.struct(
    [
        ("concept", pa.string()),
        ("box", pa.list_(pa.float64())),
        ("area", pa.float64()),
        ("score", pa.float64()),
        ("segmentation", pa.string()),
        ("crowd", pa.bool_()),
    ]
)
IMAGE_TABLE = TableFile(
    "manifest.parquet",
    "All images, one a row.",
    {
        "image_id": Column(pa.string(), "The image's id."),
        "label": Column(pa.string(), "Its class."),
        "concepts": Column(pa.list_(pa.string()), "What it shows, in order."),
        "split": Column(pa.string(), "Its split, as the dataset has it."),
        "uri": Column(
            pa.string(),
            "Where the image is: its path in this folder, or its own address if it was not copied.",
        ),
        "width": Column(pa.int32(), "In pixels."),
        "height": Column(pa.int32(), "In pixels."),
        "synthetic": Column(pa.bool_(), "Whether it was generated."),
        "twin": Column(
            pa.string(),
            "Of an edited image and of its counterfactuals: the edited image's id. Keep images of "
            "one twin in one part of any split.",
        ),
        "source": Column(
            pa.string(), "Of a generated image: the id of the image that it was made from."
        ),
        "changed": Column(
            pa.bool_(),
            "Of a counterfactual: whether it shows another group than the image that was edited.",
        ),
        "original_uri": Column(pa.string(), "Where a real image came from."),
        "sha256": Column(pa.string(), "Digest of the image's file."),
        "file": Column(pa.string(), "The file in this folder that the image is in."),
        "key": Column(pa.string(), "Its name in that file, where that holds many."),
        "mask": Column(pa.string(), "The file of a generated image's mask, white on its object."),
        "regions": Column(
            pa.list_(_REGION),
            "Where concepts are: box as x, y, width and height in pixels, segmentation as in COCO.",
        ),
        "objects": Column(pa.list_(_REGION), "Regions of the image's class, in the same form."),
        **TEXT_COLUMNS,
    },
)


def image_row(image: ExportImage, location: ImageLocation) -> Mapping[str, Any]:
    """Build an image's row of `IMAGE_TABLE`."""
    return {
        "image_id": image.id,
        "label": image.class_name,
        "concepts": image.concepts,
        "split": image.split,
        "uri": location.uri,
        "width": image.width_px,
        "height": image.height_px,
        "synthetic": image.synthetic,
        "twin": image.twin,
        "source": image.provenance["source_image"] if image.provenance else None,
        "changed": image.changed,
        "original_uri": image.uri,
        "sha256": image.sha256,
        "file": location.file,
        "key": location.key,
        "mask": location.mask,
        "regions": list(map(_region_row, image.regions)),
        "objects": list(map(_region_row, image.objects)),
        **asdict(image.text),
    }


def _region_row(region: Mention) -> Mapping[str, Any]:
    return {
        "concept": region.concept,
        "box": region.box,
        "area": region.area_px2,
        "score": region.score,
        "segmentation": region.segmentation,
        "crowd": region.crowd,
    }
