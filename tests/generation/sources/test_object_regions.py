import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from cobalance.base.records import Box, Mention
from cobalance.generation.image_request import GenerationError
from cobalance.generation.sources.mask_settings import MaskSettings, UnusableError
from cobalance.generation.sources.object_regions import choose_instances, object_regions


def test_what_the_object_is():
    regions = pd.DataFrame({"concept": ["person", "Fire_Hydrant", "person", "dog"]})

    def chosen(class_name, *names):
        return object_regions(regions, class_name, names).index.tolist()

    assert chosen("fire hydrant") == [1]
    assert chosen("woman") == [0, 2]
    assert chosen("urban") == []  # never guessed among several
    assert chosen("urban", "dog", "nothing") == [3]
    assert chosen("woman", "dog") == [3]
    assert chosen("urban", "*") == [0, 1, 2, 3]
    assert object_regions(regions.iloc[[0, 2]], "urban").index.tolist() == [0, 2]


SIZE = (600, 400)
TWO = {"instances": "largest_box", "second_above_px": 55_000}


def outlined(x: int, y: int, w: int, h: int, concept: str = "person", **options) -> Mention:
    """An outline that fills the left half of its box, so that boxes and outlines differ."""
    half = [x, y, x + w // 2, y, x + w // 2, y + h, x, y + h]
    return Mention(concept, box=(x, y, w, h), segmentation=json.dumps([half]), **options)


def halves(*boxes: tuple[int, int, int, int]) -> np.ndarray:
    mask = np.zeros(SIZE[::-1], bool)
    for x, y, w, h in boxes:
        mask[y : y + h, x : x + w // 2] = True
    return mask


LARGE = (0, 0, 250, 320)  # 80,000 px


@pytest.mark.parametrize(
    ("second", "taken"),
    [((300, 0, 220, 250), False), ((300, 0, 157, 351), True), ((300, 0, 1, 1), False)],
    ids=["55,000 px", "55,107 px", "1 px"],
)
@pytest.mark.parametrize("class_name", ["woman", "cat"])
@pytest.mark.parametrize("turned", [False, True])
def test_the_second_box_counts_only_above_the_threshold(
    annotated, class_name: str, turned: bool, second: Box, taken: bool
) -> None:
    concept = "person" if class_name == "woman" else class_name
    mentions = [outlined(*LARGE, concept), outlined(*second, concept)]
    mentions += [outlined(280, 0, 320, 400, "sofa"), outlined(5, 330, 20, 20, concept)]
    sources = annotated({"a": (class_name, mentions[::-1] if turned else mentions)}, SIZE, **TWO)
    found, of_class = sources.take("a")
    assert of_class == class_name
    assert np.array_equal(found.mask, halves(LARGE, second) if taken else halves(LARGE))


@pytest.mark.parametrize(("area", "taken"), [(55_000.0, False), (55_001.0, True), (55_000.5, True)])
def test_the_threshold_is_exact(annotated, area: float, taken: bool) -> None:
    box = (300.0, 10.0, area / 275, 275.0)
    mentions = [outlined(*LARGE), Mention("person", box=box)]
    sources = annotated({"a": ("man", mentions)}, SIZE, masks="boxes", **TWO)
    beside = sources.take("a")[0].mask[:, 300:]
    assert beside.any() == taken


def test_a_crowd_is_never_painted_however_large(annotated) -> None:
    crowd = outlined(0, 0, 600, 400, crowd=True)
    second = (300, 0, 200, 300)
    sources = annotated(
        {"a": ("man", [crowd, outlined(*LARGE), outlined(*second)]), "b": ("man", [crowd])},
        SIZE,
        **TWO,
    )
    assert np.array_equal(sources.take("a")[0].mask, halves(LARGE, second))
    with pytest.raises(GenerationError, match="'b' cannot be edited: it has only a crowd as its"):
        sources.take("b")


def test_the_box_decides_and_not_the_outline(annotated) -> None:
    """The largest box has the smaller outline; without a box it is that about the outline."""
    thin = Mention("person", box=(0.0, 0.0, 300.0, 300.0), segmentation="[[0,0,9,0,9,9,0,9]]")
    wide = Mention("person", segmentation="[[300,0,560,0,560,300,300,300]]")  # 260 × 300
    sources = annotated({"a": ("man", [wide, thin])}, SIZE, instances="largest_box")
    expected = np.zeros(SIZE[::-1], bool)
    expected[:9, :9] = True
    assert np.array_equal(sources.take("a")[0].mask, expected)
    both = annotated({"a": ("man", [wide, thin])}, SIZE, **TWO)
    expected[:300, 300:560] = True
    assert np.array_equal(both.take("a")[0].mask, expected)
    largest = annotated({"a": ("man", [wide, thin])}, SIZE, instances="largest")
    expected[:, :300] = False
    assert np.array_equal(largest.take("a")[0].mask, expected)


def test_of_equal_boxes_the_first_is_the_largest(annotated) -> None:
    boxes = [(0, 0, 200, 275), (300, 0, 200, 275)]  # 55,000 px each
    sources = annotated({"a": ("man", [outlined(*box) for box in boxes])}, SIZE, **TWO)
    assert np.array_equal(sources.take("a")[0].mask, halves(boxes[0]))


def test_exactly_one(annotated) -> None:
    crowd = outlined(0, 0, 600, 400, crowd=True)
    small = (500, 380, 4, 4)
    sources = annotated(
        {
            "one": ("man", [outlined(*LARGE), outlined(*small, concept="dog")]),
            "two": ("man", [outlined(*LARGE), outlined(*small)]),
            "crowd": ("man", [outlined(*LARGE), crowd]),
            "none": ("man", [outlined(*LARGE, concept="dog"), outlined(*small, concept="cat")]),
        },
        SIZE,
        instances="single",
    )
    assert np.array_equal(sources.take("one")[0].mask, halves(LARGE))
    for name, why in (
        ("two", "shows several of its object, and exactly one is wanted: 2 of them"),
        ("crowd", "shows a crowd of its object, and exactly one is wanted"),
        ("none", "has no region of 'man'"),
    ):
        with pytest.raises(GenerationError, match=f"'{name}' cannot be edited: it {why}"):
            sources.take(name)
    assert {sources.sample("man", seed).image_id for seed in range(8)} == {"one"}


def test_an_instance_without_outline_is_not_passed_over(annotated) -> None:
    """The largest person is not someone else because the largest has a box alone."""
    mentions = [Mention("person", box=(0.0, 0.0, 300.0, 300.0)), outlined(300, 0, 100, 100)]
    for settings in (TWO, {"instances": "largest_box"}):
        with pytest.raises(GenerationError, match="has a box of its object and no outline"):
            annotated({"a": ("man", mentions)}, SIZE, **settings).take("a")
    with pytest.raises(GenerationError, match="shows several of its object"):
        annotated({"a": ("man", mentions)}, SIZE, instances="single").take("a")


@given(st.lists(st.integers(0, 120_000)), st.integers(0, 120_000))
def test_choices_follow_the_rule(areas: list[int], above: int) -> None:
    settings = MaskSettings(instances="largest_box", second_above_px=above)
    chosen = choose_instances(settings, areas)
    left = list(areas)
    largest = [left.index(max(left))] if left else []
    if largest:
        left[largest[0]] = -1
        second = left.index(max(left))
        largest += [second] if left[second] > above else []
    assert chosen == largest
    assert sorted(choose_instances(MaskSettings(instances="all"), areas)) == list(range(len(areas)))
    if len(areas) > 1:
        with pytest.raises(UnusableError):
            choose_instances(MaskSettings(instances="single"), areas)
