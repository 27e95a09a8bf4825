"""Backend protocol: generate images for a batch of requests, and describe their provenance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from pydantic import Field

from cobalance.base import Options, Plugin
from cobalance.generation.image_request import GeneratedImage, GenerationError, ImageRequest

SYNTHETIC_SOURCE = "http://cv.iptc.org/newscodes/digitalsourcetype/"
"""URL prefix of IPTC digital source types."""


class ImageOptions(Options):
    """Base of all backends' options.

    Parameters
    ----------
    width_px, height_px : int or None
        Size of the images, multiples of 8; None for the source's size, or the model's own.
    """

    width_px: int | None = Field(default=None, ge=8, le=4096, multiple_of=8)
    height_px: int | None = Field(default=None, ge=8, le=4096, multiple_of=8)


@dataclass(frozen=True)
class BackendPlugin(Plugin):
    """Declaration of a backend's module; a plain `Plugin` has the defaults.

    Parameters
    ----------
    needs_patch : bool
        Whether each request must have a patch, too: an object of another image of the class. This
        declaration alone counts, for an order's checks and for the worker; an attribute of the
        `Backend` is not read.
    takes_source : bool
        Whether it takes the object from an image of the dataset where there is one; then an order
        is refused where no image has a file.
    """

    needs_patch: bool = False
    takes_source: bool = True


class Backend(Protocol):
    """Generates images; opened once per process, used by one thread at a time.

    Attributes
    ----------
    needs_source : bool
        Whether each request must have a source. Whether it must have a patch, too, is declared by
        `BackendPlugin.needs_patch`.
    """

    needs_source: bool

    def generate(
        self, requests: Sequence[ImageRequest]
    ) -> Sequence[GeneratedImage | GenerationError]:
        """Generate one image per request, in the same order.

        Where a request alone failed, its error is in the image's place: the candidate is rejected
        with that reason.

        An image depends on its request, on the backend's options and, in half precision by a grey
        level or two, on what else is in the batch; never on what was made before. Its ``kept`` says
        which pixels are the source's, and the filter `sanity` holds it to that.

        Raises
        ------
        GenerationError
            A request cannot be made: it lacks a source that the backend needs, or nothing is left
            of its object at the size.
        OutOfMemoryError
            The batch is too large for the device.
        JobBlockedError
            No image can be made until someone sees to it.
        """

    def describe(self) -> Mapping[str, Any]:
        """Model, settings and software of the backend, for provenance; JSON values.

        ``backend``, ``digital_source_type`` (an IPTC term), and for models ``model``, ``revision``
        (a commit, or None for a folder), ``weights_sha256``, ``variant``, ``pipeline``,
        ``scheduler``, ``scheduler_config``, ``settings``, ``device``, ``dtype`` and ``software``, a
        mapping of package to version.
        """


@runtime_checkable
class ScaledBackend(Protocol):
    """A backend that heeds the scales of requests; their names are options of its own, too."""

    def check_scales(self, variants: Sequence[Mapping[str, float]]) -> None:
        """Check the scales that a job's variants set, by name.

        Raises
        ------
        OptionError
            One of them would change nothing; the message says what to do.
        """
