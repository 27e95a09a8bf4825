"""Labelled images of a folder with a subfolder for each class, as ImageNet and others come."""

from pathlib import Path

import pandas as pd

from cobalance.evaluation.training.data.images import LabelledImages
from cobalance.graph.errors import InputError

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
    pattern = "*/**/*" if labelled else "**/*"
    paths = sorted(
        path for path in folder.glob(pattern) if path.suffix.lower() in SUFFIXES and path.is_file()
    )
    names = [path.relative_to(folder).as_posix() for path in paths]
    if not names:
        raise InputError(
            str(folder),
            None,
            "it has no images in subfolders" if labelled else "it has no images",
            "Give a folder with a subfolder for each class."
            if labelled
            else "Give a folder with images, such as .jpg, .png or .webp files.",
        )
    frame = pd.DataFrame({"image": names, "uri": names, "split": None, "synthetic": False})
    frame["class_name"] = [name.partition("/")[0] if "/" in name else "" for name in names]
    frame["concepts"] = [[] for _ in names]
    frame["source"] = None

    def read(uri: str, synthetic: bool) -> bytes:
        del synthetic
        return (folder / uri).read_bytes()

    return LabelledImages(str(folder), frame, read)
