"""The LSTM attacker: chance where captions tell nothing, certainty where they tell all."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import binom

from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.bias.lstm_attacker import fit_lstm
from cobalance.evaluation.metrics.metric import Inputs

THINGS = ("dog", "bench", "beach", "umbrella", "horse", "bus")


def told(groups: np.ndarray, seed: int, first: str = "a", last: str = "a") -> list[list[str]]:
    """Captions that have both words, in an order that tells the group where the words differ."""
    things = np.random.default_rng(seed).choice(THINGS, len(groups))
    pairs = [(first, last) if group else (last, first) for group in groups]
    return [
        [one, str(thing), "near", other] for (one, other), thing in zip(pairs, things, strict=True)
    ]


def drawn(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(np.arange(n) % 2)


@pytest.mark.parametrize("seed", range(3))
def test_chance_where_captions_tell_nothing(seed: int) -> None:
    groups, others = drawn(240, seed), drawn(400, seed + 10)
    found = fit_lstm(told(groups, seed), groups, seed)(told(others, seed + 20))
    low, high = binom.ppf([0.001, 0.999], len(others), 0.5) / len(others)
    assert low <= (found.argmax(axis=1) == others).mean() <= high
    assert found.max(axis=1).mean() < 0.6
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_certain_where_the_order_of_distant_words_tells() -> None:
    groups, others = drawn(240, 0), drawn(100, 1)
    found = fit_lstm(told(groups, 2, "red", "blue"), groups, 0)(told(others, 3, "red", "blue"))
    assert (found.argmax(axis=1) == others).all()
    assert found.max(axis=1).mean() > 0.97


def test_the_seed_alone_decides() -> None:
    groups = drawn(40, 0)
    captions = [*told(groups, 0)[:-1], []]  # one without words

    def guess(seed: int) -> np.ndarray:
        return fit_lstm(captions, groups, seed)([["dog", "unseen"], []])

    state = torch.get_rng_state()
    torch.manual_seed(7)
    before, first = torch.get_rng_state(), guess(1)
    assert torch.equal(torch.get_rng_state(), before)
    torch.set_rng_state(state)
    np.testing.assert_array_equal(first, guess(1))
    assert not np.array_equal(first, guess(2))


def test_metric_offers_it() -> None:
    groups = pd.DataFrame({"image": map(str, range(60)), "person": ["man", "woman"] * 30})
    captions = pd.DataFrame(
        {
            "image": groups["image"],
            "caption": [f"a {'red' if one == 'man' else 'blue'} bus" for one in groups["person"]],
        }
    )
    inputs = Inputs(groups=groups, captions=captions, references=captions.assign(caption="a bus"))
    options = {"attacker": "lstm", "repeats": 1}
    scores = METRICS.open("lic", options)(inputs).set_index("metric")["value"]
    assert scores["attacker_accuracy_model"] == 1
    assert scores["attacker_accuracy_data"] == 0.5
    assert scores["lic"] == pytest.approx(scores["lic_model"] - scores["lic_data"], abs=1e-9)
