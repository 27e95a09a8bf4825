"""What is exported: the real images and the generated ones, and how to get at their files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from generation.export.options import ExportOptions
from generation.output.manifest import MANIFEST_SCHEMA
from graph.errors import OptionError

REAL_COLUMNS = ("id", "class", "split", "uri", "width_px", "height_px", "concepts")


@dataclass(frozen=True, eq=False)
class Rebalanced:
    """A rebalanced dataset: real and generated images, or generated ones alone.

    Parameters
    ----------
    name : str
        The dataset's.
    real : pandas.DataFrame or None
        One row an image: ``id``, ``class``, ``split``, ``uri``, ``width_px``, ``height_px`` and
        ``concepts`` (a list of str); None for the generated images alone. Split, address and size
        may be missing.
    generated : pandas.DataFrame
        Rows of the manifest (`generation.output.manifest.MANIFEST_SCHEMA`), of accepted images.
    read_real : callable
        Gives the bytes of a real image by its ``uri``; raises OSError or CobalanceError where it
        cannot.
    read_generated : callable
        The same for a generated image or a mask, by its path in the manifest.
    regions : callable or None
        Gives the regions of real images by their ids, as `ingest.images.regions.read_regions` does.
    splits : mapping of str to str or None
        The splits of images that generated ones were made from, by id: of all that are not in
        `real`.
    job : str or None
        The job whose images these are; without `overwrite`, an export replaces no other job's.

    Raises
    ------
    OptionError
        A column is missing, an image is there twice, or a generated one has no file.
    """

    name: str
    real: pd.DataFrame | None
    generated: pd.DataFrame
    read_real: Callable[[str], bytes]
    read_generated: Callable[[str], bytes]
    regions: Callable[[Sequence[str]], pd.DataFrame] | None = None
    splits: Mapping[str, str | None] = field(default_factory=dict)
    job: str | None = None

    def __post_init__(self) -> None:
        if self.real is not None:
            _require(self.real, REAL_COLUMNS, "real")
        _require(self.generated, MANIFEST_SCHEMA.names, "generated")
        ids = [*([] if self.real is None else self.real["id"]), *self.generated["candidate"]]
        if not ids:
            raise OptionError(
                f"The dataset {self.name!r} has no images to export. Load some, or generate some."
            )
        known: set[str] = set()
        for image in ids:
            if image in known:
                raise OptionError(
                    f"Two images to export have the id {image!r}. Give each one of its own; leave "
                    "generated images out of the real ones."
                )
            known.add(image)
        without = self.generated["candidate"][
            self.generated["path"].isna() | self.generated["sha256"].isna()
        ]
        if len(without):
            raise OptionError(
                f"The generated image {without.iloc[0]!r} has no file in the manifest. Give "
                "accepted images alone."
            )


def all_images(dataset: Rebalanced, options: ExportOptions) -> pd.DataFrame:
    """Give all images as one frame, in order of id, real ones first.

    A generated image is of the split of its source, so that none made from a test image is in the
    training set, whether the source is exported itself or not.

    Returns
    -------
    pandas.DataFrame
        ``id``, ``class``, ``split``, ``uri``, ``width_px``, ``height_px``, ``concepts`` (a sorted
        tuple), ``synthetic`` and ``row``, the image's position in the frame that it is from. None
        where missing.
    """
    parts = []
    split_of = dict(dataset.splits)
    if dataset.real is not None:
        real = {name: _plain(dataset.real[name]) for name in REAL_COLUMNS}
        split_of |= zip(real["id"], real["split"], strict=True)
        parts.append(_part(real, synthetic=False))
    made = {
        "id": _plain(dataset.generated["candidate"]),
        **{name: _plain(dataset.generated[name]) for name in ("class", "width_px", "height_px")},
        "split": _splits(_plain(dataset.generated["source_image"]), split_of, options.split),
        "uri": [None] * len(dataset.generated),
        "concepts": dataset.generated["concepts"].tolist(),
    }
    parts.append(_part(made, synthetic=True))
    frame = pd.concat([part for part in parts if len(part)], ignore_index=True)
    order = sorted(
        range(len(frame)), key=list(zip(frame["synthetic"], frame["id"], strict=True)).__getitem__
    )
    return frame.iloc[order].reset_index(drop=True)


def _splits(
    sources: list[str | None], split_of: dict[str, str | None], wanted: str | None
) -> list[str | None]:
    default = wanted or ("train" if any(split_of.values()) else None)
    return [(split_of.get(source) if source else None) or default for source in sources]


def _part(columns: dict[str, list[Any]], *, synthetic: bool) -> pd.DataFrame:
    n = len(columns["id"])
    columns["concepts"] = [tuple(sorted(set(names))) for names in columns["concepts"]]
    for name in ("width_px", "height_px"):
        columns[name] = [None if value is None else int(value) for value in columns[name]]
    values = {name: pd.Series(columns[name], dtype=object) for name in REAL_COLUMNS}
    return pd.DataFrame({**values, "synthetic": [synthetic] * n, "row": range(n)})


def _plain(column: "pd.Series[Any]") -> list[Any]:
    if column.name == "concepts":
        return column.tolist()
    plain = column.astype(object)
    return plain.where(column.notna(), None).tolist()


def _require(frame: pd.DataFrame, names: Sequence[str], kind: str) -> None:
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise OptionError(f"The frame of {kind} images has no {', '.join(missing)}. Add it.")
