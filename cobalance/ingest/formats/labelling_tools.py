"""Images and objects in the JSON of labelling tools and driving datasets.

A function for each takes a record as decoded, the lists beside it, and the file's name without its
ending. Answers about an image are metadata, those about an object attributes. Predictions and
cancelled annotations are left out, and so are masks in bits or run lengths, but not their labels.
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import starmap
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Any

import msgspec

from cobalance.base import Box
from cobalance.ingest.collector import VIDEO
from cobalance.ingest.formats.tool_reader import Picture, Read, Records, ToolReader
from cobalance.ingest.names import number_items
from cobalance.ingest.reader import format_of
from cobalance.vision.images import Point, place_of, place_of_parts, turn_box

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
        # Without the key the file is one record; VIA's other files are the object itself.
        default = content if key == _VIA else b"[" + content + b"]"
        content = bytes(whole.get(key, default))

    # Records are decoded one by one, so that a malformed one is skipped alone.
    raw = msgspec.json.decode(content, type=list[msgspec.Raw] | dict[str, msgspec.Raw])
    for number, record in number_items(raw).items():
        yield f"[{number}]", partial(_make, make, record, beside, PurePosixPath(file).stem)


def _make(make: _Make, record: msgspec.Raw, beside: Mapping[str, Any], file: str) -> Picture:
    return make(msgspec.json.decode(record), beside, file)


def _box(x: float, y: float, w: float, h: float) -> dict[str, Box]:
    return {"box": (float(x), float(y), float(w), float(h))}


def _pairs(numbers: Sequence[Any]) -> list[Point]:
    """Points of lists of two numbers; others are an error of their record."""
    return [(x, y) for x, y in numbers]


def _points(objects: Sequence[Any]) -> list[Point]:
    """Points of objects with x and y."""
    return [(point["x"], point["y"]) for point in objects]


def _scalabel(frame: Any, beside: Mapping[str, Any], _file: str) -> Picture:
    size = beside.get("config", {}).get("imageSize") or frame.get("size") or {}
    picture = Picture(frame["name"], size.get("width"), size.get("height"))
    picture.metadata = dict(frame.get("attributes") or {})

    if frame.get("videoName"):
        picture.metadata[VIDEO] = frame["videoName"]

    for label in frame.get("labels") or ():
        place: dict[str, Any] = {}
        if shapes := label.get("poly2d"):
            place = _place_of_shapes(shapes)
        if box := label.get("box2d"):
            x, y = box["x1"], box["y1"]
            place |= _box(x, y, box["x2"] - x, box["y2"] - y)
        picture.add(label["category"], place, label.get("attributes"))
    return picture


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
    name = address.partition("?d=")[2] or address
    picture = Picture(name.rsplit("/", 1)[-1] if name.startswith("/data/") else name)

    # Several people may have annotated a task: the ground truth counts, or else the first.
    done = [annotation for annotation in task["annotations"] if not annotation.get("was_cancelled")]
    done.sort(key=lambda annotation: not annotation.get("ground_truth"))
    attributes_of: dict[str, dict[str, Any]] = {}
    for result in done[0]["result"] if done else ():
        value, kind = result["value"], result["type"]
        if kind in ("choices", "taxonomy"):
            names = ["/".join(path) if isinstance(path, list) else path for path in value[kind]]
            # An answer of no region is about the image.
            answers = attributes_of.get(result.get("id"), picture.metadata)
            answers[result["from_name"]] = names[0] if len(names) == 1 else names
            continue

        if result.get("original_width") and result.get("original_height"):
            picture.width, picture.height = result["original_width"], result["original_height"]
        place = _place_of_region(result)
        if not kind.endswith("labels"):
            continue
        for label in value.get(kind, ()):
            attributes = attributes_of.setdefault(result.get("id") or str(len(attributes_of)), {})
            picture.add(label, place, attributes)
    return picture


def _place_of_region(result: Any) -> dict[str, Any]:
    """Box or outline of a region of Label Studio, whose sides are percentages of the image's."""
    value = result["value"]
    width, height = result.get("original_width"), result.get("original_height")
    if not (width and height):
        return {}

    if result["type"] == "polygonlabels":
        return place_of([(x * width / 100, y * height / 100) for x, y in value["points"]])

    x, y = value.get("x", 0) * width / 100, value.get("y", 0) * height / 100
    if result["type"] != "rectanglelabels":
        return {}

    w, h = value["width"] * width / 100, value["height"] * height / 100
    return turn_box((x, y, w, h), value.get("rotation", 0), (x, y))


def _label_studio_min(row: Any, beside: Mapping[str, Any], file: str) -> Picture:
    """A row has a key for each control; as a task it has a result for each value."""
    results = []
    for name, answer in row.items():
        is_regions = isinstance(answer, list) and answer and type(answer[0]) is dict
        if not is_regions:
            continue
        for value in answer:
            kind = next(key for key in value if key.endswith("labels"))
            results.append({**value, "type": kind, "from_name": name, "value": value})
    task = {"data": {"image": row["image"]}, "annotations": [{"result": results}]}
    picture = _label_studio(task, beside, file)

    for name, answer in row.items():
        if name in _ABOUT_TASKS:
            continue
        if isinstance(answer, str | float) and name != "image":
            picture.metadata[name] = answer
        elif isinstance(answer, dict) and "choices" in answer:
            picture.metadata[name] = answer["choices"]
    return picture


def _labelbox(row: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    data, size = row["data_row"], row.get("media_attributes", {})
    name = data.get("external_id") or data.get("global_key") or data["id"]
    picture = Picture(name, size.get("width"), size.get("height"))

    for project in row["projects"].values():
        for label in project["labels"][:1]:
            annotations = label["annotations"]
            picture.metadata |= _answers(annotations.get("classifications", ()))
            for item in annotations.get("objects", ()):
                box, place = item.get("bounding_box"), dict[str, Any]()
                if box:
                    place = _box(box["left"], box["top"], box["width"], box["height"])
                elif line := item.get("polygon") or item.get("line"):
                    place = place_of(_points(line), is_area="polygon" in item)
                picture.add(item["name"], place, _answers(item.get("classifications", ())))
    return picture


def _answers(classifications: Sequence[Any]) -> dict[str, Any]:
    answers = {}
    for question in classifications:
        if question.get("radio_answer"):
            answers[question["name"]] = question["radio_answer"]["name"]
        elif question.get("checklist_answers"):
            answers[question["name"]] = [answer["name"] for answer in question["checklist_answers"]]
    return answers


def _supervisely(record: Any, _beside: Mapping[str, Any], file: str) -> Picture:
    def tags(listed: Any) -> dict[str, Any]:
        return {
            tag["name"]: True if tag.get("value") is None else tag["value"] for tag in listed or ()
        }

    size = record["size"]
    picture = Picture(file, size["width"], size["height"], tags(record.get("tags")))
    for figure in record["objects"]:
        points, kind = figure.get("points", {}).get("exterior", ()), figure.get("geometryType")
        place = place_of(_pairs(points), is_area=kind == "polygon")
        picture.add(figure["classTitle"], place, tags(figure.get("tags")))
    return picture


def _labelme(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    name = record["imagePath"].replace("\\", "/")
    picture = Picture(name, record.get("imageWidth"), record.get("imageHeight"))
    picture.metadata = dict(record.get("flags") or {})
    for shape in record["shapes"]:
        points, kind = _pairs(shape["points"]), shape.get("shape_type", "polygon")
        picture.add(shape["label"], place_of(points, is_area=kind == "polygon"), shape.get("flags"))
    return picture


def _via(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    picture = Picture(record["filename"], metadata=dict(record.get("file_attributes") or {}))
    for region in number_items(record["regions"]).values():
        shape, place = region["shape_attributes"], dict[str, Any]()
        if shape.get("name") == "rect":
            place = _box(shape["x"], shape["y"], shape["width"], shape["height"])
        elif "all_points_x" in shape:
            points = list(zip(shape["all_points_x"], shape["all_points_y"], strict=True))
            place = place_of(points, is_area=shape.get("name") == "polygon")

        # Check boxes are an object with a key for each that is ticked.
        for name, answer in region["region_attributes"].items():
            for value in answer if isinstance(answer, dict) else [answer]:
                picture.add(f"{name}: {value}", place)
    return picture


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
    picture = Picture(item["name"], slot.get("width"), slot.get("height"))
    for annotation in record["annotations"]:
        place: dict[str, Any] = {}
        if "polygon" in annotation:
            paths = annotation["polygon"]["paths"]
            parts = list(map(_points, paths))
            # A path within another cuts a hole, as darwin-py paints them.
            place = place_of_parts(parts, cuts_holes=True)
        elif box := annotation.get("bounding_box"):
            place = _box(box["x"], box["y"], box["w"], box["h"])

        flags = dict.fromkeys(annotation.get("attributes") or (), True)
        picture.add(annotation["name"], place, flags)
    return picture


def _datumaro(item: Any, beside: Mapping[str, Any], _file: str) -> Picture:
    labels = beside["categories"]["label"]["labels"]
    image = item.get("image", {})
    height, width = image.get("size") or (None, None)
    picture = Picture(image.get("path") or item["id"], width, height)

    for annotation in item["annotations"]:
        place: dict[str, Any] = {}
        if "bbox" in annotation:
            place = _box(*annotation["bbox"])
        elif points := annotation.get("points"):
            pairs = list(zip(points[::2], points[1::2], strict=True))
            place = place_of(pairs, is_area=annotation["type"] == "polygon")

        if annotation.get("label_id") is not None:
            picture.add(labels[annotation["label_id"]]["name"], place, annotation.get("attributes"))
    return picture


def _createml(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    picture = Picture(record["image"])
    for annotation in record["annotations"]:
        x, y, w, h = itemgetter("x", "y", "width", "height")(annotation["coordinates"])
        picture.add(annotation["label"], _box(x - w / 2, y - h / 2, w, h))
    return picture


def _cityscapes(record: Any, _beside: Mapping[str, Any], file: str) -> Picture:
    picture = Picture(file.partition("_gt")[0], record["imgWidth"], record["imgHeight"])
    picture.file = f"{picture.name}_leftImg8bit.png"
    for figure in record["objects"]:
        picture.add(figure["label"], place_of(_pairs(figure["polygon"])))
    return picture


def _clevr(scene: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    picture = Picture(scene["image_filename"], split=scene.get("split"))
    for thing in scene["objects"]:
        picture.add(
            thing["shape"], {}, {name: thing[name] for name in ("color", "material", "size")}
        )
    return picture


def _panoptic(record: Any, beside: Mapping[str, Any], _file: str) -> Picture:
    names = {category["id"]: category["name"] for category in beside["categories"]}
    picture = Picture(record["file_name"].removesuffix(".png") + ".jpg")
    for segment in record["segments_info"]:
        picture.add(names[segment["category_id"]], _box(*segment["bbox"]))
    return picture


def _reader(title: str, make: _Make, *marks: str, key: str = "") -> ToolReader:
    quoted = tuple(f'"{mark}"'.encode() for mark in marks)
    return ToolReader(title, quoted, partial(_records, make, key))


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


PLUGINS = tuple(starmap(format_of, TOOLS.items()))
