import pytest

from cobalance.generation.backends.compositing.draws import Draws
from cobalance.generation.backends.compositing.styles import (
    PATTERNS,
    SHAPES,
    paint_pattern,
    paint_sign,
    style_of,
)


def test_concepts_look_like_their_names_and_unlike_each_other() -> None:
    names = [f"concept {number}" for number in range(40)]
    looks = {style_of(name) for name in names}
    assert len(looks) == len(names)
    assert style_of("cow") == style_of("cow")
    assert {style.pattern for style in looks} == set(PATTERNS)
    assert {style.shape for style in looks} == set(SHAPES)


@pytest.mark.parametrize("side_px", [1, 2, 5, 40])
def test_signs_and_patterns_of_any_size(side_px: int) -> None:
    draws = Draws(0)
    for number in range(60):
        image, mask = paint_sign(style_of(str(number)), side_px)
        assert image.shape == (side_px, side_px, 3)
        assert mask.any()
        assert paint_pattern(style_of(str(number)), (side_px, 3), draws).shape == (side_px, 3, 3)
