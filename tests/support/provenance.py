"""Read the provenance inside an image file, as any XMP reader would."""

import json
import xml.etree.ElementTree as ElementTree
from typing import Any

NAMESPACE = "urn:cobalance:provenance:1"


def xmp_of(data: bytes) -> ElementTree.Element:
    """The XMP packet of a PNG or JPEG file."""
    end = b"</x:xmpmeta>"
    packet = data[data.index(b"<x:xmpmeta") : data.index(end) + len(end)]
    return ElementTree.fromstring(packet)


def read_provenance(data: bytes) -> dict[str, Any]:
    """What cobalance wrote into the packet."""
    (found,) = xmp_of(data).iter(f"{{{NAMESPACE}}}provenance")
    assert found.text is not None
    read: dict[str, Any] = json.loads(found.text)
    return read
