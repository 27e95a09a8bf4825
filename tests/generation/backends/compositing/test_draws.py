import hashlib
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from cobalance.generation.backends.compositing.draws import Draws

BITS = (1 << 64) - 1


def philox(low: int, high: int) -> Iterator[int]:
    """Words of Philox-4x64-10 for a key, from the paper: counters from 1, four words each."""
    block = 0
    while True:
        block += 1
        words, keys = (block, 0, 0, 0), (low, high)
        for _ in range(10):
            first, second = 0xD2E7470EE14C6C93 * words[0], 0xCA5A826395121157 * words[2]
            words = (
                second >> 64 ^ words[1] ^ keys[0],
                second & BITS,
                first >> 64 ^ words[3] ^ keys[1],
                first & BITS,
            )
            keys = keys[0] + 0x9E3779B97F4A7C15 & BITS, keys[1] + 0xBB67AE8584CAA73B & BITS
        yield from words


def test_draws_are_those_of_the_published_algorithm() -> None:
    key = hashlib.sha256(b"7/example").digest()[:16]
    words = philox(int.from_bytes(key[8:], "big"), int.from_bytes(key[:8], "big"))
    draws = Draws(7, "example")
    for count in (1, 2, 6, 1000, 2**63, 3 * 2**62):
        assert draws.below(count) == next(words) * count >> 64
    assert draws.uniform() == (next(words) >> 11) / 2**53
    expected = [[(next(words) >> 11) / 2**53 for _ in range(5)] for _ in range(3)]
    assert draws.uniforms(3, 5).tolist() == expected


def test_known_answers() -> None:
    draws = Draws(2**63 - 1)
    assert [draws.below(100) for _ in range(10)] == [60, 21, 68, 81, 60, 7, 83, 75, 90, 7]
    assert draws.uniforms(2, 2).tolist() == [
        [0.6934049389082564, 0.4829744159524155],
        [0.9354861515322455, 0.6910285726200618],
    ]
    assert "".join(draws.choice("abcdef") for _ in range(6)) == "ffbacd"


def test_an_identity_decides_its_draws() -> None:
    drawn = {tuple(Draws(*given).uniforms(4)) for given in [(1,), (2,), (1, "a"), (1, "b")]}
    assert len(drawn) == 4
    assert np.array_equal(Draws(1, "a").uniforms(4), Draws("1/a").uniforms(4))


@pytest.mark.parametrize("count", [1, 2, 7, 24])
def test_numbers_are_spread_evenly(count: int) -> None:
    draws = Draws("even", count)
    times = Counter(draws.below(count) for _ in range(1000 * count))
    assert sorted(times) == list(range(count))
    assert all(abs(n - 1000) < 150 for n in times.values())
    many = draws.uniforms(100, 100)
    assert many.min() >= 0
    assert many.max() < 1
    assert many.mean() == pytest.approx(0.5, abs=0.02)
