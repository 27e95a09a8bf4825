"""Sample weights of the real images: the reweighting baseline, in which no image is new."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from cobalance.base import OptionError, Options, check_known
from cobalance.generation.export import exporter
from cobalance.generation.export.describing.image_table import IMAGE_TABLE
from cobalance.generation.export.images.image import ExportImage
from cobalance.generation.export.images.stream import ImageStream
from cobalance.generation.export.staging import Staging
from cobalance.generation.export.tables import Column, TableFile, table_writer
from cobalance.generation.planning import balancing_weights

_TABLE = TableFile(
    "weights.parquet",
    "The weight of each real image.",
    {
        **{name: IMAGE_TABLE.columns[name] for name in ("image_id", "label")},
        "split": Column(pa.string(), "Its split."),
        "uri": Column(pa.string(), "Where the image is."),
        "weight": Column(pa.float64(), "Its weight; the mean in a split is 1."),
        "group": Column(pa.list_(pa.string()), "The concepts whose combination is its group."),
        "group_images": Column(pa.int64(), "How many images its group has in its split."),
        "class_images": Column(pa.int64(), "How many of them are of its class."),
        "group_classes": Column(pa.int64(), "How many classes its group has."),
    },
)


class WeightsOptions(Options):
    """Groups of images within which classes are balanced.

    Parameters
    ----------
    group_concepts : tuple of str or None
        Concepts whose combinations are the groups; None for all.
    """

    group_concepts: tuple[str, ...] | None = None


PLUGIN = exporter.ExportPlugin(
    "weights",
    "Weights of the real images instead of new images, for comparison.",
    options=WeightsOptions,
    has_images=False,
    can_reference=True,
    layout="""\
- `weights.parquet`: a row for each real image. No image is copied, and none is new: this is the
  reweighting baseline, against which generated images can be measured.

The images of a split that show the same combination of concepts are a group. An image of class c in
group g has the weight

    w = n(g) / (k(g) · n(g, c))

with n(g) images in the group, n(g, c) of them of class c, and k(g) classes that have any there. So
in each group every class weighs the same, each group weighs as much as it has images, and the mean
weight in a split is 1. A group of one class cannot be balanced by weights: its images keep the
weight 1. The more concepts make a group, the more such groups there are.

```python
import pandas as pd
import torch

table = pd.read_parquet("weights.parquet")
if table["split"].notna().any():  # else the dataset has no splits, and all images are for training
    table = table.query("split == 'train'")
sampler = torch.utils.data.WeightedRandomSampler(table["weight"].tolist(), len(table))
```
""",
)


@dataclass(frozen=True, eq=False)
class _WeightsWriter:
    stream: ImageStream
    staging: Staging
    group_concepts: tuple[str, ...] | None

    def add(self, image: ExportImage) -> exporter.ImageLocation:
        raise AssertionError(f"weights has no files of images, such as {image.id!r}")

    def finish(self) -> exporter.WriterReport:
        """Write the weights, a row for each real image."""
        images = [image for image in self.stream.listed if not image.synthetic]
        concepts = list(map(self._group_of, images))
        groups = [(image.split, names) for image, names in zip(images, concepts, strict=True)]
        weights = balancing_weights(groups, [image.class_name for image in images])

        rows: list[dict[str, Any]] = weights.to_dict("records")  # type: ignore[assignment]
        with table_writer(self.staging, _TABLE) as table:
            for image, group, row in zip(images, concepts, rows, strict=True):
                labels = {"label": image.class_name, "split": image.split, "uri": image.uri}
                table.add({"image_id": image.id, **labels, "group": group, **row})
        counts = {
            "real images": len(images),
            "groups": len(set(groups)),
            "images in groups of one class": int((weights["group_classes"] == 1).sum()),
        }
        return exporter.WriterReport(counts, (_TABLE,))

    def _group_of(self, image: ExportImage) -> tuple[str, ...]:
        if self.group_concepts is None:
            return image.concepts
        return tuple(name for name in image.concepts if name in self.group_concepts)


def open_export_format(options: WeightsOptions) -> exporter.StartExport:
    """Start exports of ``weights.parquet``."""

    def start(stream: ImageStream, staging: Staging) -> _WeightsWriter:
        if stream.dataset.real is None or stream.dataset.real.empty:
            raise OptionError("Sample weights need real images. Export those, too.")
        check_known("concept", options.group_concepts or (), stream.concepts)
        return _WeightsWriter(stream, staging, options.group_concepts)

    return start
