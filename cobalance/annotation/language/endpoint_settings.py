"""Which endpoint is asked and how, without its key."""

from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from cobalance.annotation.language.chat import AT_ONCE
from cobalance.base import OptionError, Options, Setting, mask_credentials


def check_url(url: str) -> str:
    """Return a URL; OptionError for one that is not HTTP, or has a login in it."""
    if not url.startswith(("http://", "https://")) or mask_credentials(url) != url:
        raise OptionError(
            f"{mask_credentials(url)!r} is not the address of a language model. Give one such "
            "as http://127.0.0.1:8000/v1, without login; a key goes into a file: ",
            Setting("key_file"),
        )
    return url


class EndpointSettings(Options):
    """A model behind an OpenAI-compatible URL.

    Parameters
    ----------
    url : str
        Base of the API, such as ``http://127.0.0.1:8000/v1``.
    model : str
        The model's name there.
    key_file : str or None
        A file with the key, read where the endpoint is asked.
    timeout_s : float
        Of one try.
    send_images : bool
        Whether questions with images may be asked: these then leave the machine.
    at_once : int
        Questions that it gets at a time.

    Raises
    ------
    OptionError
        The URL is none of HTTP, or has a login in it.
    """

    url: Annotated[str, AfterValidator(check_url)]
    model: str = Field(min_length=1)
    key_file: str | None = None
    timeout_s: float = Field(default=120.0, gt=0)
    send_images: bool = False
    at_once: int = Field(default=AT_ONCE, ge=1, le=64)

    @property
    def host(self) -> str:
        """Host and port of the URL."""
        return urlsplit(self.url).netloc


def read_key(file: Path) -> SecretStr:
    """Read a key from a file; OptionError if it has no key."""
    try:
        key = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or "it is not UTF-8 text"
        reason = f"The key file {file} cannot be read: {cause}. Name another one with "
        raise OptionError(reason, Setting("key_file"), ".") from error
    if not key or not key.isascii() or not key.isprintable():
        reason = f"The key file {file} has no key: one line of ASCII. Name another one with "
        raise OptionError(reason, Setting("key_file"), ".")
    return SecretStr(key)
