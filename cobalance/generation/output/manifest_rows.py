"""Manifest rows: one per candidate, with the provenance of its image."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any

from cobalance.generation.filters.filter import Judgement
from cobalance.generation.image_request import GeneratedImage, ImageRequest
from cobalance.generation.output.manifest import MANIFEST_SCHEMA
from cobalance.vision import strip_secrets

Row = dict[str, Any]
"""A row of the manifest: the columns of `cobalance.generation.output.manifest.MANIFEST_SCHEMA`."""

WITHOUT_SOURCE = "without_source"
"""In an image's settings: why its object is painted and none of the dataset's."""

VARIANT = "variant_number"
"""In an image's settings: the number of the job's variant that it was made with."""

CONSENT = "consent"
"""In an image's settings: on what basis people were painted, in the words of who ordered it."""

PATCH_IMAGE = "patch_image"
"""In an image's settings: the image whose object was pasted into it."""

# The parts of a backend's description that decide pixels or verdicts, beside its settings.
_MADE_WITH = (
    "pipeline",
    "scheduler",
    "scheduler_config",
    "variant",
    "device",
    "dtype",
    "filters",
    "segmenter",
    CONSENT,
)


@cache
def _version() -> str:
    """The version of cobalance; a look-up reads the whole description of the package."""
    return version("cobalance")


def new_row(
    request: ImageRequest,
    *,
    job: str,
    chunk: str,
    chunk_items: Sequence[str],
    backend: Mapping[str, Any],
    without_source: str = "",
    variant: int | None = None,
) -> Row:
    """Start a manifest row before its image is generated; rejected until judged.

    Parameters
    ----------
    job, chunk : str
        Ids of the job and of the chunk that the image is generated in.
    chunk_items : sequence of str
        Candidates of the chunk, in order: what else is in a batch can change a grey level.
    backend : mapping
        From `Backend.describe`, with the descriptions of ``filters`` and ``segmenter``.
    without_source : str
        Why the object is painted; empty where it is from the dataset, or that has no image files.
    variant : int or None
        Number of the job's variant that it is made with; None for a job without any.
    """
    settings = dict(backend.get("settings", {}))
    settings |= {name: backend[name] for name in _MADE_WITH if backend.get(name) is not None}
    # Scales of the request win over those of the backend.
    settings |= request.scales
    if variant is not None:
        settings[VARIANT] = variant
    if without_source:
        settings[WITHOUT_SOURCE] = without_source

    query, index = map(int, request.id.split("/")[-2:])
    source = request.source
    software = {"cobalance": _version(), **backend.get("software", {})}

    row: Row = dict.fromkeys(MANIFEST_SCHEMA.names)
    row |= {
        "candidate": request.id,
        "job": job,
        "query": query,
        "index": index,
        "class": request.class_name,
        "concepts": list(request.concepts),
        "prompt": request.prompt,
        "seed": request.seed,
        "chunk": chunk,
        "chunk_items": list(chunk_items),
        "backend": backend["backend"],
        "model": backend.get("model"),
        "revision": backend.get("revision"),
        "weights_sha256": backend.get("weights_sha256"),
        "digital_source_type": backend["digital_source_type"],
        "settings": _json(settings),
        "software": _json(software),
        "verdict": "rejected",
        "reason": "",
        "scores": "{}",
        "made_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
    }

    if source is not None:
        row["source_image"], row["source_uri"] = source.image_id, strip_secrets(source.uri)
        row["mask_sha256"] = source.mask_sha256()
    if request.source_class is not None:
        row["source_class"], row["captions"] = request.source_class, list(request.captions)
    return row


def judge_row(row: Row, generated: GeneratedImage, judgements: Mapping[str, Judgement]) -> Row:
    """Complete a row with the filters' judgements; accepted if all filters accept."""
    reasons = [judgement.reason for judgement in judgements.values() if not judgement.accepted]
    scores = {name: judgement_values(judgement) for name, judgement in judgements.items()}
    height, width = generated.image.shape[:2]

    details = dict(generated.details or {})
    source_type = details.pop("digital_source_type", row["digital_source_type"])
    settings = json.loads(row["settings"]) | details

    return row | {
        "digital_source_type": source_type,
        "verdict": "rejected" if reasons else "accepted",
        "reason": " ".join(reasons),
        "scores": _json(scores),
        "settings": _json(settings),
        "width_px": width,
        "height_px": height,
    }


def judgement_values(judgement: Judgement) -> dict[str, Any]:
    """A filter's judgement as the rows have it; JSON values."""
    return {
        "score": float(judgement.score),
        "accepted": judgement.accepted,
        "reason": judgement.reason,
        "details": dict(judgement.details),
    }


def find_pasted_image(settings: str | None) -> str | None:
    """The image whose object was pasted into another one, by that one's settings in the manifest.

    Examples
    --------
    >>> find_pasted_image('{"patch_image": "7"}'), find_pasted_image('{"steps": 50}')
    ('7', None)
    """
    # Most settings have none: they are looked through before they are parsed.
    if settings is None or PATCH_IMAGE not in settings:
        return None
    return json.loads(settings).get(PATCH_IMAGE)


def scores_by_name(judged: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Filter scores by name, with float details as `<filter> <detail>`.

    Examples
    --------
    >>> scores_by_name({"clip": {"score": 0.7, "details": {"cosine": 0.2, "device": "cpu"}}})
    {'clip': 0.7, 'clip cosine': 0.2}
    """
    scores: dict[str, float] = {name: values["score"] for name, values in judged.items()}
    for name, values in judged.items():
        for detail, value in values["details"].items():
            if isinstance(value, float):
                scores[f"{name} {detail}"] = value
    return scores


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
