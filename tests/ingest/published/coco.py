"""COCO's JSON, and the datasets and tools that write it."""

from pathlib import Path
from typing import Any

from tests.ingest.published.form import HEIGHT, WIDTH, form, put, put_json, put_pictures, seen

CAR, BUS, PERSON, SKY = (8, 12, 16, 24), (30, 10, 20, 30), (2, 4, 6, 20), (0, 0, 64, 10)
_IDS = {"person": 1, "car": 3, "bus": 6}


def images(names: list[str], folder: str = "val2017") -> list[dict[str, Any]]:
    """Entries of `images` with the keys of the 2017 files."""
    return [
        {
            "license": 4,
            "file_name": name,
            "coco_url": f"http://images.cocodataset.org/{folder}/{name}",
            "height": HEIGHT,
            "width": WIDTH,
            "date_captured": f"2013-11-14 17:02:{number:02}",
            "flickr_url": f"http://farm7.staticflickr.com/6116/{number}_z.jpg",
            "id": 397133 + number,
        }
        for number, name in enumerate(names)
    ]


def annotation(number: int, image: int, category: int, box: Any, **more: Any) -> dict[str, Any]:
    """An entry of `annotations`."""
    x, y, w, h = box
    return {
        "segmentation": [[x, y, x + w, y, x + w, y + h, x, y + h]],
        "area": float(w * h),
        "iscrowd": 0,
        "image_id": image,
        "bbox": [float(side) for side in box],
        "category_id": category,
        "id": number,
        **more,
    }


def instances(names: list[str], shown: list[dict[str, Any]], folder: str = "val2017") -> Any:
    """A file of instances; `shown` has the boxes of each image by category."""
    entries = images(names, folder)
    return {
        "info": {"description": "COCO 2017 Dataset", "version": "1.0", "year": 2017},
        "licenses": [{"url": "http://creativecommons.org/licenses/by/2.0/", "id": 4,
                      "name": "Attribution License"}],
        "images": entries,
        "annotations": [
            annotation(1000 + 10 * at + number, image["id"], _IDS[name], box)
            for at, (image, boxes) in enumerate(zip(entries, shown, strict=True))
            for number, (name, box) in enumerate(boxes.items())
        ],
        "categories": [
            {"supercategory": "vehicle" if number > 1 else "person", "id": number, "name": name}
            for name, number in _IDS.items()
        ],
    }  # fmt: skip


SHOWN = [{"car": CAR}, {"car": CAR, "person": PERSON}, {"bus": BUS}, {"bus": BUS, "car": CAR},
         {"person": PERSON}, {}]  # fmt: skip
NAMES = [f"{397133 + number:012}.jpg" for number in range(6)]
TRUTH = {name: seen(**boxes) for name, boxes in zip(NAMES, SHOWN, strict=True)}


@form("COCO instances", "instances_val2017.json", TRUTH)
def coco_instances(folder: Path) -> None:
    """cocodataset.org, Data format, 1. Object Detection; an image without objects is an image."""
    put_json(folder / "instances_val2017.json", instances(NAMES, SHOWN))


@form(
    "COCO instances, train and val",
    "coco/annotations",
    {name: one._replace(split="train" if at < 4 else "val")
     for at, (name, one) in enumerate(TRUTH.items())},
)  # fmt: skip
def coco_two_splits(folder: Path) -> None:
    """cocodataset.org, Download: a file of instances for each split in `annotations`."""
    for split, part in (("train", slice(4)), ("val", slice(4, 6))):
        names = NAMES[part]
        put_json(
            folder / f"coco/annotations/instances_{split}2017.json",
            instances(names, SHOWN[part], f"{split}2017"),
        )
        put_pictures(folder / f"coco/{split}2017", names)


@form(
    "COCO panoptic",
    "panoptic_val2017.json",
    {
        NAMES[0]: seen(car=CAR, sky_other_merged=SKY),
        NAMES[1]: seen(person=PERSON, sky_other_merged=SKY),
        NAMES[2]: seen(car=[CAR, BUS]),
    },
)
def coco_panoptic(folder: Path) -> None:
    """cocodataset.org, Data format, 4. Panoptic Segmentation: things and stuff by segments."""
    shown = [[(3, CAR), (187, SKY)], [(1, PERSON), (187, SKY)], [(3, CAR), (3, BUS)]]
    entries = images(NAMES[:3])
    put_json(
        folder / "panoptic_val2017.json",
        {
            "info": {"description": "COCO 2018 Panoptic Dataset"},
            "licenses": [],
            "images": entries,
            "annotations": [
                {
                    "segments_info": [
                        {"id": 3226956 + at, "category_id": category, "iscrowd": 0,
                         "bbox": list(box), "area": box[2] * box[3]}
                        for at, (category, box) in enumerate(segments)
                    ],
                    "file_name": image["file_name"].replace("jpg", "png"),
                    "image_id": image["id"],
                }
                for image, segments in zip(entries, shown, strict=True)
            ],
            "categories": [
                {"supercategory": "person", "isthing": 1, "id": 1, "name": "person"},
                {"supercategory": "vehicle", "isthing": 1, "id": 3, "name": "car"},
                {"supercategory": "sky", "isthing": 0, "id": 187, "name": "sky other merged"},
            ],
        },
    )  # fmt: skip


@form(
    "COCO stuff",
    "stuff_val2017.json",
    {NAMES[0]: seen("grass"), NAMES[1]: seen("grass", "sky-other"), NAMES[2]: seen("sky-other")},
)
def coco_stuff(folder: Path) -> None:
    """cocodataset.org, Data format, 3. Stuff Segmentation: masks as run lengths."""
    entries = images(NAMES[:3])
    shown = [[124], [124, 157], [157]]
    mask = {"counts": "]T1a1", "size": [HEIGHT, WIDTH]}
    put_json(
        folder / "stuff_val2017.json",
        {
            "info": {"description": "COCO 2017 Stuff Dataset"},
            "images": entries,
            "licenses": [],
            "annotations": [
                annotation(20000 + 10 * at + number, image["id"], number, SKY, segmentation=mask)
                for at, image in enumerate(entries)
                for number in shown[at]
            ],
            "categories": [
                {"supercategory": "plant", "id": 124, "name": "grass"},
                {"supercategory": "sky", "id": 157, "name": "sky-other"},
            ],
        },
    )


@form(
    "COCO captions",
    "captions_val2017.json --vocabulary words.txt",
    {NAMES[0]: seen("bus"), NAMES[1]: seen("bus", "dog"), NAMES[2]: seen()},
)
def coco_captions(folder: Path) -> None:
    """cocodataset.org, Data format, 5. Image Captioning: several captions an image."""
    texts = [["A bus on a street.", "A red bus"], ["Buses and a dog", "A dog"], ["A quiet road"]]
    entries = images(NAMES[:3])
    put_json(
        folder / "captions_val2017.json",
        {
            "info": {"description": "COCO 2017 Dataset"},
            "licenses": [],
            "images": entries,
            "annotations": [
                {"image_id": image["id"], "id": 37 + 5 * at + number, "caption": text}
                for at, image in enumerate(entries)
                for number, text in enumerate(texts[at])
            ],
        },
    )
    put(folder / "words.txt", "bus\ndog\n")


@form(
    "COCO with attributes, as CVAT exports it",
    "cars/annotations/instances_default.json",
    {
        "frame_000000.PNG": seen("color: red", car=CAR),
        "frame_000001.PNG": seen("color: blue", "color: red", "occluded", car=[CAR, BUS]),
        "frame_000002.PNG": seen("parked", "color: blue", car=BUS),
        "frame_000003.PNG": seen(),
    },
)
def coco_attributes(folder: Path) -> None:
    """CVAT manual, Formats, MS COCO: attributes of a label, and `occluded` of each object."""
    names = [f"frame_{number:06}.PNG" for number in range(4)]
    shown = [
        (1, CAR, {"occluded": False, "color": "red", "parked": False}),
        (2, CAR, {"occluded": True, "color": "red", "parked": False}),
        (2, BUS, {"occluded": False, "color": "blue", "parked": False}),
        (3, BUS, {"occluded": False, "color": "blue", "parked": True}),
    ]
    put_pictures(folder / "cars/images/default", names)
    put_json(
        folder / "cars/annotations/instances_default.json",
        {
            "licenses": [{"name": "", "id": 0, "url": ""}],
            "info": {"contributor": "", "date_created": "", "description": "", "url": "",
                     "version": "", "year": ""},
            "categories": [{"id": 1, "name": "car", "supercategory": ""}],
            "images": [
                {"id": number, "width": WIDTH, "height": HEIGHT, "file_name": name, "license": 0,
                 "flickr_url": "", "coco_url": "", "date_captured": 0}
                for number, name in enumerate(names, start=1)
            ],
            "annotations": [
                annotation(number, image, 1, box, segmentation=[], attributes=attributes)
                for number, (image, box, attributes) in enumerate(shown, start=1)
            ],
        },
    )  # fmt: skip


@form(
    "LVIS",
    "lvis_v1_val.json",
    {
        "val2017/000000397133.jpg": seen("street_sign"),
        "val2017/000000397134.jpg": seen("street_sign", "cow"),
        "train2017/000000397135.jpg": seen("cow"),
        "val2017/000000397136.jpg": seen(),
    },
)
def lvis(folder: Path) -> None:
    """lvisdataset.org, Data format: an image is named by the end of its COCO address alone."""
    entries = [
        *images(NAMES[:2]),
        *images(NAMES[:3], "train2017")[2:],
        *images(NAMES[:4])[3:],
    ]
    for image in entries:
        del image["file_name"]
        image |= {"neg_category_ids": [1], "not_exhaustive_category_ids": []}
    numbers = [(0, 1), (1, 1), (1, 2), (2, 2)]
    put_json(
        folder / "lvis_v1_val.json",
        {
            "info": {"description": "LVIS v1", "version": "v1"},
            "annotations": [
                annotation(number, entries[at]["id"], category, CAR)
                for number, (at, category) in enumerate(numbers)
            ],
            "images": entries,
            "licenses": [],
            "categories": [
                {"id": number, "name": name, "synset": f"{name}.n.01", "synonyms": [name],
                 "def": "a thing", "frequency": "f", "image_count": 2, "instance_count": 2}
                for number, name in ((1, "street_sign"), (2, "cow"))
            ],
        },
    )  # fmt: skip


@form(
    "Fashionpedia",
    "instances_attributes_val2020.json",
    {
        "photo1.jpg": seen("length: mini", "textile pattern: plain", "textile pattern: dot",
                           dress=CAR, shoe=BUS),
        "photo2.jpg": seen("length: mini", dress=CAR),
    },
)  # fmt: skip
def fashionpedia(folder: Path) -> None:
    """fashionpedia.github.io, Annotation format: COCO's JSON with ids of attributes of objects."""
    files = [{"id": number, "file_name": f"photo{number}.jpg", "width": WIDTH, "height": HEIGHT,
              "license": "", "time_captured": "", "original_url": "", "isstatic": 0}
             for number in (1, 2)]  # fmt: skip
    shown = [(1, 10, CAR, [5, 6, 7]), (1, 23, BUS, []), (2, 10, CAR, [5])]
    put_json(
        folder / "instances_attributes_val2020.json",
        {
            "info": {"year": 2020},
            "categories": [
                {"id": 10, "name": "dress", "supercategory": "wholebody", "level": 2},
                {"id": 23, "name": "shoe", "supercategory": "legs and feet", "level": 2},
            ],
            "attributes": [
                {"id": 5, "name": "mini", "supercategory": "length", "level": 1},
                {"id": 6, "name": "plain", "supercategory": "textile pattern", "level": 1},
                {"id": 7, "name": "dot", "supercategory": "textile pattern", "level": 1},
            ],
            "images": files,
            "annotations": [
                {**annotation(number, image, category, box), "attribute_ids": ids}
                for number, (image, category, box, ids) in enumerate(shown)
            ],
            "licenses": [],
        },
    )


@form(
    "Objects365",
    "zhiyuan_objv2_val.json",
    {
        "images/v1/patch8/objects365_v1_00420917.jpg": seen("Street Lights", Person=PERSON),
        "images/v1/patch6/objects365_v1_00320532.jpg": seen(Person=[PERSON, CAR]),
        "images/v2/patch19/objects365_v2_00908726.jpg": seen("Street Lights"),
    },
)
def objects365(folder: Path) -> None:
    """objects365.org, Download: COCO's JSON with `isfake` and `isreflected` of each object."""
    files = [("v1", 8, 420917), ("v1", 6, 320532), ("v2", 19, 908726)]
    shown = [(0, 1, PERSON), (0, 7, BUS), (1, 1, PERSON), (1, 1, CAR), (2, 7, BUS)]
    put_json(
        folder / "zhiyuan_objv2_val.json",
        {
            "images": [
                {"height": HEIGHT, "id": number, "license": 5, "width": WIDTH, "url": "",
                 "file_name": f"images/{version}/patch{patch}/objects365_{version}_{number:08}.jpg"}
                for version, patch, number in files
            ],
            "annotations": [
                annotation(number, files[at][2], category, box, isfake=0, isreflected=0)
                for number, (at, category, box) in enumerate(shown)
            ],
            "categories": [{"name": "Person", "id": 1}, {"name": "Street Lights", "id": 7}],
            "licenses": [{"name": "", "id": 5, "url": ""}],
        },
    )  # fmt: skip


_ROBOFLOW = {
    "train": {"cat1_jpg.rf.0a.jpg": ["cat"], "cat2_jpg.rf.0b.jpg": ["cat", "sofa"],
              "dog1_jpg.rf.0c.jpg": ["dog"]},
    "valid": {"dog2_jpg.rf.0d.jpg": ["dog", "sofa"]},
    "test": {"cat3_jpg.rf.0e.jpg": []},
}  # fmt: skip


@form(
    "Roboflow, COCO export",
    "pets",
    {
        name: seen(**dict.fromkeys(shown, CAR), split=split.replace("valid", "val"))
        for split, files in _ROBOFLOW.items()
        for name, shown in files.items()
    },
)
def roboflow_coco(folder: Path) -> None:
    """Roboflow, Formats, COCO JSON: a file in each split's folder, ids from 0 in each of them."""
    for split, files in _ROBOFLOW.items():
        put_pictures(folder / "pets" / split, files)
        put_json(
            folder / "pets" / split / "_annotations.coco.json",
            {
                "info": {"year": "2026", "version": "1", "description": "Exported from roboflow",
                         "contributor": "", "url": "", "date_created": "2026-01-02T03:04:05+00:00"},
                "licenses": [{"id": 1, "url": "", "name": "CC BY 4.0"}],
                "categories": [
                    {"id": number, "name": name, "supercategory": "pets" if number else "none"}
                    for number, name in enumerate(("pets", "cat", "dog", "sofa"))
                ],
                "images": [
                    {"id": number, "license": 1, "file_name": name, "height": HEIGHT,
                     "width": WIDTH, "date_captured": "2026-01-02T03:04:05+00:00",
                     "extra": {"name": name.replace("_jpg.rf.", ".")}}
                    for number, name in enumerate(files)
                ],
                "annotations": [
                    annotation(10 * at + number, at, ("", "cat", "dog", "sofa").index(name), CAR)
                    for at, shown in enumerate(files.values())
                    for number, name in enumerate(shown)
                ],
            },
        )  # fmt: skip


@form(
    "Caltech Camera Traps and others of LILA, COCO Camera Traps",
    "caltech_images.json --cluster-column seq_id",
    {
        "5968c0f9-23d2-11e8-a6a3-ec086b02610b": seen("opossum", "location: 26"),
        "5968c0fa-23d2-11e8-a6a3-ec086b02610b": seen("opossum", "location: 26"),
        "5968c0fb-23d2-11e8-a6a3-ec086b02610b": seen("raccoon", "location: 33"),
        "5968c0fc-23d2-11e8-a6a3-ec086b02610b": seen("empty", "location: 33"),
        "5968c0fd-23d2-11e8-a6a3-ec086b02610b": seen("raccoon", "opossum", "location: 33"),
        "5968c0fe-23d2-11e8-a6a3-ec086b02610b": seen("empty", "location: 26"),
    },
    "frame_num",
    "seq_num_frames",
)
def camera_traps(folder: Path) -> None:
    """agentmorris/MegaDetector, COCO Camera Traps: images of a location and a sequence."""
    shown = [[1], [1], [2], [30], [2, 1], [30]]
    keys = [f"5968c0f{mark}-23d2-11e8-a6a3-ec086b02610b" for mark in "9abcde"]
    put_json(
        folder / "caltech_images.json",
        {
            "info": {"version": "1.0", "description": "Caltech Camera Traps", "year": 2019,
                     "contributor": "", "date_created": "2019-01-01"},
            "categories": [{"id": 1, "name": "opossum"}, {"id": 2, "name": "raccoon"},
                           {"id": 30, "name": "empty"}],
            "images": [
                {"id": key, "file_name": f"{key}.jpg", "width": WIDTH, "height": HEIGHT,
                 "rights_holder": "Erin Boydston", "location": (26, 26, 33, 33, 33, 26)[at],
                 "date_captured": f"2011-05-13 23:43:1{at}", "frame_num": 1 + at % 3,
                 "seq_num_frames": (3, 3, 3, 1, 1, 3)[at],
                 "seq_id": f"6f0{(0, 0, 1, 2, 3, 0)[at]}e4a6-5567-11e8-b2ab"}
                for at, key in enumerate(keys)
            ],
            "annotations": [
                {"id": f"a{at}{number}", "image_id": key, "category_id": number}
                for at, key in enumerate(keys)
                for number in shown[at]
            ],
        },
    )  # fmt: skip
