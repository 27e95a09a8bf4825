"""Backend that composes scenes procedurally, without a model."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from cobalance.base import MayBePath, OptionError, Plugin
from cobalance.generation.backends.backend import SYNTHETIC_SOURCE, ImageOptions
from cobalance.generation.backends.compositing import cutout, framing, styles
from cobalance.generation.backends.compositing.backgrounds import (
    compose_background,
    join_backgrounds,
    paint_wall,
)
from cobalance.generation.backends.compositing.draws import Draws
from cobalance.generation.backends.compositing.exemplars import Exemplar, Exemplars, read_exemplars
from cobalance.generation.image_request import GeneratedImage, ImageRequest, require_source
from cobalance.vision import ImageArray, MaskArray, find_box


class ProceduralOptions(ImageOptions, cutout.PlacementOptions):
    """Options of the backend procedural.

    Parameters
    ----------
    paint : {"surroundings", "object"}
        Whether the object is kept and the rest is painted, or the other way about.
    guidance_scale : float or None
        How much of the class's look a painted object has, beside its own colours: a share of
        scale / (scale + 1); None for 7.5. Objects that are kept have no use for it.
    mistakes : float
        How many of the painted objects have a mistake, from 0 to 1, drawn by their seeds: something
        added, or shifted colours. For trying how the best of several candidates are chosen.
    exemplars : str or None
        A folder of pictures of concepts, see `cobalance.generation.backends.compositing.exemplars`;
        None for invented looks.
    """

    paint: Literal["surroundings", "object"] = "surroundings"
    guidance_scale: float | None = Field(default=None, gt=0)
    mistakes: float = Field(default=0, ge=0, le=1)
    exemplars: Annotated[str | None, MayBePath()] = None

    @model_validator(mode="after")
    def _fits(self) -> "ProceduralOptions":
        if self.paint == "object" and self.placement != "keep":
            raise ValueError("an object that is painted stays in its place; leave placement out")
        if self.paint != "object" and self.guidance_scale is not None:
            raise ValueError("guidance_scale is of use only with paint=object; leave it out")
        if self.paint != "object" and self.mistakes:
            raise ValueError("mistakes are planted only with paint=object; leave them out")
        return self


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
GUIDANCE_SCALE = 7.5
THING_SHARE = 1 / 3
"""Size of a sign relative to the image's shorter side; a class's sign is twice as large."""


def open_backend(options: ProceduralOptions) -> "ProceduralBackend":
    """Open a backend that needs neither a model nor a source nor a network.

    With a source, its object is pasted as the backend ``paste`` does, with the same placements,
    sizes and feather. Without one, the class is a sign in the middle. What the concepts look like
    is decided by the option ``exemplars``:

    - None: every concept has a pattern and a sign that follow from its name. They look like
      nothing real, so what is trained on them may learn to tell the painted from the photographed.
    - A folder of exemplars (see `cobalance.generation.backends.compositing.exemplars`): backgrounds
      are put together from parts of images that show the concept, and objects are cut from such
      images. Concepts without exemplars have their invented look.

    With ``paint`` as ``object``, everything but the source's object is kept instead, and the object
    gets the look of the request's class within its outline; concepts have no part in it.

    ``details`` of an image has its own ``digital_source_type``: one that no photograph is in is
    ``algorithmicMedia``, others are ``compositeSynthetic``, as `describe` says of them all.

    Raises
    ------
    JobBlockedError
        The folder has no exemplars, or one cannot be read.
    """
    exemplars = None if options.exemplars is None else read_exemplars(Path(options.exemplars))
    return ProceduralBackend(options, exemplars)


class ProceduralBackend:
    """Composes a background, objects, and the source's object or a sign of the class.

    Each image depends on its request and the options alone, bit by bit, whatever else is in the
    batch and whichever machine it is.
    """

    def __init__(self, options: ProceduralOptions, exemplars: "Exemplars | None" = None) -> None:
        self._options, self._exemplars = options, exemplars
        self.needs_source = options.paint == "object"

    def generate(self, requests: Sequence[ImageRequest]) -> list[GeneratedImage]:
        """Generate one image per request, in the same order; errors as of `Backend.generate`."""
        make = self._paint_object if self._options.paint == "object" else self._make
        return list(map(make, requests))

    def check_scales(self, variants: Sequence[Mapping[str, float]]) -> None:
        """Raise OptionError for a scale of a job's variants that is of no use."""
        for name, scale in chain.from_iterable(variant.items() for variant in variants):
            if name != "guidance_scale" or self._options.paint != "object" or scale <= 0:
                raise OptionError(
                    f"The backend procedural would ignore the variants' {name} of {scale:g}: it "
                    "heeds a guidance_scale above 0, and only with paint=object. Leave it out of "
                    "the variants, or set making.paint to object."
                )

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
        """Compose a scene: backgrounds, cutouts of the other concepts, and the object above all."""
        draws = Draws(request.seed)
        image, mask, details = self._object(request)
        size = mask.shape[0], mask.shape[1]
        grounds = [concept for concept in request.concepts if self._is_ground(concept)]
        canvas = self._background(grounds, size, draws)

        # Cutouts avoid the object's pixels and those of each other.
        occupied = mask.copy()
        for concept in request.concepts:
            if concept not in grounds:
                cutout.draw_cutout(canvas, self._cutout(concept, size, draws), occupied, draws)
        canvas = cutout.paste_object(canvas, image, mask, self._options.feather_px)

        has_pictures = request.source is not None or any(map(self._pictures, request.concepts))
        details |= {
            "box": list(find_box(mask)),
            "digital_source_type": COMPOSITE if has_pictures else ALGORITHMIC,
        }
        keeps_place = self._options.placement == "keep"
        unchanged = framing.kept_pixels(mask, request.source) if keeps_place else None
        return GeneratedImage(canvas, mask, details, unchanged)

    def _paint_object(self, request: ImageRequest) -> GeneratedImage:
        """Paint a source's object in the style of the class; it may have a planted mistake."""
        source = require_source(request, "procedural with paint=object")
        size = framing.choose_output_size(self._options, source)
        image, mask, scale = framing.fit_source(source, size)
        guidance = request.guidance_scale or self._options.guidance_scale or GUIDANCE_SCALE
        style, draws = styles.style_of(request.class_name), Draws(request.seed, "look")
        # A scale from 0 on becomes a share below 1.
        painted = styles.paint_look(image, mask, style, guidance / (guidance + 1), draws)

        details = {
            "object": "look",
            "scale": scale,
            "box": list(find_box(mask)),
            "digital_source_type": COMPOSITE,
        }
        mistakes = Draws(request.seed, "mistake")
        if mistakes.uniform() < self._options.mistakes:
            painted, details["mistake"] = styles.plant_mistake(painted, image, mask, mistakes)
        return GeneratedImage(painted, mask, details, framing.kept_pixels(~mask, source))

    def _object(self, request: ImageRequest) -> tuple[ImageArray, MaskArray, dict[str, Any]]:
        """The object in an image of the size that is to be made."""
        options, source = self._options, request.source
        if source is not None:
            size = framing.choose_output_size(options, source)
            image, mask, scale = cutout.place_source(options, source, size, request.seed)
            details = {"object": "source", "placement": options.placement, "scale": scale}
            return image, mask, details

        height, width = options.height_px, options.width_px
        size = height or width or SIDE_PX, width or height or SIDE_PX
        side = max(1, round(min(size) * THING_SHARE * 2))
        centre = (size[0] - side) // 2, (size[1] - side) // 2
        sign = styles.paint_sign(styles.style_of(request.class_name), side)
        return *cutout.put_on_blank(*sign, size, centre), {"object": "sign"}

    def _pictures(self, concept: str) -> "tuple[Exemplar, ...]":
        return () if self._exemplars is None else self._exemplars.of(concept)

    def _is_ground(self, concept: str) -> bool:
        if self._exemplars is not None and self._pictures(concept):
            return self._exemplars.is_ground(concept)
        return styles.is_ground(concept)

    def _background(self, concepts: Sequence[str], size: framing.Size, draws: Draws) -> ImageArray:
        """Paint a wall for no concept, a background for one, and several side by side."""
        if not concepts:
            return paint_wall(size, draws)

        painted = []
        for concept in concepts:
            if pictures := self._pictures(concept):
                painted.append(compose_background(pictures, size, draws))
            else:
                painted.append(styles.paint_pattern(styles.style_of(concept), size, draws))

        return painted[0] if len(painted) == 1 else join_backgrounds(painted, size, draws)

    def _cutout(self, concept: str, size: framing.Size, draws: Draws) -> cutout.Cutout:
        """An object of a concept, no larger than the image."""
        if pictures := self._pictures(concept):
            return cutout.cut_out(draws.choice(pictures), size)
        side = max(1, round(min(size) * THING_SHARE))
        return cutout.Cutout(*styles.paint_sign(styles.style_of(concept), side))
