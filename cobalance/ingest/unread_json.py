"""Forms of JSON that are known by their keys and not read, with how to export them."""

from cobalance.base import InputError
from cobalance.ingest.outline import Outline

_AS_COCO = "Export it as COCO or Pascal VOC, and name that."
_FORMS = {
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


def unread_form(outline: Outline, file: str) -> InputError | None:
    """The error of a document of a form that is not read; None for any other.

    Parameters
    ----------
    file : str
        How the message names the document.
    """
    for name, (keys, remedy) in _FORMS.items():
        if outline.has(*keys):
            return InputError(file, None, f"is {name}, which no format reads", remedy)
    return None
