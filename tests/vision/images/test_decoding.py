"""The one place that opens image files."""

import subprocess
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cobalance.vision.images.decoding import MAX_PIXELS, decode, rgb_array
from cobalance.vision.images.image_file import ImageFileError

ROOT = Path(__file__).parents[3]
WITHOUT = """
import sys
sys.modules["PIL"] = sys.modules["fsspec"] = None
from cobalance.base.errors import MissingExtraError
from cobalance.vision.images.decoding import decode
from cobalance.vision.images.roots import ImageRoots

ImageRoots(["/"])
for use in (lambda: decode(b""), lambda: ImageRoots(["s3://bucket"])):
    try:
        use()
    except MissingExtraError as error:
        assert "[worker]'" in str(error)
    else:
        raise AssertionError
"""


def test_no_other_module_opens_images() -> None:
    openers = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "cobalance").rglob("*.py")
        if "Image.open" in path.read_text("utf-8")
    ]
    assert openers == ["cobalance/vision/images/decoding.py"]


def test_the_core_imports_without_pillow_and_fsspec() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_images_of_too_many_pixels_and_foreign_bytes_are_refused():
    def encoded(image, form):
        file = BytesIO()
        image.save(file, form)
        return file.getvalue()

    side = int(MAX_PIXELS**0.5) + 1
    for content in (encoded(Image.new("1", (side, side)), "PNG"), b"", b"%PDF-1.7", b"GIF89a"):
        with pytest.raises(ImageFileError):
            decode(content)
    with pytest.raises(ImageFileError, match="not an image file of a supported format"):
        decode(encoded(Image.new("RGB", (4, 4)), "PCX"))


def test_pixels_of_every_mode():
    grey = Image.fromarray(np.array([[0, 65535]], dtype=np.uint16))
    assert rgb_array(grey).tolist() == [[[0, 0, 0], [255, 255, 255]]]
    clear = Image.new("RGBA", (1, 1), (10, 20, 30, 0))
    assert rgb_array(clear).tolist() == [[[255, 255, 255]]]
