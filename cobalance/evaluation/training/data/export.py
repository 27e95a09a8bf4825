"""Labelled images of an export folder, from its ``manifest.parquet``."""

from pathlib import Path

import pandas as pd

from cobalance.evaluation.training.data.images import LabelledImages, listed
from cobalance.graph.errors import InputError, OptionError
from cobalance.ingest.images.image_file import ImageFileError

TABLE = "manifest.parquet"
_NEEDED = ("image_id", "label", "concepts", "split", "uri", "synthetic", "source", "key")


def read_export_images(folder: Path) -> LabelledImages:
    """Read the images of a folder that `cobalance.generation.export` has written.

    Raises
    ------
    InputError
        The folder has no table of images, or the table lacks a column.
    """
    path = folder / TABLE
    if not path.is_file():
        raise InputError(
            str(folder),
            None,
            f"it has no {TABLE}",
            "Give a folder that an export with images has written, or a dataset.",
        )
    try:
        table = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise InputError(
            str(path), None, f"it cannot be read ({error})", "Export the dataset again."
        ) from error
    missing = [name for name in _NEEDED if name not in table.columns]
    if missing:
        raise InputError(
            str(path), None, f"it has no column {missing[0]}", "Export the dataset again."
        )
    if table["key"].notna().any():
        raise InputError(
            str(path),
            None,
            "the images are in shards",
            "Export the dataset as imagefolder, or give the dataset itself.",
        )
    frame = pd.DataFrame(
        {
            "image": table["image_id"],
            "class_name": table["label"],
            "concepts": [list(names) for names in table["concepts"]],
            "split": table["split"],
            "uri": table["uri"],
            "synthetic": table["synthetic"].astype(bool),
            "source": table["source"],
        }
    )
    if "changed" in table.columns:
        frame["changed"] = table["changed"].astype(object)
    if "captions" in table.columns:
        frame["captions"] = [listed(captions) for captions in table["captions"]]
    root = folder.resolve()

    def read(uri: str, synthetic: bool) -> bytes:
        del synthetic
        path = (root / uri).resolve()
        if not path.is_relative_to(root):
            raise OptionError(
                f"{folder} names an image outside of the folder: {uri}. Export it with copies of "
                "its images."
            )
        try:
            return path.read_bytes()
        except OSError as error:
            raise ImageFileError(f"{path} cannot be read: {error.strerror}.") from error

    return LabelledImages(str(folder), frame, read)
