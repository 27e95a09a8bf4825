"""Neighbours of edited objects: thresholds by hand, planted errors, and tiny random models."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.neighbors import NearestNeighbors
from transformers import CLIPImageProcessorPil, CLIPModel, ViTImageProcessorPil, ViTModel

from cobalance.base.errors import JobBlockedError, OptionError
from cobalance.generation.filters import FILTERS
from cobalance.generation.filters.embedding import (
    EmbeddingFilter,
    EmbeddingOptions,
    crop_object,
    judge_pool,
)
from cobalance.generation.filters.pool import EmbeddedImage, Pool
from cobalance.generation.filters.same_colours import cell_sums
from cobalance.generation.image_request import GeneratedImage, ImageRequest, SourceImage
from tests.generation.filters.making import Pixels, noise, object_mask, request, source
from tests.tiny.vision import save_clip, save_dino, save_owlv2


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_clip(tmp_path_factory.mktemp("clip"))


@pytest.fixture(scope="module")
def dino(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_dino(tmp_path_factory.mktemp("dino"))


def about(centre: np.ndarray, n: int, seed: int, spread: float = 0.01) -> np.ndarray:
    """Vectors near a centre."""
    rng = np.random.default_rng(seed)
    near: np.ndarray = centre + spread * rng.normal(size=(n, len(centre)))
    return near.astype(np.float32)


def pool_of(
    edited: Sequence[np.ndarray],
    groups: Sequence[str],
    real: Sequence[np.ndarray],
    classes: Sequence[str],
) -> Pool:
    """Every real image is the source of some edited one where there are as many."""
    names = tuple(f"{at:04d}" for at in range(len(real)))
    return Pool(
        tuple(f"j/{at:06d}" for at in range(len(edited))),
        tuple(names[at % len(names)] for at in range(len(edited))),
        tuple(groups),
        np.array(edited, dtype=np.float32),
        names,
        tuple(classes),
        np.array(real, dtype=np.float32),
    )


FIRST = "j/000000"


def with_real_neighbours(n_real: int, n_near: int = 50) -> Pool:
    """The first edited image has so many near ones, of which `n_real` are real; 200 are far."""
    here, there = np.eye(8)[0], np.eye(8)[1]
    near, far = about(here, n_near + 1, seed=0), about(there, 200, seed=1)
    edited = [*near[: 1 + n_near - n_real], *far[:100]]
    real = [*near[1 + n_near - n_real :], *far[100:]]
    return pool_of(edited, ["woman"] * len(edited), real, ["woman"] * len(real))


@pytest.mark.parametrize(
    ("n_real", "passes"), [(4, True), (3, False), (5, True), (0, False), (50, True)]
)
def test_four_of_fifty_neighbours_must_be_real(n_real: int, passes: bool) -> None:
    found = judge_pool(with_real_neighbours(n_real), EmbeddingOptions())[FIRST]
    assert found.details["p_real"] == n_real / 50
    assert found.accepted == passes
    assert ("p_group" in found.details) == passes
    if not passes:
        assert found.reason == (
            f"{n_real} of its 50 nearest neighbours are real images: {n_real / 50:.4g}, less than "
            "0.08."
        )


@pytest.mark.parametrize(("n_real", "passes"), [(0, False), (1, True)])
def test_one_of_five_thousand_is_enough_for_dino(n_real: int, passes: bool) -> None:
    options = EmbeddingOptions(preset="dino")
    found = judge_pool(with_real_neighbours(n_real, n_near=5000), options)[FIRST]
    assert found.details["p_real"] == n_real / 5000
    assert ("p_group" in found.details) == passes


def with_group_neighbours(n_same: int, by: str) -> Pool:
    """The first edited image has 50 near ones, of which so many are women: real, edited or both."""
    here, there = np.eye(8)[0], np.eye(8)[1]
    near, far = about(here, 51, seed=0), about(there, 100, seed=1)
    groups = ["woman"] * n_same + ["man"] * (50 - n_same)
    kinds = {"real": [True] * 50, "edited": [False] * 50, "both": [True, False] * 25}[by]
    edited, asked, real, classes = [near[0]], ["woman"], [], []
    for vector, group, is_real in zip(near[1:], groups, kinds, strict=True):
        (real if is_real else edited).append(vector)
        (classes if is_real else asked).append(group)
    real += list(far)
    return pool_of(edited, asked, real, [*classes, *["woman"] * 100])


@pytest.mark.parametrize("by", ["real", "edited", "both"])
@pytest.mark.parametrize(("n_same", "passes"), [(25, True), (24, False), (50, True), (0, False)])
def test_half_of_fifty_neighbours_must_be_of_the_group(n_same: int, passes: bool, by: str) -> None:
    found = judge_pool(with_group_neighbours(n_same, by), EmbeddingOptions(min_real=0))[FIRST]
    assert found.details["p_group"] == n_same / 50
    assert found.accepted == passes
    if not passes:
        assert found.reason == (
            f"{n_same} of its 50 nearest neighbours show woman: {n_same / 50:.4g}, less than 0.5."
        )


@pytest.mark.parametrize(("n_same", "passes"), [(20, True), (19, False)])
def test_dinos_threshold_of_the_group(n_same: int, passes: bool) -> None:
    options = EmbeddingOptions(preset="dino")
    found = judge_pool(with_group_neighbours(n_same, "real"), options)[FIRST]
    assert (found.details["p_group"], found.accepted) == (n_same / 50, passes)


def by_hand(pool: Pool, options: EmbeddingOptions) -> dict[str, tuple[float, float | None, bool]]:
    """P_R, P_G and the verdict of each candidate, with scikit-learn's neighbours."""

    def shares(kept: list[int], k: int, is_counted: Any) -> list[float]:
        points = np.concatenate([pool.real_vectors, pool.vectors[kept]]).astype(np.float64)
        search = NearestNeighbors(
            n_neighbors=min(k, len(points) - 1), metric="cosine", algorithm="brute"
        ).fit(points)
        rows = search.kneighbors(return_distance=False)[len(pool.real) :]
        return [
            float(np.mean([is_counted(int(at), query) for at in row]))
            for query, row in enumerate(rows)
        ]

    everyone = list(range(len(pool.candidates)))
    p_real = shares(everyone, options.k_real, lambda at, _: at < len(pool.real))
    kept = [at for at in everyone if p_real[at] >= options.min_real - 1e-12]
    labels = [*pool.real_classes, *(pool.groups[at] for at in kept)]
    p_group = dict(
        zip(
            kept,
            shares(kept, options.k_group, lambda at, query: labels[at] == pool.groups[kept[query]]),
            strict=True,
        )
    )
    return {
        pool.candidates[at]: (
            p_real[at],
            p_group.get(at),
            p_group.get(at, -1.0) >= options.min_group - 1e-12,
        )
        for at in everyone
    }


@pytest.mark.parametrize("k", [1, 7, 50, 1000])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_shares_as_by_hand(k: int, seed: int) -> None:
    """Clusters of both groups, real and edited; also more neighbours than there are images."""
    rng = np.random.default_rng(seed)
    names = ("woman", "man", "child")
    centres = rng.normal(size=(3, 6))
    images = []
    for at in range(40):
        of = int(rng.integers(3))
        vector = (centres[of] + 0.6 * rng.normal(size=6)).astype(np.float32)
        for group in range(3):
            shift = centres[group] - centres[of] + 0.8 * rng.normal(size=6)
            images.append(
                EmbeddedImage(
                    f"j/{3 * at + group:06d}",
                    names[group],
                    (vector + shift).astype(np.float32),
                    f"{at}",
                    names[of],
                    vector,
                )
            )
    options = EmbeddingOptions(k_real=k, min_real=0.2, k_group=k, min_group=0.4)
    expected = by_hand(Pool.of(images), options)
    found = judge_pool(Pool.of(images[at] for at in rng.permutation(len(images))), options)
    assert list(found) == list(expected)
    for name, (p_real, p_group, accepted) in expected.items():
        assert found[name].details["p_real"] == pytest.approx(p_real)
        assert found[name].details.get("p_group") == (p_group and pytest.approx(p_group))
        assert found[name].accepted == accepted
    assert {one.accepted for one in found.values()} == ({True, False} if k < 1000 else {False})


def test_an_image_is_not_its_own_neighbour_but_its_copy_is() -> None:
    a, b, c = np.eye(3, dtype=np.float32)
    real = np.array([0.7, 0.7, 0], dtype=np.float32)
    options = EmbeddingOptions(k_real=1, min_real=0, k_group=1)
    alone = judge_pool(pool_of([a, c], ["woman", "man"], [real], ["man"]), options)
    assert alone[FIRST].details == {"p_real": 1.0, "p_group": 0.0}
    copied = judge_pool(pool_of([a, a, c], ["woman"] * 3, [real, b], ["man"] * 2), options)
    assert copied[FIRST].details == {"p_real": 0.0, "p_group": 1.0}


def test_at_one_distance_real_images_are_nearer() -> None:
    a, b, c = np.eye(3, dtype=np.float32)
    options = EmbeddingOptions(k_real=1, min_real=0, k_group=2)
    found = judge_pool(pool_of([a, b, b], ["woman"] * 3, [b, c], ["man"] * 2), options)
    assert [found[FIRST].details[name] for name in ("p_real", "p_group")] == [1.0, 0.0]


def test_small_pools() -> None:
    a, b = np.eye(2, dtype=np.float32)
    found = judge_pool(pool_of([a], ["man"], [b], ["man"]), EmbeddingOptions())[FIRST]
    assert (found.score, found.accepted) == (0.0, True)
    assert found.details == {"p_real": 1.0, "p_group": 1.0}
    assert judge_pool(Pool.of([]), EmbeddingOptions()) == {}


def test_rejected_for_not_looking_real_is_nobodys_neighbour() -> None:
    """Ten edited women far from all real images lift nobody's share of women."""
    here, there = np.eye(4)[0], np.eye(4)[1]
    far = about(there, 11, seed=0)
    edited = [*far[:10], *about(here, 3, seed=1)]
    real = about(here, 12, seed=2)
    pool = pool_of(edited, ["woman"] * 13, real, ["man"] * 6 + ["woman"] * 6)
    found = judge_pool(pool, EmbeddingOptions(k_real=5, k_group=50, min_group=0.4))
    assert [one.accepted for one in found.values()] == [False] * 10 + [True] * 3
    assert found["j/000012"].details["p_group"] == (6 + 2) / 14


PERSON = object_mask()
"""Where the person is in every scene."""


def scene(tint: tuple[int, int, int], seed: int) -> Pixels:
    """A person of one group's colours on a background of its own."""
    image = noise(seed)
    rng = np.random.default_rng(seed)
    person = np.array(tint) + rng.integers(-12, 12, (*PERSON.shape, 3))
    image[PERSON] = person[PERSON].clip(0, 255)
    return image


RED, BLUE, NOISE = (190, 60, 60), (60, 60, 190), (20, 230, 20)


def test_planted_errors_are_rejected(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Edits that succeed, change nothing, or make something that no real image shows.

    A random model knows no groups, so that crops are embedded by their colours; what is tried is
    the way from pixels to verdicts.
    """

    def embed(_: EmbeddingFilter, crops: Sequence[Pixels]) -> np.ndarray:
        sums = [cell_sums(crop, 2) for crop in crops]
        rows = np.array([(of / n).ravel() for of, n in sums]).reshape(-1, 12)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    monkeypatch.setattr(EmbeddingFilter, "embed", embed)
    colours = {"red": RED, "blue": BLUE}
    planted: dict[str, list[str]] = {"done": [], "unchanged": [], "artefact": []}
    requests, made = [], []
    for at in range(48):
        name, other = [("red", "blue"), ("blue", "red")][at % 2]
        of = SourceImage(f"{at:02d}", f"{at}.jpg", scene(colours[name], at), PERSON)
        kind = ["done", "done", "unchanged", "artefact"][at // 2 % 4]
        tint = {"done": colours[other], "unchanged": colours[name], "artefact": NOISE}[kind]
        asked = dataclasses.replace(
            request(at, source=of), class_name=other, source_class=name, concepts=()
        )
        requests.append(asked)
        made.append(GeneratedImage(scene(tint, 1000 + at)))
        planted[kind].append(asked.id)
    embedding = FILTERS.open("embedding", {"model": str(clip)})
    first = embedding.judge(requests, made)
    assert all(one.accepted for one in first)
    options = EmbeddingOptions(k_real=11, k_group=15)  # as many as the other artefacts
    pool = Pool.of(embedded(requests, first))
    found = judge_pool(pool, options)
    assert {name for name, one in found.items() if one.accepted} == set(planted["done"])
    assert all("p_group" in found[name].details for name in planted["unchanged"])
    assert all(found[name].details == {"p_real": 0.0} for name in planted["artefact"])
    by_score = {kind: [found[name].score for name in names] for kind, names in planted.items()}
    assert min(by_score["unchanged"]) > max(by_score["done"] + by_score["artefact"])


def embedded(requests: Sequence[ImageRequest], found: Sequence[Any]) -> list[EmbeddedImage]:
    images = []
    for asked, one in zip(requests, found, strict=True):
        assert asked.source is not None
        vectors = one.vectors["image"], one.vectors["source"]
        images.append(
            EmbeddedImage(
                asked.id,
                asked.class_name,
                vectors[0],
                asked.source.image_id,
                asked.source_class or "",
                vectors[1],
            )
        )
    return images


def test_a_crop_of_another_image_is_beside_it(clip: Path) -> None:
    """Also a random model gives equal pixels equal vectors: the paste lies on its origin."""
    sources = [SourceImage(f"{at}", "", noise(at), PERSON) for at in range(4)]
    requests, made = [], []
    for at in range(4):
        image = sources[at].image.copy()
        image[PERSON] = sources[(at + 1) % 4].image[PERSON]  # the mask fills its box
        requests.append(dataclasses.replace(request(at, source=sources[at]), source_class="man"))
        made.append(GeneratedImage(image))
    found = FILTERS.open("embedding", {"model": str(clip)}).judge(requests, made)
    pool = Pool.of(embedded(requests, found))
    nearest = (pool.vectors @ pool.real_vectors.T).argmax(axis=1)
    assert nearest.tolist() == [1, 2, 3, 0]
    assert max(one.score for one in found) < 0.9999


def vectors_by_hand(folder: Path, images: Sequence[Pixels]) -> np.ndarray:
    pictures = [Image.fromarray(image) for image in images]
    with torch.inference_mode():
        if "dino" in folder.name:
            processor = ViTImageProcessorPil.from_pretrained(folder)
            model = ViTModel.from_pretrained(folder, add_pooling_layer=False).eval()
            pixels = processor(images=pictures, return_tensors="pt")["pixel_values"]
            rows = model(pixels).last_hidden_state[:, 0].numpy()
        else:
            processor = CLIPImageProcessorPil.from_pretrained(folder)
            model = CLIPModel.from_pretrained(folder).eval()
            pixels = processor(images=pictures, return_tensors="pt")["pixel_values"]
            vision = model.vision_model(pixels).pooler_output
            rows = model.visual_projection(vision).numpy()
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("name", ["clip", "dino"])
def test_vectors_are_the_models(name: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(name)
    of = source()
    made = [GeneratedImage(noise(seed)) for seed in range(3)]
    asked = [making_request(at, of) for at in range(3)]
    found = FILTERS.open("embedding", {"model": str(folder), "batch_size": 2}).judge(asked, made)
    crops = [image[8:24, 8:24] for image in (of.image, *(one.image for one in made))]
    expected = vectors_by_hand(folder, crops)
    for one, vector in zip(found, expected[1:], strict=True):
        assert one.vectors["image"].dtype == np.float32
        assert one.vectors["image"] == pytest.approx(vector, abs=2e-6)
        assert one.vectors["source"] == pytest.approx(expected[0], abs=2e-6)
        assert one.score == pytest.approx(vector @ expected[0], abs=2e-6)
        assert (one.accepted, one.details) == (True, {})


def making_request(at: int, of: SourceImage) -> ImageRequest:
    return request(at, source=of)


def test_the_source_itself_has_a_cosine_of_1(clip: Path) -> None:
    of = source()
    embedding = FILTERS.open("embedding", {"model": str(clip)})
    found = embedding.judge([request(source=of)], [GeneratedImage(of.image.copy())])
    assert found[0].score == pytest.approx(1, abs=1e-6)


def test_a_source_is_needed(clip: Path) -> None:
    embedding = FILTERS.open("embedding", {"model": str(clip)})
    found = embedding.judge(
        [request(0), request(1, source=source())], [GeneratedImage(noise())] * 2
    )
    assert [one.accepted for one in found] == [False, True]
    assert found[0].reason.startswith("There is no source that the filter embedding could compare")
    assert found[0].vectors == {}
    assert embedding.judge([], []) == []
    assert not embedding.judge([request()], [GeneratedImage(noise())])[0].accepted


def test_an_embedding_that_is_not_finite_is_rejected(
    clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedding = FILTERS.open("embedding", {"model": str(clip)})
    bad = np.array([[1, 0], [np.nan, 0]], dtype=np.float32)
    monkeypatch.setattr(EmbeddingFilter, "embed", lambda *_: bad)
    found = embedding.judge([request(source=source())], [GeneratedImage(noise())])[0]
    assert (found.score, found.accepted, dict(found.vectors)) == (0.0, False, {})
    assert "no finite embedding" in found.reason


@pytest.mark.parametrize("size", [(48, 64), (96, 128), (24, 32), (47, 65), (7, 9), (1, 1)])
def test_the_crop_covers_the_object_in_every_size(size: tuple[int, int]) -> None:
    """Compared with the box of the mask that is scaled by its pixels' areas."""
    mask = np.zeros((48, 64), dtype=np.bool_)
    mask[5, 60] = mask[17, 3] = mask[11, 33] = True
    height, width = size
    rows, columns = np.divmod(np.arange(height * width), width)
    image = np.stack([rows, columns, rows], axis=1).reshape(height, width, 3).astype(np.uint8)
    crop = crop_object(image, mask)
    inside_rows = [r for r in range(height) if r * 48 < 18 * height and (r + 1) * 48 > 5 * height]
    inside_columns = [c for c in range(width) if c * 64 < 61 * width and (c + 1) * 64 > 3 * width]
    assert crop[:, 0, 0].tolist() == inside_rows
    assert crop[0, :, 1].tolist() == inside_columns


def test_presets() -> None:
    clip, dino = EmbeddingOptions(), EmbeddingOptions(preset="dino")
    assert (clip.model, clip.k_real, clip.min_real) == ("openai/clip-vit-base-patch32", 50, 0.08)
    assert (clip.k_group, clip.min_group) == (50, 0.5)
    assert (dino.model, dino.k_real, dino.min_real) == ("facebook/dino-vitb16", 5000, 0.0002)
    assert (dino.k_group, dino.min_group) == (50, 0.4)
    own = EmbeddingOptions(preset="dino", model="/models/dino", k_group=10)
    assert (own.model, own.k_real, own.k_group) == ("/models/dino", 5000, 10)


def test_options(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="The filter embedding: preset is 'resnet'"):
        FILTERS.check("embedding", {"preset": "resnet"})
    with pytest.raises(OptionError, match="The filter embedding: k_real is 0"):
        FILTERS.check("embedding", {"k_real": 0})
    with pytest.raises(OptionError, match="no option 'k'"):
        FILTERS.check("embedding", {"k": 1})
    with pytest.raises(JobBlockedError, match="is a owlv2, not a CLIP or a ViT"):
        FILTERS.open("embedding", {"model": str(save_owlv2(tmp_path / "owlv2"))})
    for name in ("openai/clip-vit-base-patch32", "facebook/dino-vitb16"):
        with pytest.raises(JobBlockedError, match="not on this machine"):
            FILTERS.open("embedding", {"model": name, "offline": True})


def test_description(clip: Path) -> None:
    described = FILTERS.open("embedding", {"model": str(clip), "k_real": 20}).describe()
    assert described["filter"] == "embedding"
    assert described["settings"] == {
        "k_real": 20,
        "min_real": 0.08,
        "k_group": 50,
        "min_group": 0.5,
    }
    assert len(described["weights_sha256"]) == 64
    judge = FILTERS["embedding"].judge_pool
    assert judge is not None
    assert judge(with_real_neighbours(3), EmbeddingOptions())[FIRST].accepted is False
