"""Who judges what: equal loads, orders and sides by chance."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import OptionError
from cobalance.base.judges import assign


@given(st.integers(0, 40), st.integers(1, 7), st.data())
def test_everybody_gets_as_many_pairs_and_each_pair_as_many_people(n, people, data):
    overlap = data.draw(st.integers(1, people))
    seed = data.draw(st.integers(0, 9))
    drawn = assign(n, people, overlap, np.random.default_rng(seed))
    assert not drawn.duplicated(["person", "pair"]).any()
    assert drawn["pair"].value_counts().reindex(range(n), fill_value=0).eq(overlap).all()
    loads = drawn["person"].value_counts().reindex(range(people), fill_value=0)
    assert loads.max() - loads.min() <= 1
    assert drawn["person"].is_monotonic_increasing
    pd.testing.assert_frame_equal(drawn, assign(n, people, overlap, np.random.default_rng(seed)))


def test_sides_and_orders_differ_between_people():
    drawn = assign(200, 2, 2, np.random.default_rng(0))
    one, two = (drawn[drawn["person"] == person] for person in (0, 1))
    assert one["pair"].tolist() != two["pair"].tolist()
    assert one["pair"].tolist() != sorted(one["pair"])
    assert 150 < drawn["original_first"].sum() < 250
    sides = [part.set_index("pair")["original_first"].sort_index() for part in (one, two)]
    assert (sides[0] != sides[1]).any()


@pytest.mark.parametrize("overlap", [0, 4])
def test_an_overlap_that_people_cannot_have_is_refused(overlap):
    with pytest.raises(OptionError, match="of 3 people"):
        assign(5, 3, overlap, np.random.default_rng(0))
