"""Labelbox's NDJSON: a data row a line, with the labels of its projects."""

from collections.abc import Iterator, Mapping
from typing import Any

from cobalance.ingest.collector import VIDEO
from cobalance.ingest.formats.answers import gather
from cobalance.ingest.formats.json_records import box_place, json_reader, points_of
from cobalance.ingest.formats.tool_reader import Picture
from cobalance.ingest.reader import formats_of
from cobalance.vision import place_of

_DOCUMENTS = (".pdf", ".html", ".txt", ".json", ".csv", ".wav", ".mp3")
_PICTURES = (None, "image", "video", "tiled_image")  # types of assets that show something


def _labelbox(row: Any, _beside: Mapping[str, Any], _file: str) -> Picture | Iterator[Picture]:
    """The image of a data row, or the frames of its video."""
    data, size = row["data_row"], row.get("media_attributes") or {}
    name = data.get("external_id") or data.get("global_key") or data["id"]
    if size.get("asset_type") not in _PICTURES:
        raise ValueError(f"{name!r} is of the type {size['asset_type']}, which is no image")

    picture = Picture(name, size.get("width"), size.get("height"))
    labels = [
        label["annotations"] for project in row["projects"].values() for label in _choose(project)
    ]

    if any("frames" in annotations for annotations in labels):
        return _frames(picture, labels, int(size.get("frame_count") or 0))

    for annotations in labels:
        _show(annotations, picture)

    return picture


def _choose(project: Any) -> list[Any]:
    """The label of a project that counts: of several the benchmark, else the first."""
    labels = project.get("labels") or []
    details = [label.get("label_details") or {} for label in labels]
    benchmarks = [
        label
        for label, detail in zip(labels, details, strict=True)
        if detail.get("is_benchmark_reference")
    ]

    return [*benchmarks, *labels][:1]


def _show(annotations: Any, picture: Picture) -> None:
    """Add objects and answers of a label, or of a frame, to its picture."""
    answers = [*picture.metadata.items(), *_answers(annotations.get("classifications"))]
    picture.metadata = gather(answers)
    objects = annotations.get("objects") or ()

    # Those of a frame are by their ids.
    for item in objects.values() if isinstance(objects, dict) else objects:
        attributes = gather(_answers(item.get("classifications")))
        picture.add(item["name"], _place(item), attributes)


def _place(item: Any) -> dict[str, Any]:
    """Box or outline of an object; none of a mask, which is a picture elsewhere."""
    if box := item.get("bounding_box"):
        return box_place(box["left"], box["top"], box["width"], box["height"])
    if point := item.get("point"):
        return place_of(points_of([point]))
    points = item.get("polygon") or item.get("line") or ()
    return place_of(points_of(points), is_area="polygon" in item)


def _answers(questions: Any) -> Iterator[tuple[str, Any]]:
    """Questions with their answers, and further ones that an answer opens."""
    for question in questions or ():
        options = [question.get("radio_answer"), *(question.get("checklist_answers") or ())]
        for option in filter(None, options):
            yield question["name"], option["name"]
            yield from _answers(option.get("classifications"))
        if text := question.get("text_answer"):
            yield question["name"], text.get("content")


def _frames(picture: Picture, labels: list[Any], n_frames: int) -> Iterator[Picture]:
    """Frames of a video, which Labelbox counts from 1, and has one by one."""
    for annotations in labels:
        n_frames = max([n_frames, *map(int, annotations.get("frames", {}))])
        picture.metadata |= gather(_answers(annotations.get("classifications")))

    for number in range(n_frames):
        frame = Picture(f"{picture.name}/frame_{number:06}.png", picture.width, picture.height)
        frame.metadata = {**picture.metadata, VIDEO: picture.name}
        frame.frame = f"{picture.name}#frame={number}"
        for annotations in labels:
            _show(annotations.get("frames", {}).get(str(number + 1), {}), frame)
        yield frame


def _labelbox_rows(row: Any, _beside: Mapping[str, Any], _file: str) -> Picture | Iterator[Picture]:
    """The image or video of a row of the JSON that Labelbox exported until 2023."""
    address = row.get("Labeled Data") or ""
    picture = Picture(row.get("External ID") or address.rpartition("/")[2] or row["DataRow ID"])
    if picture.name.lower().endswith(_DOCUMENTS):
        raise ValueError(f"{picture.name!r} is a text or a sound, and no image")

    label = row.get("Label") or {}
    if isinstance(label, list):
        return _former_frames(picture.name, label)
    _show_former(label, picture)
    return picture


def _former_frames(video: str, labels: list[Any]) -> Iterator[Picture]:
    """Frames that somebody labelled; Labelbox counts them from 1."""
    for label in labels:
        number = label["frameNumber"] - 1
        frame = Picture(f"{video}/frame_{number:06}.png")
        frame.frame = f"{video}#frame={number}"
        _show_former(label, frame)
        frame.metadata[VIDEO] = video
        yield frame


def _show_former(label: Any, picture: Picture) -> None:
    """Add objects and answers of a label to its picture."""
    picture.metadata = gather(_former_answers(label.get("classifications")))
    for item in label.get("objects") or ():
        attributes = gather(_former_answers(item.get("classifications")))
        picture.add(item.get("title") or item["value"], _former_place(item), attributes)


def _former_place(item: Any) -> dict[str, Any]:
    if box := item.get("bbox"):
        return box_place(box["left"], box["top"], box["width"], box["height"])
    return _place(item)


def _former_answers(questions: Any) -> Iterator[tuple[str, Any]]:
    for question in questions or ():
        # Questions within others are lists of them.
        if isinstance(question, list):
            yield from _former_answers(question)
            continue

        name = question.get("title") or question["value"]
        answer = question.get("answers") or question.get("answer")
        for option in answer if isinstance(answer, list) else [answer]:
            if not isinstance(option, dict):
                yield name, option
            else:
                yield name, option.get("title") or option.get("value")
                yield from _former_answers(option.get("classifications"))


PLUGINS = formats_of(
    {
        "labelbox": json_reader("Labelbox NDJSON", _labelbox, "data_row", "projects"),
        "labelbox-json": json_reader(
            "Labelbox JSON until 2023", _labelbox_rows, "DataRow ID", "Labeled Data", "Label"
        ),
    }
)
