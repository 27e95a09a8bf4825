"""Options of backends whose images a server makes, checked before anything is sent."""

import ipaddress
import os
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from cobalance.base import OptionError, mask_credentials
from cobalance.generation.backends.pipelines.cropping import CropOptions


def _absolute(path: str | None) -> str | None:
    """Make a path absolute, as workers run in other folders."""
    if path is None:
        return None
    return os.path.abspath(os.path.expanduser(path))


def _check_urls(urls: str) -> str:
    """Raise ValueError for an address that is not of HTTP, or has more than host and path."""
    for url in urls.split() or [""]:
        parts = urlsplit(url)
        is_plain = parts.hostname and not (parts.query or parts.fragment)
        if not (url.startswith(("http://", "https://")) and is_plain):
            raise ValueError("that is no address. Give one such as http://127.0.0.1:8000/v1")

        # A key in an option would be stored with the job.
        if mask_credentials(url) != url:
            raise ValueError("an address has no login in it. Put the key into a file: key_file")
    return urls


FilePath = Annotated[str | None, AfterValidator(_absolute)]
ServerUrls = Annotated[str, AfterValidator(_check_urls)]


class RemoteOptions(CropOptions):
    """Options of backends whose images a server makes.

    Parameters
    ----------
    url : str
        The server's address, without login; several with spaces between them share the work.
    key_file : str or None
        A file on the workers' machine whose one line is the server's key.
    send_images : bool
        Whether images may leave for a server on another machine.
    paint : {"surroundings", "object", "everything"}
        Which side of the object's outline is painted; the other is kept. With ``everything`` the
        whole image is edited, and no pixel is sure to stay.
    native_px : int
        Side of the squares that the model was trained on: it paints as many pixels, in the image's
        shape, unless a size is set.
    multiple_px : int
        What the sides of the images that the server makes are multiples of.
    any_size : bool
        Accept an image of another size than was asked for, if the server says so, and resize it.
    tries : int
        How often an image is asked for until the job stops.
    pause_s : float
        Pause after a try that failed, doubled after each further one, and no shorter than the
        server says.
    timeout_s : float
        Seconds for one image.
    at_once : int
        Images that a worker asks a server for at a time.
    per_minute : float or None
        Images that a worker asks a server for in a minute, at most.
    price : float
        What an image costs; every try counts that the server may have made an image for.
    max_images : int or None
        Images that the job may ask for, all workers and tries together.
    max_cost : float or None
        What the job may cost.
    """

    url: ServerUrls = "http://127.0.0.1:8000/v1"
    key_file: FilePath = None
    send_images: bool = False
    paint: Literal["surroundings", "object", "everything"] = "surroundings"
    native_px: int = Field(default=1024, ge=64, le=4096)
    multiple_px: int = Field(default=16, ge=8, le=256, multiple_of=8)
    any_size: bool = False
    tries: int = Field(default=5, ge=1, le=100)
    pause_s: float = Field(default=1.0, ge=0, le=600)
    timeout_s: float = Field(default=300.0, gt=0, le=86_400)
    at_once: int = Field(default=4, ge=1, le=64)
    per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    price: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    max_images: int | None = Field(default=None, ge=1)
    max_cost: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _check_consent_and_budget(self) -> Self:
        for url in self.urls:
            host = urlsplit(url).hostname or ""
            if not (self.send_images or _is_here(host)):
                raise ValueError(
                    f"the images would be sent to {host}. If they may leave this machine, set "
                    "send_images to true"
                )

        if self.max_cost is not None and not self.price:
            raise ValueError("max_cost limits nothing while an image costs nothing. Set price")

        if self.budget == 0:
            raise ValueError(f"max_cost buys no image at {self.price} each. Raise it")
        return self

    @property
    def urls(self) -> list[str]:
        """The addresses of the servers."""
        return [url.rstrip("/") for url in self.url.split()]

    @property
    def budget(self) -> int | None:
        """Images that the job may ask for, by number and by cost; None for any number."""
        limits = []
        if self.max_images is not None:
            limits.append(self.max_images)

        if self.max_cost is not None and self.price:
            # As people write them: of 0.3, three images at 0.1 can be paid.
            limits.append(int(Decimal(str(self.max_cost)) // Decimal(str(self.price))))
        return min(limits, default=None)

    def read_key(self) -> str | None:
        """Read the key from its file; None where no file is named.

        Raises
        ------
        OptionError
            The file cannot be read, or has no key.
        """
        if self.key_file is None:
            return None

        try:
            key = Path(self.key_file).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            cause = getattr(error, "strerror", None) or "it is not ASCII text"
            raise OptionError(
                f"The key file {self.key_file} cannot be read: {cause}. Name another one with "
                "making.key_file."
            ) from error

        if not key or not key.isprintable():
            raise OptionError(
                f"The key file {self.key_file} has no key: one line of ASCII. Name another one "
                "with making.key_file."
            )
        return key


def _is_here(host: str) -> bool:
    """Whether a host is this machine, by its name or loopback address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
