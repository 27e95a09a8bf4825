"""Image files, the pictures of them, and looks at their pixels."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from cobalance.app.web.pictures.thumbnails import ImageFiles

RED, BLUE = (220, 30, 30), (30, 30, 220)
HOSTILE = (
    "long " * 60,
    "\u0634\u0627\u0631\u0639 \U0001f6e3\ufe0f",
    "\u202egpj.exe",
    "<script>alert(1)</script>",
    "a\x00b\nc\x1b[31m",
    "Z\u0351\u036b\u0343\u036a" * 40,
    "\ud800",
    "",
    " ",
)


def content(size=(40, 30), color=RED, kind="PNG", **options):
    file = BytesIO()
    Image.new("RGB", size, color).save(file, kind, **options)
    return file.getvalue()


def pixels(picture):
    """The picture as a browser would decode it."""
    with Image.open(BytesIO(picture.data)) as image:
        assert image.format == "JPEG"
        assert image.size == (picture.width_px, picture.height_px)
        return np.asarray(image.convert("RGB")).astype(int)


def close(found, color, tolerance=30):
    return bool((np.abs(found - np.array(color)) <= tolerance).all())


def shows(picture, color):
    return picture.problem is None and close(pixels(picture).mean(axis=(0, 1)), color)


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    return folder


@pytest.fixture
def files(root, tmp_path):
    return ImageFiles([str(root)], tmp_path / "cache")


def refused(files, uri):
    """The problem with a file, after a look that a placeholder shows it."""
    picture = files.thumbnail(uri, 200)
    assert picture.problem is not None
    assert picture.problem.endswith(".")
    assert (picture.width_px, picture.height_px) == (200, 150)
    assert pixels(picture).min() < 140  # something is written on it
    return picture.problem


def saved(image, kind="PNG", **options):
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def cached(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
