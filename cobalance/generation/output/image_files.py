"""Image files of candidates: PNG or JPEG with the provenance inside, and their masks."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from io import BytesIO
from types import MappingProxyType
from typing import Any, Literal, NamedTuple
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from PIL import Image, PngImagePlugin

from cobalance.generation.filters.pool import EmbeddedImage
from cobalance.generation.image_request import GeneratedImage
from cobalance.generation.output.manifest_rows import Row
from cobalance.graph import GraphStore, read_kept
from cobalance.vision import ImageArray, MaskArray
from cobalance.vision.stored.output_folder import OutputFolder

Format = Literal["png", "jpeg"]

PNG_LEVEL = 3
"""Of compression: a third to 60 % of the usual level's time, for files 2 to 15 % larger."""

NAMESPACE = "urn:cobalance:provenance:1"
"""XML namespace of the provenance that is written into image files."""

# The columns that describe the image itself; the others describe its file, verdict or time.
_IN_FILE = (
    "candidate",
    "job",
    "query",
    "index",
    "class",
    "concepts",
    "prompt",
    "seed",
    "chunk",
    "chunk_items",
    "backend",
    "model",
    "revision",
    "weights_sha256",
    "settings",
    "source_image",
    "source_uri",
    "mask_sha256",
    "software",
)

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


class JudgedImage(NamedTuple):
    """A candidate's row, with the generated image; None if none could be generated.

    Filters that look at all images of the job have given it vectors, by the filter's name.
    """

    row: Row
    image: GeneratedImage | None
    embedded: Mapping[str, EmbeddedImage] = MappingProxyType({})


def save_images(
    folder: OutputFolder, images: Iterable[JudgedImage], form: Format, *, keep_rejected: bool
) -> list[Row]:
    """Write images and masks to the output folder; give their rows with paths and digest.

    Raises
    ------
    JobBlockedError
        The folder cannot be written to.
    """
    rows = []
    for row, image, _ in images:
        is_dropped = row["verdict"] == "rejected" and not keep_rejected
        if image is None or is_dropped:
            rows.append(row)
        else:
            rows.append(_save(folder, row, image, form))
    return rows


def _save(folder: OutputFolder, row: Row, generated: GeneratedImage, form: Format) -> Row:
    """Write an image and its mask; give its row with their paths."""
    name = f"{row['query']:06d}-{row['index']:06d}"
    data = image_file(generated.image, row, form)
    path = f"{row['job']}/images/{name}.{'png' if form == 'png' else 'jpg'}"
    folder.write(path, data)
    saved = row | {"path": path, "sha256": hashlib.sha256(data).hexdigest()}

    if generated.mask is not None:
        saved["mask_path"] = f"{row['job']}/masks/{name}.png"
        folder.write(saved["mask_path"], mask_file(generated.mask))
    return saved


def image_file(image: ImageArray, row: Mapping[str, Any], format: Format) -> bytes:  # noqa: A002
    """Encode an image with its provenance as XMP.

    The packet holds the IPTC's digital source type and the columns of the row that describe the
    image; no time, so that the same image gives the same bytes.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        The pixels.
    row : mapping
        From `cobalance.generation.output.manifest_rows`.
    format : {"png", "jpeg"}
        JPEG is written with quality 95 and full colour resolution.
    """
    # JSON in ASCII: XML does not have all characters.
    provenance = json.dumps({name: row[name] for name in _IN_FILE}, sort_keys=True)
    xmp = _XMP.format(
        namespace=quoteattr(NAMESPACE),
        source_type=quoteattr(row["digital_source_type"]),
        provenance=escape(provenance),
    )

    out = BytesIO()
    encoded = Image.fromarray(image)
    if format == "png":
        info = PngImagePlugin.PngInfo()
        info.add_itxt("XML:com.adobe.xmp", xmp)
        encoded.save(out, "PNG", pnginfo=info, compress_level=PNG_LEVEL)
    else:
        encoded.save(out, "JPEG", quality=95, subsampling=0, xmp=xmp.encode())
    return out.getvalue()


def mask_file(mask: MaskArray) -> bytes:
    """Encode a mask as a one-bit PNG, white on the object."""
    out = BytesIO()
    Image.fromarray(mask.astype(np.uint8) * 255).convert("1").save(out, "PNG")
    return out.getvalue()


def delete_dropped(
    store: GraphStore, folder: OutputFolder, job: str, queries: Collection[int] | None = None
) -> int:
    """Delete images and masks of candidates that the graph has dropped; return how many files.

    May be repeated, and finds what an interrupted one has left. A query that has dropped none keeps
    all of its files.

    Parameters
    ----------
    queries : collection of int or None
        Positions of the job's queries; None for all.
    """
    files: dict[int, list[tuple[int, str]]] = {}
    for part in ("images", "masks"):
        for name in folder.names(f"{job}/{part}"):
            # Files are named query-index; others are not of candidates.
            numbers = name.partition(".")[0].split("-")
            if len(numbers) != 2 or not all(map(str.isdecimal, numbers)):
                continue
            query, index = map(int, numbers)
            if queries is None or query in queries:
                files.setdefault(query, []).append((index, f"{job}/{part}/{name}"))

    deleted = 0
    for candidates in read_kept(store, job, sorted(files)):
        remaining = {int(candidate.rpartition("/")[2]) for candidate in candidates.kept}
        for index, name in files[candidates.query]:
            # Candidates that are not settled yet may still be reported.
            if index < candidates.settled and index not in remaining:
                folder.delete(name)
                deleted += 1
    return deleted
