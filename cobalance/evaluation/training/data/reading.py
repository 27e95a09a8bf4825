"""Labelled images of an export, or of a folder with a subfolder a class."""

from pathlib import Path

import pandas as pd

from cobalance.base import DataError, InputError
from cobalance.evaluation.training.data.images import COLUMNS, LabelledImages, caption_list
from cobalance.vision import ImageFileError

TABLE = "manifest.parquet"
_NEEDED = ("image_id", "label", "concepts", "split", "uri", "synthetic", "source", "key")


def read_export_images(folder: Path) -> LabelledImages:
    """Read the images of a folder that `cobalance.generation.export` has written.

    Raises
    ------
    InputError
        The folder has no table of images, or the table lacks a column.
    """
    path, again = folder / TABLE, "Export the dataset again."
    if not path.is_file():
        remedy = "Give a folder that an export with images has written, or a dataset."
        raise InputError(str(folder), None, f"it has no {TABLE}", remedy)
    try:
        table = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise InputError(str(path), None, f"it cannot be read ({error})", again) from error
    missing = [name for name in _NEEDED if name not in table.columns]
    if missing:
        raise InputError(str(path), None, f"it has no column {missing[0]}", again)
    if table["key"].notna().any():
        remedy = "Export the dataset as imagefolder, or give the dataset itself."
        raise InputError(str(path), None, "the images are in shards", remedy)

    frame = table.rename(columns={"image_id": "image", "label": "class_name"})[list(COLUMNS)]
    frame["concepts"] = list(map(list, table["concepts"]))
    frame["synthetic"] = table["synthetic"].astype(bool)
    if "changed" in table.columns:
        frame["changed"] = table["changed"].astype(object)
    if "captions" in table.columns:
        frame["captions"] = list(map(caption_list, table["captions"]))
    root = folder.resolve()

    def read(uri: str, synthetic: bool) -> bytes:
        del synthetic
        path = (root / uri).resolve()
        if not path.is_relative_to(root):
            raise DataError(
                f"{folder} names an image outside of the folder: {uri}. Export it with copies of "
                "its images."
            )
        try:
            return path.read_bytes()
        except OSError as error:
            raise ImageFileError(f"{path} cannot be read: {error.strerror}.") from error

    return LabelledImages(str(folder), frame, read)


SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff"})


def read_folder_images(folder: Path, *, labelled: bool = True) -> LabelledImages:
    """Read the images of a folder, to test models on; a subfolder's name is its images' class.

    Parameters
    ----------
    labelled : bool
        Whether images need a class. If not, those that are in no subfolder are taken, too.

    Raises
    ------
    InputError
        There are no images, or none in subfolders.
    """
    if labelled:
        pattern, reason = "*/**/*", "it has no images in subfolders"
        remedy = "Give a folder with a subfolder for each class."
    else:
        pattern, reason = "**/*", "it has no images"
        remedy = "Give a folder with images, such as .jpg, .png or .webp files."
    paths = sorted(
        path for path in folder.glob(pattern) if path.suffix.lower() in SUFFIXES and path.is_file()
    )
    names = [path.relative_to(folder).as_posix() for path in paths]
    if not names:
        raise InputError(str(folder), None, reason, remedy)

    frame = pd.DataFrame({"image": names, "uri": names, "split": None, "synthetic": False})
    frame["class_name"] = [name.partition("/")[0] if "/" in name else "" for name in names]
    frame["concepts"] = [[] for _ in names]
    frame["source"] = None

    def read(uri: str, synthetic: bool) -> bytes:
        del synthetic
        return (folder / uri).read_bytes()

    return LabelledImages(str(folder), frame, read)
