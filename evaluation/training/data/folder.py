"""Labelled images of a folder with a subfolder for each class, as ImageNet and others come."""

from pathlib import Path

import pandas as pd

from evaluation.training.data.images import LabelledImages
from graph.errors import InputError

SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff"})


def read_folder_images(folder: Path) -> LabelledImages:
    """Read the images of a folder, to test models on; a subfolder's name is its images' class.

    Raises
    ------
    InputError
        There are no images in subfolders.
    """
    paths = sorted(
        path for path in folder.glob("*/**/*") if path.suffix.lower() in SUFFIXES and path.is_file()
    )
    names = [path.relative_to(folder).as_posix() for path in paths]
    if not names:
        raise InputError(
            str(folder),
            None,
            "it has no images in subfolders",
            "Give a folder with a subfolder for each class.",
        )
    frame = pd.DataFrame({"image": names, "uri": names, "split": None, "synthetic": False})
    frame["class_name"] = [name.partition("/")[0] for name in names]
    frame["concepts"] = [[] for _ in names]
    frame["source"] = None

    def read(uri: str, synthetic: bool) -> bytes:
        del synthetic
        return (folder / uri).read_bytes()

    return LabelledImages(str(folder), frame, read)
