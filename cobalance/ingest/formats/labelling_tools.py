"""Images and objects in the JSON of labelling tools.

Answers about an image are metadata, those about an object attributes. Masks in bits or run lengths
are left out, but not their labels.
"""

from collections.abc import Mapping, Sequence
from itertools import starmap
from operator import itemgetter
from typing import Any

from cobalance.ingest.formats.json_records import box_place, json_reader, pairs, points_of
from cobalance.ingest.formats.tool_reader import Picture
from cobalance.ingest.reader import format_of
from cobalance.vision.images import place_of


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
                    place = box_place(box["left"], box["top"], box["width"], box["height"])
                elif line := item.get("polygon") or item.get("line"):
                    place = place_of(points_of(line), is_area="polygon" in item)
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
        place = place_of(pairs(points), is_area=kind == "polygon")
        picture.add(figure["classTitle"], place, tags(figure.get("tags")))
    return picture


def _labelme(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    name = record["imagePath"].replace("\\", "/")
    picture = Picture(name, record.get("imageWidth"), record.get("imageHeight"))
    picture.metadata = dict(record.get("flags") or {})
    for shape in record["shapes"]:
        points, kind = pairs(shape["points"]), shape.get("shape_type", "polygon")
        picture.add(shape["label"], place_of(points, is_area=kind == "polygon"), shape.get("flags"))
    return picture


def _datumaro(item: Any, beside: Mapping[str, Any], _file: str) -> Picture:
    labels = beside["categories"]["label"]["labels"]
    image = item.get("image", {})
    height, width = image.get("size") or (None, None)
    picture = Picture(image.get("path") or item["id"], width, height)

    for annotation in item["annotations"]:
        place: dict[str, Any] = {}
        if "bbox" in annotation:
            place = box_place(*annotation["bbox"])
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
        picture.add(annotation["label"], box_place(x - w / 2, y - h / 2, w, h))
    return picture


TOOLS = {
    "labelbox": json_reader("Labelbox NDJSON", _labelbox, "data_row", "projects"),
    "supervisely": json_reader(
        "Supervisely", _supervisely, "description", "tags", "size", "objects"
    ),
    "labelme": json_reader("LabelMe JSON", _labelme, "shapes", "imagePath"),
    "createml": json_reader("Create ML JSON", _createml, "image", "annotations", "coordinates"),
    "datumaro": json_reader(
        "Datumaro JSON", _datumaro, "infos", "categories", "items", key="items"
    ),
}

PLUGINS = tuple(starmap(format_of, TOOLS.items()))
