"""Strip credentials from image URIs."""

from urllib.parse import parse_qsl, urlsplit, urlunsplit

_SIGNATURES = {"signature", "sig", "x-amz-signature", "x-goog-signature", "token", "access_token"}
"""Parameters that let whoever has them read a file: S3's, Google's and Azure's."""


def strip_secrets(uri: str) -> str:
    """Strip password and signature from a URL, so that provenance can be shared.

    Examples
    --------
    >>> strip_secrets("https://data.example/cars/1.jpg?X-Amz-Date=20261121&X-Amz-Signature=0f3c")
    'https://data.example/cars/1.jpg'
    >>> strip_secrets("https://me:secret@data.example/image?id=1")
    'https://data.example/image?id=1'
    >>> strip_secrets("cars/1.jpg?sig=1")
    'cars/1.jpg?sig=1'
    """
    if "://" not in uri:
        return uri
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri

    parts = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    # Without its signature the rest of a signed query is of no use: all of it goes.
    names = {name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    if names & _SIGNATURES:
        parts = parts._replace(query="")
    return urlunsplit(parts)
