"""Detection and driving datasets with an annotation format of their own."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from tests.ingest.published.form import (
    HEIGHT,
    WIDTH,
    form,
    put,
    put_csv,
    put_json,
    put_pictures,
    seen,
)

CAR, BUS, PERSON = (8, 12, 16, 24), (30, 10, 20, 30), (2, 4, 6, 20)


def _corners(box: tuple[float, ...]) -> tuple[float, float, float, float]:
    x, y, w, h = box
    return x, y, x + w, y + h


def _box2d(box: tuple[float, ...]) -> dict[str, float]:
    return dict(zip(("x1", "y1", "x2", "y2"), _corners(box), strict=True))


@form(
    "YOLO (Ultralytics)",
    "coco8",
    {
        "images/train/000000000009.jpg": seen(person=PERSON, bus=[BUS, CAR], split="train"),
        "images/train/000000000025.jpg": seen(bus=BUS, split="train"),
        "images/train/000000000030.jpg": seen(split="train"),
        "images/val/000000000036.jpg": seen(person=PERSON, split="val"),
    },
)
def yolo(folder: Path) -> None:
    """Ultralytics, Object detection datasets: relative boxes, no file for an image of nothing."""
    root = folder / "coco8"
    put(
        root / "coco8.yaml",
        "path: coco8\ntrain: images/train\nval: images/val\ntest:\n\n"
        "names:\n  0: person\n  1: bicycle\n  5: bus\n",
    )
    put_pictures(root / "images/train", [f"0000000000{n}.jpg" for n in ("09", "25", "30")])
    put_pictures(root / "images/val", ["000000000036.jpg"])
    put(root / "labels/train/000000000009.txt", _yolo((0, PERSON), (5, BUS), (5, CAR)))
    put(root / "labels/train/000000000025.txt", _yolo((5, BUS)))
    put(root / "labels/val/000000000036.txt", _yolo((0, PERSON)))


def _yolo(*shown: tuple[int, tuple[int, int, int, int]]) -> str:
    return "".join(
        f"{code} {(x + w / 2) / WIDTH:.6f} {(y + h / 2) / HEIGHT:.6f} {w / WIDTH:.6f} "
        f"{h / HEIGHT:.6f}\n"
        for code, (x, y, w, h) in shown
    )


@form(
    "YOLO whose label file repeats a box",
    "bees",
    {"images/a.jpg": seen(bee=CAR, split="train"), "images/b.jpg": seen(bee=[CAR, BUS],
                                                                       split="train")},
)  # fmt: skip
def yolo_duplicates(folder: Path) -> None:
    """Ultralytics, which removes labels that are equal: they count once."""
    root = folder / "bees"
    put(root / "data.yaml", "train: images\nval: images\nnc: 1\nnames: ['bee']\n")
    put_pictures(root / "images", ["a.jpg", "b.jpg"])
    put(root / "labels/a.txt", _yolo((0, CAR), (0, CAR)))
    put(root / "labels/b.txt", _yolo((0, CAR), (0, BUS), (0, CAR)))


@form(
    "Roboflow, YOLO export",
    "hard-hat",
    {
        "train/images/a_jpg.rf.1.jpg": seen(helmet=CAR, split="train"),
        "train/images/b_jpg.rf.2.jpg": seen(head=BUS, split="train"),
        "valid/images/c_jpg.rf.3.jpg": seen(helmet=CAR, head=BUS, split="val"),
        "test/images/d_jpg.rf.4.jpg": seen(split="test"),
    },
)
def roboflow_yolo(folder: Path) -> None:
    """Roboflow, Formats, YOLOv8: data.yaml that names folders beside itself as if above."""
    root = folder / "hard-hat"
    put(
        root / "data.yaml",
        "train: ../train/images\nval: ../valid/images\ntest: ../test/images\n\nnc: 2\n"
        "names: ['head', 'helmet']\n\nroboflow:\n  workspace: joseph-nelson\n  version: 1\n",
    )
    for place, shown in (("train/{}/a_jpg.rf.1", [(1, CAR)]), ("train/{}/b_jpg.rf.2", [(0, BUS)]),
                         ("valid/{}/c_jpg.rf.3", [(1, CAR), (0, BUS)]),
                         ("test/{}/d_jpg.rf.4", [])):  # fmt: skip
        put_pictures(root, [f"{place.format('images')}.jpg"])
        put(root / f"{place.format('labels')}.txt", _yolo(*shown))


@form(
    "Pascal VOC",
    "VOCdevkit/VOC2012",
    {
        "2007_000027.jpg": seen(person=PERSON, car=CAR, split="train"),
        "2007_000032.jpg": seen(car=[CAR, BUS], split="train"),
        "2007_000033.jpg": seen(person=PERSON, split="val"),
    },
    "pose", "truncated", "difficult", "occluded",
)  # fmt: skip
def pascal_voc(folder: Path) -> None:
    """Pascal VOC 2012, Development kit: boxes counted from 1, lists of the main task."""
    shown = {
        "2007_000027": [("person", PERSON), ("car", CAR)],
        "2007_000032": [("car", CAR), ("car", BUS)],
        "2007_000033": [("person", PERSON)],
    }
    root = folder / "VOCdevkit/VOC2012"
    for stem, objects in shown.items():
        put_pictures(root / "JPEGImages", [f"{stem}.jpg"])
        parts = "".join(
            f"\t<object>\n\t\t<name>{name}</name>\n\t\t<pose>Unspecified</pose>\n"
            f"\t\t<truncated>0</truncated>\n\t\t<difficult>0</difficult>\n\t\t<bndbox>\n"
            f"\t\t\t<xmin>{x + 1}</xmin>\n\t\t\t<ymin>{y + 1}</ymin>\n"
            f"\t\t\t<xmax>{x + w}</xmax>\n\t\t\t<ymax>{y + h}</ymax>\n\t\t</bndbox>\n\t</object>\n"
            for name, (x, y, w, h) in objects
        )
        put(
            root / f"Annotations/{stem}.xml",
            f"<annotation>\n\t<folder>VOC2012</folder>\n\t<filename>{stem}.jpg</filename>\n"
            f"\t<source>\n\t\t<database>The VOC2007 Database</database>\n\t</source>\n\t<size>\n"
            f"\t\t<width>{WIDTH}</width>\n\t\t<height>{HEIGHT}</height>\n\t\t<depth>3</depth>\n"
            f"\t</size>\n\t<segmented>0</segmented>\n{parts}</annotation>\n",
        )
    put(root / "ImageSets/Main/train.txt", "2007_000027\n2007_000032\n")
    put(root / "ImageSets/Main/val.txt", "2007_000033\n")
    put(root / "ImageSets/Main/car_train.txt", "2007_000027  1\n2007_000032  1\n")


_OPEN_HEADER = (
    "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,"
    "IsDepiction,IsInside"
)


def _relative(box: tuple[int, int, int, int]) -> list[float]:
    x1, y1, x2, y2 = _corners(box)
    return [x1 / WIDTH, x2 / WIDTH, y1 / HEIGHT, y2 / HEIGHT]


@form(
    "Open Images",
    "open-images",
    {
        "0001eeaf4aed83f9": seen(Car=[CAR, BUS], Person=PERSON, split="val"),
        "000595fe6fee6369": seen("Tree", Person=PERSON, split="val"),
        "00075905539074f2": seen(split="val"),
    },
)
def open_images(folder: Path) -> None:
    """Open Images V7, Download: relative boxes, labels that a person saw (1) or did not (0)."""
    root = folder / "open-images"
    put(
        root / "class-descriptions-boxable.csv",
        "/m/0k4j,Car\n/m/01g317,Person\n/m/07j7r,Tree\n/m/0cgh4,Building\n",
    )
    rows = [("0001eeaf4aed83f9", "/m/0k4j", CAR), ("0001eeaf4aed83f9", "/m/0k4j", BUS),
            ("0001eeaf4aed83f9", "/m/01g317", PERSON),
            ("000595fe6fee6369", "/m/01g317", PERSON)]  # fmt: skip
    put_csv(
        root / "validation-annotations-bbox.csv",
        _OPEN_HEADER,
        [(key, "xclick", label, 1, *_relative(box), 0, 0, 0, 0, 0) for key, label, box in rows],
    )
    put(
        root / "validation-annotations-human-imagelabels-boxable.csv",
        "ImageID,Source,LabelName,Confidence\n0001eeaf4aed83f9,verification,/m/0k4j,1\n"
        "000595fe6fee6369,verification,/m/07j7r,1\n000595fe6fee6369,verification,/m/0cgh4,0\n"
        "00075905539074f2,verification,/m/07j7r,0\n",
    )
    keys = ("0001eeaf4aed83f9", "000595fe6fee6369", "00075905539074f2")
    put_pictures(root / "validation", [f"{key}.jpg" for key in keys])


@form(
    "MIAP (More Inclusive Annotations for People)",
    "open_images_extended_miap_boxes_val.csv",
    {
        "0001eeaf4aed83f9": seen("Person", "Predominantly Feminine", "Middle",
                                 "Predominantly Masculine", "Young", split="val"),
        "000595fe6fee6369": seen("Person", "Young", split="val"),
    },
)  # fmt: skip
def miap(folder: Path) -> None:
    """Open Images Extended, MIAP: Open Images' columns with gender and age presentation."""
    header = _OPEN_HEADER.replace("Source,", "").replace("IsDepiction,IsInside", "IsDepictionOf")
    rows = [
        ("0001eeaf4aed83f9", CAR, "Predominantly Feminine", "Middle"),
        ("0001eeaf4aed83f9", BUS, "Predominantly Masculine", "Young"),
        ("000595fe6fee6369", CAR, "Unknown", "Young"),
    ]
    put_csv(
        folder / "open_images_extended_miap_boxes_val.csv",
        f"{header},IsInsideOf,GenderPresentation,AgePresentation",
        [
            (key, "/m/01g317", 1, *_relative(box), 0, 0, 0, 0, 0, gender, age)
            for key, box, gender, age in rows
        ],
    )
    put(folder / "class-descriptions-boxable.csv", "/m/01g317,Person\n")


def _genome(folder: Path) -> None:
    objects = {
        1: [(1, "man", PERSON), (2, "horse", BUS)],
        2: [(3, "horse", BUS), (4, "tree", CAR)],
        3: [(5, "man", PERSON)],
    }
    put_json(
        folder / "image_data.json",
        [{"width": WIDTH, "url": f"https://cs.stanford.edu/people/rak248/VG_100K_2/{image}.jpg",
          "height": HEIGHT, "image_id": image, "coco_id": None, "flickr_id": None}
         for image in objects],
    )  # fmt: skip
    put_json(
        folder / "objects.json",
        [
            {
                "image_id": image,
                "objects": [
                    {"synsets": [f"{name}.n.01"], "h": h, "object_id": number, "merged_object_ids":
                     [], "names": [name], "w": w, "y": y, "x": x}
                    for number, name, (x, y, w, h) in shown
                ],
                "image_url": f"https://cs.stanford.edu/people/rak248/VG_100K_2/{image}.jpg",
            }
            for image, shown in objects.items()
        ],
    )  # fmt: skip
    put_json(
        folder / "attributes.json",
        [
            {
                "image_id": image,
                "attributes": [
                    {"synsets": [f"{name}.n.01"], "h": h, "object_id": number, "names": [name],
                     "attributes": ["brown"] if name == "horse" else [], "w": w, "y": y, "x": x}
                    for number, name, (x, y, w, h) in shown
                ],
            }
            for image, shown in objects.items()
        ],
    )  # fmt: skip
    man, horse = ({"name": name, "h": 20, "synsets": [f"{name}.n.01"], "object_id": number, "w": 6,
                   "y": 4, "x": 2} for number, name in ((1, "man"), (2, "horse")))  # fmt: skip
    put_json(
        folder / "relationships.json",
        [
            {"relationships": [{"predicate": "riding", "object": horse, "relationship_id": 15927,
                                "synsets": ["ride.v.01"], "subject": man}], "image_id": 1},
            {"relationships": [], "image_id": 2},
            {"relationships": [], "image_id": 3},
        ],
    )  # fmt: skip


@form(
    "Visual Genome objects",
    "objects.json",
    {
        "VG_100K_2/1.jpg": seen(man=PERSON, horse=BUS),
        "VG_100K_2/2.jpg": seen(horse=BUS, tree=CAR),
        "VG_100K_2/3.jpg": seen(man=PERSON),
    },
    "attributes",
)
def visual_genome(folder: Path) -> None:
    """Visual Genome, API, Data: objects with synsets; attributes and relations lie beside them."""
    _genome(folder)


@form(
    "Visual Genome attributes",
    "attributes.json",
    {
        "1": seen("man", "horse", "brown"),
        "2": seen("horse", "tree", "brown"),
        "3": seen("man"),
    },
)
def visual_genome_attributes(folder: Path) -> None:
    """Visual Genome, API, Data: objects with attributes; *brown* is a concept of its own."""
    _genome(folder)


@form(
    "Visual Genome relationships",
    "relationships.json",
    {"1": seen("man", "horse", "man riding horse"), "2": seen(), "3": seen()},
)
def visual_genome_relationships(folder: Path) -> None:
    """Visual Genome, API, Data: a relation of two objects is a concept."""
    _genome(folder)


_BDD = [
    ("b1c66a42-6f7d68ca.jpg", "rainy", "city street", "daytime", [("car", CAR, True, "NA")]),
    ("b1c81faa-3df17267.jpg", "clear", "city street", "night",
     [("traffic light", BUS, False, "green"), ("car", CAR, False, "NA")]),
    ("b1c9c847-3bda4659.jpg", "clear", "highway", "daytime", []),
    ("b1ca2e5d-84cf9134.jpg", "rainy", "highway", "night", [("car", CAR, False, "NA")]),
]  # fmt: skip
_BDD_TRUTH = {
    name: seen(
        f"weather: {weather}", f"scene: {scene}", f"timeofday: {time}",
        *(["occluded"] if any(hidden for _, _, hidden, _ in shown) else []),
        *(["trafficLightColor: green"] if any(it[3] == "green" for it in shown) else []),
        **{label.replace(" ", "_"): box for label, box, _, _ in shown},
    )
    for name, weather, scene, time, shown in _BDD
}  # fmt: skip


def _bdd_frame(name: str, weather: str, scene: str, time: str, shown: list[Any]) -> dict[str, Any]:
    return {
        "name": name,
        "attributes": {"weather": weather, "scene": scene, "timeofday": time},
        "timestamp": 10000,
        "labels": [
            {"category": label, "attributes": {"occluded": hidden, "truncated": False,
             "trafficLightColor": color}, "manualShape": True, "manualAttributes": True,
             "box2d": _box2d(box), "id": number}
            for number, (label, box, hidden, color) in enumerate(shown)
        ],
    }  # fmt: skip


@form("BDD100K", "bdd100k_labels_images_val.json", _BDD_TRUTH)
def bdd100k(folder: Path) -> None:
    """ucbdrive/bdd-data, format.md: weather, scene and time of day, boxes by their corners."""
    frames = [_bdd_frame(*row) for row in _BDD]
    put_json(folder / "bdd100k_labels_images_val.json", frames, indent=4)


@form("Scalabel", "det_val.json", _BDD_TRUTH)
def scalabel(folder: Path) -> None:
    """scalabel.ai, Scalabel format: frames, and a configuration with the categories."""
    frames = [
        {**_bdd_frame(*row), "videoName": None, "url": f"images/{row[0]}", "frameIndex": None}
        for row in _BDD
    ]
    for frame in frames:
        for label in frame["labels"]:
            label["id"] = str(label["id"])
    put_json(
        folder / "det_val.json",
        {
            "frames": frames,
            "config": {
                "imageSize": {"width": WIDTH, "height": HEIGHT},
                "attributes": [],
                "categories": [{"name": "car"}, {"name": "traffic light"}],
            },
        },
    )


_FRONT, _BACK = (
    "samples/CAM_FRONT/n003-{}__CAM_FRONT__1.jpg",
    "samples/CAM_BACK/n003-{}__CAM_BACK__2.jpg",
)
_DAYS = {"train": "2018-01-02", "val": "2018-09-17"}
_NUIMAGES = {
    name.format(day): shown._replace(split=split)
    for split, day in _DAYS.items()
    for name, shown in [
        (_FRONT, seen("flat.driveable_surface", "vehicle.parked", "channel: CAM_FRONT",
                      **{"vehicle.car": [CAR, BUS]})),
        (_BACK, seen("channel: CAM_BACK", **{"human.pedestrian.adult": PERSON,
                                             "vehicle.car": CAR})),
    ]
}  # fmt: skip


@form("nuImages", "nuimages", _NUIMAGES, "location", "vehicle", "logfile")
def nuimages(folder: Path) -> None:
    """nutonomy/nuscenes-devkit, schema_nuimages.md: tables whose rows name one another."""
    for split, day in _DAYS.items():
        _nuimages_version(folder / "nuimages", f"v1.0-{split}", day)


@form(
    "nuImages, one version",
    "nuimages/v1.0-val",
    {name: one for name, one in _NUIMAGES.items() if one.split == "val"},
    "location", "vehicle", "logfile",
)  # fmt: skip
def nuimages_version(folder: Path) -> None:
    """nutonomy/nuscenes-devkit, nuImages tutorial: a version is a folder of tables."""
    nuimages(folder)


def _nuimages_version(folder: Path, version: str, day: str) -> None:
    """Tables of a version beside its pictures; each row has a token."""
    root = folder / version
    tables: dict[str, list[dict[str, Any]]] = {
        "category": [{"token": token, "name": name, "description": ""} for token, name in [
            ("c1", "vehicle.car"), ("c2", "human.pedestrian.adult"),
            ("c3", "flat.driveable_surface")]],
        "attribute": [{"token": "a1", "name": "vehicle.parked", "description": ""}],
        "log": [{"token": "l1", "logfile": f"n003-{day}", "vehicle": "n003",
                 "date_captured": day, "location": "singapore-onenorth"}],
        "sensor": [{"token": "e1", "channel": "CAM_FRONT", "modality": "camera"},
                   {"token": "e2", "channel": "CAM_BACK", "modality": "camera"}],
        "calibrated_sensor": [
            {"token": f"k{n}", "sensor_token": f"e{n}", "translation": [1.7, 0.0, 1.5],
             "rotation": [0.5, -0.5, 0.5, -0.5], "camera_intrinsic": [], "camera_distortion": []}
            for n in (1, 2)],
        "sample": [{"token": f"s{n}", "timestamp": 1514862005000000 + n, "log_token": "l1",
                    "key_camera_token": f"d{n}"} for n in (1, 2)],
        "sample_data": [
            {"token": f"d{n}", "sample_token": f"s{min(n, 2)}", "ego_pose_token": "p1",
             "calibrated_sensor_token": f"k{min(n, 2)}", "filename": name, "fileformat": "jpg",
             "width": WIDTH, "height": HEIGHT, "timestamp": 1514862005000000 + n,
             "is_key_frame": name.startswith("samples"), "prev": "", "next": ""}
            for n, name in enumerate([_FRONT.format(day), _BACK.format(day),
                                      f"sweeps/CAM_BACK/n003-{day}__CAM_BACK__3.jpg"], 1)],
        "object_ann": [
            {"token": f"o{n}", "category_token": category, "bbox": list(_corners(box)),
             "mask": {"size": [HEIGHT, WIDTH], "counts": "UFQx"}, "attribute_tokens": states,
             "sample_data_token": image}
            for n, (image, category, box, states) in enumerate(
                [("d1", "c1", CAR, ["a1"]), ("d1", "c1", BUS, []), ("d2", "c2", PERSON, []),
                 ("d2", "c1", CAR, [])])],
        "surface_ann": [{"token": "f1", "sample_data_token": "d1", "category_token": "c3",
                         "mask": {"size": [HEIGHT, WIDTH], "counts": "UFQx"}}],
    }  # fmt: skip
    for name, rows in tables.items():
        put_json(root / f"{name}.json", rows)
    put_pictures(folder, [row["filename"] for row in tables["sample_data"]])


@form(
    "Cityscapes",
    "cityscapes/gtFine",
    {
        "aachen_000000_000019": seen("road", "car", split="train"),
        "aachen_000001_000019": seen("road", "person", split="train"),
        "frankfurt_000000_000294": seen("road", split="val"),
    },
    "city",
)
def cityscapes(folder: Path) -> None:
    """mcordts/cityscapesScripts: outlines of each image in a JSON file of its own."""
    shown = {
        "train/aachen/aachen_000000_000019": ["road", "car", "car"],
        "train/aachen/aachen_000001_000019": ["road", "person"],
        "val/frankfurt/frankfurt_000000_000294": ["road"],
    }
    for stem, labels in shown.items():
        put_json(
            folder / f"cityscapes/gtFine/{stem}_gtFine_polygons.json",
            {
                "imgHeight": HEIGHT,
                "imgWidth": WIDTH,
                "objects": [
                    {"label": label, "polygon": [[8, 12], [24, 12], [24, 36]]} for label in labels
                ],
            },
        )
        put_pictures(folder / "cityscapes/leftImg8bit", [f"{stem}_leftImg8bit.png"])


@form(
    "KITTI object detection",
    "kitti/training",
    {
        "000000.png": seen(Pedestrian=PERSON),
        "000001.png": seen(Car=[CAR, BUS]),
        "000002.png": seen(Car=CAR, Pedestrian=PERSON),
    },
    "truncated", "occluded",
)  # fmt: skip
def kitti(folder: Path) -> None:
    """KITTI, object development kit: corners from 0; DontCare is where nobody looked."""
    shown: dict[str, list[tuple[str, tuple[int, int, int, int]]]] = {
        "000000": [("Pedestrian", PERSON)],
        "000001": [("Car", CAR), ("Car", BUS), ("DontCare", PERSON)],
        "000002": [("Car", CAR), ("Pedestrian", PERSON)],
    }
    for stem, objects in shown.items():
        put_pictures(folder / "kitti/training/image_2", [f"{stem}.png"])
        lines = "".join(
            f"{name} 0.00 0 -0.20 {' '.join(f'{side:.2f}' for side in _corners(box))} "
            "1.89 0.48 1.20 1.84 1.47 8.41 0.01\n"
            for name, box in objects
        )
        put(folder / f"kitti/training/label_2/{stem}.txt", lines)


@form(
    "WIDER FACE",
    "wider_face_split/wider_face_train_bbx_gt.txt",
    {
        "0--Parade/0_Parade_marchingband_1_849.jpg": seen(face=CAR),
        "0--Parade/0_Parade_Parade_0_904.jpg": seen(face=[CAR, PERSON]),
        "1--Handshaking/1_Handshaking_Handshaking_1_35.jpg": seen(face=BUS),
        "2--Demonstration/2_Demonstration_Demonstrators_2_545.jpg": seen(),
    },
    "blur", "expression", "illumination", "invalid", "occlusion", "pose", "event",
)  # fmt: skip
def wider_face(folder: Path) -> None:
    """WIDER FACE, readme.txt: a path, a count, faces; a row of zeros where there is none."""
    put(
        folder / "wider_face_split/wider_face_train_bbx_gt.txt",
        "0--Parade/0_Parade_marchingband_1_849.jpg\n1\n8 12 16 24 0 0 0 0 0 0 \n"
        "0--Parade/0_Parade_Parade_0_904.jpg\n2\n8 12 16 24 1 0 0 0 1 0 \n2 4 6 20 2 0 1 0 0 0 \n"
        "1--Handshaking/1_Handshaking_Handshaking_1_35.jpg\n1\n30 10 20 30 0 0 0 0 0 0 \n"
        "2--Demonstration/2_Demonstration_Demonstrators_2_545.jpg\n0\n0 0 0 0 0 0 0 0 0 0 \n",
    )


@form(
    "VisDrone",
    "VisDrone2019-DET-val",
    {
        "0000001_02999_d_0000005.jpg": seen(pedestrian=PERSON, car=[CAR, BUS]),
        "0000001_03499_d_0000006.jpg": seen(car=CAR),
    },
    "truncation", "occlusion",
)  # fmt: skip
def visdrone(folder: Path) -> None:
    """VisDrone/VisDrone2018-DET-toolkit: box, score, code, truncation, occlusion; 0 is ignored."""
    root = folder / "VisDrone2019-DET-val"
    put_pictures(root / "images", ["0000001_02999_d_0000005.jpg", "0000001_03499_d_0000006.jpg"])
    put(
        root / "annotations/0000001_02999_d_0000005.txt",
        "2,4,6,20,1,1,0,0\n8,12,16,24,1,4,0,1\n30,10,20,30,1,4,1,0\n0,0,9,9,0,0,0,0\n",
    )
    put(root / "annotations/0000001_03499_d_0000006.txt", "8,12,16,24,1,4,0,0\n")


@form(
    "MOT Challenge",
    "MOT17-02",
    {
        "img1/000001.jpg": seen(pedestrian=[PERSON, CAR]),
        "img1/000002.jpg": seen(pedestrian=PERSON, car=BUS),
        "img1/000003.jpg": seen(),
    },
    "visibility",
)
def mot(folder: Path) -> None:
    """motchallenge.net, Instructions: frame, person, box, flag, code, visibility; boxes from 1."""
    root = folder / "MOT17-02"
    put(
        root / "seqinfo.ini",
        f"[Sequence]\nname=MOT17-02\nimDir=img1\nframeRate=30\nseqLength=3\nimWidth={WIDTH}\n"
        f"imHeight={HEIGHT}\nimExt=.jpg\n",
    )
    put_pictures(root / "img1", [f"{frame:06}.jpg" for frame in (1, 2, 3)])
    rows = [(1, 1, PERSON, 1, 1), (1, 2, CAR, 1, 1), (2, 1, PERSON, 1, 1), (2, 3, BUS, 1, 3),
            (3, 4, CAR, 0, 7)]  # fmt: skip
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(
        (frame, who, x + 1, y + 1, w, h, flag, code, 1)
        for frame, who, (x, y, w, h), flag, code in rows
    )
    put(root / "gt/gt.txt", file.getvalue())


_CLEVR = [("brown", "cylinder", "metal"), ("gray", "cube", "rubber"), ("red", "cube", "metal")]


@form(
    "CLEVR",
    "scenes/CLEVR_val_scenes.json",
    {
        "CLEVR_val_000000.png": seen("cylinder", "cube", "color: brown", "color: gray",
                                     "material: metal", "material: rubber", split="val"),
        "CLEVR_val_000001.png": seen("cube", "color: gray", "color: red", "material: rubber",
                                     "material: metal", split="val"),
        "CLEVR_val_000002.png": seen("cube", "color: red", "material: metal", split="val"),
    },
    "size",
)  # fmt: skip
def clevr(folder: Path) -> None:
    """facebookresearch/clevr-dataset-gen: scenes with the colour, material and shape of objects."""
    scenes = [
        {
            "image_index": number,
            "image_filename": f"CLEVR_val_{number:06}.png",
            "split": "val",
            "directions": {"right": [0.66, 0.75, -0.0]},
            "relationships": {"right": [[] for _ in objects]},
            "objects": [
                {"color": color, "size": "large", "rotation": 269.8, "shape": shape,
                 "3d_coords": [1.3, 0.1, 0.7], "material": material, "pixel_coords": [20, 10, 9.9]}
                for color, shape, material in objects
            ],
        }
        for number, objects in enumerate([_CLEVR[:2], _CLEVR[1:], _CLEVR[2:]])
    ]  # fmt: skip
    info = {"split": "val", "license": "CC BY 4.0", "version": "1.0", "date": "2/14/2017"}
    put_json(folder / "scenes/CLEVR_val_scenes.json", {"info": info, "scenes": scenes})


@form(
    "CrowdHuman",
    "annotation_val.odgt",
    {
        "273271,1a0d6000b9e1f5b7": seen(person=[PERSON, CAR]),
        "273271,1b9330008da38cd6": seen(person=BUS, mask=CAR),
    },
)
def crowdhuman(folder: Path) -> None:
    """CrowdHuman, odgt: a JSON line an image, with full, visible and head boxes."""
    images = {
        "273271,1a0d6000b9e1f5b7": [("person", PERSON), ("person", CAR)],
        "273271,1b9330008da38cd6": [("person", BUS), ("mask", CAR)],
    }
    lines = [
        {"ID": name, "gtboxes": [
            {"tag": tag, "hbox": [1, 2, 3, 4], "head_attr": {"ignore": 0, "occ": 1, "unsure": 0},
             "fbox": list(box), "vbox": [1, 2, 3, 4], "extra": {"box_id": number, "occ": 1}}
            for number, (tag, box) in enumerate(boxes)]}
        for name, boxes in images.items()
    ]  # fmt: skip
    put(folder / "annotation_val.odgt", "".join(f"{json.dumps(line)}\n" for line in lines))


@form(
    "DOTA",
    "dota/train",
    {"P0000.png": seen(plane=CAR), "P0001.png": seen(**{"large-vehicle": [CAR, PERSON]})},
    "difficult",
)
def dota(folder: Path) -> None:
    """DOTA, data format: two lines on the source, then corners of boxes, name, difficulty."""
    root = folder / "dota/train"
    put_pictures(root / "images", ["P0000.png", "P0001.png"])
    put(root / "labelTxt/P0000.txt", "imagesource:GoogleEarth\ngsd:0.146343\n"
        "8.0 12.0 24.0 12.0 24.0 36.0 8.0 36.0 plane 0\n")  # fmt: skip
    put(root / "labelTxt/P0001.txt", "imagesource:GoogleEarth\ngsd:null\n"
        "8.0 12.0 24.0 12.0 24.0 36.0 8.0 36.0 large-vehicle 1\n"
        "5.0 4.0 8.0 14.0 5.0 24.0 2.0 14.0 large-vehicle 0\n")  # fmt: skip


@form("nuScenes", "nuscenes", {})
def nuscenes(folder: Path) -> None:
    """nutonomy/nuscenes-devkit, schema_nuscenes.md: boxes in space, and no objects of images."""
    root, front = folder / "nuscenes/v1.0-mini", "samples/CAM_FRONT/n015__CAM_FRONT__1.jpg"
    put_pictures(folder / "nuscenes", [front])
    put_json(root / "category.json", [{"token": "c1", "name": "vehicle.car", "description": ""}])
    put_json(root / "sample_data.json", [
        {"token": "d1", "sample_token": "s1", "calibrated_sensor_token": "k1", "fileformat": "jpg",
         "is_key_frame": True, "height": HEIGHT, "width": WIDTH, "filename": front}])  # fmt: skip
    put_json(root / "sample_annotation.json", [
        {"token": "a1", "sample_token": "s1", "instance_token": "i1", "attribute_tokens": [],
         "translation": [1.0, 2.0, 3.0], "size": [1.0, 2.0, 3.0], "num_lidar_pts": 5}])  # fmt: skip
