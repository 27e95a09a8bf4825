"""Datasets that Hugging Face ``datasets`` saved: a folder of Arrow files."""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from graph.errors import needs_extra
from graph.progress import Progress
from graph.records import Annotations
from ingest.formats.table import read_table
from ingest.formats.tree_reader import TreeReader
from ingest.options import ReadOptions
from ingest.problems import Problems
from ingest.tables.columns import usual_column
from ingest.tables.row_values import table_of_rows
from ingest.trees import FileTree

_BATCH = 1_000
_MARKS = ("dataset_info.json", "dataset_dict.json")


class HubDataset(TreeReader):
    """Reader of what ``Dataset.save_to_disk`` and ``DatasetDict.save_to_disk`` write.

    Numbered labels get their names, alone and in lists of objects; an image's path is its address.
    Rows without an id are numbered within their split. Needs the extra ``hub``.
    """

    description = "Hugging Face datasets on disk: a folder of Arrow files"
    uses = frozenset({"table", "vocabulary", "own captions"})

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether the folder has the files that describe a saved dataset."""
        return (
            tree.path.is_dir()
            and any(PurePosixPath(name).name in _MARKS for name in tree.names)
            and bool(tree.below("", ".arrow"))
        )

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read all splits."""
        problems = Problems(str(tree.path), options.on_error, options.limits)
        splits = _opened(tree.path, problems)
        rows: list[dict[str, Any]] = []
        places: list[str] = []
        for split, dataset in splits.items():
            for number, row in enumerate(_rows(dataset)):
                if number % _BATCH == 0:
                    progress("read", number, len(dataset))
                name = f"{split}-{number}" if split else str(number)
                rows.append(_as_row(row, name, split))
                places.append(f"{split}, row {number}" if split else f"row {number}")
                problems.within("rows", len(rows))
            progress("read", len(dataset), len(dataset))
        return read_table(table_of_rows(rows, places, problems), options, progress)


def _opened(path: Path, problems: Problems) -> dict[str, Any]:
    """The splits of a saved dataset; one without a name if it has none."""
    with needs_extra("Reading datasets of Hugging Face", "hub"):
        import datasets
    try:
        found = datasets.load_from_disk(str(path))
    except Exception as error:  # noqa: BLE001 - the library raises whatever its files make it
        reason = f"is not a dataset that load_from_disk opens ({type(error).__name__}: {error})"
        raise problems.fatal(reason[:400], "Save it anew.") from None
    return dict(found) if isinstance(found, datasets.DatasetDict) else {"": found}


def _rows(dataset: Any) -> Iterator[Mapping[str, Any]]:
    """Rows with names in place of numbered labels, and images as they are stored."""
    import datasets

    for name, feature in dataset.features.items():
        if isinstance(feature, datasets.Image):
            dataset = dataset.cast_column(name, datasets.Image(decode=False))
    features = dataset.features
    for batch in dataset.with_format("arrow").iter(_BATCH):
        for row in batch.to_pylist():
            yield {name: _named(value, features[name]) for name, value in row.items()}


def _named(value: Any, feature: Any) -> Any:
    """A value with the names of its labels, as deep as its feature goes."""
    import datasets

    if value is None:
        return None
    if isinstance(feature, datasets.ClassLabel):
        return feature.int2str(value) if 0 <= value < feature.num_classes else None
    if isinstance(feature, datasets.Image):
        return value.get("path")
    if isinstance(feature, dict):
        return {name: _named(each, feature[name]) for name, each in value.items()}
    inner = getattr(feature, "feature", None)
    if inner is not None and isinstance(value, list):
        return [_named(each, inner) for each in value]
    return value


def _as_row(row: Mapping[str, Any], name: str, split: str) -> dict[str, Any]:
    found = dict(row)
    image = found.pop("image", None)
    if isinstance(image, str) and usual_column("uri", found) is None:
        found["uri"] = image
    if usual_column("id", found) is None:
        found["image_id"] = name
    if split and "split" not in found:
        found["split"] = split
    return found
