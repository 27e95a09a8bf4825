"""Rankings by the database equal those of the imbalance table."""

import pandas as pd
import pytest

from graph.counting.cliques import mine_cliques
from graph.dataset.mining_options import MiningOptions
from graph.dataset.read import load_incidence
from graph.diagnosis.imbalance import imbalance_table
from graph.queries.imbalances import Ranking, read_imbalances


def ranked(table, ranking):
    """What a ranking selects from the whole table; equal values by size, then by concepts."""
    asked = [
        (ranking.class_name, table["under_represented"].astype(str) == ranking.class_name),
        (ranking.min_size, table["size"] >= (ranking.min_size or 0)),
        (ranking.max_size, table["size"] <= (ranking.max_size or 0)),
        (ranking.max_q_value, table["q_value"] <= (ranking.max_q_value or 0)),
    ]
    kept = table["concepts"].map(set(ranking.concepts).issubset)
    for value, passes in asked:
        if value is not None:
            kept &= passes
    descending = ranking.descending
    if descending is None:
        descending = ranking.by not in ("p_value", "q_value")
    order = {"ascending": [not descending, True, True], "na_position": "last"}
    return table[kept].sort_values([ranking.by, "size", "concepts"], **order).head(ranking.limit)


@pytest.mark.parametrize(
    "ranking",
    [
        Ranking(),
        Ranking(by="q_value", limit=15),
        Ranking(by="q_value", descending=True, limit=15),
        Ranking(by="log_odds_ratio", limit=7),
        Ranking(by="count_class 1", limit=12),
        Ranking(by="rate_class 0", descending=False, limit=12),
        Ranking(class_name="class 2", min_size=2, limit=50),
        Ranking(concepts=("}) DETACH DELETE n //",), max_size=2, limit=50),
        Ranking(max_q_value=0.9, limit=1000),
    ],
    ids=repr,
)
def test_a_ranking_is_the_one_of_the_table(store, load, random_annotations, ranking):
    dataset = load(random_annotations(150, seed=2), MiningOptions(max_size=3))
    table = imbalance_table(mine_cliques(load_incidence(store, dataset), max_size=3))
    expected = ranked(table, ranking)
    assert len(expected)
    found = read_imbalances(store, dataset, ranking)
    pd.testing.assert_frame_equal(
        found, expected.reset_index(drop=True), check_dtype=False, check_categorical=False
    )
