"""JSON that is known by its keys and refused by its name, with how to export it."""

from dataclasses import dataclass
from pathlib import Path

from cobalance.base import Annotations, InputError, Progress
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.outline import outline_of
from cobalance.ingest.reader import format_of

_AS_COCO = "Export it as COCO or Pascal VOC, and name that."
_OTHERS = {
    "SA-1B of Segment Anything": (
        ("/image", "/annotations.predicted_iou"),
        "Its masks have no names: name a file that says what is seen.",
    ),
    "YouTube-VIS or another dataset of videos in COCO's form": (
        ("/videos", "/annotations.video_id"),
        "Write an entry of `images` for each frame, and annotations with `image_id`.",
    ),
    "OCHuman": (("/images.annotations.segms",), _AS_COCO),
    "Encord's JSON": (("label_hash", "data_units"), _AS_COCO),
    "a task of Scale": (("task_id", "params", "response"), _AS_COCO),
    "Dataloop's JSON": (("annotations.coordinates", "datasetId"), _AS_COCO),
    "Labelbox's NDJSON for imports": (
        ("uuid", "dataRow"),
        "Name the data rows as Labelbox exports them.",
    ),
    "poses of MPII": (
        ("joints", "center", "scale"),
        "They name no concepts: name a file that does.",
    ),
}
"""Keys, as `Outline.has` takes them, and what to do, by the name of the form."""


@dataclass(frozen=True)
class OtherJson:
    """Refuses JSON of known forms that are not read."""

    description: str = "JSON of known forms that are not read"
    uses: frozenset[str] = frozenset({"categories"})

    def detects(self, path: Path, head: bytes) -> bool:
        """Whether a file has all keys of one of the forms."""
        del head
        return path.suffix.lower() in (".json", ".ndjson") and bool(_name(path))

    def read(self, path: Path, _options: ReadOptions, _progress: Progress) -> Annotations:
        """Raise InputError with the name of the form and a remedy."""
        name = _name(path)
        remedy = _OTHERS[name][1] if name else _AS_COCO
        raise InputError(str(path), None, f"is {name or 'JSON'}, which no format reads", remedy)


def _name(path: Path) -> str:
    outline = outline_of(path)
    for name, (keys, _) in _OTHERS.items():
        if outline.has(*keys):
            return name
    return ""


PLUGIN = format_of("other-json", OtherJson())
