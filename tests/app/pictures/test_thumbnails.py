"""What is shown of an image file: size, orientation, colours."""

from io import BytesIO

import numpy as np
import pytest
from PIL import ExifTags, Image

from tests.app.pictures.conftest import BLUE, RED, close, content, pixels, saved, shows


def test_sizes(files, root):
    (root / "wide.png").write_bytes(content((4000, 100)))
    (root / "small.png").write_bytes(content((20, 10)))
    sizes = {
        (name, size): (picture.width_px, picture.height_px)
        for name in ("wide.png", "small.png")
        for size in (256, 16)
        for picture in [files.thumbnail(name, size)]
    }
    assert sizes["wide.png", 256][0] == 256
    assert sizes["wide.png", 16] == (16, 1)
    assert sizes["small.png", 256] == (20, 10)
    assert files.full("wide.png").width_px == 1600
    assert files.full("wide.png", 800).width_px == 800


def halves(size, **options):
    """An image whose upper half is red."""
    image = Image.new("RGB", size, BLUE)
    image.paste(RED, (0, 0, size[0], size[1] // 2))
    file = BytesIO()
    image.save(file, **options)
    return file.getvalue()


# Where the row that is stored first has to be shown.
SIDES = {1: "top", 2: "top", 3: "bottom", 4: "bottom", 5: "left", 6: "right", 7: "right", 8: "left"}


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize(("orientation", "side"), SIDES.items())
def test_exif_orientation(files, root, orientation, side, kind):
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    (root / "a").write_bytes(halves((400, 200), format=kind, exif=exif))
    picture = files.thumbnail("a", 100)
    assert (picture.width_px > picture.height_px) == (orientation < 5)
    shown = pixels(picture)
    edge = {"top": shown[:9], "bottom": shown[-9:], "left": shown[:, :9], "right": shown[:, -9:]}
    assert close(edge[side].mean(axis=(0, 1)), RED)


def test_modes(files, root):
    deep = Image.fromarray(np.full((30, 40), 40_000, dtype=np.uint16))
    floats = Image.fromarray(np.full((30, 40), 100.0, dtype=np.float32))
    clear = Image.new("RGBA", (40, 30), (*RED, 0))
    indexed = Image.new("RGB", (40, 30), RED).convert("P")
    for name, data, color in (
        ("deep", saved(deep), (156, 156, 156)),
        ("floats", saved(floats, "TIFF"), (100, 100, 100)),
        ("clear", saved(clear), (255, 255, 255)),
        ("indexed", saved(indexed), RED),
        ("grey", saved(Image.new("L", (40, 30), 90)), (90, 90, 90)),
        ("bits", saved(Image.new("1", (40, 30), 1)), (255, 255, 255)),
        ("ink", saved(Image.new("CMYK", (40, 30), (0, 255, 255, 30)), "JPEG"), RED),
    ):
        (root / name).write_bytes(data)
        assert shows(files.thumbnail(name), color), name
