"""What the heat map shows is what the records say, for any number of classes."""

import numpy as np
import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.queries.contrasts import read_contrasts


def records(groups):
    return Annotations.from_records(
        [
            ImageRecord(f"{name} {concepts} {i}", name, tuple(map(Mention, concepts)))
            for name, concepts, images in groups
            for i in range(images)
        ]
    )


def test_concepts_that_lean_most_come_first_with_their_counts(store, load):
    groups = [("b", ("x", "<y>"), 8), ("b", (), 2), ("a", ("x",), 7), ("a", ("<y>",), 3)]
    dataset = load(
        records([*groups, ("c", ("x",), 8), ("c", ("z",), 2)]), MiningOptions(max_size=1)
    )
    found = read_contrasts(store, dataset)
    assert found.class_sizes == {"a": 10, "b": 10, "c": 10}
    counts = dict(zip(found.concepts, found.counts.tolist(), strict=True))
    assert counts == {"<y>": [3, 8, 0], "x": [7, 8, 8], "z": [0, 0, 2]}
    # y: (8 - 11/3) / sqrt(11/3 * 19/30 * 2/3); z: (2 - 2/3) / sqrt(2/3 * 28/30 * 2/3)
    # x: (8 - 23/3) / sqrt(23/3 * 7/30 * 2/3)
    assert found.concepts == ("<y>", "z", "x")
    assert found.residuals.max(axis=1) == pytest.approx([3.4826, 2.0702, 0.3052], abs=1e-3)
    assert found.pair == ("b", "c")


def test_no_concepts_and_one_class(store, load):
    found = read_contrasts(store, load(records([("a", (), 3)]), None))
    assert (found.concepts, found.counts.shape, found.pair) == ((), (0, 1), None)
    assert not np.size(found.residuals)
