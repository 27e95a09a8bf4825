"""Drawn figures in front of photographs: a small dataset whose things lean to one group.

The figures are drawn by rule, so that nobody is depicted. Those called men differ from those called
women in their pattern alone, the one that the backend ``procedural`` paints. Backgrounds and things
are cut from photographs, see `cobalance.workflows.demo.photographs`.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cobalance.base import Image
from cobalance.generation import Draws, paint_look, style_of
from cobalance.vision import mask
from cobalance.workflows.demo.figure_scenes import GROUPS, NO_DERIVATIVES, THINGS, BoxPx, Scene
from cobalance.workflows.demo.photographs import areas, cut_object

INSTANCES, CAPTIONS = "instances.json", "captions.json"

_LICENSES: tuple[dict[str, Any], ...] = (
    {
        "id": 1,
        "name": "CC0 1.0 Universal",
        "url": "https://creativecommons.org/publicdomain/zero/1.0/",
    },
    {
        "id": NO_DERIVATIVES,
        "name": "Attribution-NoDerivs License",
        "url": "https://creativecommons.org/licenses/by-nd/2.0/",
    },
)
# Of the polygon about a thing.
_CORNERS = 24
# A figure's share of colours of its own; the rest is the look of its group.
_OWN_COLOURS = 0.12

_BODY = (
    (0.42, 0.20),
    (0.58, 0.20),
    (0.62, 0.25),
    (0.82, 0.28),
    (1.00, 0.55),
    (0.91, 0.59),
    (0.78, 0.40),
    (0.74, 0.60),
    (0.80, 1.00),
    (0.60, 1.00),
    (0.50, 0.68),
    (0.40, 1.00),
    (0.20, 1.00),
    (0.26, 0.60),
    (0.22, 0.40),
    (0.09, 0.59),
    (0.00, 0.55),
    (0.18, 0.28),
    (0.38, 0.25),
)
"""Outline of a figure's body in its box, from 0 to 1 across and down."""

Pixels = npt.NDArray[np.uint8]


def write_figures(
    folder: Path, scenes: Sequence[Scene], *, prefix: str = "", seed: int = 0
) -> None:
    """Write the pictures as PNG files, with COCO instances and COCO captions.

    Parameters
    ----------
    folder : Path
        Where to write.
    prefix : str
        Of the files' names in the annotations, such as ``"demo/figures/"``.
    seed : int
        Seed of all random choices.
    """
    (folder / "images").mkdir(parents=True, exist_ok=True)
    names = (*GROUPS, *THINGS)
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    captions: list[dict[str, Any]] = []

    for scene in scenes:
        pixels, outlines = draw_scene(scene, seed)
        Image.fromarray(pixels).save(folder / scene.file_name)
        images.append(_image_json(scene, prefix))
        for name, polygons in outlines:
            annotation = {
                "id": len(annotations),
                "image_id": scene.number,
                "category_id": names.index(name),
                "bbox": _box_of(polygons),
                "segmentation": polygons,
                "iscrowd": 0,
            }
            annotations.append(annotation)
        for text in scene.captions:
            caption = {"id": len(captions), "image_id": scene.number, "caption": text}
            captions.append(caption)

    _write(
        folder / INSTANCES,
        images=images,
        annotations=annotations,
        categories=[{"id": number, "name": name} for number, name in enumerate(names)],
        licenses=_LICENSES,
    )
    _write(folder / CAPTIONS, images=images, annotations=captions, licenses=_LICENSES)


def _image_json(scene: Scene, prefix: str) -> dict[str, Any]:
    width, height = scene.size_px
    return {
        "id": scene.number,
        "file_name": prefix + scene.file_name,
        "width": width,
        "height": height,
        "license": scene.license,
        "attribution": "drawn by cobalance, with pieces of photographs of scikit-image and "
        "scikit-learn (flower by vultilion)",
    }


def draw_scene(scene: Scene, seed: int = 0) -> tuple[Pixels, list[tuple[str, list[list[float]]]]]:
    """Draw a picture; also name and polygons of each figure and thing, as COCO has them.

    Returns
    -------
    pixels : uint8 array, shape (height, width, 3)
    outlines : list of (str, list of polygons)
        Figures first, in the order of the scene.
    """
    rng = np.random.default_rng([seed, 13, scene.number])
    width, height = scene.size_px
    image = _ground(scene.ground, scene.size_px, rng)
    outlines = []
    for name, box in zip(scene.things, _places(scene, rng), strict=False):
        polygon = _ellipse(box)
        piece = cut_object(name, rng).resize(box[2:], Image.Resampling.BOX).convert("RGB")
        _paste(image, np.asarray(piece), _draw_mask([polygon], width, height), box)
        outlines.append((name, [polygon]))

    # Figures stand in front of the things beside them.
    figures = []
    for number, box in enumerate(scene.figures):
        polygons = _figure(box)
        pixels = _draw_mask(polygons, width, height)
        image[pixels] = _draw_clothes(polygons, width, height, rng)[pixels]
        draws = Draws("figures", seed, scene.number, number)
        image = paint_look(image, pixels, style_of(scene.group), 1 - _OWN_COLOURS, draws)
        figures.append((scene.group, polygons))
    return image, [*figures, *outlines]


def _ground(name: str, size_px: tuple[int, int], rng: np.random.Generator) -> Pixels:
    """A random piece of a photograph, as large as its shape allows, in the size asked for."""
    (area,) = areas(name, "train")
    width, height = size_px
    scale = min(area.shape[1] / width, area.shape[0] / height) * rng.uniform(0.8, 1)
    piece_width, piece_height = int(width * scale), int(height * scale)
    left = int(rng.integers(area.shape[1] - piece_width, endpoint=True))
    top = int(rng.integers(area.shape[0] - piece_height, endpoint=True))
    piece = Image.fromarray(area[top : top + piece_height, left : left + piece_width])
    return np.array(piece.convert("RGB").resize(size_px, Image.Resampling.BICUBIC))


def _places(scene: Scene, rng: np.random.Generator) -> Iterator[BoxPx]:
    """Boxes of things to the right of the last figure, above each other, or in a corner."""
    width, height = scene.size_px
    left = max(x + figure_width for x, _, figure_width, _ in scene.figures)
    most = min(width - left - 4, height // 2 - 6)
    for top in (4, height // 2 + 2):
        side = int(most * rng.uniform(0.75, 1))
        x = left + 2 + int(rng.integers(width - left - 2 - side))
        yield x, top + int(rng.integers(height // 2 - 6 - side, endpoint=True)), side, side


def _figure(box: BoxPx) -> list[list[float]]:
    """Polygons of a figure's head and body; together they are as large as the box."""
    left, top, width, height = box
    head = (left + 0.34 * width, top, 0.32 * width, 0.19 * height)
    return [_ellipse(head), _flat((left + x * width, top + y * height) for x, y in _BODY)]


def _ellipse(box: tuple[float, float, float, float]) -> list[float]:
    left, top, width, height = box
    turns = np.arange(_CORNERS) * (2 * np.pi / _CORNERS)
    corners = zip((1 + np.cos(turns)) / 2, (1 + np.sin(turns)) / 2, strict=True)
    return _flat((left + x * width, top + y * height) for x, y in corners)


def _flat(corners: Any) -> list[float]:
    return [round(float(side), 2) for side in chain.from_iterable(corners)]


def _draw_mask(polygons: list[list[float]], width: int, height: int) -> npt.NDArray[np.bool_]:
    return mask(json.dumps(polygons), width, height)


def _box_of(polygons: list[list[float]]) -> list[float]:
    corners = np.reshape([*chain.from_iterable(polygons)], (-1, 2))
    return _flat([corners.min(axis=0), np.ptp(corners, axis=0)])


def _draw_clothes(
    polygons: list[list[float]], width: int, height: int, rng: np.random.Generator
) -> Pixels:
    """Plain colours of a figure before its look: a head, and clothes that get darker downwards."""
    light = np.linspace(1.1, 0.7, height)[:, np.newaxis, np.newaxis]
    clothes = np.ones((height, width, 1)) * light * rng.integers(90, 200, 3)
    skin = rng.integers(120, 220) * np.array([1, 0.8, 0.7])
    clothes[_draw_mask(polygons[:1], width, height)] = skin
    return np.clip(np.rint(clothes), 0, 255).astype(np.uint8)


def _paste(image: Pixels, piece: Pixels, shown: npt.NDArray[np.bool_], box: BoxPx) -> None:
    left, top, width, height = box
    window = slice(top, top + height), slice(left, left + width)
    inside = shown[window]
    image[window][inside] = piece[inside]


def _write(path: Path, **content: Any) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")
