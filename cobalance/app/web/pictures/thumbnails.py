"""Thumbnails, large pictures and galleries of image files, with regions drawn on them."""

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pandas as pd
from PIL import Image

from cobalance.app.web.pictures.cache import LIMIT_BYTES, PictureCache
from cobalance.app.web.pictures.drawing import draw_mask_edge, draw_regions, placeholder
from cobalance.base import Words
from cobalance.vision import (
    ImageFile,
    ImageFileError,
    ImageRoots,
    Thumbnail,
    decode,
    open_image,
    read_header,
    thumbnail,
)
from cobalance.workflows import in_environment

THUMBNAIL_PX = 256

_QUALITY = 88
_LARGE_PX = 20_000_000
_one_large_image = threading.Lock()
# They mostly wait for files.
_THREADS = 8
# Change it when pictures are drawn differently: cached ones are then not used.
_VERSION = "2"


@dataclass(frozen=True)
class Picture:
    """A JPEG that a browser shows.

    `problem` says why it is a placeholder, as sentences; None for the image itself.
    """

    data: bytes
    width_px: int
    height_px: int
    problem: str | None = None


class ImageFiles:
    """Renders pictures of image files; safe for many threads and processes.

    A file that cannot be found, read or decoded raises nothing: its picture is a placeholder that
    says why, and by `words` names the setting that mends it.

    Parameters
    ----------
    roots : sequence of str
        The folders, ZIP files and fsspec URLs that files may be in.
    cache : Path
        A folder for small pictures, of this class alone, of `cache_bytes` at most.
    """

    def __init__(
        self,
        roots: Sequence[str],
        cache: Path,
        cache_bytes: int = LIMIT_BYTES,
        words: Words = in_environment,
    ) -> None:
        self._roots, self._cache = ImageRoots(roots), PictureCache(cache, cache_bytes)
        self._words = words

    def thumbnail(self, uri: str | None, size_px: int = THUMBNAIL_PX) -> Picture:
        """Render an image upright, scaled to fit into a square.

        The URI is as the annotations have it: a path in a root, an absolute one, or a URL.
        """
        try:
            return self._picture(self._roots.find(uri), size_px).shown
        except ImageFileError as error:
            return self._instead(error, uri, size_px)

    def with_regions(
        self,
        uri: str | None,
        regions: pd.DataFrame,
        colors: Mapping[str, str],
        size_px: int = 1600,
        *,
        labelled: bool = True,
    ) -> Picture:
        """Render an image with its regions drawn.

        Where the image was annotated as it lies in the file, and its EXIF data turn it by a
        quarter, it is shown as annotated. `regions` are from
        `cobalance.vision.images.regions.read_regions`, of this image, `colors` the CSS colours of
        concepts; `labelled`: whether their names are drawn, too.
        """
        try:
            file = self._roots.find(uri)
            if regions.empty:
                return self._picture(file, size_px).shown

            def draw() -> Thumbnail:
                base = self._picture(file, size_px)
                annotated = _annotation_size_px(regions) or base.original_px
                # Width and height are exchanged: the annotations are of the picture unturned.
                if annotated != base.original_px and annotated == base.original_px[::-1]:
                    base = self._picture(file, size_px, upright=False)
                scale = base.shown.width_px / annotated[0], base.shown.height_px / annotated[1]

                image = decode(base.shown.data).stored
                draw_regions(image, regions, colors, scale=scale, labelled=labelled)
                return Thumbnail(image, *base.original_px)

            about = [regions.to_json(orient="values"), repr(sorted(colors.items()))]
            if not labelled:
                about.append("no labels")
            key = _key(file.identity, str(size_px), *about)
            return self._cached(key, draw, sharp=True).shown
        except ImageFileError as error:
            return self._instead(error, uri, size_px)

    def with_mask(
        self, uri: str | None, mask_uri: str | None, color: str, size_px: int = THUMBNAIL_PX
    ) -> Picture:
        """Render an image with the edge of a mask, in a CSS colour; without it if that fails.

        The mask is an image of the same shape, white on the object.
        """
        try:
            file = self._roots.find(uri)
            base = self._picture(file, size_px)
        except ImageFileError as error:
            return self._instead(error, uri, size_px)
        if mask_uri is None:
            return base.shown

        try:
            mask_file = self._roots.find(mask_uri)

            def draw() -> Thumbnail:
                mask = _scale_down(mask_file.read(), size_px, upright=False).image
                image = draw_mask_edge(decode(base.shown.data).stored, mask, color)
                return Thumbnail(image, *base.original_px)

            key = _key(file.identity, mask_file.identity, str(size_px), color)
            return self._cached(key, draw, sharp=True).shown
        except ImageFileError:
            return base.shown

    def grid(
        self,
        images: Mapping[str, str | None],
        regions: pd.DataFrame,
        colors: Mapping[str, str],
        size_px: int = THUMBNAIL_PX,
        *,
        labelled: bool = False,
    ) -> list[tuple[Picture, Picture | None]]:
        """Render images, several at a time, each as it is and, if it has regions, with these.

        `images` are URIs by the ids that regions have, too; regions may be of others. `labelled`:
        whether names are drawn, too, which cover small pictures.
        """
        regions_of = dict(list(regions.groupby("id")))

        def pictures(image: str) -> tuple[Picture, Picture | None]:
            uri, image_regions = images[image], regions_of.get(image)
            plain = self.thumbnail(uri, size_px)
            if image_regions is None or plain.problem is not None:
                return plain, None
            drawn = self.with_regions(uri, image_regions, colors, size_px, labelled=labelled)
            return plain, drawn

        with ThreadPoolExecutor(_THREADS) as threads:
            return list(threads.map(pictures, images))

    def _instead(self, problem: ImageFileError, uri: str | None, size_px: int) -> Picture:
        text = problem.render(self._words)
        image = placeholder(text, uri, size_px)
        return Picture(_jpeg(image, sharp=True), *image.size, text)

    def _picture(self, file: ImageFile, size_px: int, *, upright: bool = True) -> "_Cached":
        key = _key(file.identity, str(size_px), str(upright))
        return self._cached(key, lambda: _scale_down(file.read(), size_px, upright=upright))

    def _cached(self, key: str, make: Callable[[], Thumbnail], *, sharp: bool = False) -> "_Cached":
        """The cached picture of a key; else make it, and keep it."""
        cached = _read_cached(self._cache.get(key))
        if cached is not None:
            return cached

        picture = make()
        original_px = (picture.width_px, picture.height_px)
        data = _jpeg(picture.image, f"{picture.width_px} {picture.height_px}", sharp=sharp)
        self._cache.put(key, data)
        return _Cached(Picture(data, *picture.image.size), original_px)


@dataclass(frozen=True)
class _Cached:
    """A cached picture with the original size, which is stored as a JPEG comment."""

    shown: Picture
    original_px: tuple[int, int]


def _read_cached(data: bytes | None) -> _Cached | None:
    """Read a cached picture; None if it is missing or incomplete."""
    # A JPEG ends with this marker, unless its writing was cut short.
    if data is None or not data.endswith(b"\xff\xd9"):
        return None

    try:
        with open_image(data, formats=["JPEG"]) as image:
            width, height = map(int, image.info["comment"].split())
            return _Cached(Picture(data, *image.size), (width, height))
    except ImageFileError:
        return None


def _scale_down(content: bytes, size_px: int, *, upright: bool) -> Thumbnail:
    """Make a thumbnail; large images one at a time, to bound memory."""
    header = read_header(content)
    if header.width_px * header.height_px <= _LARGE_PX:
        return thumbnail(content, size_px, upright=upright)
    with _one_large_image:
        return thumbnail(content, size_px, upright=upright)


def _jpeg(image: Image.Image, comment: str = "", *, sharp: bool = False) -> bytes:
    """Encode with a comment inside; a sharp picture keeps colour at full resolution."""
    file = BytesIO()
    # 0 is 4:4:4, and 2 is 4:2:0.
    subsampling = 0 if sharp else 2
    image.save(file, "JPEG", quality=_QUALITY, subsampling=subsampling, comment=comment.encode())
    return file.getvalue()


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join((_VERSION, *parts)).encode()).hexdigest()


def _annotation_size_px(regions: pd.DataFrame) -> tuple[int, int] | None:
    """Size of the image that the regions were annotated on; None if unknown."""
    width, height = regions["image_width_px"].iloc[0], regions["image_height_px"].iloc[0]
    if pd.isna(width) or pd.isna(height):
        return None
    return int(width), int(height)
