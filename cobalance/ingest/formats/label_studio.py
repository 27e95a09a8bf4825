"""Label Studio's JSON and JSON_MIN: tasks of a project, with the results of their annotators.

Predictions and cancelled annotations are left out, and so are masks of brushes, but not their
labels. Relations between regions are left out as well.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import unquote

import msgspec

from cobalance.base import group_pairs
from cobalance.ingest.formats.answers import gather
from cobalance.ingest.formats.json_records import decodable, json_reader
from cobalance.ingest.formats.task_pictures import picture_keys, pictures_of
from cobalance.ingest.formats.tool_reader import Picture
from cobalance.ingest.formats.video_tracks import Track, video_frames
from cobalance.ingest.names import omit
from cobalance.ingest.reader import formats_of
from cobalance.vision import place_of, place_of_ellipse, turn_box

_ABOUT_TASKS = {
    "id", "annotator", "annotation_id", "created_at", "updated_at", "agreement", "lead_time",
}  # fmt: skip
_ANSWERS = ("choices", "taxonomy", "textarea", "text", "rating", "number", "datetime", "selected")
_SIDES = {"x", "y", "width", "height", "points", "radiusX", "sequence", "rle"}


@dataclass
class _Region:
    """Results of one region, which may come in any order."""

    shape: Any = None
    labels: list[str] = field(default_factory=list)
    answers: list[tuple[str, Any]] = field(default_factory=list)
    video: Mapping[str, Any] | None = None


class _Answered(msgspec.Struct):
    to_name: str | None = None
    original_width: Any = None


class _Annotation(msgspec.Struct):
    result: list[_Answered] | None = None


class _Task(msgspec.Struct):
    data: dict[str, Any]
    annotations: list[_Annotation] = []


def _survey(records: Sequence[msgspec.Raw]) -> dict[str, Any]:
    """Which keys of the tasks' data are pictures, and which tags of the template are annotated."""
    to_names: dict[str, None] = {}

    def tasks() -> Iterator[dict[str, Any]]:
        for task in decodable(records, _Task):
            for annotation in task.annotations:
                for result in annotation.result or ():
                    if result.to_name and result.original_width:
                        to_names[result.to_name] = None
            yield task.data

    keys = picture_keys(tasks())
    return {"pictures": keys, "tags": list(to_names)}


def _label_studio(task: Any, beside: Mapping[str, Any], _file: str) -> Iterator[Picture]:
    """Images of a task: one, or several of its data, each with its own results."""
    # Several people may have annotated a task: the ground truth counts, or else the first.
    annotations = list(filter(_is_valid, task.get("annotations") or task.get("completions") or ()))
    annotations.sort(key=lambda annotation: not annotation.get("ground_truth"))
    results = annotations[0].get("result") or () if annotations else ()

    return _images(task["data"], results, beside)


def _is_valid(annotation: Any) -> bool:
    return not (annotation.get("was_cancelled") or annotation.get("skipped"))


def _images(
    data: Mapping[str, Any], results: Sequence[Any], beside: Mapping[str, Any]
) -> Iterator[Picture]:
    """Images of a task's data with their results."""
    addresses = pictures_of(data, beside["pictures"], beside["tags"])
    by_picture = group_pairs(
        (_picture_number(result, addresses), result) for result in results if "value" in result
    )

    for number, (_, address) in enumerate(addresses):
        # What was answered without naming a picture is about all of them.
        own_results = [*by_picture.get(number, ()), *by_picture.get(None, ())]
        yield from _with_results(_name(address), own_results)


def _picture_number(result: Any, addresses: Sequence[tuple[str, str]]) -> int | None:
    """Which of a task's pictures a result is about; None for all."""
    if len(addresses) == 1:
        return 0
    index = result.get("item_index", result["value"].get("item_index"))
    if index is not None:
        return int(index)

    # Tags of a repeater have the number of their page.
    tags = [tag for tag, _ in addresses]
    page = result.get("to_name", "").rpartition("_")[2]
    if len({*tags}) == 1 and page.isdecimal() and int(page) < len(addresses):
        return int(page)
    if len({*tags}) == len(tags) and result.get("to_name") in tags:
        return tags.index(result["to_name"])

    return None


def _name(address: str) -> str:
    """Name of a picture by its address; files of the server's own are called as when uploaded."""
    _, has_query, path = address.partition("?d=")
    if has_query:
        return unquote(path.partition("&")[0])
    if address.startswith("/data/"):
        return unquote(address.rsplit("/", 1)[-1])
    return address


def _with_results(name: str, results: Sequence[Any]) -> Iterable[Picture]:
    """The image of a name, or the frames of a video, with the results about it."""
    picture = Picture(name)
    region_ids = {str(result.get("id")) for result in results if _is_region(result)}
    regions: dict[str, _Region] = {}
    image_answers: list[tuple[str, Any]] = []

    for number, result in enumerate(results):
        value = result["value"]
        if result.get("original_width") and result.get("original_height"):
            picture.width, picture.height = result["original_width"], result["original_height"]

        answers = list(_answers_of(result))
        region_id = str(result.get("id", number))
        if region_id not in region_ids and not _is_region(result):
            image_answers += answers
            continue
        region = regions.setdefault(region_id, _Region())
        region.labels += (label for label in _labels_of(result) if label not in region.labels)
        region.answers += answers
        # Of several results the first that has sides says where the region is.
        if region.shape is None and not _SIDES.isdisjoint(value):
            region.shape = result
        if "sequence" in value:
            region.video = value

    picture.metadata = gather(image_answers)
    if any(region.video for region in regions.values()):
        return _video(picture, list(regions.values()))

    add = partial(_add_regions, list(regions.values()))
    if picture.width is None and any(region.shape for region in regions.values()):
        picture.at_size = add
    else:
        add(picture)
    return [picture]


def _add_regions(regions: Sequence[_Region], picture: Picture) -> None:
    """Add regions to a picture, whose size may be unknown."""
    for region in regions:
        place = _place_of_region(region.shape, (picture.width, picture.height))
        for label in region.labels:
            picture.add(label, place, gather(region.answers))
        # A region may have answers alone.
        for question, answer in () if region.labels else region.answers:
            for option in answer if isinstance(answer, list) else [answer]:
                picture.add(f"{question}: {option}", place)


def _is_region(result: Any) -> bool:
    value = result["value"]
    return not _SIDES.isdisjoint(value) or bool(_labels_of(result))


def _labels_of(result: Any) -> list[str]:
    """Labels of a result, under its kind's own key or that of all kinds."""
    value = result["value"]
    labels: list[str] = []
    for key in value:
        if key.endswith("labels"):
            labels += map(str, value[key] or ())
    return labels


def _answers_of(result: Any) -> Iterator[tuple[str, Any]]:
    """The question and answer of a result, of any control that is no label."""
    value = result["value"]
    for kind in _ANSWERS:
        answer = value.get(kind)
        if answer is None:
            continue
        if isinstance(answer, list):
            answer = list(map(_path_text, answer))
        yield result.get("from_name") or kind, answer


def _path_text(answer: Any) -> Any:
    """An answer of a taxonomy, which is a list of levels, as a text."""
    return "/".join(map(str, answer)) if isinstance(answer, list) else answer


def _place_of_region(result: Any, size: tuple[Any, Any]) -> dict[str, Any]:
    """Box or outline of a region, whose sides are percentages of the image's."""
    width, height = size
    if result is None or not (width and height):
        return {}
    value = result["value"]

    if "points" in value:
        points = [(x * width / 100, y * height / 100) for x, y in value["points"]]
        return place_of(points, is_area=value.get("closed", True))

    if "x" not in value or "y" not in value:
        return {}

    x, y = value["x"] * width / 100, value["y"] * height / 100
    degrees = value.get("rotation") or 0
    if "radiusX" in value:
        radii = value["radiusX"] * width / 100, value["radiusY"] * height / 100
        return place_of_ellipse((x, y), radii, degrees)

    # The width of a key point is that of its dot.
    if "height" not in value:
        return place_of([(x, y)])
    w, h = value["width"] * width / 100, value["height"] * height / 100

    return turn_box((x, y, w, h), degrees, (x, y))


def _video(picture: Picture, regions: Sequence[_Region]) -> Iterator[Picture]:
    """Frames of a video, which Label Studio counts from 1."""
    size = picture.width, picture.height
    n_frames, tracks = 0, list[Track]()

    for region in regions:
        if region.video is not None:
            n_frames = max(n_frames, int(region.video.get("framesCount") or 0))
            tracks += _tracks(region, size)

    n_frames = max([n_frames, *(last for track in tracks for _, last in track.spans)])
    return video_frames(picture.name, n_frames, size, tracks, picture.metadata)


def _tracks(region: _Region, size: tuple[Any, Any]) -> Iterator[Track]:
    """A track for each label of a region, which is seen from a key frame that is enabled."""
    video = region.video or {}
    sequence = sorted(video["sequence"], key=lambda key: key["frame"])
    last_frame = int(video.get("framesCount") or 0) or int(sequence[-1]["frame"])
    places, spans = dict[int, Mapping[str, Any]](), list[tuple[int, int]]()

    for position, key in enumerate(sequence):
        frame = int(key["frame"]) - 1
        places[frame] = _place_of_region({"value": key}, size)

        end = last_frame
        if position + 1 < len(sequence):
            end = int(sequence[position + 1]["frame"]) - 1
        if key.get("enabled", True):
            spans.append((frame, max(end, frame + 1)))
        else:
            # The object is last seen at the key frame that hides it.
            spans.append((frame, frame + 1))

    answers = dict.fromkeys(places, gather(region.answers))
    for label in region.labels:
        yield Track(label, places, spans, answers, moves=True)


def _survey_min(records: Sequence[msgspec.Raw]) -> dict[str, Any]:
    rows = decodable(records, dict[str, Any])
    data = (omit(row, _ABOUT_TASKS) for row in rows)
    return {"pictures": picture_keys(data), "tags": []}


def _label_studio_min(row: Any, beside: Mapping[str, Any], _file: str) -> Iterator[Picture]:
    """A row has a key for each control; as a task it has a result for each value."""
    pictures = {*beside["pictures"]}
    results = []

    for name, answer in row.items():
        if name in _ABOUT_TASKS or name in pictures:
            continue
        for value in _values(answer):
            # Results of one region have the same sides, and no id.
            sides = {key: value[key] for key in sorted(_SIDES & value.keys())}
            region = {"id": repr(sides)} if sides else {}
            results.append({**value, **region, "from_name": name, "value": value})

    return _images(row, results, beside)


def _values(answer: Any) -> list[dict[str, Any]]:
    """Values of results that a cell stands for."""
    if isinstance(answer, dict):
        return [answer]
    if isinstance(answer, list) and answer and isinstance(answer[0], dict):
        return answer
    return [] if answer is None else [{"choices": answer}]


TOOLS = {
    "label-studio": json_reader(
        "Label Studio JSON",
        _label_studio,
        "data",
        "result",
        "annotations|completions",
        survey=_survey,
    ),
    "label-studio-min": json_reader(
        "Label Studio JSON_MIN", _label_studio_min, "annotation_id", survey=_survey_min
    ),
}

PLUGINS = formats_of(TOOLS)
