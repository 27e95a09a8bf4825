"""Read files of real and of generated images."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from cobalance.base import DataError, OptionError, inflect
from cobalance.graph import GraphStore, read_annotations
from cobalance.vision import ImageArray, ImageFileError, ImageRoots, decode
from cobalance.workflows.folders import Folders
from cobalance.workflows.settings import in_environment

ReadFile = Callable[[str | None, bool], bytes]
"""Takes an image's address, and whether it was made here; returns the content of its file."""
ReadPixels = Callable[[str | None, bool], ImageArray]
"""As `ReadFile`, but returns the pixels."""


def image_reader(folders: Folders, dataset: str) -> ReadFile:
    """A function that reads a file of a dataset's image: from its image folders, or a made one's.

    It raises DataError where there is no such file, or no address of one.
    """
    roots = ImageRoots(folders.image_roots(dataset))
    output = folders.open_output()

    def read(uri: str | None, synthetic: bool) -> bytes:
        if uri is None:
            raise DataError(
                "An image has no address of its file, so that it cannot be looked at. Load "
                "the dataset with addresses of its images."
            )
        if synthetic and output.exists(uri):
            return output.read(uri)
        try:
            return roots.find(uri).read()
        except ImageFileError as error:
            raise DataError(f"{uri}: {error.render(in_environment)}") from error

    return read


def pixel_reader(folders: Folders, dataset: str) -> ReadPixels:
    """A function that reads an image's pixels, as `image_reader` finds its file.

    They are upright and in RGB, of shape (height, width, 3).
    """
    read = image_reader(folders, dataset)

    def read_pixels(uri: str | None, synthetic: bool) -> ImageArray:
        return np.asarray(decode(read(uri, synthetic)).upright().convert("RGB"))

    return read_pixels


def images_with_files(store: GraphStore, dataset: str, split: str | None = None) -> pd.DataFrame:
    """Read the images of a dataset, or of one split, that have an address of their file, by id.

    Returns
    -------
    pandas.DataFrame
        ``id``, ``uri`` and ``synthetic``.

    Raises
    ------
    OptionError
        The split has none.
    DataError
        The dataset has none.
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    images = read_annotations(store, dataset).images
    if split is not None:
        images = images[images["split"] == split]
    images = images.loc[images["uri"].notna(), ["id", "uri", "synthetic"]]

    if images.empty:
        end = "so there is nothing to look at. Load the dataset with addresses of its images."
        if split is not None:
            raise OptionError(
                f"{dataset!r} has no split {split!r} with addresses of their files, {end}"
            )
        raise DataError(f"No image of {dataset!r} has an address of its file, {end}")
    return images.reset_index(drop=True)


def describe_unread(problems: Sequence[str]) -> str:
    """How many images could not be read, with the first problem; empty for none.

    Examples
    --------
    >>> describe_unread(["a: there is no such file", "b: it is empty"])
    '2 images could not be read, such as a: there is no such file'
    """
    if not problems:
        return ""
    return f"{inflect(len(problems), 'images')} could not be read, such as {problems[0]}"
