"""Counting done the slow way, and the real UrbanCars training set, for tests of plans."""

from collections.abc import Callable

import pytest

from cobalance.counting.cliques import Cliques
from tests.support.counted import Images, count_cliques, urbancars


@pytest.fixture(scope="session")
def count() -> Callable[..., Cliques]:
    return count_cliques


@pytest.fixture(scope="session")
def urbancars_images_with_street() -> Images:
    return urbancars(street=True)
