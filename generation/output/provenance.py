"""Where a generated image comes from, as a row of the manifest and inside the image's own file."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from typing import Any, Literal
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from PIL import Image, PngImagePlugin

from generation.filters.filter import Judgement
from generation.image_request import GeneratedImage, ImageRequest
from ingest.images.arrays import ImageArray, MaskArray
from ingest.images.uris import unsigned

Format = Literal["png", "jpeg"]

NAMESPACE = "urn:cobalance:provenance:1"
"""The XML namespace of what cobalance writes into an image beside the IPTC's property."""

# Said of the whole image; the rest of a row is about its file, its verdict or its time.
_IN_FILE = (
    *("candidate", "job", "query", "index", "class", "concepts", "prompt", "seed"),
    *("chunk", "chunk_items", "backend", "model", "revision", "weights_sha256", "settings"),
    *("source_image", "source_uri", "mask_sha256", "software"),
)

# What a backend's description has beside its settings, and decides pixels or verdicts.
_MADE_WITH = (
    *("pipeline", "scheduler", "scheduler_config", "variant", "device", "dtype"),
    *("filters", "segmenter"),
)

WITHOUT_SOURCE = "without_source"
"""In the settings of an image with a painted object: why it is none of the dataset's."""

_XMP = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
 xmlns:cobalance={namespace} Iptc4xmpExt:DigitalSourceType={source_type}>
<cobalance:provenance>{provenance}</cobalance:provenance>
</rdf:Description>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>"""


def row_of(
    request: ImageRequest,
    *,
    job: str,
    chunk: str,
    chunk_items: Sequence[str],
    backend: Mapping[str, Any],
    without_source: str = "",
) -> dict[str, Any]:
    """Give the part of a manifest row that is known before the image is made.

    Parameters
    ----------
    request : ImageRequest
        The image's.
    job, chunk : str
        The job's id, and that of the batch that the image is made in.
    chunk_items : sequence of str
        The candidates of that batch, in its order: what else was in it can change a grey level.
    backend : mapping
        From `Backend.describe`; ``filters`` and ``segmenter`` with descriptions of theirs.
    without_source : str
        Why the object is painted; empty where it is of the dataset, or there are no images.
    """
    settings = dict(backend.get("settings", {}))
    settings |= {name: backend[name] for name in _MADE_WITH if backend.get(name) is not None}
    if without_source:
        settings[WITHOUT_SOURCE] = without_source
    query, index = map(int, request.id.split("/")[-2:])
    source = request.source
    software = {"cobalance": _version("cobalance"), **backend.get("software", {})}
    return {
        "candidate": request.id,
        "job": job,
        "query": query,
        "index": index,
        "class": request.class_name,
        "concepts": list(request.concepts),
        "prompt": request.prompt,
        "seed": request.seed,
        "source_image": source.image_id if source else None,
        "source_uri": unsigned(source.uri) if source else None,
        "mask_sha256": source.mask_sha256() if source else None,
        "chunk": chunk,
        "chunk_items": list(chunk_items),
        "backend": backend["backend"],
        "model": backend.get("model"),
        "revision": backend.get("revision"),
        "weights_sha256": backend.get("weights_sha256"),
        "digital_source_type": backend["digital_source_type"],
        "settings": _json(settings),
        "software": _json(software),
        "path": None,
        "mask_path": None,
        "width_px": None,
        "height_px": None,
        "sha256": None,
        "verdict": "rejected",
        "reason": "",
        "scores": "{}",
        "made_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "decided_by": None,
    }


def judged(
    row: dict[str, Any], made: GeneratedImage, found: Mapping[str, Judgement]
) -> dict[str, Any]:
    """Give a row with what the filters say: accepted if all of them accept."""
    against = [judgement.reason for judgement in found.values() if not judgement.accepted]
    scores = {
        name: {
            "score": float(judgement.score),
            "accepted": judgement.accepted,
            "reason": judgement.reason,
            "details": dict(judgement.details),
        }
        for name, judgement in found.items()
    }
    height, width = made.image.shape[:2]
    details = dict(made.details or {})
    source_type = details.pop("digital_source_type", row["digital_source_type"])
    settings = json.loads(row["settings"]) | details
    return row | {
        "digital_source_type": source_type,
        "verdict": "rejected" if against else "accepted",
        "reason": " ".join(against),
        "scores": _json(scores),
        "settings": _json(settings),
        "width_px": width,
        "height_px": height,
    }


def image_file(image: ImageArray, row: Mapping[str, Any], format: Format) -> bytes:  # noqa: A002
    """Give the bytes of an image file that says where it comes from.

    The XMP packet has the IPTC's digital source type, and all of the row that is decided when the
    image is made; no time, so that the same image gives the same bytes.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        The pixels.
    row : mapping
        From `row_of`.
    format : {"png", "jpeg"}
        JPEG is written with quality 95 and full colour resolution.
    """
    said = {name: row[name] for name in _IN_FILE}
    xmp = _XMP.format(
        namespace=quoteattr(NAMESPACE),
        source_type=quoteattr(row["digital_source_type"]),
        provenance=escape(json.dumps(said, sort_keys=True)),  # ASCII: XML has not all characters
    )
    out = BytesIO()
    picture = Image.fromarray(image)
    if format == "png":
        info = PngImagePlugin.PngInfo()
        info.add_itxt("XML:com.adobe.xmp", xmp)
        picture.save(out, "PNG", pnginfo=info)
    else:
        picture.save(out, "JPEG", quality=95, subsampling=0, xmp=xmp.encode())
    return out.getvalue()


def mask_file(mask: MaskArray) -> bytes:
    """Give the bytes of a mask's file: a PNG of one bit a pixel, white on the object."""
    out = BytesIO()
    Image.fromarray(mask.astype(np.uint8) * 255).convert("1").save(out, "PNG")
    return out.getvalue()


def read_provenance(data: bytes) -> dict[str, Any] | None:
    """Read what `image_file` wrote into a file; None where there is nothing of it.

    Examples
    --------
    >>> read_provenance(b"") is None
    True
    """
    start = data.find(b"<cobalance:provenance>")
    end = data.find(b"</cobalance:provenance>", start)
    if start < 0 or end < 0:
        return None
    text = data[start + len("<cobalance:provenance>") : end].decode()
    for name, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(name, character)
    found: dict[str, Any] = json.loads(text)
    return found


def sha256(data: bytes) -> str:
    """The digest of a file."""
    return hashlib.sha256(data).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from a checkout that was not installed
        return "unknown"
