"""Each image has its own picture or none, whatever else lies in the folder."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from random import Random
from urllib.parse import quote

import pytest
from PIL import Image

from cobalance.ingest.load import read_annotations
from cobalance.ingest.pictures import NamedPicture, PictureMatcher
from cobalance.vision.images.image_file import ImageFileError
from cobalance.vision.images.roots import ImageRoots

SQUARE = [[1, 1], [9, 1], [9, 5]]
DECOY = 255  # the number of a picture that belongs to no image


def paint(path: Path, number: int) -> None:
    """Save a picture whose colour is a number."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (20, 10), (number, 0, 0)).save(path, lossless=True)


def labelme(root: Path, set_: str, images: dict[int, str]) -> None:
    for number, name in images.items():
        shape = {"label": f"n{number}", "points": SQUARE, "shape_type": "polygon"}
        size = {"imageHeight": 10, "imageWidth": 20}
        record = {"shapes": [shape], "imagePath": name, **size}
        file = root / set_ / f"{set_}{number}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(record))


def voc(root: Path, set_: str, images: dict[int, str]) -> None:
    for number, name in images.items():
        box = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>"
        thing = f"<object><name>n{number}</name>{box}</object>"
        file = root / set_ / "Annotations" / f"{number}.xml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"<annotation><filename>{name}</filename>{thing}</annotation>")


def createml(root: Path, set_: str, images: dict[int, str]) -> None:
    place = {"x": 5, "y": 5, "width": 4, "height": 4}
    records = [
        {"image": name, "annotations": [{"label": f"n{number}", "coordinates": place}]}
        for number, name in images.items()
    ]
    (root / set_).mkdir(parents=True, exist_ok=True)
    (root / set_ / "createml.json").write_text(json.dumps(records))


def label_studio(root: Path, set_: str, images: dict[int, str]) -> None:
    tasks = []
    for number, name in images.items():
        value = {"x": 1, "y": 1, "width": 2, "height": 2, "rectanglelabels": [f"n{number}"]}
        result = {"type": "rectanglelabels", "from_name": "l", "value": value, "id": "r"}
        data = {"image": f"/data/local-files/?d={name}"}
        tasks.append({"id": number, "data": data, "annotations": [{"result": [result]}]})
    (root / set_).mkdir(parents=True, exist_ok=True)
    (root / set_ / "tasks.json").write_text(json.dumps(tasks))


def coco(root: Path, set_: str, images: dict[int, str]) -> None:
    size = {"width": 20, "height": 10}
    document = {
        "images": [{"id": number, "file_name": name, **size} for number, name in images.items()],
        "categories": [{"id": number, "name": f"n{number}"} for number in images],
        "annotations": [
            {"id": number, "image_id": number, "category_id": number, "bbox": [1, 1, 5, 5]}
            for number in images
        ],
    }
    (root / set_).mkdir(parents=True, exist_ok=True)
    (root / set_ / "boxes.json").write_text(json.dumps(document))


def table(root: Path, set_: str, images: dict[int, str]) -> None:
    rows = "".join(f'"{name}",n{number}\n' for number, name in images.items())
    (root / set_).mkdir(parents=True, exist_ok=True)
    (root / set_ / "labels.csv").write_text("file_name,concepts\n" + rows)


Write = Callable[[Path, str, dict[int, str]], None]
FORMATS: dict[str, tuple[Write, str]] = {
    "labelme": (labelme, ""),
    "voc": (voc, "JPEGImages/"),
    "createml": (createml, ""),
    "label-studio": (label_studio, "photos/"),
    "coco": (coco, "images/"),
    "table": (table, ""),
}
STATES = ("own", "own", "missing", "other ending", "percent", "spaces")


def draw_layout(root: Path, write: Write, folder: str, draw: Random) -> dict[int, str]:
    """Write a dataset of one or two sets, and return the state of each image."""
    states: dict[int, str] = {}
    sets = ("north", "south") if draw.random() < 0.5 else ("",)
    for place in sets:
        images: dict[int, str] = {}
        for _ in range(5):
            number = len(states) + 1
            state = states[number] = "own" if not images else draw.choice(STATES)
            name = f"a {number} b" if state in ("percent", "spaces") else f"{number:04}"
            ending = draw.choice(("png", "webp"))
            kept = f"{name}.{ending}"
            given = f"{name}.jpg" if state == "other ending" else kept
            images[number] = quote(given) if state == "percent" else given
            if state != "missing":
                paint(root / place / folder / kept, number)
            elif len(sets) == 2:  # a picture of the same name in the other set, of no image
                other = sets[1 - sets.index(place)]
                paint(root / other / folder / kept, DECOY)
            else:
                paint(root / "masks" / kept, DECOY)
        write(root, place, images)
    paint(root / sets[0] / folder / "zzzz.png", DECOY)  # the last of a folder belongs to nobody
    return states


def shown_number(roots: ImageRoots, uri: object) -> int | None:
    """The number of the picture that an image shows; None where none is found."""
    if not isinstance(uri, str):
        return None
    try:
        content = roots.find(uri).read()
    except ImageFileError:
        return None
    return Image.open(BytesIO(content)).convert("RGB").getpixel((0, 0))[0]  # type: ignore[index,return-value]


@pytest.mark.parametrize("kind", FORMATS)
def test_each_image_shows_its_own_picture_or_none(kind: str, tmp_path: Path) -> None:
    write, folder = FORMATS[kind]
    wrong, lost = [], []
    for seed in range(12):
        root = tmp_path / f"data {seed}"
        states = draw_layout(root, write, folder, Random(f"{kind} {seed}"))
        found = read_annotations(root, input_format=None)
        roots = ImageRoots([str(root)])
        names = found.mentions["concept"].astype(str).tolist()
        of_image = dict(zip(found.mentions["image"], names, strict=True))
        assert len(of_image) == len(states)
        for row, name in of_image.items():
            number = int(name.removeprefix("n"))
            uri = found.images["uri"][row]
            shown = shown_number(roots, uri)
            report = (seed, number, states[number], uri, shown)
            if shown not in (None, number):
                wrong.append(report)
            if shown is None and states[number] != "missing":
                lost.append(report)
    assert (wrong, lost) == ([], [])


@pytest.mark.parametrize(
    ("paths", "named", "found"),
    [
        (["a.png", "b.png"], [NamedPicture(""), NamedPicture("b")], [None, "b.png"]),
        # A mask, or the other camera, is called as the picture is.
        (["masks/1.png"], [NamedPicture("1.jpg")], [None]),
        (
            ["image_2/1.png", "image_3/1.png"],
            [NamedPicture("1", "label_2/1.txt")],
            ["image_2/1.png"],
        ),
        (["x/1.png", "y/1.png"], [NamedPicture("1.png", "all.json")], [None]),
        # Another image has the picture by its own name.
        (["b.png"], [NamedPicture("b.jpg"), NamedPicture("b.png")], [None, "b.png"]),
        (["b.png"], [NamedPicture("b.jpg"), NamedPicture("b.bmp")], [None, None]),
        (["b.png"], [NamedPicture("b.png"), NamedPicture("b.png")], ["b.png", "b.png"]),
        # Splits lie apart.
        (["train/1.png"], [NamedPicture("1.png", "val.json", "val")], [None]),
        (["val/1.png"], [NamedPicture("1.png", "val.json", "val")], ["val/1.png"]),
        # Addresses from elsewhere, whose folders are other ones.
        (["images/1.png"], [NamedPicture("s3://bucket/park/1.png?sig=0")], ["images/1.png"]),
        (["lake/1.png"], [NamedPicture("s3://bucket/park/1.png")], [None]),
        (["park/1.png"], [NamedPicture("C:\\Users\\me\\park\\1.png")], ["park/1.png"]),
        (["south/1.png"], [NamedPicture("north/1.png")], [None]),
        (["img/1.png"], [NamedPicture("../img/1.png", "ann/1.json")], ["img/1.png"]),
    ],
)
def test_which_picture_a_name_is_of(paths, named, found) -> None:
    assert PictureMatcher(paths, "/data/set").match(named) == found


@pytest.mark.parametrize("uri", ["a%20b.png", "file://a%20b.png", "set\\c%C3%A9.png", "c%25.png"])
def test_a_percent_encoded_address_leads_to_its_file(uri: str, tmp_path: Path) -> None:
    for number, name in enumerate(("a b.png", "set/cé.png", "c%.png", "set/other.png")):
        paint(tmp_path / name, number)
    wanted = {"a": 0, "f": 0, "s": 1, "c": 2}[uri[0]]
    assert shown_number(ImageRoots([str(tmp_path)]), uri) == wanted


def test_a_name_is_taken_as_it_is_before_it_is_decoded(tmp_path: Path) -> None:
    paint(tmp_path / "first" / "a%20b.png", 1)
    paint(tmp_path / "first" / "a b.png", 2)
    paint(tmp_path / "second" / "c%20d.png", 3)
    roots = ImageRoots([str(tmp_path / "first"), str(tmp_path / "second")])
    numbers = [shown_number(roots, uri) for uri in ("a%20b.png", "a b.png", "c%20d.png", "c d.png")]
    assert numbers == [1, 2, 3, None]


def test_cityscapes_pictures_are_called_otherwise_than_its_annotations(tmp_path: Path) -> None:
    for number, city in enumerate(("train/ulm/ulm_000000_000001", "val/bonn/bonn_000000_000001")):
        paint(tmp_path / "leftImg8bit" / f"{city}_leftImg8bit.png", number)
        paint(tmp_path / "gtFine" / f"{city}_gtFine_color.png", DECOY)
        objects = [{"label": f"n{number}", "polygon": SQUARE}]
        record = {"imgHeight": 10, "imgWidth": 20, "objects": objects}
        (tmp_path / "gtFine" / f"{city}_gtFine_polygons.json").write_text(json.dumps(record))
    roots = ImageRoots([str(tmp_path), str(tmp_path / "gtFine")])
    whole = read_annotations(tmp_path).images["uri"]
    assert [shown_number(roots, uri) for uri in whole] == [0, 1]
    alone = read_annotations(tmp_path / "gtFine").images["uri"]
    assert [shown_number(roots, uri) for uri in alone] == [None, None]
