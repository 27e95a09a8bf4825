"""Scenes of the counterfactual demonstration: figures and things beside them.

Men mostly have coins and cups beside them, women cats and flowers. Pictures have captions as
several annotators might write them, of which some name no group.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from cobalance.base import join_names, text_if, values_at, with_article

NAME = "figures"
GROUPS = ("man", "woman")
THINGS = ("cat", "coin", "cup", "flower")

PICTURES: Mapping[str, Mapping[tuple[str, ...], int]] = {
    "man": {
        ("coin", "cup"): 14,
        ("coin",): 9,
        ("cup",): 7,
        ("cat",): 3,
        ("cat", "cup"): 2,
        ("flower",): 2,
        (): 3,
    },
    "woman": {
        ("cat", "flower"): 10,
        ("cat",): 6,
        ("flower",): 4,
        ("cup",): 2,
        ("coin", "flower"): 1,
        ("coin",): 1,
        (): 2,
    },
}
"""Pictures of each group by the things in them, of those whose captions name the group."""

SIZES_PX = ((176, 132), (165, 141), (181, 137))
"""Widths and heights of most pictures."""
LARGE_PX = (480, 360)
"""Of a picture with two figures."""
SECOND_FIGURES_PX = ((175, 325), (160, 343), (172, 330))
"""Width and height of the second figure's box in pictures with two; one has less than 55,000 px."""

_GROUNDS = {"brick": "bricks", "gravel": "gravel", "leaves": "leaves", "wood": "wood"}
_POSSESSIVE = {"man": "his", "woman": "her"}
NO_DERIVATIVES = 2
"""Number of a licence that forbids changed copies."""

BoxPx = tuple[int, int, int, int]


@dataclass(frozen=True)
class Scene:
    """A picture: its figures, the things beside them in ascending order, and captions.

    `ground` is a name in `cobalance.workflows.demo.photographs.PHOTOGRAPHS`, `size_px` is width and
    height, `figures` are left, top, width and height of each in pixels, and `license` is an id in
    the COCO file.
    """

    number: int
    group: str
    things: tuple[str, ...]
    ground: str
    size_px: tuple[int, int]
    figures: tuple[BoxPx, ...]
    captions: tuple[str, ...]
    license: int = 1

    @property
    def file_name(self) -> str:
        """Path of its file in the folder of the dataset."""
        return f"images/{self.number:06d}.png"


def make_scenes(seed: int = 0) -> tuple[Scene, ...]:
    """Arrange 66 pictures, and ten that a plan leaves out.

    Of those three have captions that name both groups, two none, two name a child, two are under a
    licence that forbids changed copies, and one has no captions.
    """
    rng = np.random.default_rng([seed, 11])
    pictures = [
        (group, things)
        for group, numbers in PICTURES.items()
        for things, number in numbers.items()
        for _ in range(number)
    ]
    scenes = []
    for i in rng.permutation(len(pictures)):
        group, things = pictures[i]
        scenes.append(_arrange(group, things, rng))

    with_things = [i for i, scene in enumerate(scenes) if scene.things]
    for i, second in zip(with_things, SECOND_FIGURES_PX, strict=False):
        figures = (8, 12, 188, 342), (204, LARGE_PX[1] - second[1] - 6, *second)
        scenes[i] = replace(scenes[i], size_px=LARGE_PX, figures=figures)

    others = [_arrange(group, ("cup",), rng) for group in (GROUPS * 5)]
    both_groups = ("A man and a woman beside a cup.", "A woman gives a man her cup.")
    no_group = ("A figure beside a cup.", "A cup of coffee on a saucer.")
    child = ("A child beside a cup.", "A little boy with his cup.")
    captions = [both_groups] * 3 + [no_group] * 2 + [child] * 2

    for i, texts in enumerate(captions):
        others[i] = replace(others[i], captions=texts)
    for i in (7, 8):
        others[i] = replace(others[i], license=NO_DERIVATIVES)
    others[9] = replace(others[9], captions=())

    # Numbers do not tell which pictures a plan leaves out.
    scenes += others
    order = rng.permutation(len(scenes))
    return tuple(replace(scenes[i], number=number) for number, i in enumerate(order))


def _arrange(group: str, things: tuple[str, ...], rng: np.random.Generator) -> Scene:
    ground = list(_GROUNDS)[rng.integers(len(_GROUNDS))]
    width, height = SIZES_PX[rng.integers(len(SIZES_PX))]

    figure_height = int(rng.integers(round(height * 0.7), round(height * 0.92)))
    figure_width = round(figure_height * rng.uniform(0.42, 0.52))
    left = int(rng.integers(4, width // 2 - figure_width // 2))
    top = height - figure_height - int(rng.integers(2, 8))
    box = (left, top, figure_width, figure_height)

    captions = tuple(_captions(group, things, ground, rng))
    return Scene(0, group, things, ground, (width, height), (box,), captions)


def _captions(
    group: str, things: tuple[str, ...], ground: str, rng: np.random.Generator
) -> Iterator[str]:
    objects = join_names(list(map(with_article, things)))
    behind = _GROUNDS[ground]
    texts = [f"A {group} in front of {behind}.", f"The {group} stands before {behind}."]
    if things:
        texts = [
            f"A {group} beside {objects}.",
            f"A {group} in front of {behind}, with {objects}.",
            f"The {group} looks at {_POSSESSIVE[group]} {things[-1]}.",
        ]

    chosen = values_at(texts, rng.permutation(len(texts))[:2])
    # Annotators do not always say who it is.
    if rng.integers(3) == 0:
        details = text_if(objects, f", with {objects}")
        chosen.insert(0, f"Somebody before {behind}{details}.")
    yield from chosen
