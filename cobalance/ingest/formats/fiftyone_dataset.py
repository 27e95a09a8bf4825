"""FiftyOne's dataset export: samples with fields of labels, as JSON beside the media."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from cobalance.base import Annotations, Box, Progress, Setting, decode_json, track
from cobalance.ingest.collector import VIDEO, Collector
from cobalance.ingest.names import map_values, omit
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.pictures import picture_size, unsized_note
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import TreeReader, format_of
from cobalance.ingest.trees import FileTree
from cobalance.vision import VIDEO_ENDINGS

_SAMPLES, _FRAMES, _METADATA = "samples.json", "frames.json", "metadata.json"
_VIDEO = "_video"  # of a frame, added to it
_SPLITS = {"train", "val", "validation", "test"}
_OF_LABELS = {"_id", "_cls", "tags", "label", "bounding_box", "confidence", "attributes", "mask",
              "index", "points", "closed", "filled", "mask_path", "logits"}  # fmt: skip
_LISTS = ("Detections", "Classifications", "Polylines")  # types of fields of many labels


class _Size(msgspec.Struct):
    """Metadata of an image or a video."""

    width: int | None = None
    height: int | None = None
    frame_width: int | None = None
    frame_height: int | None = None


class _Sample(msgspec.Struct):
    """An image, or a frame of a video; its fields of labels are read on their own."""

    filepath: str
    frame_number: int | None = None
    video: str | None = msgspec.field(default=None, name=_VIDEO)
    tags: list[str] | None = None
    metadata: _Size | None = None


class _Label(msgspec.Struct):
    """A classification, detection or polyline."""

    label: str | None = None
    bounding_box: Box | None = None
    confidence: float | None = None


class FiftyOneDataset(TreeReader):
    """Reader of exports by ``dataset.export(dataset_type=FiftyOneDataset)``.

    A field of one classification gives the class, fields of detections, polylines and
    classifications the concepts; name them by column options where there are several. A tag that
    names a split gives the split.
    """

    description = "FiftyOne dataset export: a folder or archive with samples.json"
    uses = frozenset({"categories", "table"})

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether samples.json lies beside metadata.json."""
        return _folder(tree) is not None

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read all samples."""
        problems = Problems(str(tree.path), options)
        progress("read", 0, None)
        folder = _folder(tree) or ""
        name = f"{folder}{_SAMPLES}"
        samples = _documents(tree, name, "samples", problems)
        if f"{folder}{_FRAMES}" in tree.names:
            name = f"{folder}{_FRAMES}"
            samples = _of_videos(samples, _documents(tree, name, "frames", problems))

        fields = _fields(samples)
        class_field = None
        if not (options.class_category or options.classes_come_later or options.searches_classes):
            names = fields.get("Classification", [])
            class_field = _choose(names, options.class_column, "class", problems)
        names = [field for type_ in _LISTS for field in fields.get(type_, [])]
        usual = "ground_truth" if "ground_truth" in names else None
        concept_field = _choose(names, options.concepts_column or usual, "concepts", problems)

        collector = Collector(problems, options)
        files = set(tree.names)
        n_without_size = 0

        def size_of(path: str) -> tuple[int, int] | None:
            return picture_size(tree, folder + path) if folder + path in files else None

        for number, sample in track(progress, "check", samples, 1024):
            place = f"{name}, sample {number + 1}"
            try:
                has_size = _collect(
                    sample, place, folder, class_field, concept_field, collector, size_of
                )
                n_without_size += not has_size
            except (msgspec.ValidationError, UnicodeError) as error:
                problems.record(place, f"is no sample of FiftyOne ({error})", "Correct the sample")

        roles = {"class": class_field, "concepts": concept_field}
        taken_fields = ", ".join(f"{role} = {field}" for role, field in roles.items() if field)
        notes = [f"{tree.path}: {taken_fields}"]
        if n_without_size:
            notes.append(f"{tree.path}: {unsized_note(n_without_size)}")
        return collector.annotations(progress, notes)


def _folder(tree: FileTree) -> str | None:
    """Folder of the samples with its ``/``, or None."""
    files = set(tree.names)
    folders = [
        name.removesuffix(_SAMPLES)
        for name in files
        if PurePosixPath(name).name == _SAMPLES
        and f"{name.removesuffix(_SAMPLES)}{_METADATA}" in files
    ]
    return min(folders, key=len, default=None)


def _documents(tree: FileTree, name: str, key: str, problems: Problems) -> list[Mapping[str, Any]]:
    try:
        document = decode_json(tree.read(name))
    except ValueError as error:
        raise problems.fatal(f"is not JSON ({error})", "Correct it.", name) from None

    records = document.get(key) if isinstance(document, dict) else document
    if not isinstance(records, list) or not {*map(type, records)} <= {dict}:
        raise problems.fatal(f"has no list of {key}", "Name a folder that has one.", name)
    return records


def _of_videos(
    samples: Sequence[Mapping[str, Any]], frames: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Images, and the frames of videos, each with the fields of its video."""
    videos = {
        str(sample.get("_id")): {**sample, _VIDEO: sample.get("filepath")} for sample in samples
    }
    images = [sample for sample in samples if not _is_video(str(sample.get("filepath")))]
    return images + [{**videos.get(str(frame.get("_sample_id")), {}), **frame} for frame in frames]


def _is_video(path: str) -> bool:
    return path.lower().endswith(VIDEO_ENDINGS)


def _fields(samples: Sequence[Mapping[str, Any]]) -> Mapping[str, list[str]]:
    """Names of the fields of labels, by their type."""
    fields: dict[str, dict[str, None]] = defaultdict(dict)
    for sample in samples:
        for name, value in sample.items():
            if isinstance(value, dict) and isinstance(value.get("_cls"), str):
                fields[value["_cls"]][name] = None
    return map_values(list, fields)


def _choose(names: list[str], wanted: str | None, role: str, problems: Problems) -> str | None:
    """The wanted field, or the only one, or None without any."""
    if wanted is None and len(names) < 2:
        return next(iter(names), None)
    if wanted not in names:
        reason = (
            f"which field has the {role} is not clear (fields of labels: "
            f"{', '.join(names) or 'none'})"
        )
        raise problems.fatal(reason, ("Set ", Setting(f"{role}_column"), " to one of them."))
    return wanted


def _collect(
    sample: Mapping[str, Any],
    place: str,
    folder: str,
    class_field: str | None,
    concept_field: str | None,
    collector: Collector,
    size_of: Callable[[str], tuple[int, int] | None],
) -> bool:
    """Add the image of a sample, with its class, and the labels of its field of concepts.

    Returns whether its boxes have a size to be relative to: its metadata's, else its picture's.
    """
    image = msgspec.convert(sample, _Sample)
    class_name = msgspec.convert(sample.get(class_field or "") or {}, _Label).label
    field = msgspec.convert(sample.get(concept_field or "") or {}, dict[str, Any])
    size = image.metadata or _Size()
    width, height = size.width or size.frame_width, size.height or size.frame_height
    splits = _SPLITS & set(image.tags or ())
    path = image.filepath
    if width is None or height is None:
        width, height = size_of(path) or (None, None)
    # FiftyOne counts frames from 1.
    if image.frame_number is not None and _is_video(path):
        path = f"{path}#frame={image.frame_number - 1}"
    row = collector.image(
        path,
        place,
        uri=path if PurePosixPath(path).is_absolute() else folder + path,
        width=width,
        height=height,
        split=splits.pop() if len(splits) == 1 else None,
        class_name=class_name,
        metadata={VIDEO: image.video} if image.video else None,
    )

    lists: Any = filter(None, map(field.get, map(str.lower, _LISTS)))
    labels = msgspec.convert(next(lists, []), list[dict[str, Any]])
    has_boxes = False
    for number, fields in enumerate(labels, start=1):
        label = msgspec.convert(fields, _Label)
        box = label.bounding_box
        has_boxes |= box is not None
        collector.mention(
            row,
            label.label or "",
            f"{place}, {concept_field} {number}",
            score=label.confidence,
            box=_in_pixels(box, width, height) if box and width and height else None,
            attributes=omit(fields, _OF_LABELS),
        )
    return not has_boxes or (width is not None and height is not None)


def _in_pixels(box: Box, width: int, height: int) -> Box:
    """FiftyOne's boxes are relative: left, top, width, height."""
    x, y, w, h = box
    return x * width, y * height, w * width, h * height


PLUGIN = format_of("fiftyone", FiftyOneDataset())
