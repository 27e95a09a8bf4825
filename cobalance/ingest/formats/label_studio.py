"""Label Studio's JSON and JSON_MIN: tasks of a project, with the results of their annotators.

Predictions and cancelled annotations are left out, and so are masks of brushes, but not their
labels.
"""

from collections.abc import Mapping
from itertools import starmap
from typing import Any

from cobalance.ingest.formats.json_records import json_reader
from cobalance.ingest.formats.tool_reader import Picture
from cobalance.ingest.reader import format_of
from cobalance.vision.images import place_of, turn_box

_ABOUT_TASKS = {"id", "annotator", "annotation_id", "created_at", "updated_at", "agreement"}


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


TOOLS = {
    "label-studio": json_reader(
        "Label Studio JSON", _label_studio, "data", "result", "annotations"
    ),
    "label-studio-min": json_reader("Label Studio JSON_MIN", _label_studio_min, "annotation_id"),
}

PLUGINS = tuple(starmap(format_of, TOOLS.items()))
