"""The same small dataset as every format of a folder or one JSON file has it, by path."""

import csv
import io
import json
import zipfile
from typing import NamedTuple

from PIL import Image

WIDTH, HEIGHT = 64, 48


class Object(NamedTuple):
    """An object and its box in pixels."""

    name: str
    box: tuple[int, int, int, int] = (8, 12, 16, 24)


class Picture(NamedTuple):
    """An annotated image."""

    file: str
    split: str
    objects: tuple[Object, ...]


PICTURES = tuple(
    Picture(
        f"{number:03}.jpg",
        ("train", "val")[number % 3 == 0],
        tuple(
            Object(name)
            for name in (("bird", "fish")[number % 2], "water", "água", "tall tree")[
                : 1 + number % 4
            ]
        ),
    )
    for number in range(8)
)
NAMES = ("bird", "fish", "tall tree", "water", "água")
CLASSES = {"bird": "bird", "fish": "fish"}


def pixels() -> bytes:
    """A picture of the right size."""
    file = io.BytesIO()
    Image.new("RGB", (WIDTH, HEIGHT)).save(file, "JPEG")
    return file.getvalue()


def pascal_voc() -> dict[str, bytes]:
    """An XML file a picture."""
    files = {}
    for picture in PICTURES:
        objects = "".join(
            f"<object><name>{one.name}</name><bndbox><xmin>{x + 1}</xmin><ymin>{y + 1}</ymin>"
            f"<xmax>{x + w}</xmax><ymax>{y + h}</ymax></bndbox></object>"
            for one in picture.objects
            for x, y, w, h in [one.box]
        )
        files[f"Annotations/{picture.file[:-4]}.xml"] = (
            f"<annotation><filename>{picture.file}</filename><size><width>{WIDTH}</width>"
            f"<height>{HEIGHT}</height><depth>3</depth></size>{objects}</annotation>"
        ).encode()
    for split in ("train", "val"):
        stems = [picture.file[:-4] for picture in PICTURES if picture.split == split]
        files[f"ImageSets/Main/{split}.txt"] = "\n".join(stems).encode()
    return files


def cvat() -> dict[str, bytes]:
    """An XML file of all pictures."""
    images = "".join(
        f'<image id="{number}" name="{picture.file}" subset="{picture.split}" width="{WIDTH}" '
        f'height="{HEIGHT}">'
        + "".join(
            f'<box label="{one.name}" xtl="{x}" ytl="{y}" xbr="{x + w}" ybr="{y + h}"/>'
            for one in picture.objects
            for x, y, w, h in [one.box]
        )
        + "</image>"
        for number, picture in enumerate(PICTURES)
    )
    text = f"<annotations><version>1.1</version>{images}</annotations>"
    return {"annotations.xml": text.encode()}


def label_studio() -> dict[str, bytes]:
    """Tasks with boxes in percent; their images lie in folders of the splits."""
    tasks = [
        {
            "id": number,
            "data": {"image": f"/data/local-files/?d={picture.split}/{picture.file}"},
            "annotations": [
                {
                    "was_cancelled": False,
                    "result": [
                        {
                            "type": "rectanglelabels",
                            "from_name": "label",
                            "original_width": WIDTH,
                            "original_height": HEIGHT,
                            "value": {
                                "x": 100 * x / WIDTH,
                                "y": 100 * y / HEIGHT,
                                "width": 100 * w / WIDTH,
                                "height": 100 * h / HEIGHT,
                                "rectanglelabels": [one.name],
                            },
                        }
                        for one in picture.objects
                        for x, y, w, h in [one.box]
                    ],
                }
            ],
            "predictions": [],
        }
        for number, picture in enumerate(PICTURES)
    ]
    return {"tasks.json": json.dumps(tasks).encode()}


def labelme() -> dict[str, bytes]:
    """A file for each picture in a folder of its split."""
    return {
        f"{picture.split}/{picture.file[:-4]}.json": json.dumps(
            {
                "version": "5.5.0",
                "flags": {},
                "shapes": [
                    {"label": one.name, "points": [[x, y], [x + w, y + h]], "flags": {},
                     "shape_type": "rectangle"}
                    for one in picture.objects
                    for x, y, w, h in [one.box]
                ],
                "imagePath": picture.file,
                "imageHeight": HEIGHT,
                "imageWidth": WIDTH,
            }
        ).encode()
        for picture in PICTURES
    }  # fmt: skip


def scalabel() -> dict[str, bytes]:
    """Frames with boxes by their corners, in a file for each split."""
    return {
        f"{split}.json": json.dumps(
            {
                "frames": [
                    {
                        "name": picture.file,
                        "attributes": {},
                        "labels": [
                            {"category": one.name, "attributes": {},
                             "box2d": {"x1": x, "y1": y, "x2": x + w, "y2": y + h}}
                            for one in picture.objects
                            for x, y, w, h in [one.box]
                        ],
                    }
                    for picture in PICTURES
                    if picture.split == split
                ],
                "config": {"imageSize": {"width": WIDTH, "height": HEIGHT}},
            }
        ).encode()
        for split in ("train", "val")
    }  # fmt: skip


def yolo() -> dict[str, bytes]:
    """A text file a picture, and the pictures, which say how large they are."""
    names = "".join(f"  {number}: {name}\n" for number, name in enumerate(NAMES))
    files = {"data.yaml": f"train: images/train\nval: images/val\nnames:\n{names}".encode()}
    for picture in PICTURES:
        lines = [
            f"{NAMES.index(one.name)} {(x + w / 2) / WIDTH} {(y + h / 2) / HEIGHT} "
            f"{w / WIDTH} {h / HEIGHT}"
            for one in picture.objects
            for x, y, w, h in [one.box]
        ]
        files[f"images/{picture.split}/{picture.file}"] = pixels()
        files[f"labels/{picture.split}/{picture.file[:-4]}.txt"] = "\n".join(lines).encode()
    return files


def visual_genome() -> dict[str, bytes]:
    """Objects with synsets, and the pictures' sizes."""
    objects = [
        {
            "image_id": number,
            "image_url": f"https://example.org/VG/{picture.file}",
            "objects": [
                {
                    "object_id": at,
                    **dict(zip("xywh", one.box, strict=True)),
                    "names": [one.name.upper()],
                    "synsets": [f"{one.name.replace(' ', '_')}.n.01"],
                }
                for at, one in enumerate(picture.objects)
            ],
        }
        for number, picture in enumerate(PICTURES)
    ]
    sizes = [
        {"image_id": number, "width": WIDTH, "height": HEIGHT} for number in range(len(PICTURES))
    ]
    return {
        "objects.json": json.dumps(objects).encode(),
        "image_data.json": json.dumps(sizes).encode(),
    }


def fiftyone() -> dict[str, bytes]:
    """What FiftyOne exports: samples with relative boxes."""
    samples = [
        {
            "filepath": f"data/{picture.file}",
            "tags": [picture.split, "checked"],
            "metadata": {"_cls": "ImageMetadata", "width": WIDTH, "height": HEIGHT},
            "_media_type": "image",
            "ground_truth": {
                "_cls": "Detections",
                "detections": [
                    {
                        "_id": {"$oid": "0" * 24},
                        "_cls": "Detection",
                        "attributes": {},
                        "tags": [],
                        "label": one.name,
                        "bounding_box": [x / WIDTH, y / HEIGHT, w / WIDTH, h / HEIGHT],
                        "confidence": None,
                    }
                    for one in picture.objects
                    for x, y, w, h in [one.box]
                ],
            },
        }
        for picture in PICTURES
    ]
    return {
        "metadata.json": json.dumps({"name": "birds", "media_type": "image"}).encode(),
        "samples.json": json.dumps({"samples": samples}).encode(),
    }


def open_images() -> dict[str, bytes]:
    """Boxes of each split, and the names of the labels."""
    files = {}
    for split in ("train", "val"):
        file = io.StringIO()
        out = csv.writer(file)
        out.writerow(["ImageID", "Source", "LabelName", "Confidence", "IsGroupOf", "XMin"])
        for picture in PICTURES:
            for one in picture.objects if picture.split == split else ():
                label = f"/m/0{NAMES.index(one.name)}"
                out.writerow([picture.file[:-4], "xclick", label, 1, 0, 0.1])
        files[f"{split}-annotations-bbox.csv"] = file.getvalue().encode()
    rows = "".join(f"/m/0{number},{name}\n" for number, name in enumerate(NAMES))
    files["class-descriptions-boxable.csv"] = rows.encode()
    return files


def lvis() -> dict[str, bytes]:
    """COCO instances whose images name their addresses, and what they lack."""
    return {
        "lvis.json": json.dumps(
            {
                "images": [
                    {
                        "id": number,
                        "width": WIDTH,
                        "height": HEIGHT,
                        "coco_url": f"http://example.org/{picture.split}2017/{picture.file}",
                        "neg_category_ids": [],
                        "not_exhaustive_category_ids": [],
                    }
                    for number, picture in enumerate(PICTURES)
                ],
                "categories": [
                    {"id": number, "name": name, "synset": "x.n.01", "frequency": "f"}
                    for number, name in enumerate(NAMES, start=1)
                ],
                "annotations": [
                    {
                        "id": 100 * number + at,
                        "image_id": number,
                        "category_id": 1 + NAMES.index(one.name),
                        "bbox": one.box,
                        "area": 384,
                    }
                    for number, picture in enumerate(PICTURES)
                    for at, one in enumerate(picture.objects)
                ],
            }
        ).encode()
    }


DATASETS = {
    "cvat": cvat,
    "fiftyone": fiftyone,
    "label-studio": label_studio,
    "labelme": labelme,
    "lvis": lvis,
    "open-images": open_images,
    "pascal-voc": pascal_voc,
    "scalabel": scalabel,
    "visual-genome": visual_genome,
    "yolo": yolo,
}

ONE_FILE = {
    "cvat": "annotations.xml",
    "label-studio": "tasks.json",
    "lvis": "lvis.json",
    "visual-genome": "objects.json",
}
"""Formats that are one file, with its name; another may lie beside it."""


def archive(files: dict[str, bytes]) -> bytes:
    """A ZIP archive of files, not compressed, so that damage is seen by readers."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        for name, each in files.items():
            packed.writestr(name, each)
    return content.getvalue()
