"""Licence and attribution of an image that is made of several others."""

from collections.abc import Mapping, Sequence
from typing import Any

CREDITS = ("license", "license_url", "attribution")
UNKNOWN = "unknown"


def join_credits(images: Sequence[Mapping[str, Any]]) -> dict[str, str | None]:
    """Licences, their addresses, and attributions of all images, in their order, each once.

    Parameters
    ----------
    images : sequence of mapping
        ``license``, ``license_url`` and ``attribution`` of each; None or missing where unknown.

    Returns
    -------
    dict of str to (str or None)
        The same names. Several are separated by a semicolon, the addresses in the order of the
        licences, with ``unknown`` for one that is unknown beside others, and its address for a
        licence without a name; None where all are unknown.

    Examples
    --------
    >>> mine, yours = {"license": "CC BY", "attribution": "Ann"}, {"attribution": "Bo"}
    >>> join_credits([mine, yours])
    {'license': 'CC BY; unknown', 'license_url': None, 'attribution': 'Ann; Bo'}
    >>> join_credits([mine, mine]) == join_credits([mine])
    True
    """
    licences = list(
        dict.fromkeys((image.get("license"), image.get("license_url")) for image in images)
    )
    names = [name or (url if licences[1:] else None) for name, url in licences]
    attributions = list(dict.fromkeys(image.get("attribution") for image in images))

    columns = names, [url for _, url in licences], attributions
    return dict(zip(CREDITS, map(_join, columns), strict=True))


def _join(values: Sequence[str | None]) -> str | None:
    if not any(values):
        return None
    return "; ".join(value or UNKNOWN for value in values)
