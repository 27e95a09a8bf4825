"""Sample source images with their object masks, reproducibly by seed."""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

import pandas as pd

from cobalance.base import CobalanceError, Image, JobBlockedError, OutOfMemoryError, inflect
from cobalance.generation.image_request import NoSourceError, SourceImage
from cobalance.generation.sources import object_masks
from cobalance.generation.sources.mask_cache import MaskCache, mask_path
from cobalance.generation.sources.mask_settings import UnusableError
from cobalance.generation.sources.object_regions import annotated_px
from cobalance.graph import ClassImages
from cobalance.vision import (
    ImageArray,
    ImageFileError,
    MaskArray,
    decode,
    mask_array,
    rgb_array,
    strip_secrets,
)

TRIES = 500
"""Images tried for a usable one; where one in a hundred is usable, there is one
among them 99 times in 100."""

UNREADABLE = "has a file that cannot be read"


@dataclass(frozen=True, eq=False)
class Sources:
    """Source images of a dataset by class, with their object masks.

    For any number of threads at once, if the callables are.

    Parameters
    ----------
    images : mapping of str to ClassImages
        By class, from `cobalance.graph.dataset.read.read_class_images`.
    read_image : callable
        Gives an image file's content by its address, and raises a CobalanceError where it cannot.
    masks : ObjectMasks
        Finds their objects.
    """

    images: Mapping[str, ClassImages]
    read_image: Callable[[str], bytes]
    masks: object_masks.ObjectMasks
    _read_before: list[str] = field(default_factory=list, init=False, repr=False)
    _found: MaskCache = field(default_factory=MaskCache, init=False, repr=False)

    @cached_property
    def _places(self) -> dict[str, tuple[str, str]]:
        """Address and class of each image."""
        return {
            image: (uri, class_name)
            for class_name, images in self.images.items()
            for image, uri in zip(images.ids, images.uris, strict=True)
        }

    @cached_property
    def _single(self) -> "Sources":
        whole = {"instances": "single", "second_above_px": None, "parts": "all", "grow_px": 0}
        settings = self.masks.settings.model_copy(update=whole)
        return replace(self, masks=replace(self.masks, settings=settings, find_parts=None))

    def only(self, ids: Collection[str]) -> "Sources":
        """The same of some images alone, by id."""
        chosen = set(ids)
        selected = {}
        for class_name, images in self.images.items():
            pairs = zip(images.ids, images.uris, strict=True)
            rows = [(image_id, uri) for image_id, uri in pairs if image_id in chosen]
            selected[class_name] = ClassImages(
                tuple(image_id for image_id, _ in rows), tuple(uri for _, uri in rows)
            )
        return replace(self, images=selected)

    def sample(self, class_name: str, seed: int, *, without: str | None = None) -> SourceImage:
        """Sample an image of a class with its object mask; the same for the same seed everywhere.

        Images are looked at in an order that the seed decides. Those without a file or a mask that
        can be used are passed over, `TRIES` at most, as is the image with the id `without`.

        Raises
        ------
        NoSourceError
            None that was tried can be used; the message has the commonest reason.
        JobBlockedError
            An image that was read before cannot be read either: all are out of reach.
        """
        images = self.images.get(class_name)
        if images is None or not images.ids:
            raise NoSourceError(
                f"No image of class {class_name!r} has an address to take an object from. Ingest "
                "the images with their paths, or ask for another split."
            )

        problems: list[tuple[str, UnusableError]] = []
        order = (place for place in shuffle(len(images.ids), seed) if images.ids[place] != without)
        for place in islice(order, TRIES):
            try:
                return self._source(images.ids[place], images.uris[place], class_name, seed)
            except UnusableError as problem:
                problems.append((images.ids[place], problem))

        if not problems:
            raise NoSourceError(
                f"Image {without!r} is the only one of class {class_name!r} that has an address. "
                "Ingest others with their paths, or ask for another split."
            )
        self._check_reachable()
        raise _none_usable(class_name, len(images.ids), problems)

    def sample_single(self, class_name: str, seed: int, *, without: str) -> SourceImage:
        """Sample as `sample` does, from images with exactly one object of the class, as a whole.

        Mask files do not say how many objects they are of, and are taken as they are.
        """
        return self._single.sample(class_name, seed, without=without)

    def class_of(self, image_id: str) -> str | None:
        """The class of an image; None for one that is not among them."""
        return self._places.get(image_id, ("", None))[1]

    def take(self, image_id: str, seed: int = 0) -> tuple[SourceImage, str]:
        """Take an image with its object mask, and its class; the seed decides random draws.

        Raises
        ------
        NoSourceError
            It cannot be used; the message says why.
        JobBlockedError
            Neither it nor an image that was read before can be read: all are out of reach.
        """
        if image_id not in self._places:
            raise NoSourceError(
                f"The image {image_id!r} has no address, or is not of the split that is asked for. "
                "Ingest it with its path, or ask for another split."
            )

        uri, class_name = self._places[image_id]
        try:
            return self._source(image_id, uri, class_name, seed), class_name
        except UnusableError as problem:
            if problem.problem == UNREADABLE:
                self._check_reachable()
            detail = f": {problem.detail.rstrip('.')}" if problem.detail else ""
            brief = f"The image {image_id!r} cannot be edited: it {problem.problem}"
            raise NoSourceError(f"{brief}{detail}. {problem.remedy}.", f"{brief}.") from problem

    def _check_reachable(self) -> None:
        """Raise JobBlockedError where the image that was read last can be read no longer."""
        for uri in self._read_before:
            try:
                self.read_image(uri)
            except CobalanceError as error:
                raise JobBlockedError(
                    f"The image files can no longer be read: {error} Bring them back, such as by "
                    "mounting their folder again; then retry the job."
                ) from error

    def _source(self, image_id: str, uri: str, class_name: str, seed: int) -> SourceImage:
        """Read an image with the mask of its object; UnusableError where it cannot be used."""
        settings = self.masks.settings
        if settings.masks == "files":
            picture, mask = self._from_file(image_id, uri)
            pixels = rgb_array(picture)
        else:
            regions = self.masks.regions(image_id, class_name)
            picture = self._picture(uri, annotated_px(regions))
            pixels = rgb_array(picture)
            mask = self._object(image_id, regions, pixels, class_name)

        if (find := self.masks.find_parts) is not None:
            parts = self._found.masks((image_id, "parts"), lambda: self.masks.parts(pixels, find))
            mask = object_masks.restrict(mask, parts, settings.parts, seed)
        mask = object_masks.grow(mask, settings.grow_px)
        self.masks.check_share(mask)
        return SourceImage(image_id, uri, pixels, mask)

    def _object(
        self, image_id: str, regions: pd.DataFrame, pixels: ImageArray, class_name: str
    ) -> MaskArray:
        if not self.masks.settings.needs_segmenter:
            return self.masks.find(regions, pixels)
        return self._found.masks(
            (image_id, class_name, "object"),
            lambda: {"object": self.masks.find(regions, pixels)},
        )["object"]

    def _picture(
        self, uri: str, wanted_px: tuple[int, int] | None, sized: str = "annotations", at: str = ""
    ) -> "Image.Image":
        """Open an image upright, in the size of its annotations or that of other images."""
        try:
            content = self.read_image(uri)
        except (JobBlockedError, OutOfMemoryError):
            raise
        except CobalanceError as error:
            raise UnusableError(
                UNREADABLE, "Make the images' files readable", str(error)
            ) from error
        # In place: copies of this object share the list.
        self._read_before[:] = [uri]

        try:
            picture = decode(content).orient_for(wanted_px)
        except ImageFileError as error:
            raise UnusableError(
                "has a file that is not a usable image",
                "Replace it",
                f"{strip_secrets(uri)}: {error}",
            ) from error
        if wanted_px is not None and wanted_px != picture.size:
            (width, height), (actual_width, actual_height) = wanted_px, picture.size
            raise UnusableError(
                f"has {sized} of another size",
                "Use the files that were annotated; files are never scaled to fit",
                f"{at}{width}×{height} pixels for an image of {actual_width}×{actual_height}",
            )
        return picture

    def _from_file(self, image_id: str, uri: str) -> tuple["Image.Image", MaskArray]:
        """Open an image, and the file of its object's mask."""
        path = mask_path(self.masks.settings, image_id, uri)
        try:
            stored = decode(path.read_bytes()).stored
        except OSError as error:
            raise UnusableError(
                "has no mask file",
                "Check the settings masks.mask_folder and masks.mask_pattern",
                f"{path}: {error.strerror}",
            ) from error
        except ImageFileError as error:
            raise UnusableError(
                "has a mask file that is not a usable image", "Replace it", f"{path}: {error}"
            ) from error

        picture = self._picture(uri, stored.size, "a mask file", f"{path}: ")
        return picture, mask_array(stored)


def shuffle(count: int, seed: int) -> Iterator[int]:
    """Yield ``range(count)`` in a pseudorandom order, the same for a seed on every machine.

    The order is drawn from SHA-256, not from a random generator, whose algorithms may change from
    one version of its library to the next. It is drawn number by number (Fisher and Yates'
    shuffle), so that the first ones of a large count take no longer than those of a small one.

    Examples
    --------
    >>> list(shuffle(5, seed=1))
    [1, 3, 0, 2, 4]
    """
    # Only places whose numbers were moved are stored.
    moved: dict[int, int] = {}
    for position in range(count):
        digest = hashlib.sha256(f"{seed}/{position}".encode()).digest()
        drawn = position + int.from_bytes(digest[:16]) % (count - position)
        yield moved.get(drawn, drawn)
        moved[drawn] = moved.pop(position, position)


def _none_usable(
    class_name: str, n_images: int, problems: list[tuple[str, UnusableError]]
) -> NoSourceError:
    """The error for a class without a usable image: number tried, commonest reason, remedy."""
    ((commonest, times),) = Counter(error.problem for _, error in problems).most_common(1)
    image_id, example = next(row for row in problems if row[1].problem == commonest)
    detail = f": {example.detail.rstrip('.')}" if example.detail else ""
    looked_at = f"its {inflect(n_images, 'images')}"
    if len(problems) < n_images:
        looked_at = f"the {len(problems):,} of {looked_at} that were looked at"
    how_often = "" if len(problems) == 1 else f"Most often ({times:,} times) "
    brief = f"No object of class {class_name!r} can be taken from {looked_at}. "
    brief += f"{how_often}{'an' if how_often else 'An'} image {commonest}"
    return NoSourceError(f"{brief}, such as {image_id!r}{detail}. {example.remedy}.", f"{brief}.")
