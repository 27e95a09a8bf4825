"""Images and objects in the JSON of labelling tools and driving datasets.

A function for each takes a record as decoded, the lists beside it, and the file's name without its
ending. Answers about an image are metadata, those about an object attributes. Predictions and
cancelled annotations are left out, and so are masks in bits or run lengths, but not their labels.
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import msgspec

from cobalance.base.records import Box
from cobalance.ingest.collector import VIDEO
from cobalance.ingest.formats.tool_reader import Picture, Read, Records, ToolReader
from cobalance.vision.images.outlines import Point, place_of, place_of_parts, turn_box

_Make = Callable[[Any, Mapping[str, Any], str], Picture]
_VIA = "_via_img_metadata"  # in projects of VIA; each key of it, as of other files, is an image's
_BESIDE = {"categories", "config"}
_VIA_CELLS = ("file_attributes", "region_shape_attributes", "region_attributes")
_ABOUT_TASKS = {"id", "annotator", "annotation_id", "created_at", "updated_at", "agreement"}


def _records(make: _Make, key: str, file: str, read: Read) -> Records:
    """Records of a list, of the list or object with a key, of lines, or the whole file as one."""
    content = read(file).removeprefix(b"\xef\xbb\xbf").strip()
    beside: dict[str, Any] = {}
    first, newline, _ = content.partition(b"\n")
    if newline and first.startswith(b"{") and first.rstrip().endswith(b"}"):
        content = b"[" + b",".join(content.splitlines()) + b"]"
    elif content.startswith(b"{"):
        whole = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
        beside = {name: msgspec.json.decode(whole[name]) for name in _BESIDE & whole.keys()}
        content = bytes(whole.get(key, b"[" + content + b"]" if key != _VIA else content))
    raw = msgspec.json.decode(content, type=list[msgspec.Raw] | dict[str, msgspec.Raw])
    for at, record in raw.items() if isinstance(raw, dict) else enumerate(raw):
        yield f"[{at}]", partial(_make, make, record, beside, PurePosixPath(file).stem)


def _make(make: _Make, record: msgspec.Raw, beside: Mapping[str, Any], file: str) -> Picture:
    return make(msgspec.json.decode(record), beside, file)


def _box(x: float, y: float, w: float, h: float) -> dict[str, Box]:
    return {"box": (float(x), float(y), float(w), float(h))}


def _scalabel(frame: Any, beside: Mapping[str, Any], _file: str) -> Picture:
    size = beside.get("config", {}).get("imageSize") or frame.get("size") or {}
    found = Picture(frame["name"], size.get("width"), size.get("height"))
    found.metadata = dict(frame.get("attributes") or {})
    if frame.get("videoName"):
        found.metadata[VIDEO] = frame["videoName"]
    for label in frame.get("labels") or ():
        place: dict[str, Any] = {}
        if shapes := label.get("poly2d"):
            place = _place_of_shapes(shapes)
        if box := label.get("box2d"):
            x, y = box["x1"], box["y1"]
            place |= _box(x, y, box["x2"] - x, box["y2"] - y)
        found.add(label["category"], place, label.get("attributes"))
    return found


def _place_of_shapes(shapes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Place of an object of several shapes, all of which Scalabel paints; lines have no area."""
    points, closed = list[Point](), list[list[Point]]()
    for shape in shapes:
        part = [(x, y) for x, y, *_ in shape["vertices"]]
        points += part
        if shape.get("closed"):
            closed.append(part)
    return place_of_parts(closed, cuts_holes=False) | place_of(points, is_area=False)


def _label_studio(task: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    data = task["data"]
    address = data["image"] if "image" in data else next(iter(data.values()))
    kept = [one for one in task["annotations"] if not one.get("was_cancelled")]
    kept.sort(key=lambda one: not one.get("ground_truth"))
    name = address.partition("?d=")[2] or address
    found = Picture(name.rsplit("/", 1)[-1] if name.startswith("/data/") else name)
    regions: dict[str, dict[str, Any]] = {}
    for result in kept[0]["result"] if kept else ():
        value, kind = result["value"], result["type"]
        if kind in ("choices", "taxonomy"):
            names = ["/".join(it) if isinstance(it, list) else it for it in value[kind]]
            told = regions.get(result.get("id"), found.metadata)
            told[result["from_name"]] = names[0] if len(names) == 1 else names
            continue
        width, height = result.get("original_width"), result.get("original_height")
        place: dict[str, Any] = {}
        if width and height:
            found.width, found.height = width, height
            x, y = value.get("x", 0) * width / 100, value.get("y", 0) * height / 100
            if kind == "rectanglelabels":
                w, h = value["width"] * width / 100, value["height"] * height / 100
                place = turn_box((x, y, w, h), value.get("rotation", 0), (x, y))
            elif kind == "polygonlabels":
                place = place_of([(x * width / 100, y * height / 100) for x, y in value["points"]])
        for label in value.get(kind, ()) if kind.endswith("labels") else ():
            attributes = regions.setdefault(result.get("id") or str(len(regions)), {})
            found.add(label, place, attributes)
    return found


def _label_studio_min(row: Any, beside: Mapping[str, Any], file: str) -> Picture:
    """A row has a key for each control; as a task it has a result for each value."""
    results = []
    for name, told in row.items():
        for value in told if isinstance(told, list) and told and type(told[0]) is dict else ():
            kind = next(key for key in value if key.endswith("labels"))
            results.append({**value, "type": kind, "from_name": name, "value": value})
    plain = {name: told for name, told in row.items() if name not in _ABOUT_TASKS}
    task = {"data": {"image": row["image"]}, "annotations": [{"result": results}]}
    found = _label_studio(task, beside, file)
    for name, told in plain.items():
        if isinstance(told, str | float) and name != "image":
            found.metadata[name] = told
        elif isinstance(told, dict) and "choices" in told:
            found.metadata[name] = told["choices"]
    return found


def _labelbox(row: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    data, size = row["data_row"], row.get("media_attributes", {})
    name = data.get("external_id") or data.get("global_key") or data["id"]
    found = Picture(name, size.get("width"), size.get("height"))
    for project in row["projects"].values():
        for label in project["labels"][:1]:
            told = label["annotations"]
            found.metadata |= _answers(told.get("classifications", ()))
            for one in told.get("objects", ()):
                box, place = one.get("bounding_box"), dict[str, Any]()
                if box:
                    place = _box(box["left"], box["top"], box["width"], box["height"])
                elif line := one.get("polygon") or one.get("line"):
                    place = place_of([(it["x"], it["y"]) for it in line], is_area="polygon" in one)
                found.add(one["name"], place, _answers(one.get("classifications", ())))
    return found


def _answers(classifications: Sequence[Any]) -> dict[str, Any]:
    found = {}
    for one in classifications:
        if one.get("radio_answer"):
            found[one["name"]] = one["radio_answer"]["name"]
        elif one.get("checklist_answers"):
            found[one["name"]] = [answer["name"] for answer in one["checklist_answers"]]
    return found


def _supervisely(record: Any, _beside: Mapping[str, Any], file: str) -> Picture:
    def tags(told: Any) -> dict[str, Any]:
        return {it["name"]: True if it.get("value") is None else it["value"] for it in told or ()}

    size = record["size"]
    found = Picture(file, size["width"], size["height"], tags(record.get("tags")))
    for one in record["objects"]:
        points, kind = one.get("points", {}).get("exterior", ()), one.get("geometryType")
        place = place_of([(x, y) for x, y in points], is_area=kind == "polygon")
        found.add(one["classTitle"], place, tags(one.get("tags")))
    return found


def _labelme(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    name = record["imagePath"].replace("\\", "/")
    found = Picture(name, record.get("imageWidth"), record.get("imageHeight"))
    found.metadata = dict(record.get("flags") or {})
    for shape in record["shapes"]:
        points, kind = [(x, y) for x, y in shape["points"]], shape.get("shape_type", "polygon")
        found.add(shape["label"], place_of(points, is_area=kind == "polygon"), shape.get("flags"))
    return found


def _via(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    found = Picture(record["filename"], metadata=dict(record.get("file_attributes") or {}))
    regions = record["regions"]
    for region in regions.values() if isinstance(regions, dict) else regions:
        shape, place = region["shape_attributes"], dict[str, Any]()
        if shape.get("name") == "rect":
            place = _box(shape["x"], shape["y"], shape["width"], shape["height"])
        elif "all_points_x" in shape:
            points = list(zip(shape["all_points_x"], shape["all_points_y"], strict=True))
            place = place_of(points, is_area=shape.get("name") == "polygon")
        for name, told in region["region_attributes"].items():
            for value in told if isinstance(told, dict) else [told]:
                found.add(f"{name}: {value}", place)
    return found


def _via_rows(file: str, read: Read) -> Records:
    """Images of VIA's CSV, which has a row for each region."""
    text = read(file).decode("utf-8-sig").removeprefix("#")
    images: dict[str, dict[str, Any]] = {}
    for row in csv.DictReader(io.StringIO(text, newline="")):
        answers, shape, region = (msgspec.json.decode(row[name]) for name in _VIA_CELLS)
        new = {"filename": row["filename"], "file_attributes": answers, "regions": []}
        regions = images.setdefault(row["filename"], new)["regions"]
        regions.append({"shape_attributes": shape, "region_attributes": region})
    for name, record in images.items():
        yield name, partial(_via, record, {}, file)


def _darwin(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    item, slot = record["item"], record["item"]["slots"][0]
    found = Picture(item["name"], slot.get("width"), slot.get("height"))
    for one in record["annotations"]:
        place: dict[str, Any] = {}
        if "polygon" in one:
            paths = one["polygon"]["paths"]
            parts = [[(it["x"], it["y"]) for it in path] for path in paths]
            place = place_of_parts(parts, cuts_holes=True)  # as darwin-py paints them
        elif box := one.get("bounding_box"):
            place = _box(box["x"], box["y"], box["w"], box["h"])
        found.add(one["name"], place, dict.fromkeys(one.get("attributes") or (), True))
    return found


def _datumaro(item: Any, beside: Mapping[str, Any], _file: str) -> Picture:
    labels = beside["categories"]["label"]["labels"]
    image = item.get("image", {})
    height, width = image.get("size") or (None, None)
    found = Picture(image.get("path") or item["id"], width, height)
    for one in item["annotations"]:
        place: dict[str, Any] = {}
        if "bbox" in one:
            place = _box(*one["bbox"])
        elif points := one.get("points"):
            pairs = list(zip(points[::2], points[1::2], strict=True))
            place = place_of(pairs, is_area=one["type"] == "polygon")
        if one.get("label_id") is not None:
            found.add(labels[one["label_id"]]["name"], place, one.get("attributes"))
    return found


def _createml(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    found = Picture(record["image"])
    for one in record["annotations"]:
        x, y, w, h = (one["coordinates"][side] for side in ("x", "y", "width", "height"))
        found.add(one["label"], _box(x - w / 2, y - h / 2, w, h))
    return found


def _cityscapes(record: Any, _beside: Mapping[str, Any], file: str) -> Picture:
    found = Picture(file.partition("_gt")[0], record["imgWidth"], record["imgHeight"])
    found.file = f"{found.name}_leftImg8bit.png"
    for one in record["objects"]:
        found.add(one["label"], place_of([(x, y) for x, y in one["polygon"]]))
    return found


def _clevr(scene: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    found = Picture(scene["image_filename"], split=scene.get("split"))
    for one in scene["objects"]:
        found.add(one["shape"], {}, {name: one[name] for name in ("color", "material", "size")})
    return found


def _panoptic(record: Any, beside: Mapping[str, Any], _file: str) -> Picture:
    names = {one["id"]: one["name"] for one in beside["categories"]}
    found = Picture(record["file_name"].removesuffix(".png") + ".jpg")
    for one in record["segments_info"]:
        found.add(names[one["category_id"]], _box(*one["bbox"]))
    return found


def _reader(title: str, make: _Make, *marks: str, key: str = "") -> ToolReader:
    given = tuple(f'"{mark}"'.encode() for mark in marks)
    return ToolReader(title, given, partial(_records, make, key))


TOOLS = {
    "coco-panoptic": _reader("COCO panoptic", _panoptic, "segments_info", key="annotations"),
    "label-studio": _reader("Label Studio JSON", _label_studio, "data", "result", "annotations"),
    "label-studio-min": _reader("Label Studio JSON_MIN", _label_studio_min, "annotation_id"),
    "labelbox": _reader("Labelbox NDJSON", _labelbox, "data_row", "projects"),
    "supervisely": _reader("Supervisely", _supervisely, "description", "tags", "size", "objects"),
    "labelme": _reader("LabelMe JSON", _labelme, "shapes", "imagePath"),
    "via": _reader("VIA (VGG) JSON", _via, "filename", "regions", "region_attributes", key=_VIA),
    "via-csv": ToolReader(
        "VIA (VGG) CSV",
        (rb"^#?filename,.*,region_shape_attributes,",),
        _via_rows,
        (".csv",),
    ),
    "createml": _reader("Create ML JSON", _createml, "image", "annotations", "coordinates"),
    "darwin": _reader("Darwin JSON of V7", _darwin, "item", "slots", "annotations"),
    "datumaro": _reader("Datumaro JSON", _datumaro, "infos", "categories", "items", key="items"),
    "cityscapes": _reader("Cityscapes", _cityscapes, "imgHeight", "imgWidth", "objects"),
    "clevr": _reader("CLEVR", _clevr, "scenes", "image_filename", "3d_coords", key="scenes"),
    "scalabel": _reader(
        "Scalabel, BDD100K", _scalabel, "labels", "category", "box2d", key="frames"
    ),
}
