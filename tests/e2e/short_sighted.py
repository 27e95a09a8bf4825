"""A filter whose detector misses something in a share of the images, drawn by their pixels."""

from zlib import crc32

from pydantic import Field

from cobalance.base.options import Options
from cobalance.generation.filters.filter import FilterPlugin, Judgement, PixelFilter
from cobalance.generation.image_request import GeneratedImage, ImageRequest

NAME = "short-sighted"


class ShortSightedOptions(Options):
    """How many images the detector does not see through, from 0 to 1."""

    misses: float = Field(default=0.3, ge=0, le=1)


PLUGIN = FilterPlugin(
    NAME,
    "A detector finds the concepts in most images that show them.",
    options=ShortSightedOptions,
    looks=lambda _: frozenset(["concepts"]),
)


def judge(request: ImageRequest, made: GeneratedImage, options: ShortSightedOptions) -> Judgement:
    """Miss one of the concepts that were asked for, or none: the same for the same pixels."""
    draw = crc32(made.image.tobytes()) / 2**32
    if draw >= options.misses:
        return Judgement(1.0)
    missed = request.concepts[int(draw / options.misses * len(request.concepts))]
    return Judgement(0.0, f"The detector does not find {missed}.", {"missed": missed})


def open_filter(options: ShortSightedOptions) -> PixelFilter:
    """Open the filter; see `cobalance.base.plugins.Plugins`."""
    return PixelFilter(NAME, options, judge)
