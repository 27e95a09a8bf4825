"""Relative boxes are of the picture as it is shown, turned by its EXIF orientation."""

import numpy as np
import pytest
from PIL import Image, ImageOps

from cobalance.ingest.load import read_annotations

WIDTH, HEIGHT = 120, 48  # as stored
BOX = (40, 8, 70, 32)  # left, top, right and bottom of the object, as stored


def shown_picture(path, orientation):
    """Save a picture with a white object, and return it as viewers show it."""
    pixels = np.zeros((HEIGHT, WIDTH, 3), dtype=np.uint8)
    pixels[BOX[1] : BOX[3], BOX[0] : BOX[2]] = 255
    exif = Image.Exif()
    exif[0x0112] = orientation
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, exif=exif, quality=95)
    with Image.open(path) as stored:
        return np.asarray(ImageOps.exif_transpose(stored).convert("L")) > 128


def box_around(mask):
    (top, *_, bottom), (left, *_, right) = (np.flatnonzero(mask.any(axis=at)) for at in (1, 0))
    return left, top, right + 1 - left, bottom + 1 - top


def yolo(path, relative):
    x, y, width, height = relative
    (path / "data.yaml").write_text("train: images\nnames: [box]\n")
    (path / "labels").mkdir()
    line = f"0 {x + width / 2} {y + height / 2} {width} {height}\n"
    (path / "labels" / "a.txt").write_text(line)


def open_images(path, relative):
    x, y, width, height = relative
    header = "ImageID,LabelName,Confidence,XMin,XMax,YMin,YMax\n"
    (path / "train-boxes.csv").write_text(f"{header}a,box,1,{x},{x + width},{y},{y + height}\n")


@pytest.mark.parametrize("write", [yolo, open_images])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_boxes_are_of_the_picture_as_it_is_shown(tmp_path, write, orientation):
    shown = shown_picture(tmp_path / "images" / "a.jpg", orientation)
    height, width = shown.shape
    box = box_around(shown)
    write(tmp_path, np.divide(box, (width, height, width, height)).tolist())
    found = read_annotations(tmp_path)
    (image,) = found.images.to_dict("records")
    assert (image["width_px"], image["height_px"]) == (width, height)
    (thing,) = found.mentions[["x_px", "y_px", "w_px", "h_px"]].to_numpy().tolist()
    assert thing == pytest.approx(box, abs=0.01)
