"""Input of an export: real and generated images, and functions that read their files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from cobalance.base import DataError, plain_values
from cobalance.generation.export.images.image import ExportImage
from cobalance.generation.output.manifest import MANIFEST_SCHEMA

REAL_COLUMNS = ("id", "class", "split", "uri", "width_px", "height_px", "concepts")


@dataclass(frozen=True, eq=False)
class ExportDataset:
    """A rebalanced dataset: real and generated images, or generated ones alone.

    Parameters
    ----------
    real : pandas.DataFrame or None
        One row per image: ``id``, ``class``, ``split``, ``uri``, ``width_px``, ``height_px`` and
        ``concepts`` (a list of str); None for the generated images alone. Split, uri and size may
        be missing.
    generated : pandas.DataFrame
        Rows of the manifest (`cobalance.generation.output.manifest.MANIFEST_SCHEMA`) of accepted
        images.
    read_real : callable
        Reads a real image's file, given its ``uri``; raises OSError or CobalanceError.
    read_generated : callable
        The same for a generated image or a mask, given its path in the manifest.
    regions : callable or None
        Reads regions of real images by their ids, as `cobalance.vision.images.regions.read_regions`
        does.
    splits : mapping of str to str or None
        Splits, by id, of the source images that are not in `real`.
    job : str or None
        The job that generated the images; an export replaces one of another job only with
        `overwrite`.
    texts : callable or None
        Reads captions and licences of real images by their ids, as
        `cobalance.ingest.captions.image_texts.read_image_texts` does.

    Raises
    ------
    DataError
        There is no image.
    """

    name: str
    real: pd.DataFrame | None
    generated: pd.DataFrame
    read_real: Callable[[str], bytes]
    read_generated: Callable[[str], bytes]
    regions: Callable[[Sequence[str]], pd.DataFrame] | None = None
    splits: Mapping[str, str | None] = field(default_factory=dict)
    job: str | None = None
    texts: Callable[[Sequence[str]], pd.DataFrame] | None = None

    def __post_init__(self) -> None:
        if not len(self.generated) and (self.real is None or self.real.empty):
            raise DataError(
                f"The dataset {self.name!r} has no images to export. Load some, or generate some."
            )


def list_images(dataset: ExportDataset, default_split: str | None = None) -> list[ExportImage]:
    """List all images, without their files and regions: real ones first, each kind sorted by id.

    A generated image belongs to the split of its source, exported or not, so that none made from a
    test image gets into the training set.

    Parameters
    ----------
    default_split : str or None
        Split of generated images whose source has none. None is ``"train"`` if any other image has
        a split, and else no split.
    """
    images = []
    split_of = dict(dataset.splits)
    edited = dataset.generated["source_class"].notna()
    twins = set(dataset.generated["source_image"][edited])

    if dataset.real is not None:
        for row in _records(dataset.real, REAL_COLUMNS):
            split_of[row["id"]] = row["split"]
            images.append(
                ExportImage(
                    id=row["id"],
                    class_name=row["class"],
                    split=row["split"],
                    concepts=tuple(sorted(set(row["concepts"]))),
                    uri=row["uri"],
                    width_px=_whole(row["width_px"]),
                    height_px=_whole(row["height_px"]),
                    twin=row["id"] if row["id"] in twins else None,
                )
            )

    # Generated images are for training, except those of a source in another split.
    default = default_split or ("train" if any(split_of.values()) else None)
    images += [
        ExportImage(
            id=row["candidate"],
            class_name=row["class"],
            split=split_of.get(row["source_image"]) or default,
            concepts=tuple(sorted(set(row["concepts"]))),
            uri=None,
            width_px=_whole(row["width_px"]),
            height_px=_whole(row["height_px"]),
            provenance=row,
            twin=row["source_image"] if row["source_class"] is not None else None,
        )
        for row in _records(dataset.generated, MANIFEST_SCHEMA.names)
    ]
    return sorted(images, key=lambda image: (image.synthetic, image.id))


def _records(frame: pd.DataFrame, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Rows of a table as mappings of Python's values, None for missing ones."""
    columns = [plain_values(frame[name]) for name in names]
    for values in zip(*columns, strict=True):
        yield dict(zip(names, values, strict=True))


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
