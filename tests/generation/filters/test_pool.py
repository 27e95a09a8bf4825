"""Pools of embedded images, and vectors that cannot be compared."""

import numpy as np
import pytest

from cobalance.base.errors import DataError
from cobalance.generation.filters.pool import EmbeddedImage, Pool


def vector(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


IMAGES = (
    EmbeddedImage("j/000002", "woman", vector(1, 2), "9", "man", vector(0, 1)),
    EmbeddedImage("j/000000", "man", vector(3, 4), "10", "woman", vector(1, 0)),
    EmbeddedImage("j/000001", "woman", vector(5, 6), "9", "man", vector(0, 1)),
)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_a_pool_is_the_same_in_every_order(order: tuple[int, ...]) -> None:
    pool = Pool.of(IMAGES[at] for at in order)
    assert pool.candidates == ("j/000000", "j/000001", "j/000002")
    assert pool.sources == ("10", "9", "9")
    assert pool.groups == ("man", "woman", "woman")
    assert pool.vectors.tolist() == [[3, 4], [5, 6], [1, 2]]
    assert pool.vectors.dtype == np.float32
    assert (pool.real, pool.real_classes) == (("10", "9"), ("woman", "man"))
    assert pool.real_vectors.tolist() == [[1, 0], [0, 1]]


def test_nothing_is_a_pool() -> None:
    assert Pool.of([]).candidates == ()


def test_vectors_of_two_models_are_no_pool() -> None:
    with pytest.raises(DataError, match="differ in length"):
        Pool.of([IMAGES[0], IMAGES[1]._replace(vector=vector(1, 2, 3))])
