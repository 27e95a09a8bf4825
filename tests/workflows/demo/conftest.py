"""The training images of seed 0."""

import pytest

from cobalance.workflows.demo.draw_digits import Digits, make_training_digits


@pytest.fixture(scope="session")
def train() -> Digits:
    return make_training_digits(0)
