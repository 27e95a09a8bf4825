"""Sample weights of the real images: the reweighting baseline, in which no image is new."""

from dataclasses import dataclass

import pyarrow as pa

from generation.export.images.entry import ExportImage
from generation.export.images.loading import ImageStream
from generation.export.options import ExportOptions
from generation.export.writing.exporter import (
    Column,
    Placed,
    TableFile,
    Writer,
    Written,
    table_writer,
)
from generation.export.writing.staging import Staging
from generation.planning.sample_weights import balancing_weights
from graph.errors import OptionError, UnknownNameError

_TABLE = TableFile(
    "weights.parquet",
    "The weight of each real image.",
    {
        "image_id": Column(pa.string(), "The image's id."),
        "label": Column(pa.string(), "Its class."),
        "split": Column(pa.string(), "Its split."),
        "uri": Column(pa.string(), "Where the image is."),
        "weight": Column(pa.float64(), "Its weight; the mean in a split is 1."),
        "group": Column(pa.list_(pa.string()), "The concepts whose combination is its group."),
        "group_images": Column(pa.int64(), "How many images its group has in its split."),
        "class_images": Column(pa.int64(), "How many of them are of its class."),
        "group_classes": Column(pa.int64(), "How many classes its group has."),
    },
)


@dataclass(frozen=True)
class WeightsExporter:
    """Writes ``weights.parquet``."""

    images: frozenset[str] = frozenset()
    shuffled: bool = False
    layout: str = """\
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
"""

    def open(self, stream: ImageStream, staging: Staging, options: ExportOptions) -> Writer:
        """Begin an export.

        Raises
        ------
        OptionError
            There are no real images, or no image has a concept that groups are to be made of.
        """
        if stream.dataset.real is None or stream.dataset.real.empty:
            raise OptionError("Weights are of real images, and there are none. Give them, too.")
        for name in options.group_concepts or ():
            if name not in stream.concepts:
                raise UnknownNameError("concept", name, stream.concepts)
        return _WeightsWriter(stream, staging, options)


@dataclass(frozen=True, eq=False)
class _WeightsWriter:
    stream: ImageStream
    staging: Staging
    options: ExportOptions

    def add(self, image: ExportImage) -> Placed:
        raise AssertionError(f"weights are of no single image, such as {image.id!r}")

    def finish(self) -> Written:
        images = self.stream.frame[~self.stream.frame["synthetic"]].reset_index(drop=True)
        chosen = self.options.group_concepts
        concepts = [
            shown if chosen is None else tuple(name for name in shown if name in set(chosen))
            for shown in images["concepts"]
        ]
        groups = list(zip(images["split"], concepts, strict=True))
        found = balancing_weights(groups, images["class"].tolist())
        columns = {
            "image_id": images["id"],
            "label": images["class"],
            "split": images["split"],
            "uri": images["uri"],
            "group": concepts,
            **{name: found[name] for name in found.columns},
        }
        with table_writer(self.staging, _TABLE) as table:
            for values in zip(*columns.values(), strict=True):
                table.add(dict(zip(columns, values, strict=True)))
        alone = found["group_classes"] == 1
        return Written(
            {
                "real images": len(images),
                "groups": len(set(groups)),
                "images in groups of one class": int(alone.sum()),
            },
            (_TABLE,),
        )


EXPORTER = WeightsExporter()
