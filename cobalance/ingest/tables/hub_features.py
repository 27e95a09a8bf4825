"""Features of Hugging Face datasets: names of numbered labels, and paths of images for pixels.

https://huggingface.co/docs/datasets/about_dataset_features
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from cobalance.base import Progress, decode_json
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.guesses import usual_column
from cobalance.ingest.tables.loading import Table
from cobalance.ingest.tables.parquet import load_rows, readable, row_batches
from cobalance.ingest.tables.row_values import batch_rows, table_of_rows

_LISTS = ("Sequence", "List", "LargeList")


@dataclass(frozen=True)
class HubParquet:
    """Parquet whose features, if the file tells them, name labels and images."""

    description: str = "Apache Parquet"

    def detects(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        """Whether the file has the magic bytes of Parquet."""
        return head.startswith(b"PAR1")

    def load(
        self, path: Path, problems: Problems, progress: Progress, most: int | None = None
    ) -> Table:
        """Load all rows, or the first; one by one where a feature is more than a plain value."""
        with readable(problems):
            metadata = pq.read_schema(path).metadata or {}
        features = hub_features(metadata.get(b"huggingface"))
        if not features:
            return load_rows(path, problems, progress, most)
        return table_of_rows(islice(_rows(path, features, problems, progress), most), problems)


def hub_features(text: bytes | str | None) -> Mapping[str, Any]:
    """Features by column, as a file's metadata tells them; none if all are plain values."""
    try:
        features: Mapping[str, Any] = decode_json(text or b"{}")["info"]["features"]
        plain = all(feature["_type"] == "Value" for feature in features.values())
    except (ValueError, LookupError, TypeError, AttributeError):
        return {}
    if plain:
        return {}
    return features


def _rows(
    path: Path, features: Mapping[str, Any], problems: Problems, progress: Progress
) -> Iterator[tuple[str, dict[str, Any]]]:
    number = 0
    for batch in row_batches(path, problems, pixels=False):
        for row in batch_rows(batch, problems):
            yield f"row {number + 1}", named_row(row, features, str(number))
            number += 1
        progress("read", number, None)


def named_row(
    row: Mapping[str, Any], features: Mapping[str, Any], id_: str, split: str = ""
) -> dict[str, Any]:
    """A row with the names of its labels, and id, address and split where it has none."""
    named = {name: name_labels(value, features.get(name)) for name, value in row.items()}

    image = named.pop("image", None)
    if isinstance(image, str) and usual_column("uri", named) is None:
        named["uri"] = image
    if usual_column("id", named) is None:
        named["image_id"] = id_
    if split and "split" not in named:
        named["split"] = split
    return named


def name_labels(value: Any, feature: Any) -> Any:
    """A value with the names of its labels, as deep as its feature goes."""
    # An older notation has a list of one feature in place of the type List.
    if isinstance(feature, list):
        feature = {"_type": "List", "feature": feature[0] if feature else None}
    if value is None or not isinstance(feature, dict):
        return value

    kind = feature.get("_type")
    if kind == "ClassLabel" and isinstance(names := feature.get("names"), list):
        return str(names[value]) if isinstance(value, int) and 0 <= value < len(names) else None
    if kind == "Image":
        if isinstance(value, dict):
            return value.get("path")
        return value

    is_list = kind in _LISTS
    inner = feature.get("feature") if is_list else feature
    if isinstance(value, list):
        return [name_labels(item, inner) for item in value]
    if not (isinstance(value, dict) and isinstance(inner, dict)):
        return value
    # A list of objects is stored as an object of lists.
    features = {name: [inner.get(name)] if is_list else inner.get(name) for name in value}
    return {name: name_labels(item, features[name]) for name, item in value.items()}
