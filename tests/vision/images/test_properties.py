"""Properties of image files, against values computed by hand and from the whole pixels."""

import colorsys
import io

import numpy as np
import pytest
from PIL import Image, ImageFilter

from cobalance.vision.images.image_file import ImageFileError
from cobalance.vision.images.properties import YES, image_properties


def content(image, kind="PNG", **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


@pytest.fixture(scope="module")
def noisy():
    return Image.fromarray(np.random.default_rng(3).integers(0, 255, (60, 80, 3), dtype=np.uint8))


def test_exposure_and_sharpness_are_those_of_the_luma(noisy):
    found = image_properties(content(noisy))
    luma = np.asarray(noisy.convert("L")).astype(float)
    assert found["brightness"] == pytest.approx(luma.mean(), rel=1e-5)
    assert found["contrast"] == pytest.approx(luma.std(), rel=1e-5)
    laplacian = [
        4 * luma[y, x] - luma[y - 1, x] - luma[y + 1, x] - luma[y, x - 1] - luma[y, x + 1]
        for y in range(1, 59)
        for x in range(1, 79)
    ]
    assert found["sharpness"] == pytest.approx(np.sqrt(np.mean(np.square(laplacian))), rel=1e-5)
    softer = image_properties(content(noisy.filter(ImageFilter.GaussianBlur(1))))
    assert softer["sharpness"] < found["sharpness"] / 2


def test_colours(noisy):
    for color, hue in [
        ((200, 40, 30), "red"),
        ((30, 180, 40), "green"),
        ((40, 60, 220), "blue"),
        ((220, 210, 30), "yellow"),
        ((190, 20, 200), "magenta"),
        ((20, 190, 200), "cyan"),
    ]:
        found = image_properties(content(Image.new("RGB", (90, 70), color)))
        assert (found["dominant hue"], found["grayscale"]) == (hue, None)
        saturation = colorsys.rgb_to_hsv(*(part / 255 for part in color))[1]
        assert found["saturation"] == pytest.approx(100 * saturation)
        assert found["near-constant"] == found["border"] == YES
    grey = image_properties(content(noisy.convert("L").convert("RGB"), "JPEG"))
    assert (grey["grayscale"], grey["dominant hue"], grey["near-constant"]) == (YES, None, None)
    assert grey["saturation"] < 1


def test_a_border_is_two_opposite_edges_of_one_colour(noisy):
    boxed = Image.new("RGB", (80, 80), "black")
    boxed.paste(noisy, (0, 10))
    assert image_properties(content(boxed))["border"] == YES
    assert image_properties(content(boxed.transpose(Image.Transpose.ROTATE_90)))["border"] == YES
    assert image_properties(content(noisy))["border"] is None
    one_side = noisy.copy()
    one_side.paste((90, 120, 250), (0, 0, 80, 20))  # a sky
    assert image_properties(content(one_side))["border"] is None


def test_the_file_and_its_exif(noisy):
    exif = Image.Exif()
    exif[0x010F], exif[0x0110], exif[0x0112] = "Canon\0", "Canon EOS\x1b 5D", 6
    data = content(noisy, "JPEG", exif=exif)
    found = image_properties(data)
    assert (found["file type"], found["bytes"], found["pixels"]) == ("JPEG", len(data), 4800)
    assert found["aspect ratio"] == 60 / 80  # as viewers show it
    assert (found["camera"], found["EXIF orientation"]) == ("Canon EOS\\x1b 5D", "6")
    plain = image_properties(content(noisy, "WEBP"))
    assert (plain["file type"], plain["camera"], plain["EXIF orientation"]) == ("WEBP", None, None)
    assert plain["aspect ratio"] == 80 / 60


def test_large_images_are_halved_in_any_format():
    blocks = np.random.default_rng(0).integers(0, 255, (257, 300, 3), dtype=np.uint8)
    large = Image.fromarray(blocks.repeat(8, axis=0).repeat(8, axis=1))  # 2,400 x 2,056
    png, jpeg = (image_properties(content(large, kind)) for kind in ("PNG", "JPEG"))
    assert png["pixels"] == jpeg["pixels"] == 2400 * 2056
    assert png["brightness"] == pytest.approx(jpeg["brightness"], abs=1)
    assert png["sharpness"] == pytest.approx(jpeg["sharpness"], rel=0.1)
    halved = image_properties(content(large.reduce(2)))
    assert png["sharpness"] == pytest.approx(halved["sharpness"], rel=1e-6)


@pytest.mark.parametrize("side", [1, 2])
def test_the_smallest_images(side):
    found = image_properties(content(Image.new("RGBA", (side, side), (255, 0, 0, 0))))
    assert (found["brightness"], found["sharpness"], found["saturation"]) == (255, 0, 0)


def test_what_is_no_image_is_refused(noisy):
    with pytest.raises(ImageFileError):
        image_properties(content(noisy)[:300])
