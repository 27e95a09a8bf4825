"""Pick the source image of each candidate, and remember the classes that have none."""

import logging
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from cobalance.generation.image_request import NoSourceError, SourceImage
from cobalance.generation.sources.sampler import Sources, shuffle

_log = logging.getLogger(__name__)


class MissingSource(NamedTuple):
    """Reason why a class has no source image: for people, and in brief for provenance."""

    message: str
    brief: str


_UNLUCKY = MissingSource("", "None of the images that were tried for it can be used.")


class SourcePicker:
    """Picks source images by class and seed.

    Parameters
    ----------
    sources : Sources or None
        The dataset's images; None where it has no image files.
    required : bool
        Whether each image needs a source. Otherwise the backend paints the object where the class
        has none.
    backend : str
        The backend's name, for messages.
    """

    def __init__(self, sources: Sources | None, *, required: bool, backend: str) -> None:
        self._sources, self.required, self._backend = sources, required, backend
        self._missing: dict[str, MissingSource | None] = {}
        self._looking = threading.Lock()

    def pick(
        self, class_name: str, seed: int, planned: Sequence[str] = (), *, of_any_class: bool = False
    ) -> SourceImage | None:
        """Pick an image of a class; None where its object is to be painted.

        Parameters
        ----------
        planned : sequence of str
            Ids of images to prefer, in an order that the seed decides.
        of_any_class : bool
            Whether these may be of another class, as their object is painted over.

        Raises
        ------
        NoSourceError
            A source is required, and there is none.
        """
        for position in shuffle(len(planned), seed):
            image_id = planned[position]
            image_class = None if self._sources is None else self._sources.class_of(image_id)
            if image_class == class_name or (image_class is not None and of_any_class):
                with suppress(NoSourceError):
                    return self.take(image_id, seed)[0]

        missing = self.missing(class_name)
        if missing is not None and self.required:
            raise NoSourceError(*missing)
        if missing is not None or self._sources is None:
            return None
        try:
            return self._sources.sample(class_name, seed)
        except NoSourceError:
            if self.required:
                raise
            return None

    def take(self, image_id: str, seed: int = 0) -> tuple[SourceImage, str]:
        """Give the image that a query edits, and its class; random choices follow the seed.

        Raises
        ------
        NoSourceError
            It cannot be edited.
        """
        return self._sources_for(f"The image {image_id!r} is to be edited").take(image_id, seed)

    def patch(self, class_name: str, seed: int, *, without: str) -> SourceImage:
        """Pick an image of a class with a single object of it, other than the one of an id.

        Raises
        ------
        NoSourceError
            There is none.
        """
        what = f"An object of class {class_name!r} is to be taken from another image"
        return self._sources_for(what).sample_single(class_name, seed, without=without)

    def _sources_for(self, what: str) -> Sources:
        """The dataset's images; raise NoSourceError with the purpose if it has none."""
        if self._sources is None:
            raise NoSourceError(
                f"{what}, and the dataset names no image files. Ingest it with them."
            )
        return self._sources

    def missing(self, class_name: str) -> MissingSource | None:
        """Reason why a class has no source; None if it has one. The same in every process."""
        # Chunks of a job run in several threads: one looks and warns, the others wait for it.
        with self._looking:
            if class_name not in self._missing:
                missing = self._missing[class_name] = self._find_missing(class_name)
                if missing is not None and not self.required and self._sources is not None:
                    _log.warning("%s Until then its objects are painted.", missing.message)
            return self._missing[class_name]

    def why_painted(self, class_name: str) -> str:
        """Reason for painting an object of a class, for provenance; empty without image files."""
        if self._sources is None:
            return ""
        return (self._missing.get(class_name) or _UNLUCKY).brief

    def _find_missing(self, class_name: str) -> MissingSource | None:
        """Try one image of a class; the reason where it has none that can be used."""
        if self._sources is None:
            return MissingSource(
                f"The backend {self._backend} takes the object from an image of class "
                f"{class_name!r}, and the dataset names no image files. Ingest it with them.",
                "",
            )

        try:
            self._sources.sample(class_name, 0)
        except NoSourceError as error:
            # Its text alone: its traceback would keep frames alive.
            return MissingSource(str(error), error.brief)
        return None
