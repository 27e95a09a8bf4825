"""Names of the values of masks: from options, a file beside the masks, or a published list."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from cobalance.base import InputError, Setting
from cobalance.ingest.fields import code_files, parse_codes
from cobalance.ingest.masks.pairs import Masks
from cobalance.ingest.names import map_values
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.trees import FileTree

COLUMN = "masks"
"""What the option ``names`` calls the values of masks."""
NOTHING = 255
"""Value of pixels without a label."""
_FILES = {
    "categories", "categorynames", "class", "classcolors", "classdict", "classdictseg", "classes",
    "classlist", "classmap", "classmapping", "classnames", "codes", "colormap", "colors",
    "colourmap", "colours",
    "datasetmeta", "id2label", "id2name", "label", "labelclassdict", "labelcolors",
    "labelcolours", "labellist", "labelmap", "labelnames", "labels", "names", "objectinfo150",
    "palette", "rgbcolorclasses",
}  # fmt: skip
_MAPILLARY = re.compile(r"config_v[\d.]+\.json", re.IGNORECASE)
_ENDINGS = (".txt", ".csv", ".json", ".names")
_MOST_BYTES, _MOST_NAMES = 1 << 20, 4096
_NO_LABEL = re.compile(
    r"(void|__ignore__|_background_|ignored?([ _-]?label)?|unlabell?ed([ _-]area)?|unknown"
    r"|no[ _-]?label)",
    re.IGNORECASE,
)
_VOC = ("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow",
        "diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa",
        "train", "tvmonitor")  # fmt: skip
_CITYSCAPES = (
    "unlabeled", "ego vehicle", "rectification border", "out of roi", "static", "dynamic",
    "ground", "road", "sidewalk", "parking", "rail track", "building", "wall", "fence",
    "guard rail", "bridge", "tunnel", "pole", "polegroup", "traffic light", "traffic sign",
    "vegetation", "terrain", "sky", "person", "rider", "car", "truck", "bus", "caravan",
    "trailer", "train", "motorcycle", "bicycle",
)  # fmt: skip
_TRAINED = ("road", "sidewalk", "building", "wall", "fence", "pole", "traffic light",
            "traffic sign", "vegetation", "terrain", "sky", "person", "rider", "car", "truck",
            "bus", "train", "motorcycle", "bicycle")  # fmt: skip
_CAMVID = {
    "64,128,64": "Animal", "192,0,128": "Archway", "0,128,192": "Bicyclist", "0,128,64": "Bridge",
    "128,0,0": "Building", "64,0,128": "Car", "64,0,192": "CartLuggagePram", "192,128,64": "Child",
    "192,192,128": "Column_Pole", "64,64,128": "Fence", "128,0,192": "LaneMkgsDriv",
    "192,0,64": "LaneMkgsNonDriv", "128,128,64": "Misc_Text", "192,0,192": "MotorcycleScooter",
    "128,64,64": "OtherMoving", "64,192,128": "ParkingBlock", "64,64,0": "Pedestrian",
    "128,64,128": "Road", "128,128,192": "RoadShoulder", "0,0,192": "Sidewalk",
    "192,128,128": "SignSymbol", "128,128,128": "Sky", "64,128,192": "SUVPickupTruck",
    "0,0,64": "TrafficCone", "0,64,64": "TrafficLight", "192,64,128": "Train",
    "128,128,0": "Tree", "192,128,192": "Truck_Bus", "64,0,64": "Tunnel",
    "192,192,0": "VegetationMisc", "0,0,0": "Void", "64,192,0": "Wall",
    # Segmenters are trained on these few, by their numbers.
    "0": "Sky", "1": "Building", "2": "Pole", "3": "Road", "4": "Pavement", "5": "Tree",
    "6": "SignSymbol", "7": "Fence", "8": "Car", "9": "Pedestrian", "10": "Bicyclist",
    "11": "Unlabelled",
}  # fmt: skip
_OF_CAMVID = re.compile(r"(^|/)(0001TP|0006R0|0016E5|Seq05VD)_\w+\.png$")
_OF_VOC = re.compile("segmentation_?class", re.IGNORECASE)


@dataclass(frozen=True)
class LabelNames:
    """Names of values and of colours (0xRRGGBB); None for void.

    `source` says where they are from. Where values are of instances, the value of a kind is that
    divided by `divisor`, if it is not below `first_instance`.
    """

    by_value: Mapping[int, str | None]
    by_colour: Mapping[int, str | None]
    source: str
    divisor: int = 1
    first_instance: int = 0

    def agrees(self, other: "LabelNames") -> bool:
        """Whether other names are the same."""
        return (self.by_value, self.by_colour) == (other.by_value, other.by_colour)

    def kind(self, value: int) -> int:
        """The value of a kind of things."""
        if value < self.first_instance:
            return value
        return value // self.divisor


_IDS = dict(enumerate(_CITYSCAPES[1:], start=1))
_OF_CITYSCAPES = (
    (
        re.compile(r"labelids\.\w+$", re.IGNORECASE),
        LabelNames(_IDS, {}, "Cityscapes' label ids"),
    ),
    (
        re.compile(r"instanceids\.\w+$", re.IGNORECASE),
        LabelNames(_IDS, {}, "Cityscapes' label ids", divisor=1000, first_instance=1000),
    ),
    # KITTI's masks have the same ids.
    (
        re.compile(r"(^|/)training/semantic/\d{6}_1\d\.png$"),
        LabelNames(_IDS, {}, "Cityscapes' label ids"),
    ),
    (
        re.compile(r"train_?ids\.\w+$", re.IGNORECASE),
        LabelNames({**dict(enumerate(_TRAINED)), 19: None}, {}, "Cityscapes' train ids"),
    ),
)


def label_names(tree: FileTree, masks: Masks, options: ReadOptions) -> LabelNames | None:
    """Names of the values of a tree's masks; None where nobody says them.

    Raises
    ------
    InputError
        A file of names cannot be used.
    """
    own = options.names.get(COLUMN)
    if own is not None:
        return _label_names_of(own, "the option names")
    return _of_file(tree) or _standard_names(masks)


def _of_file(tree: FileTree) -> LabelNames | None:
    """Names of the file that is nearest to the root, if there is one."""
    first: LabelNames | None = None
    files = filter(_kind_of_file, tree.below("", *_ENDINGS))
    for name in sorted(files, key=lambda name: (name.count("/"), name)):
        if first is not None and _kind_of_file(name) != _kind_of_file(first.source):
            continue
        labels = _read_names(tree, name)
        if first is None:
            first = labels

        # Of two datasets in one folder, or two versions of one, nobody says which is meant.
        elif labels is not None and not labels.agrees(first):
            raise InputError(
                str(tree.path),
                None,
                f"names the values of masks in {first.source} and otherwise in {name}",
                ("Read the folder of one of them, or set ", Setting("names"), " to masks=FILE."),
            )
    return first


def _read_names(tree: FileTree, name: str) -> LabelNames | None:
    """Names of one file; None where it has none."""
    try:
        content = tree.read(name, _MOST_BYTES).decode("utf-8-sig")
        names = code_files.parse_code_names(content, f"{tree.path}/{name}")
    except (UnicodeDecodeError, InputError):
        return None
    # So many are no kinds of things, but images.
    if len(names) > _MOST_NAMES:
        return None

    labels = _label_names_of(names, name)
    if not (labels.by_value or labels.by_colour) and name.endswith((".txt", ".names")):
        # Names of two words each, which might be codes and names.
        lines = filter(None, map(str.strip, content.splitlines()))
        labels = _label_names_of(dict(enumerate(lines)), name)
    if not (labels.by_value or labels.by_colour):
        return None
    return labels


def _kind_of_file(path: str) -> str:
    """Name of a file of names, without its version; empty for other files."""
    name = posixpath.basename(path)
    stem = re.sub("[-_ ]", "", posixpath.splitext(name)[0].lower())
    if _MAPILLARY.fullmatch(name) is not None:
        return "config"
    if stem in _FILES or name == "obj.names":
        return stem
    return ""


def _label_names_of(names: Mapping[Any, str], source: str) -> LabelNames:
    """Names of codes; None for void and the like."""
    by_value, by_colour = parse_codes(names)
    # LabelMe's list begins with -1.
    if by_value.get(0) == "__ignore__":
        by_value = {value - 1: name for value, name in by_value.items()}
    # Kaggle's masks may have the numbers of the colours instead of these, where 0 is black.
    if not by_value and next(iter(by_colour), None) == 0 and len(by_colour) > 1:
        by_value = dict(enumerate(by_colour.values()))
    return LabelNames(map_values(_thing, by_value), map_values(_thing, by_colour), source)


def _thing(name: str) -> str | None:
    if _NO_LABEL.fullmatch(name.strip()):
        return None
    return name


def _standard_names(masks: Masks) -> LabelNames | None:
    """Names that all masks of VOC or Cityscapes have."""
    paths = list(chain.from_iterable(masks.of_image.values()))
    if not paths:
        return None
    for pattern, labels in _OF_CITYSCAPES:
        if all(map(pattern.search, paths)):
            return labels
    if all(map(_OF_CAMVID.search, paths)):
        return _label_names_of(_CAMVID, "CamVid's colours")
    if all(map(_OF_VOC.search, paths)):
        by_value = dict(enumerate(map(_thing, _VOC), start=1))
        colours = dict(zip(map(_voc_colour, by_value), by_value.values(), strict=True))
        # VOC draws the edges of objects in this colour.
        colours[0xE0E0C0] = None
        return LabelNames(by_value, colours, "Pascal VOC's classes")
    return None


def _voc_colour(value: int) -> int:
    """Colour of a value in VOC's palette, whose bits are dealt to the channels in turn."""
    red = green = blue = 0
    for bit in range(7, -1, -1):
        red |= (value & 1) << bit
        green |= (value >> 1 & 1) << bit
        blue |= (value >> 2 & 1) << bit
        value >>= 3
    return red << 16 | green << 8 | blue
