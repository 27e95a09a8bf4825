"""Images with masks whose values say what each pixel shows."""

import io
from pathlib import Path

import numpy as np
from PIL import Image

from tests.ingest.published.form import (
    HEIGHT,
    WIDTH,
    Box,
    Seen,
    form,
    put,
    put_csv,
    put_pictures,
    seen,
)

_PLACES: tuple[Box, ...] = ((0, 0, 20, 10), (24, 20, 9, 13), (40, 30, 5, 6))


def _mask(*values: int | tuple[int, int, int], palette: bool = False) -> bytes:
    """A mask with a rectangle for each value, and nothing elsewhere."""
    is_colour = bool(values) and isinstance(values[0], tuple)
    pixels = np.zeros((HEIGHT, WIDTH, 3) if is_colour else (HEIGHT, WIDTH), dtype=np.uint8)
    for value, place in zip(values, _PLACES, strict=False):
        x, y, width, height = map(int, place)
        pixels[y : y + height, x : x + width] = value
    image = Image.fromarray(pixels)
    if palette:
        image.putpalette(list(range(256)) * 3)

    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def _seen(*names: str, split: str | None) -> Seen:
    places = {name.replace(" ", "_"): place for name, place in zip(names, _PLACES, strict=False)}
    return seen(split=split, **places)


@form(
    "Cityscapes, masks alone",
    "cityscapes",
    {
        "ulm_000000_000019_leftImg8bit": _seen("road", "car", split="train"),
        "ulm_000001_000019_leftImg8bit": _seen("road", split="train"),
        "lindau_000000_000019_leftImg8bit": _seen("sky", "traffic light", split="val"),
    },
)
def cityscapes_masks(folder: Path) -> None:
    """mcordts/cityscapesScripts, README and labels.py: ids by pixel, beside colours."""
    values = {"train/ulm/ulm_000000_000019": (7, 26), "train/ulm/ulm_000001_000019": (7,),
              "val/lindau/lindau_000000_000019": (23, 19)}  # fmt: skip
    root = folder / "cityscapes"
    for stem, ids in values.items():
        put_pictures(root / "leftImg8bit", [f"{stem}_leftImg8bit.png"])
        put(root / f"gtFine/{stem}_gtFine_labelIds.png", _mask(*ids))
        put(root / f"gtFine/{stem}_gtFine_color.png", _mask((128, 64, 128), (0, 0, 142)))
        put(root / f"gtFine/{stem}_gtFine_instanceIds.png", _mask(*ids))


@form(
    "Pascal VOC, segmentation",
    "VOCdevkit/VOC2012",
    {
        "2007_000032": _seen("aeroplane", "person", split="train"),
        "2007_000033": _seen("aeroplane", split="val"),
    },
)
def voc_masks(folder: Path) -> None:
    """Pascal VOC 2012, Development kit: indices of a palette, 255 around objects."""
    root = folder / "VOCdevkit/VOC2012"
    put_pictures(root / "JPEGImages", [f"2007_0000{number}.jpg" for number in (27, 32, 33)])
    for name, values in (("2007_000032", (1, 15, 255)), ("2007_000033", (1,))):
        put(root / f"SegmentationClass/{name}.png", _mask(*values, palette=True))
        put(root / f"SegmentationObject/{name}.png", _mask(1, 2, palette=True))
    put(root / "ImageSets/Segmentation/train.txt", "2007_000032\n")
    put(root / "ImageSets/Segmentation/val.txt", "2007_000033\n")


@form(
    "ADE20K scene parsing, masks",
    "ADEChallengeData2016",
    {
        "ADE_train_00000001": _seen("wall", "building, edifice", split="train"),
        "ADE_val_00000001": _seen("sky", split="val"),
    },
)
def ade20k_masks(folder: Path) -> None:
    """CSAILVision/sceneparsing, README: 1 to 150 as objectInfo150.txt lists them, 0 for others."""
    root = folder / "ADEChallengeData2016"
    for split, name, values in (
        ("training", "ADE_train_00000001", (1, 2)),
        ("validation", "ADE_val_00000001", (3,)),
    ):
        put_pictures(root / "images" / split, [f"{name}.jpg"])
        put(root / f"annotations/{split}/{name}.png", _mask(*values))
    rows = [
        "Idx\tRatio\tTrain\tVal\tStuff\tName",
        "1\t0.1576\t11664\t1172\t1\twall",
        "2\t0.1072\t6046\t612\t1\tbuilding, edifice",
        "3\t0.0878\t8265\t796\t1\tsky",
    ]
    put(root / "objectInfo150.txt", "\n".join(rows))


@form(
    "CamVid",
    "camvid",
    {
        "0001TP_006690": _seen("Road", "Car", split=None),
        "0016E5_07959": _seen("Road", "Sky", "Bicyclist", split=None),
    },
)
def camvid(folder: Path) -> None:
    """CamVid, label_colors.txt: red, green, blue and a name; masks end in _L."""
    road, car, sky, rider = (128, 64, 128), (64, 0, 128), (128, 128, 128), (0, 128, 192)
    root = folder / "camvid"
    for name, colours in (("0001TP_006690", (road, car)), ("0016E5_07959", (road, sky, rider))):
        put_pictures(root / "701_StillsRaw_full", [f"{name}.png"])
        put(root / f"LabeledApproved_full/{name}_L.png", _mask(*colours))
    lines = ["64 128 64\tAnimal", "128 64 128\t\tRoad", "64 0 128\t\tCar", "128 128 128\tSky",
             "0 128 192\tBicyclist", "0 0 0\t\tVoid"]  # fmt: skip
    put(root / "label_colors.txt", "\n".join(lines))


@form(
    "Masks on Kaggle, with class_dict.csv",
    "aerial",
    {"images/000": _seen("Building", "Road", split=None), "images/001": _seen("Road", split=None)},
)
def kaggle_masks(folder: Path) -> None:
    """Kaggle, such as massachusetts-buildings-dataset: images, masks, and a table of colours."""
    building, road = (60, 16, 152), (110, 193, 228)
    for name, colours in (("000", (building, road)), ("001", (road,))):
        put_pictures(folder / "aerial/images", [f"{name}.jpg"])
        put(folder / f"aerial/masks/{name}.png", _mask(*colours))
    rows = [("Unlabeled", 0, 0, 0), ("Building", *building), ("Road", *road)]
    put_csv(folder / "aerial/class_dict.csv", "name,r,g,b", rows)


@form(
    "Kvasir-SEG and others: masks of one thing",
    "kvasir --names masks:255=polyp",
    {"images/a": _seen("polyp", split=None), "images/b": _seen(split=None)},
)
def binary_masks(folder: Path) -> None:
    """Simula, Kvasir-SEG: images and masks of the same names, black and white."""
    put_pictures(folder / "kvasir/images", ["a.jpg", "b.jpg"])
    put(folder / "kvasir/masks/a.png", _mask(255))
    put(folder / "kvasir/masks/b.png", _mask())
