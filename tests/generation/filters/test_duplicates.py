"""Images that repeat another, by perceptual hash."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import OptionError
from cobalance.generation.filters import FILTERS
from cobalance.generation.filters.duplicates import find_duplicates
from cobalance.generation.image_request import GeneratedImage
from tests.generation.filters.making import noise, pasted, request, source


def bits_between(one: str, other: str) -> int:
    return (int(one, 16) ^ int(other, 16)).bit_count()


def nudged(seed: int) -> GeneratedImage:
    return GeneratedImage((noise(seed) // 2 * 2).astype(np.uint8))


def test_an_image_that_repeats_one_of_its_query_is_rejected() -> None:
    duplicates = FILTERS.open("duplicates")
    made = [GeneratedImage(noise(1)), GeneratedImage(noise(2)), nudged(1), GeneratedImage(noise(3))]
    found = duplicates.judge([request(i) for i in range(4)], made)
    assert [one.accepted for one in found] == [True, True, False, True]
    hashes = [one.details["phash"] for one in found]
    assert [len(text) for text in hashes] == [16] * 4
    kept = {0: [], 1: [0], 2: [0, 1], 3: [0, 1]}
    for index, earlier in kept.items():
        distances = [bits_between(hashes[index], hashes[other]) for other in earlier]
        assert found[index].score == min(distances, default=64)
    assert found[2].reason.startswith("The image repeats one of its query: ")


def test_queries_are_apart() -> None:
    made = [GeneratedImage(noise(1)), GeneratedImage(noise(1))]
    found = FILTERS.open("duplicates").judge([request(0, 0), request(0, 1)], made)
    assert [(one.accepted, one.score) for one in found] == [(True, 64.0)] * 2


def test_a_rejected_image_is_not_compared_with() -> None:
    own = source()
    same = GeneratedImage(own.image.copy())
    requests = [request(0, source=own), request(1)]
    found = FILTERS.open("duplicates").judge(requests, [same, same])
    assert [one.accepted for one in found] == [False, True]
    assert found[0].reason == "The image looks like its source: 0 bits of its hash differ."
    assert found[0].score == 0
    assert found[1].score == 64


def test_a_new_background_is_no_repetition_of_the_source() -> None:
    own = source()
    found = FILTERS.open("duplicates").judge([request(source=own)], [pasted(7, own)])
    assert found[0].accepted
    assert 2 < found[0].score < 64


def test_the_hash_is_that_of_the_definition() -> None:
    """Luminance at 32 by 32, a cosine transform by its sum, and the bits above the median."""
    rng = np.random.default_rng(3)
    grey = rng.integers(0, 256, (32, 32), dtype=np.uint8)
    points, waves = np.arange(32), np.arange(8)
    cosines = np.cos(np.pi * np.outer(waves, 2 * points + 1) / 64)
    low = 4 * cosines @ grey @ cosines.T
    bits = (low > np.median(low)).ravel()
    expected = f"{int(''.join('01'[bit] for bit in bits.astype(int)), 2):016x}"
    image = np.repeat(grey[..., None], 3, axis=2)
    found = FILTERS.open("duplicates").judge([request()], [GeneratedImage(image)])
    assert found[0].details["phash"] == expected


def test_larger_hashes() -> None:
    found = FILTERS.open("duplicates", {"hash_size": 16}).judge(
        [request()], [GeneratedImage(noise())]
    )
    assert found[0].score == 256
    assert len(found[0].details["phash"]) == 64


@given(
    st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 15), max_size=30),
    st.integers(0, 40),
)
def test_duplicates_are_those_found_one_by_one(values: list[int], distance: int) -> None:
    hashes = [f"{value:016x}" for value in values]
    expected: list[int | None] = []
    for index, value in enumerate(values):
        kept = [other for other in range(index) if expected[other] is None]
        near = [other for other in kept if (value ^ values[other]).bit_count() <= distance]
        expected.append(near[0] if near else None)
    assert find_duplicates(hashes, distance) == expected


def test_long_hashes_are_compared_whole() -> None:
    base = "f" * 64
    assert find_duplicates([base, "e" + base[1:], base[:-1] + "0", "0" * 64], 1) == [
        None,
        0,
        None,
        None,
    ]


@pytest.mark.timeout(60, func_only=True)
def test_ten_thousand_hashes_take_no_time() -> None:
    words = np.random.default_rng(0).integers(0, 2**63, 10_000)
    hashes = [f"{word:016x}" for word in words]
    assert find_duplicates(hashes, 2) == [None] * 10_000


def test_no_hashes_have_no_duplicates() -> None:
    assert find_duplicates([], 2) == []


def test_options() -> None:
    with pytest.raises(
        OptionError, match=r"no option 'threshold'. Its options: distance, hash_size"
    ):
        FILTERS.open("duplicates", {"threshold": 2})
    with pytest.raises(OptionError, match="distance is -1"):
        FILTERS.open("duplicates", {"distance": -1})
