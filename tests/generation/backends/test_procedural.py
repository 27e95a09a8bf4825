"""The backend without a model: what it keeps, what it repeats, and that no name stops it."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cobalance.base.errors import OptionError
from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.compositing.exemplars import (
    Exemplar,
    read_exemplars,
    write_exemplars,
)
from cobalance.generation.backends.procedural import SIDE_PX, ProceduralOptions
from cobalance.generation.image_request import (
    GeneratedImage,
    GenerationError,
    ImageRequest,
    SourceImage,
    seed_of,
)
from tests.generation.backends.suite import HOSTILE, check_kept, same

RED, BLUE = (220, 30, 30), (30, 30, 220)


def source(height: int = 40, width: int = 56, seed: int = 0) -> SourceImage:
    """Noise with an object of an irregular outline, so that any changed pixel is seen."""
    rng = np.random.default_rng(seed)
    mask = np.zeros((height, width), bool)
    mask[10:26, 18:34] = rng.random((16, 16)) < 0.7
    image = rng.integers(0, 256, (height, width, 3)).astype(np.uint8)
    return SourceImage(f"s{seed}", f"s{seed}.png", image, mask)


def request(
    index: int = 0, concepts: Sequence[str] = ("cow", "forest_road"), *, bare: bool = False
) -> ImageRequest:
    given = None if bare else source(seed=index)
    return ImageRequest(
        f"j/000000/{index:06d}", "urban", tuple(concepts), "", seed_of("j", 0, index), given
    )


def make(request: ImageRequest, **settings: object) -> GeneratedImage:
    (made,) = BACKENDS.open("procedural", ProceduralOptions(**settings)).generate([request])
    return made


@pytest.fixture
def exemplars(tmp_path: Path) -> Path:
    """A red background with a hole, and a blue object."""
    hole, spot = np.ones((30, 30), bool), np.zeros((30, 30), bool)
    hole[12:20, 8:20] = False
    spot[3:9, 3:11] = True
    for concept, colour, shown in (("grass", RED, hole), ("cow", BLUE, spot)):
        image = np.full((30, 30, 3), 255, np.uint8)
        image[shown] = colour
        write_exemplars(tmp_path, concept, [Exemplar(image, shown)] * 2)
    return tmp_path


@pytest.mark.parametrize("feather_px", [0, 2, 7.5])
@pytest.mark.parametrize("with_exemplars", [False, True])
def test_pixels_of_the_object_do_not_change(
    exemplars: Path, feather_px: float, with_exemplars: bool
) -> None:
    given = request(concepts=("cow", "grass"))
    model = str(exemplars) if with_exemplars else None
    made = make(given, feather_px=feather_px, exemplars=model)
    assert made.image.shape == given.source.image.shape
    assert made.image.dtype == np.uint8
    assert np.array_equal(made.mask, given.source.mask)
    assert np.array_equal(made.image[made.mask], given.source.image[given.source.mask])
    around = ~made.mask
    assert (made.image[around] != given.source.image[around]).any(axis=1).mean() > 0.9


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("placement", ["keep", "resample"])
def test_an_image_is_the_same_alone_again_and_in_any_batch(
    exemplars: Path, placement: str, bare: bool
) -> None:
    settings = ProceduralOptions(placement=placement, exemplars=str(exemplars), width_px=64)
    requests = [request(index, ("cow", "grass", "moss"), bare=bare) for index in range(5)]
    backend = BACKENDS.open("procedural", settings)
    together = backend.generate(requests)
    reverse = BACKENDS.open("procedural", settings).generate(requests[::-1])[::-1]
    alone = [backend.generate([one])[0] for one in requests]
    for first, second, third in zip(together, reverse, alone, strict=True):
        assert same(first, second)
        assert same(first, third)
    assert not np.array_equal(together[0].image, together[1].image)


def test_the_seed_decides_the_arrangement() -> None:
    one, other = request(0), request(0)
    object.__setattr__(other, "seed", other.seed + 1)
    assert not np.array_equal(make(one).image, make(other).image)


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_is_painted(name: str) -> None:
    made = make(request(concepts=(name,)))
    assert made.image.std() > 5
    json.dumps(made.details)
    alone = ImageRequest("j/0/0", name, (name, "beach"), "", 3)
    assert make(alone).image.shape == (SIDE_PX, SIDE_PX, 3)


def test_several_backgrounds_are_all_there(tmp_path: Path) -> None:
    everywhere = np.ones((20, 20), bool)
    for concept, colour in (("a", RED), ("b", BLUE)):
        image = np.full((20, 20, 3), colour, np.uint8)
        write_exemplars(tmp_path, concept, [Exemplar(image, everywhere)])
    made = make(request(concepts=("a", "b")), exemplars=str(tmp_path), feather_px=0)
    beside = made.image[~made.mask]
    for colour in (RED, BLUE):
        assert (beside == colour).all(axis=1).mean() > 0.2


def test_exemplars_fill_the_background_and_place_the_object(exemplars: Path) -> None:
    made = make(request(concepts=("cow", "grass")), exemplars=str(exemplars), feather_px=0)
    beside = made.image[~made.mask]
    is_red, is_blue = (np.abs(beside.astype(int) - c).max(axis=1) <= 1 for c in (RED, BLUE))
    assert (is_red | is_blue).all()
    # 6 by 8 of 30 by 30 pixels, in an image of 40 by 56
    assert 60 <= is_blue.sum() <= 90


def test_concepts_without_exemplars_have_their_invented_look(exemplars: Path) -> None:
    with_some = make(request(concepts=("beach",)), exemplars=str(exemplars))
    assert same(with_some, make(request(concepts=("beach",))))


def test_without_a_source_the_class_is_a_sign() -> None:
    made = make(request(bare=True), width_px=96, height_px=64)
    assert made.image.shape == (64, 96, 3)
    assert made.mask.shape == (64, 96)
    assert 0 < made.mask.mean() < 0.5
    assert made.details["digital_source_type"].endswith("/algorithmicMedia")


def test_photographs_are_told_from_what_is_all_painted(exemplars: Path) -> None:
    assert make(request()).details["digital_source_type"].endswith("/compositeSynthetic")
    bare = make(request(bare=True, concepts=("cow",)), exemplars=str(exemplars))
    assert bare.details["digital_source_type"].endswith("/compositeSynthetic")


def test_other_sizes_and_places() -> None:
    fitted = make(request(), width_px=112)
    assert fitted.image.shape == (80, 112, 3)
    moved = make(request(), placement="resample")
    assert moved.details["placement"] == "resample"
    assert moved.kept is None
    assert fitted.kept is None
    assert moved.mask.any()


def test_every_machine_paints_the_same() -> None:
    made = make(ImageRequest("j/0/0", "urban", ("beach", "cow", "forest_road"), "", 7))
    digest = hashlib.sha256(made.image.tobytes() + made.mask.tobytes()).hexdigest()
    assert digest == "32dbb181178a60ad6b6bef334e0e0c33ada1174b7cb4400109564904f1a4f091"


@pytest.mark.parametrize("size", [(40, 56), (41, 57)])
def test_an_object_gets_the_look_of_its_class_and_all_else_is_kept(size: tuple[int, int]) -> None:
    given = replace(request(), source=source(*size))
    looks = {}
    for name in ("man", "woman", "dog"):
        asked = replace(given, class_name=name)
        looks[name] = make(asked, paint="object")
        check_kept(asked, looks[name], ~given.source.mask)
        assert np.array_equal(looks[name].mask, given.source.mask)
    painted = given.source.mask
    assert not np.array_equal(looks["man"].image[painted], looks["woman"].image[painted])
    other = make(replace(given, class_name="man", seed=given.seed + 1), paint="object")
    assert not np.array_equal(looks["man"].image, other.image)
    assert looks["man"].details["digital_source_type"].endswith("/compositeSynthetic")


def test_more_guidance_leaves_less_of_an_objects_own_colours() -> None:
    given = request()
    painted = given.source.mask
    looks = [make(replace(given, guidance_scale=scale), paint="object") for scale in (1, 7.5, 15)]
    assert same(looks[1], make(given, paint="object"))
    assert same(looks[2], make(given, paint="object", guidance_scale=15))
    # share of the source's own noise: 1/2, 1/8.5 and 1/16
    slopes = [
        np.polyfit(given.source.image[painted].ravel(), look.image[painted].ravel(), 1)[0]
        for look in looks
    ]
    assert slopes[0] > slopes[1] > slopes[2] > 0


def test_an_object_is_painted_where_there_is_one() -> None:
    assert BACKENDS.open("procedural", ProceduralOptions(paint="object")).needs_source
    with pytest.raises(GenerationError, match="has no source image, and the backend procedural"):
        make(request(bare=True), paint="object")
    with pytest.raises(OptionError, match="an object that is painted stays in its place"):
        BACKENDS.check("procedural", {"paint": "object", "placement": "resample"})
    with pytest.raises(OptionError, match="guidance_scale is of use only with paint=object"):
        BACKENDS.check("procedural", {"guidance_scale": 9.5})


@pytest.mark.parametrize("size", [(40, 56), (41, 57)])
def test_planted_mistakes_are_recorded_and_far_from_the_source(size: tuple[int, int]) -> None:
    given = replace(request(), source=source(*size))
    inside = given.source.mask
    own = given.source.image[inside].astype(int)
    found = []
    for seed in range(40):
        asked = replace(given, seed=seed)
        flawed = make(asked, paint="object", mistakes=0.5)
        check_kept(asked, flawed, ~inside)
        plain = make(asked, paint="object")
        mistake = flawed.details.get("mistake")
        found.append(mistake)
        assert same(flawed, plain) == (mistake is None)
        far = [np.abs(one.image[inside] - own).sum() for one in (flawed, plain)]
        assert mistake is None or far[0] > far[1]
        assert same(flawed, make(asked, paint="object", mistakes=0.5))
    counts = Counter(found)
    assert set(counts) == {None, "object added", "colours shifted"}
    assert 10 <= counts[None] <= 30
    with pytest.raises(OptionError, match="mistakes are planted only with paint=object"):
        BACKENDS.check("procedural", {"mistakes": 0.5})


def test_no_concept_and_many() -> None:
    assert make(request(concepts=())).image.shape == (40, 56, 3)
    many = tuple(sorted(f"thing {number}" for number in range(12)))
    assert make(request(concepts=many)).image.shape == (40, 56, 3)


def test_description_says_what_it_was_made_with(exemplars: Path) -> None:
    plain = BACKENDS.open("procedural").describe()
    assert plain["backend"] == "procedural"
    assert plain["digital_source_type"].endswith("/compositeSynthetic")
    assert plain["weights_sha256"] is None
    described = BACKENDS.open("procedural", ProceduralOptions(exemplars=str(exemplars))).describe()
    assert described["model"] == str(exemplars)
    assert described["weights_sha256"] == read_exemplars(exemplars).sha256
    json.dumps(described)
