"""What labelling tools export."""

import json
from pathlib import Path
from typing import Any

from tests.ingest.published.form import (
    HEIGHT,
    WIDTH,
    Box,
    form,
    put,
    put_csv,
    put_json,
    put_lines,
    put_pictures,
    seen,
)

CAR, BUS, PERSON = (8, 12, 16, 24), (30, 10, 20, 30), (2, 4, 6, 20)
_RAINY, _CLEAR = "weather: rainy", "weather: clear"
STREETS = {
    "street1.jpg": seen(_RAINY, car=CAR, person=PERSON),
    "street2.jpg": seen(_CLEAR, car=[CAR, BUS]),
    "street3.jpg": seen(_RAINY),
    "street4.jpg": seen(_CLEAR, person=PERSON),
}
"""What all of the tools were asked to label: cars and people, and the weather of each image."""


def _objects(name: str) -> list[tuple[str, Box]]:
    return [(label, box) for label, boxes in STREETS[name].boxes.items() for box in boxes]


def _weather(name: str) -> str:
    return "rainy" if _RAINY in STREETS[name].concepts else "clear"


def _with(truth: dict[str, Any], name: str, *concepts: str) -> dict[str, Any]:
    """The truth with further concepts of an image."""
    one = truth[name]
    return {**truth, name: one._replace(concepts=one.concepts | {*concepts})}


_LABELS = """<labels><label><name>car</name><color>#fa3253</color><type>any</type><attributes>
<attribute><name>color</name><mutable>False</mutable><input_type>select</input_type>
<default_value>red</default_value><values>red
blue</values></attribute>
<attribute><name>parked</name><mutable>False</mutable><input_type>checkbox</input_type>
<default_value>false</default_value><values>false
true</values></attribute></attributes></label>
<label><name>person</name><color>#33ddff</color><type>any</type><attributes></attributes></label>
<label><name>weather</name><color>#3d3df5</color><type>tag</type><attributes><attribute>
<name>weather</name><mutable>False</mutable><input_type>select</input_type>
<default_value>clear</default_value><values>clear
rainy</values></attribute></attributes></label></labels>"""


def _cvat_box(head: str, box: Box, inner: str = "", occluded: int = 0) -> str:
    x, y, w, h = box
    return (
        f'<box {head} occluded="{occluded}" xtl="{x:.2f}" ytl="{y:.2f}" xbr="{x + w:.2f}"'
        f' ybr="{y + h:.2f}" z_order="0">{inner}</box>'
    )


def _attributes(**values: str) -> str:
    return "".join(f'<attribute name="{name}">{it}</attribute>' for name, it in values.items())


_CVAT = {
    "street1.jpg": seen(_RAINY, "weather", "color: red", car=CAR, person=PERSON),
    "street2.jpg": seen(_CLEAR, "weather", "color: blue", "color: red", "parked", "occluded",
                        car=[CAR, BUS]),
    "street3.jpg": seen(_RAINY, "weather"),
    "street4.jpg": seen(_CLEAR, "weather", person=PERSON),
}  # fmt: skip


@form("CVAT for images 1.1", "annotations.xml", _CVAT)
def cvat_images(folder: Path) -> None:
    """CVAT manual, XML annotation format: boxes and tags with attributes of each image."""
    images = []
    for number, name in enumerate(STREETS):
        shown = [
            _cvat_box(
                f'label="{label}" source="manual"',
                box,
                _attributes(
                    color="blue" if box == BUS else "red",
                    parked="true" if box == BUS else "false",
                )
                if label == "car"
                else "",
                int(box == BUS),
            )
            for label, box in _objects(name)
        ]
        tag = _attributes(weather=_weather(name))
        images.append(
            f'<image id="{number}" name="{name}" width="{WIDTH}"'
            f' height="{HEIGHT}">{"".join(shown)}<tag label="weather" source="manual">{tag}</tag>'
            "</image>"
        )
    put_pictures(folder / "images", STREETS)
    meta = f"<meta><task><id>7</id><size>4</size><mode>annotation</mode>{_LABELS}</task></meta>"
    put(
        folder / "annotations.xml",
        '<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n<version>1.1</version>\n'
        f"{meta}\n{''.join(images)}\n</annotations>\n",
    )


@form(
    "CVAT for video 1.1",
    "annotations.xml",
    {
        "frame_000000": seen("color: red", car=CAR),
        "frame_000001": seen("color: blue", car=CAR, person=PERSON),
        "frame_000002": seen(person=PERSON),
    },
    "parked",
)
def cvat_video(folder: Path) -> None:
    """CVAT manual, XML annotation format: tracks of boxes by frame; outside is not in the image."""
    red, blue = (_attributes(color=color, parked="false") for color in ("red", "blue"))
    boxes = {
        "car": [(0, CAR, 0, red), (1, CAR, 0, blue), (2, CAR, 1, blue)],
        "person": [(1, PERSON, 0, ""), (2, PERSON, 0, "")],
    }
    tracks = "".join(
        f'<track id="{number}" label="{label}" source="manual">'
        + "".join(
            _cvat_box(f'frame="{frame}" keyframe="1" outside="{outside}"', box, more)
            for frame, box, outside, more in shown
        )
        + "</track>"
        for number, (label, shown) in enumerate(boxes.items())
    )
    put(
        folder / "annotations.xml",
        '<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n<version>1.1</version>\n<meta>'
        f"<task><id>5</id><name>drive</name><size>3</size><mode>interpolation</mode>{_LABELS}"
        f"<original_size><width>{WIDTH}</width><height>{HEIGHT}</height></original_size></task>"
        f"<source>drive.mp4</source></meta>\n{tracks}\n</annotations>\n",
    )


def _percent(box: Box) -> dict[str, float]:
    x, y, w, h = box
    return {"x": 100 * x / WIDTH, "y": 100 * y / HEIGHT, "width": 100 * w / WIDTH,
            "height": 100 * h / HEIGHT, "rotation": 0}  # fmt: skip


_SIZE = {"original_width": WIDTH, "original_height": HEIGHT}


@form("Label Studio JSON", "project-1-at-2026-01-02-03-04-abcdef01.json", STREETS)
def label_studio(folder: Path) -> None:
    """labelstud.io, Export annotations, JSON: what was cancelled or predicted is no label."""
    tasks = []
    for number, name in enumerate(STREETS, start=1):
        result: list[dict[str, Any]] = [
            {**_SIZE, "image_rotation": 0, "value": {**_percent(box), "rectanglelabels": [label]},
             "id": f"r{at}", "from_name": "label", "to_name": "image", "type": "rectanglelabels",
             "origin": "manual"}
            for at, (label, box) in enumerate(_objects(name))
        ]  # fmt: skip
        result.append({"value": {"choices": [_weather(name)]}, "id": "w", "from_name": "weather",
                       "to_name": "image", "type": "choices", "origin": "manual"})  # fmt: skip
        wrong = [
            {
                **_SIZE,
                "value": {**_percent(BUS), "rectanglelabels": ["truck"]},
                "id": "x",
                "from_name": "label",
                "to_name": "image",
                "type": "rectanglelabels",
            }
        ]
        tasks.append(
            {
                "id": number,
                "annotations": [
                    {"id": 10 + number, "completed_by": 1, "result": result,
                     "was_cancelled": False, "ground_truth": False, "lead_time": 4.2,
                     "created_at": "2026-01-02T03:04:05.678901Z", "task": number, "project": 1},
                    *([{"id": 90, "completed_by": 1, "result": wrong, "was_cancelled": True,
                        "ground_truth": False, "task": number}] if number == 3 else []),
                ],
                "file_upload": f"0a1b2c3d-{name}",
                "drafts": [],
                "predictions": [{"model_version": "v1", "score": 0.5, "result": wrong}]
                if number == 1
                else [],
                "data": {"image": f"/data/upload/1/0a1b2c3d-{name}"},
                "meta": {},
                "created_at": "2026-01-02T03:04:05.678901Z",
                "updated_at": "2026-01-02T03:05:05.678901Z",
                "inner_id": number,
                "total_annotations": 1,
                "cancelled_annotations": int(number == 3),
                "total_predictions": int(number == 1),
                "comment_count": 0,
                "project": 1,
                "updated_by": 1,
            }
        )  # fmt: skip
    put_json(folder / "project-1-at-2026-01-02-03-04-abcdef01.json", tasks)


@form("Label Studio JSON-MIN", "project-1-min.json", STREETS, "lead_time")
def label_studio_min(folder: Path) -> None:
    """labelstud.io, Export annotations, JSON_MIN: a key for each control of the template."""
    rows = []
    for number, name in enumerate(STREETS, start=1):
        row = {"image": f"/data/upload/1/0a1b2c3d-{name}", "id": number}
        if labels := [
            {**_percent(box), "rectanglelabels": [label], **_SIZE} for label, box in _objects(name)
        ]:
            row["label"] = labels
        row |= {
            "weather": _weather(name),
            "annotator": 1,
            "annotation_id": 10 + number,
            "created_at": "2026-01-02T03:04:05.678901Z",
            "updated_at": "2026-01-02T03:05:05.678901Z",
            "lead_time": 4.2 + number,
        }
        rows.append(row)  # fmt: skip
    put_json(folder / "project-1-min.json", rows)


@form("Labelbox NDJSON", "export.ndjson", _with(STREETS, "street2.jpg", "color: blue"))
def labelbox(folder: Path) -> None:
    """docs.labelbox.com, Export specification: a data row a line, objects and classifications."""
    rows = []
    for number, name in enumerate(STREETS):
        objects = [
            {
                "feature_id": f"clf{number}{at}", "feature_schema_id": f"cls{label}",
                "name": label, "value": label, "annotation_kind": "ImageBoundingBox",
                "classifications": [
                    {"feature_id": "cla", "name": "color", "value": "color",
                     "radio_answer": {"feature_id": "clb", "name": "blue", "value": "blue",
                                      "classifications": []}}
                ] if box == BUS else [],
                "bounding_box": {"top": box[1], "left": box[0], "height": box[3], "width": box[2]},
            }
            for at, (label, box) in enumerate(_objects(name))
        ]  # fmt: skip
        weather = {
            "feature_id": "clw",
            "name": "weather",
            "value": "weather",
            "radio_answer": {
                "feature_id": "clr",
                "name": _weather(name),
                "value": _weather(name),
                "classifications": [],
            },
        }
        rows.append(
            {
                "data_row": {"id": f"cldr{number}", "external_id": name, "global_key": name,
                             "row_data": f"https://storage.googleapis.com/labelbox/{name}",
                             "details": {"dataset_id": "clds", "dataset_name": "streets"}},
                "media_attributes": {"height": HEIGHT, "width": WIDTH, "asset_type": "image",
                                     "mime_type": "image/jpeg", "exif_rotation": "1"},
                "projects": {
                    "clpr": {
                        "name": "streets",
                        "labels": [
                            {"label_kind": "Default", "version": "1.0.0", "id": f"clla{number}",
                             "label_details": {"is_benchmark_reference": False},
                             "performance_details": {"seconds_to_create": 12},
                             "annotations": {"objects": objects, "classifications": [weather],
                                             "relationships": []}}
                        ],
                        "project_details": {"workflow_status": "DONE"},
                    }
                },
            }
        )  # fmt: skip
    put_lines(folder / "export.ndjson", rows)


@form("Supervisely", "streets", _with(STREETS, "street2.jpg", "night", "parked"))
def supervisely(folder: Path) -> None:
    """developer.supervisely.com, Annotation format: meta.json, and ann and img of each dataset."""
    root = folder / "streets"
    put_json(
        root / "meta.json",
        {
            "classes": [
                {"title": label, "shape": "rectangle", "color": "#F50808", "id": number}
                for number, label in enumerate(("car", "person"))
            ],
            "tags": [
                {"name": "weather", "value_type": "oneof_string", "values": ["rainy", "clear"]},
                {"name": "night", "value_type": "none", "color": "#0F138A"},
                {"name": "parked", "value_type": "none", "color": "#0F138A"},
            ],
            "projectType": "images",
        },
    )
    for name in STREETS:
        put_pictures(root / "ds0/img", [name])
        tags = [{"name": "weather", "value": _weather(name), "labelerLogin": "admin"}]
        if name == "street2.jpg":
            tags.append({"name": "night", "value": None, "labelerLogin": "admin"})
        put_json(
            root / f"ds0/ann/{name}.json",
            {
                "description": "",
                "tags": tags,
                "size": {"height": HEIGHT, "width": WIDTH},
                "objects": [
                    {"id": at, "classId": 1, "description": "", "geometryType": "rectangle",
                     "labelerLogin": "admin", "createdAt": "2026-01-02T03:04:05.678Z",
                     "updatedAt": "2026-01-02T03:04:05.678Z", "classTitle": label,
                     "tags": [{"name": "parked", "value": None}] if box == BUS else [],
                     "points": {"exterior": [[box[0], box[1]],
                                             [box[0] + box[2], box[1] + box[3]]],
                                "interior": []}}
                    for at, (label, box) in enumerate(_objects(name))
                ],
            },
        )  # fmt: skip


@form(
    "LabelMe",
    "streets",
    {
        name: one._replace(concepts=one.concepts - {_CLEAR, _RAINY} | {_weather(name)})
        for name, one in STREETS.items()
    },
)
def labelme(folder: Path) -> None:
    """wkentao/labelme, JSON beside each image: shapes, and flags of the whole image."""
    for name in STREETS:
        put_pictures(folder / "streets", [name])
        put_json(
            folder / "streets" / name.replace("jpg", "json"),
            {
                "version": "5.5.0",
                "flags": {"rainy": _weather(name) == "rainy", "clear": _weather(name) == "clear"},
                "shapes": [
                    {"label": label, "points": [[x, y], [x + w, y + h]], "group_id": None,
                     "description": "", "shape_type": "rectangle", "flags": {}, "mask": None}
                    for label, (x, y, w, h) in _objects(name)
                ],
                "imagePath": name,
                "imageData": None,
                "imageHeight": HEIGHT,
                "imageWidth": WIDTH,
            },
            indent=2,
        )  # fmt: skip


_VIA = {
    name: one._replace(
        concepts=frozenset(f"type: {it}" if it in one.boxes else it for it in one.concepts),
        boxes={f"type: {label}": boxes for label, boxes in one.boxes.items()},
    )
    for name, one in STREETS.items()
}


@form("VGG Image Annotator JSON", "via_region_data.json", _VIA)
def via_json(folder: Path) -> None:
    """robots.ox.ac.uk, VIA, export as JSON: regions by file name and size, attributes by name."""
    put_json(
        folder / "via_region_data.json",
        {
            f"{name}{2000 + number}": {
                "filename": name,
                "size": 2000 + number,
                "regions": [
                    {"shape_attributes": dict(zip(("name", "x", "y", "width", "height"),
                                                  ("rect", *box), strict=True)),
                     "region_attributes": {"type": label}}
                    for label, box in _objects(name)
                ],
                "file_attributes": {"weather": _weather(name)},
            }
            for number, name in enumerate(STREETS)
        },
    )  # fmt: skip


@form("VGG Image Annotator CSV", "via_region_data.csv", _VIA)
def via_csv(folder: Path) -> None:
    """robots.ox.ac.uk, VIA, export as CSV: a row a region, JSON in its cells."""
    rows = []
    for number, name in enumerate(STREETS):
        shown = _objects(name)
        start = name, 2000 + number, json.dumps({"weather": _weather(name)}), len(shown)
        for at, (label, box) in enumerate(shown):
            shape = dict(zip(("name", "x", "y", "width", "height"), ("rect", *box), strict=True))
            rows.append((*start, at, json.dumps(shape), json.dumps({"type": label})))
        if not shown:
            rows.append((*start, 0, "{}", "{}"))
    header = "filename,file_size,file_attributes,region_count,region_id,region_shape_attributes"
    put_csv(folder / "via_region_data.csv", f"{header},region_attributes", rows)


@form(
    "Datumaro JSON",
    "streets",
    {
        name: one._replace(
            split="train" if name != "street4.jpg" else "val",
            concepts=one.concepts - {_RAINY, _CLEAR}
            | ({"parked", "color: blue"} if name == "street2.jpg" else set())
            | ({"night"} if name == "street3.jpg" else set()),
        )
        for name, one in STREETS.items()
    },
    "occluded",
)
def datumaro(folder: Path) -> None:
    """open-edge-platform/datumaro, Datumaro format: items of each subset in a file of its own."""
    labels = ("car", "person", "night")
    for split, names in (("train", list(STREETS)[:3]), ("validation", list(STREETS)[3:])):
        put_pictures(folder / "streets/images" / split, names)
        put_json(
            folder / f"streets/annotations/{split}.json",
            {
                "dm_format_version": "1.0",
                "media_type": 2,
                "infos": {},
                "categories": {
                    "label": {
                        "label_groups": [],
                        "labels": [{"name": it, "parent": "", "attributes": []} for it in labels],
                        "attributes": [],
                    }
                },
                "items": [
                    {
                        "id": name.removesuffix(".jpg"),
                        "annotations": [
                            {"id": at, "type": "bbox", "attributes":
                             {"occluded": False, "parked": True, "color": "blue"}
                             if box == BUS else {"occluded": False}, "group": at,
                             "label_id": labels.index(label), "z_order": 0, "bbox": list(box)}
                            for at, (label, box) in enumerate(_objects(name))
                        ]
                        + [{"id": 9, "type": "label", "attributes": {}, "group": 0, "label_id": 2}]
                        * (name == "street3.jpg"),
                        "attr": {"frame": at},
                        "image": {"path": name, "size": [HEIGHT, WIDTH]},
                    }
                    for at, name in enumerate(names)
                ],
            },
        )  # fmt: skip


@form(
    "Darwin (V7)",
    "releases/latest/annotations",
    {
        name: one._replace(
            concepts=one.concepts - {_RAINY, _CLEAR}
            | {_weather(name)}
            | ({"parked"} if name == "street2.jpg" else set())
        )
        for name, one in STREETS.items()
    },
)
def darwin(folder: Path) -> None:
    """docs.v7labs.com, Darwin JSON 2.0: a file for each item, boxes, tags and attributes."""
    for name in STREETS:
        boxes = [
            {"attributes": ["parked"] if box == BUS else [], "properties": [],
             "bounding_box": dict(zip("xywh", box, strict=True)), "id": f"0a{at}", "name": label,
             "annotators": [], "reviewers": [], "slot_names": ["0"]}
            for at, (label, box) in enumerate(_objects(name))
        ]  # fmt: skip
        put_json(
            folder / "releases/latest/annotations" / name.replace("jpg", "json"),
            {
                "version": "2.0",
                "schema_ref": "https://darwin-public.s3.eu-west-1.amazonaws.com/darwin_json/2.0/",
                "item": {
                    "name": name,
                    "path": "/",
                    "source_info": {"item_id": f"0193-{name}", "dataset": {"name": "streets"},
                                    "team": {"name": "team"}},
                    "slots": [
                        {"type": "image", "slot_name": "0", "width": WIDTH, "height": HEIGHT,
                         "source_files": [{"file_name": name, "url": ""}]}
                    ],
                },
                "annotations": [
                    *boxes,
                    {"attributes": [], "id": "0b", "name": _weather(name), "properties": [],
                     "slot_names": ["0"], "tag": {}},
                ],
            },
        )  # fmt: skip


@form(
    "FiftyOne dataset",
    "streets",
    {
        name: one._replace(
            split="train" if name != "street4.jpg" else "val",
            class_name=_weather(name),
            concepts=one.concepts - {_RAINY, _CLEAR},
        )
        for name, one in _with(STREETS, "street2.jpg", "color: blue").items()
    },
    "confidence",
)
def fiftyone(folder: Path) -> None:
    """voxel51/fiftyone, FiftyOneDataset: detections; one classification is the class."""
    put_json(
        folder / "streets/metadata.json",
        {"name": "streets", "version": "1.22.1", "media_type": "image", "sample_fields": [],
         "info": {}, "classes": {}, "default_classes": []},
    )  # fmt: skip
    put_pictures(folder / "streets/data", STREETS)
    put_json(
        folder / "streets/samples.json",
        {
            "samples": [
                {
                    "_id": {"$oid": f"{number:024x}"},
                    "filepath": f"data/{name}",
                    "tags": ["val" if name == "street4.jpg" else "train"],
                    "metadata": {"_cls": "ImageMetadata", "size_bytes": 700, "width": WIDTH,
                                 "height": HEIGHT, "num_channels": 3, "mime_type": "image/jpeg"},
                    "_media_type": "image",
                    "_rand": 0.5,
                    "weather": {"_id": {"$oid": f"{99 + number:024x}"}, "_cls": "Classification",
                                "tags": [], "label": _weather(name)},
                    "ground_truth": {
                        "_cls": "Detections",
                        "detections": [
                            {"_id": {"$oid": f"{100 * number + at:024x}"}, "_cls": "Detection",
                             "attributes": {}, "tags": [], "label": label,
                             "bounding_box": [x / WIDTH, y / HEIGHT, w / WIDTH, h / HEIGHT],
                             **({"color": "blue"} if (x, y, w, h) == BUS else {})}
                            for at, (label, (x, y, w, h)) in enumerate(_objects(name))
                        ],
                    },
                }
                for number, name in enumerate(STREETS)
            ]
        },
    )  # fmt: skip


@form(
    "FiftyOneDataset of videos",
    "drives",
    {
        "drive.mp4#frame=0": seen(car=CAR, cls="rainy", split="train"),
        "drive.mp4#frame=1": seen(car=[CAR, BUS], cls="rainy", split="train"),
        "drive.mp4#frame=4": seen(cls="rainy", split="train"),
    },
)
def fiftyone_videos(folder: Path) -> None:
    """voxel51/fiftyone, FiftyOneDatasetExporter: frames.json names the sample of each frame."""
    put_json(folder / "drives/metadata.json", {"name": "drives", "media_type": "video"})
    put_json(folder / "drives/samples.json", {"samples": [
        {"_id": {"$oid": f"{7:024x}"}, "filepath": "data/drive.mp4", "tags": ["train"],
         "metadata": {"_cls": "VideoMetadata", "frame_width": WIDTH, "frame_height": HEIGHT,
                      "frame_rate": 25.0, "total_frame_count": 9, "duration": 0.36},
         "_media_type": "video",
         "weather": {"_cls": "Classification", "tags": [], "label": "rainy"}}]})  # fmt: skip
    shown = {1: [CAR], 2: [CAR, BUS], 5: []}
    put_json(folder / "drives/frames.json", {"frames": [
        {"_id": {"$oid": f"{100 + number:024x}"}, "_sample_id": {"$oid": f"{7:024x}"},
         "frame_number": number,
         "detections": {"_cls": "Detections", "detections": [
             {"_cls": "Detection", "attributes": {}, "tags": [], "label": "car",
              "bounding_box": [x / WIDTH, y / HEIGHT, w / WIDTH, h / HEIGHT]}
             for x, y, w, h in boxes]}}
        for number, boxes in shown.items()]})  # fmt: skip


_UNTAGGED = {
    name: one._replace(concepts=one.concepts - {_RAINY, _CLEAR}) for name, one in STREETS.items()
}


@form("Apple Create ML JSON", "_annotations.createml.json", _UNTAGGED)
def createml(folder: Path) -> None:
    """developer.apple.com, Building an object detector data source: boxes by their centres."""
    put_json(
        folder / "_annotations.createml.json",
        [
            {
                "image": name,
                "annotations": [
                    {"label": label, "coordinates": {"x": x + w / 2, "y": y + h / 2, "width": w,
                                                     "height": h}}
                    for label, (x, y, w, h) in _objects(name)
                ],
            }
            for name in STREETS
        ],
    )  # fmt: skip


@form("VoTT JSON", "streets.json", _UNTAGGED)
def vott(folder: Path) -> None:
    """microsoft/VoTT, export as JSON: assets by their ids, with regions and their tags."""
    assets = {
        f"{number:032x}": {
            "asset": {"format": "jpg", "id": f"{number:032x}", "name": name, "type": 1,
                      "path": f"file:/home/me/{name}", "state": 2,
                      "size": {"width": WIDTH, "height": HEIGHT}},
            "regions": [
                {"id": f"r{at}", "type": "RECTANGLE", "tags": [label],
                 "boundingBox": {"height": h, "width": w, "left": x, "top": y},
                 "points": [{"x": x, "y": y}, {"x": x + w, "y": y}, {"x": x + w, "y": y + h},
                            {"x": x, "y": y + h}]}
                for at, (label, (x, y, w, h)) in enumerate(_objects(name))
            ],
            "version": "2.2.0",
        }
        for number, name in enumerate(STREETS)
    }  # fmt: skip
    put_json(folder / "streets.json", {"name": "streets", "id": "x", "assets": assets})


_TAGGED = {
    name: one._replace(concepts=one.concepts - {_CLEAR, _RAINY} | {_weather(name)})
    for name, one in STREETS.items()
}


@form("SuperAnnotate", "annotations.json", _TAGGED)
def superannotate(folder: Path) -> None:
    """doc.superannotate.com, Format of annotations: an entry an image, with tags and instances."""
    put_json(
        folder / "annotations.json",
        [
            {
                "metadata": {"name": name, "width": WIDTH, "height": HEIGHT,
                             "status": "Completed", "annotatorEmail": "me@example.org"},
                "instances": [
                    {"type": "bbox", "classId": 1, "className": label, "probability": 100,
                     "points": {"x1": x, "x2": x + w, "y1": y, "y2": y + h}, "groupId": 0,
                     "pointLabels": {}, "locked": False, "visible": True, "attributes": []}
                    for label, (x, y, w, h) in _objects(name)
                ],
                "tags": [_weather(name)],
                "comments": [],
            }
            for name in STREETS
        ],
    )  # fmt: skip


@form("VGG Image Annotator 3", "via_project.json", _VIA)
def via_3(folder: Path) -> None:
    """robots.ox.ac.uk, VIA 3, a saved project: views, files, and metadata with numbered answers."""
    metadata = {}
    for number, name in enumerate(STREETS, start=1):
        for at, (label, box) in enumerate(_objects(name)):
            answer = {"1": "01"[label == "person"]}
            metadata[f"{number}_{at}"] = {"vid": str(number), "flg": 0, "z": [], "xy": [2, *box],
                                          "av": answer}  # fmt: skip
        weather = {"2": _weather(name)}
        metadata[f"{number}_w"] = {"vid": str(number), "flg": 0, "z": [], "xy": [], "av": weather}

    numbers = [str(number) for number in range(1, len(STREETS) + 1)]
    put_json(
        folder / "via_project.json",
        {
            "project": {"pid": "x", "rev": "1", "pname": "streets",
                        "data_format_version": "3.1.1", "vid_list": numbers},
            "config": {"file": {"loc_prefix": {"1": "", "2": ""}}, "ui": {}},
            "attribute": {
                "1": {"aname": "type", "anchor_id": "FILE1_Z0_XY1", "type": 4,
                      "options": {"0": "car", "1": "person"}, "default_option_id": ""},
                "2": {"aname": "weather", "anchor_id": "FILE1_Z0_XY0", "type": 1, "options": {},
                      "default_option_id": ""},
            },
            "file": {number: {"fid": number, "fname": name, "type": 2, "loc": 1, "src": ""}
                     for number, name in zip(numbers, STREETS, strict=True)},
            "metadata": metadata,
            "view": {number: {"fid_list": [number]} for number in numbers},
        },
    )  # fmt: skip
