"""Read files of real and of generated images."""

from collections.abc import Callable

import numpy as np

from app.settings import Settings, in_environment
from generation.output.folder import OutputFolder
from graph.errors import OptionError
from ingest.images.arrays import ImageArray
from ingest.images.decoding import decode
from ingest.images.image_file import ImageFileError
from ingest.images.roots import ImageRoots


def image_reader(settings: Settings) -> Callable[[str | None, bool], bytes]:
    """A function that reads an image's file: a real one's from the image folders, or a made one's.

    It raises OptionError where there is no such file, or no address of one.
    """
    roots = ImageRoots(settings.image_roots())
    output = OutputFolder(settings.output_folder())

    def read(uri: str | None, synthetic: bool) -> bytes:
        if uri is None:
            raise OptionError(
                "An image has no address of its file, so that it cannot be looked at. Load "
                "the dataset with addresses of its images."
            )
        if synthetic and output.exists(uri):
            return output.read(uri)
        try:
            return roots.find(uri).read()
        except ImageFileError as error:
            raise OptionError(f"{uri}: {error.worded(in_environment)}") from error

    return read


def pixel_reader(settings: Settings) -> Callable[[str | None, bool], ImageArray]:
    """A function that reads an image's pixels, as `image_reader` finds its file.

    They are upright and in RGB, of shape (height, width, 3).
    """
    read = image_reader(settings)

    def read_pixels(uri: str | None, synthetic: bool) -> ImageArray:
        return np.asarray(decode(read(uri, synthetic)).upright().convert("RGB"))

    return read_pixels
