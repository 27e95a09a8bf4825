"""Regions and activation maps drawn on pictures."""

from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from PIL import ExifTags, Image

from cobalance.app.web.pictures.drawing import draw_heat, draw_regions
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.vision.images.image_file import ImageFileError
from cobalance.vision.images.regions import read_regions, write_regions
from tests.app.web.pictures.conftest import HOSTILE, cached, close, content, pixels, saved


@pytest.fixture
def regions(tmp_path):
    """Regions of one image by way of their file, as pages get them."""

    def make(*mentions, size=(400, 300)):
        record = ImageRecord("a", "street", mentions, None, None, *size)
        write_regions(tmp_path, "d", Annotations.from_records([record]), replace=True)
        return read_regions(tmp_path, "d", ["a"])

    return make


def region(concept="cow", box=(100, 60, 200, 150), segmentation=None, score=None):
    return Mention(concept, score=score, box=box, segmentation=segmentation)


COLORS = {"cow": "#D55E00"}
ORANGE = (213, 94, 0)
SQUARE = "[[100,60,300,60,300,210,100,210]]"


@pytest.mark.parametrize("paper", ["white", "black", "grey", "#D55E00"])
def test_boxes_stand_out(regions, paper):
    image = draw_regions(Image.new("RGB", (400, 300), paper), regions(region()), COLORS)
    with Image.open(BytesIO(saved(image, "JPEG", quality=88, subsampling=0))) as sent:
        shown = np.asarray(sent).astype(int)
    below = np.array(Image.new("RGB", (1, 1), paper)).reshape(3)
    edge = shown[200:216, 150]  # down across the lower edge
    assert np.abs(edge - below).sum(axis=1).max() > 150  # some line differs from the paper
    assert close(shown[210, 150:250].mean(axis=0), ORANGE, 40)
    assert close(shown[130, 200], below)  # nothing inside
    assert close(shown[280, 200], below)  # nor outside
    label = shown[44:60, 100:140].reshape(-1, 3)
    assert label.mean(axis=1).max() - label.mean(axis=1).min() > 90  # its text


def test_masks(regions):
    paper = Image.new("RGB", (400, 300), "white")
    shape = '{"size":[300,400],"counts":[30060,150,89790]}'  # a column of pixels
    for segmentation, column in ((SQUARE, 200), (shape, 100)):
        found = regions(region(segmentation=segmentation))
        drawn = draw_regions(paper.copy(), found, COLORS)
        assert not close(np.asarray(drawn)[130, column].astype(int), (255, 255, 255))
    drawn = draw_regions(paper.copy(), regions(region()), COLORS)
    assert close(np.asarray(drawn)[130, 200].astype(int), (255, 255, 255))


def test_regions_are_scaled_to_the_picture(files, root, regions):
    (root / "a.png").write_bytes(content((2000, 1500), "white"))
    found = regions(region(segmentation=SQUARE), size=(400, 300))
    for size in (1600, 200):
        shown = pixels(files.with_regions("a.png", found, COLORS, size))
        height, width = shown.shape[:2]
        assert (width, height) == (size, size * 3 // 4)
        inside = shown[height * 130 // 300, width // 2]
        assert not close(inside, (255, 255, 255))
        assert close(shown[height * 130 // 300, width * 330 // 400], (255, 255, 255))


def test_the_file_gives_the_scale_where_the_annotations_do_not(files, root, regions):
    (root / "a.png").write_bytes(content((2000, 1500), "white"))
    found = regions(region(box=(1500, 1000, 400, 400)), size=(None, None))
    shown = pixels(files.with_regions("a.png", found, COLORS, 200))
    assert not close(shown[140, 150:190].mean(axis=0), (255, 255, 255))
    assert close(shown[:90].mean(axis=(0, 1)), (255, 255, 255), 3)


@pytest.mark.parametrize(("size", "upright"), [((300, 400), True), ((400, 300), False)])
def test_regions_of_a_picture_that_exif_turns(files, root, regions, size, upright):
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    (root / "a.jpg").write_bytes(content((400, 300), "white", "JPEG", exif=exif))
    picture = files.with_regions("a.jpg", regions(region(), size=size), COLORS)
    assert (picture.height_px > picture.width_px) == upright


@pytest.mark.parametrize("name", [*HOSTILE[:6], "a"])
def test_hostile_regions(files, root, regions, name):
    (root / "a.png").write_bytes(content((400, 300)))
    (root / "dot.png").write_bytes(content((1, 1)))
    far = float(2**40)
    found = regions(
        region(name),
        region(name, (-50, -50, 1000, 1000)),
        region(name, (-500, 0, 10, 10)),
        region(name, (400, 300, 1, 1)),
        region(name, (399, 299, 0, 0)),
        region(name, (-far, -far, far, far)),
        region(name, (0, 0, far, far)),
        region(name, (float("inf"), 0, 1, 1)),
        region(name, None, "[[0,0,9,9]]"),
        region(name, None, SQUARE),
        region(name, None, "[1,2"),
        region(name, None, '{"size":[9999999,9999999],"counts":"x"}'),
        region(name, None, "[[-1000,-1000,5000,-1000,5000,5000]]"),
        *[region(name, (n, n, 5, 5), score=0.5) for n in range(300)],
    )
    for uri in ("a.png", "dot.png"):
        for size in (1600, 100, 1):
            assert files.with_regions(uri, found, {name: "no colour"}, size).problem is None


def test_boxes_outside_are_left_out(files, root, regions):
    (root / "a.png").write_bytes(content((400, 300), "white"))
    found = regions(region(box=(500, 10, 30, 30)), region(box=(10, -90, 30, 30)))
    assert pixels(files.with_regions("a.png", found, COLORS)).min() > 240


def test_pictures_with_regions_are_kept(files, root, regions, tmp_path):
    (root / "a.png").write_bytes(content((400, 300)))
    found = regions(region(segmentation=SQUARE))
    first = files.with_regions("a.png", found, COLORS)
    n_kept = len(cached(tmp_path / "cache"))
    assert files.with_regions("a.png", found, COLORS) == first
    assert len(cached(tmp_path / "cache")) == n_kept
    for other in (
        files.with_regions("a.png", found, {"cow": "blue"}),
        files.with_regions("a.png", regions(region()), COLORS),
        files.with_regions("a.png", found.iloc[:0], COLORS),
    ):
        assert other.data != first.data


def test_gallery(files, root, tmp_path):
    records = []
    for number in range(12):
        name = f"{number}.png"
        (root / name).write_bytes(content((400, 300), "white"))
        mentions = [region()] if number % 2 else []
        records.append(ImageRecord(f"id {number}", "street", tuple(mentions), None, name, 400, 300))
    write_regions(tmp_path, "d", Annotations.from_records(records))
    ids = [record.id for record in records]
    images = {record.id: record.uri for record in records} | {"id 99": "none.png"}
    regions = read_regions(tmp_path, "d", ids)
    labelled = files.grid(images, regions, COLORS, 200, labelled=True)
    found = [drawn or plain for plain, drawn in labelled]
    drawn_on = [pixels(picture).min() < 200 for picture in found[:-1]]
    assert drawn_on == [bool(number % 2) for number in range(12)]
    assert "no such file" in str(found[-1].problem)
    assert files.grid({}, pd.DataFrame({"id": []}), COLORS) == []
    pairs = files.grid(images, regions, COLORS, 200)
    thumbnails = [files.thumbnail(uri, 200).data for uri in images.values()]
    assert [plain.data for plain, _ in pairs] == thumbnails
    assert [drawn is not None for _, drawn in pairs] == [*drawn_on, False]


def test_names_cover_no_small_picture(files, root, regions):
    (root / "a.png").write_bytes(content((400, 300), "white"))
    box = (40, 60, 300, 200)
    one, other = (regions(region(concept, box=box)) for concept in ("cow", "a long name of a cow"))
    colors = dict.fromkeys(("cow", "a long name of a cow"), "#0072B2")

    def drawn(found, size_px, **options):
        return files.with_regions("a.png", found, colors, size_px, **options).data

    assert drawn(one, 400) != drawn(other, 400)
    assert drawn(one, 120) == drawn(other, 120)
    assert drawn(one, 400, labelled=False) == drawn(other, 400, labelled=False)


def encoded(pixels):
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def test_bright_parts_of_the_map_are_coloured_and_dark_ones_dimmed():
    picture = encoded(np.full((32, 48, 3), 100, np.uint8))
    activation = np.zeros((8, 12), np.uint8)
    activation[:, 6:] = 255
    drawn = np.asarray(Image.open(BytesIO(draw_heat(picture, encoded(activation)))), float)
    assert drawn.shape == (32, 48, 3)
    cold, hot = drawn[:, :12].mean(axis=(0, 1)), drawn[:, 36:].mean(axis=(0, 1))
    assert cold == pytest.approx([75, 75, 75], abs=4)
    assert hot[0] > 150 > hot[2]


def test_what_is_no_image_is_refused():
    with pytest.raises(ImageFileError):
        draw_heat(encoded(np.zeros((4, 4, 3), np.uint8)), b"no image")
