"""Regions of label images, compared with masks drawn pixel by pixel."""

import io

import msgspec
import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as coco

from cobalance.vision.images import label_maps
from cobalance.vision.images.label_maps import label_regions, looks_drawn, read_label_map
from cobalance.vision.images.masks import SegmentationError, mask_box


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (5, 7), (40, 31), (64, 64)])
@pytest.mark.parametrize("scale", [1, 6])
def test_each_value_is_outlined_as_coco_does(shape, scale):
    random = np.random.default_rng(sum(shape))
    labels = np.kron(random.integers(0, 4, shape), np.ones((scale, scale), int)).astype(np.uint8)
    regions = label_regions(labels)
    assert [region.value for region in regions] == np.unique(labels).tolist()

    for region in regions:
        inside = labels == region.value
        assert region.area_px2 == inside.sum()
        assert region.box == mask_box(inside)
        expected = coco.encode(np.asfortranarray(inside, dtype=np.uint8))
        outline = msgspec.json.decode(region.segmentation)
        assert outline["counts"] == expected["counts"].decode()
        assert outline["size"] == list(labels.shape)


def encode(image, kind="PNG", **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def test_values_of_all_modes():
    pixels = np.array([[0, 1, 3], [3, 3, 1]], dtype=np.uint8)
    grey = Image.fromarray(pixels)
    palette = grey.copy()
    palette.putpalette([0, 0, 0, 9, 8, 7, 0, 0, 0, 1, 2, 3])
    label_map = read_label_map(encode(palette))
    assert (label_map.labels == pixels).all()
    assert label_map.palette[1] == 0x090807

    assert (read_label_map(encode(grey)).labels == pixels).all()
    wide = Image.fromarray(pixels.astype(np.uint16) * 300)
    for kind in ("PNG", "TIFF"):
        assert (read_label_map(encode(wide, kind)).labels == pixels.astype(int) * 300).all()
    one_bit = Image.fromarray(pixels > 1)
    assert read_label_map(encode(one_bit)).labels.tolist() == [[0, 0, 1], [1, 1, 0]]
    colours = read_label_map(encode(palette.convert("RGB")))
    assert colours.is_colour
    assert set(np.unique(colours.labels).tolist()) == {0, 0x090807, 0x010203}


def test_noise_has_too_many_runs(monkeypatch):
    monkeypatch.setattr(label_maps, "MOST_RUNS", 50)
    with pytest.raises(SegmentationError, match="more than 50 runs"):
        label_regions(np.random.default_rng(0).integers(0, 9, (20, 20)))


def test_masks_look_drawn_and_photographs_do_not():
    random = np.random.default_rng(0)
    photograph = Image.fromarray(random.integers(0, 256, (64, 64, 3)).astype(np.uint8))
    labels = np.zeros((64, 64), dtype=np.uint8)
    labels[10:30, 5:50] = 255
    assert not looks_drawn(encode(photograph))
    assert not looks_drawn(encode(photograph, "JPEG"))
    assert not looks_drawn(encode(photograph.convert("L")))
    for image in (Image.fromarray(labels), Image.fromarray(labels).convert("RGB")):
        assert looks_drawn(encode(image))
        assert looks_drawn(encode(image, "JPEG"))
    assert not looks_drawn(encode(Image.new("RGB", (64, 64), "red")))
