"""Backend that composes scenes procedurally, without a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from generation.backends.backend import SYNTHETIC_SOURCE, ImageOptions
from generation.backends.compositing.cutout import (
    find_box,
    paste_object,
    place_object,
    spread_colours,
)
from generation.backends.compositing.framing import (
    Size,
    choose_output_size,
    fit_source,
    resize_image,
    resize_mask,
)
from generation.backends.compositing.placement import PlacementOptions
from generation.backends.compositing.styles import (
    is_ground,
    paint_pattern,
    paint_sign,
    smooth_noise,
    style_of,
)
from generation.image_request import GeneratedImage, ImageRequest
from graph.options import MayBePath
from graph.plugins import Plugin
from ingest.images.arrays import ImageArray, MaskArray

if TYPE_CHECKING:
    from generation.backends.compositing.exemplars import Exemplar, Exemplars


class ProceduralOptions(ImageOptions, PlacementOptions):
    """Options of the backend procedural.

    Parameters
    ----------
    exemplars : str or None
        A folder of pictures of concepts, see `generation.backends.compositing.exemplars`; None for
        invented looks.
    """

    earlier_names: ClassVar[Mapping[str, str]] = {"model": "exemplars"}

    exemplars: Annotated[str | None, MayBePath()] = None


PLUGIN = Plugin(
    "procedural",
    "Paints concepts by rule, without any model.",
    extra="worker",
    options=ProceduralOptions,
)

COMPOSITE = SYNTHETIC_SOURCE + "compositeSynthetic"
ALGORITHMIC = SYNTHETIC_SOURCE + "algorithmicMedia"

SIDE_PX = 256
"""Of an image without a source, where the options name no size."""
THING_SHARE = 1 / 3
"""Size of a sign relative to the image's shorter side; a class's sign is twice as large."""

_LAYERS = 12  # of exemplars for one background; what is left takes its nearest pixel's colour
_CANDIDATES = 6  # of which the one most alike is the next layer
_PLACES = 24  # that are tried for an object, to find one where little of it is hidden
_HIDDEN = 0.25  # how much of an object may be hidden where it stands in its own picture
_SOFT_PX = 3.0  # over which a layer of a background fades into the one below


def open_backend(options: ProceduralOptions) -> "ProceduralBackend":
    """Open a backend that needs neither a model nor a source nor a network.

    With a source, its object is pasted as the backend ``paste`` does, with the same placements,
    sizes and feather. Without one, the class is a sign in the middle. What the concepts look like
    is decided by the option ``exemplars``:

    - None: every concept has a pattern and a sign that follow from its name. They look like
      nothing real, so what is trained on them may learn to tell the painted from the photographed.
    - A folder of exemplars (see `generation.backends.compositing.exemplars`): backgrounds are put
      together from parts of images that show the concept, and objects are cut from such images.
      Concepts without exemplars have their invented look.

    ``details`` of an image has its own ``digital_source_type``: one that no photograph is in is
    ``algorithmicMedia``, others are ``compositeSynthetic``, as `describe` says of them all.

    Raises
    ------
    JobBlockedError
        The folder has no exemplars, or one cannot be read.
    """
    from generation.backends.compositing.exemplars import read_exemplars

    exemplars = None if options.exemplars is None else read_exemplars(Path(options.exemplars))
    return ProceduralBackend(options, exemplars)


class ProceduralBackend:
    """Composes a background, objects, and the source's object or a sign of the class.

    Each image depends on its request and the options alone, bit by bit, whatever else is in the
    batch and whichever machine it is.

    Parameters
    ----------
    options : ProceduralOptions
        Sizes, placement and feather.
    exemplars : Exemplars or None
        Pictures of concepts.
    """

    needs_source = False

    def __init__(self, options: ProceduralOptions, exemplars: "Exemplars | None" = None) -> None:
        self._options, self._exemplars = options, exemplars

    def generate(self, requests: Sequence[ImageRequest]) -> list[GeneratedImage]:
        """Generate one image per request, in the same order.

        Raises
        ------
        GenerationError
            An object cannot be told from the rest at the size that is set.
        """
        return [self._make(request) for request in requests]

    def describe(self) -> Mapping[str, Any]:
        """Model, settings and software of the backend, for provenance; JSON values."""
        return {
            "backend": "procedural",
            "digital_source_type": COMPOSITE,
            "model": self._options.exemplars,
            "revision": None,
            "weights_sha256": None if self._exemplars is None else self._exemplars.sha256,
            "settings": self._options.model_dump(exclude={"exemplars"}),
            "device": "cpu",
            "dtype": "uint8",
            "software": {name: version(name) for name in ("numpy", "pillow", "scipy")},
        }

    def _make(self, request: ImageRequest) -> GeneratedImage:
        rng = np.random.default_rng(request.seed)
        image, mask, details = self._object(request, rng)
        size = mask.shape[0], mask.shape[1]
        grounds = [concept for concept in request.concepts if self._is_ground(concept)]
        things = [concept for concept in request.concepts if concept not in grounds]
        canvas = self._background(grounds, size, rng)
        taken = mask.copy()
        for concept in things:
            canvas = _draw_cutout(canvas, self._object_cutout(concept, size, rng), taken, rng)
        canvas = paste_object(canvas, image, mask, self._options.feather_px)
        pictures = request.source is not None or any(map(self._pictures, request.concepts))
        box = find_box(mask)
        details |= {
            "box": [box.top, box.left, box.bottom, box.right],
            "digital_source_type": COMPOSITE if pictures else ALGORITHMIC,
        }
        return GeneratedImage(canvas, mask, details)

    def _object(
        self, request: ImageRequest, rng: np.random.Generator
    ) -> tuple[ImageArray, MaskArray, dict[str, Any]]:
        """The object in an image of the size that is to be made."""
        options, source = self._options, request.source
        if source is None:
            height, width = options.height_px, options.width_px
            size = height or width or SIDE_PX, width or height or SIDE_PX
            side = max(1, round(min(size) * THING_SHARE * 2))
            image, mask = _centred(*paint_sign(style_of(request.class_name), side), size)
            return image, mask, {"object": "sign"}
        size = choose_output_size(options, source)
        if options.placement == "resample":
            image, mask, scale = place_object(source.image, source.mask, size, rng)
        else:
            image, mask, scale = fit_source(source, size)
        return image, mask, {"object": "source", "placement": options.placement, "scale": scale}

    def _pictures(self, concept: str) -> "tuple[Exemplar, ...]":
        return () if self._exemplars is None else self._exemplars.of(concept)

    def _is_ground(self, concept: str) -> bool:
        if self._exemplars is not None and self._pictures(concept):
            return self._exemplars.is_ground(concept)
        return is_ground(concept)

    def _background(
        self, concepts: Sequence[str], size: Size, rng: np.random.Generator
    ) -> ImageArray:
        """Draw one background, several side by side with wavy edges, or a plain one for none."""
        if not concepts:
            return _plain(size, rng)
        painted = [self._ground(concept, size, rng) for concept in concepts]
        across = np.arange(size[1]) / size[1] * len(painted)
        uneven = smooth_noise(size, max(2, min(size) // 4), rng) - 0.5
        which = np.clip(np.floor(across + uneven * 0.5), 0, len(painted) - 1).astype(np.int64)
        canvas: ImageArray = np.choose(which[..., np.newaxis], painted)
        return canvas

    def _ground(self, concept: str, size: Size, rng: np.random.Generator) -> ImageArray:
        pictures = self._pictures(concept)
        if pictures:
            return _compose_background(pictures, size, rng)
        return paint_pattern(style_of(concept), size, rng)

    def _object_cutout(self, concept: str, size: Size, rng: np.random.Generator) -> "_Cutout":
        """Draw an object of a concept, no larger than the image."""
        pictures = self._pictures(concept)
        if not pictures:
            side = max(1, round(min(size) * THING_SHARE))
            return _Cutout(*paint_sign(style_of(concept), side))
        return _cut_out(pictures[int(rng.integers(len(pictures)))], size)


@dataclass(frozen=True, eq=False)
class _Cutout:
    """A cutout, and the position of its top left pixel in the image."""

    image: ImageArray
    shown: MaskArray
    place: tuple[int, int] | None = None


def _cut_out(picture: "Exemplar", size: Size) -> _Cutout:
    """Cut out an exemplar's object, with its scale and place if the exemplar filled the image."""
    scale = min(size[0] / picture.shown.shape[0], size[1] / picture.shown.shape[1])
    box = find_box(picture.shown)
    shown = picture.shown[box.slices]
    target = (
        min(size[0], max(1, round(shown.shape[0] * scale))),
        min(size[1], max(1, round(shown.shape[1] * scale))),
    )
    colours, _ = spread_colours(picture.image[box.slices], shown)
    place = (
        min(round(box.top * scale), size[0] - target[0]),
        min(round(box.left * scale), size[1] - target[1]),
    )
    return _Cutout(resize_image(colours, target), resize_mask(shown, target), place)


def _centred(cut: ImageArray, shown: MaskArray, size: Size) -> tuple[ImageArray, MaskArray]:
    image, mask = np.zeros((*size, 3), np.uint8), np.zeros(size, np.bool_)
    top, left = (size[0] - shown.shape[0]) // 2, (size[1] - shown.shape[1]) // 2
    there = slice(top, top + shown.shape[0]), slice(left, left + shown.shape[1])
    image[there], mask[there] = cut, shown
    return image, mask


def _draw_cutout(
    canvas: ImageArray, cut: _Cutout, taken: MaskArray, rng: np.random.Generator
) -> ImageArray:
    """Draw an object on the canvas: at its place in its exemplar, unless that is mostly occupied.

    Else it is at the one of some random places where least is. Its pixels are taken afterwards.
    """
    tall, wide = cut.shown.shape
    tops = rng.integers(canvas.shape[0] - tall, size=_PLACES, endpoint=True).tolist()
    lefts = rng.integers(canvas.shape[1] - wide, size=_PLACES, endpoint=True).tolist()

    def hidden(place: tuple[int, int]) -> int:
        return int(np.count_nonzero(taken[_window(place, cut.shown)] & cut.shown))

    place = cut.place
    if place is None or hidden(place) > _HIDDEN * np.count_nonzero(cut.shown):
        place = min(zip(tops, lefts, strict=True), key=hidden)
    there = _window(place, cut.shown)
    placed = canvas.copy()
    placed[there][cut.shown] = cut.image[cut.shown]
    taken[there] |= cut.shown
    return placed


def _window(place: tuple[int, int], shown: MaskArray) -> tuple[slice, slice]:
    top, left = place
    return slice(top, top + shown.shape[0]), slice(left, left + shown.shape[1])


def _plain(size: Size, rng: np.random.Generator) -> ImageArray:
    """Draw a light grey wall, unevenly lit."""
    light = 190 + 30 * smooth_noise(size, max(2, min(size) // 2), rng) + 6 * rng.random(size)
    return np.repeat(np.rint(light).astype(np.uint8)[..., np.newaxis], 3, axis=2)


def _compose_background(
    pictures: "Sequence[Exemplar]", size: Size, rng: np.random.Generator
) -> ImageArray:
    """Compose a background from exemplars until no hole is left.

    Each next picture shows through the holes of those above it, and they fade into it. It is, of
    some that are drawn, the one whose mean colour is most like that of the first.
    """
    image, shown = _random_window(pictures[int(rng.integers(len(pictures)))], size, rng)
    layers = [(image, shown)]
    mean = _mean_colour(image, shown)
    holes = ~shown
    while holes.any() and len(layers) < _LAYERS:
        drawn = [
            _random_window(pictures[at], size, rng)
            for at in rng.integers(len(pictures), size=_CANDIDATES).tolist()
        ]
        useful = [one for one in drawn if (one[1] & holes).any()] or drawn
        image, shown = min(useful, key=lambda one: float(np.abs(_mean_colour(*one) - mean).max()))
        layers.append((image, shown))
        holes &= ~shown
    canvas, _ = spread_colours(*layers[-1])
    for image, shown in reversed(layers[:-1]):
        share = _share_inside(shown)[..., np.newaxis]
        canvas = np.rint(image * share + canvas * (1 - share)).astype(np.uint8)
    return canvas


def _share_inside(shown: MaskArray) -> npt.NDArray[np.float64]:
    """Opacity of a layer: 0 in its holes, rising to 1 a few pixels away from them."""
    if shown.all():
        return np.ones(shown.shape)
    share: npt.NDArray[np.float64] = ndimage.distance_transform_edt(shown)
    return np.clip(share / _SOFT_PX, 0, 1)


def _random_window(
    picture: "Exemplar", size: Size, rng: np.random.Generator
) -> tuple[ImageArray, MaskArray]:
    """Crop a random window of the image's size from an exemplar, scaling small ones up."""
    image, shown = picture.image, picture.shown
    scale = max(1.0, size[0] / shown.shape[0], size[1] / shown.shape[1])
    large = (
        max(size[0], round(shown.shape[0] * scale)),
        max(size[1], round(shown.shape[1] * scale)),
    )
    if large != shown.shape:  # nothing of what is in a hole gets into what is beside it
        image, _ = spread_colours(image, shown)
        image, shown = resize_image(image, large), resize_mask(shown, large)
    top = int(rng.integers(large[0] - size[0], endpoint=True))
    left = int(rng.integers(large[1] - size[1], endpoint=True))
    there = slice(top, top + size[0]), slice(left, left + size[1])
    image, shown = image[there], shown[there]
    if rng.integers(2):
        image, shown = image[:, ::-1], shown[:, ::-1]
    if not shown.any():  # a window of nothing but a hole
        return image, np.ones_like(shown)
    return image, shown


def _mean_colour(image: ImageArray, shown: MaskArray) -> npt.NDArray[np.float64]:
    # sums of whole numbers are the same in whatever order a machine adds them
    mean: npt.NDArray[np.float64] = image[shown].sum(axis=0, dtype=np.int64) / max(
        1, int(np.count_nonzero(shown))
    )
    return mean
