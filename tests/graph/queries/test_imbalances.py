"""Rankings by the database equal those of the imbalance table."""

import pandas as pd
import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.cliques import mine_cliques
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset.cliques import clique_totals, load_cliques
from cobalance.graph.dataset.read import load_incidence
from cobalance.graph.queries.imbalances import (
    Ranking,
    filter_imbalances,
    leaning_concepts,
    read_folded_imbalances,
    read_imbalances,
    read_imbalances_of,
)
from cobalance.graph.queries.own_effects import read_own_effects, read_standing
from cobalance.statistics.imbalance import imbalance_table
from cobalance.statistics.own_effect import own_effects
from tests.conftest import HOSTILE
from tests.support.unequal import images, rows_of


def ranked(table, ranking):
    """What a ranking selects from the whole table; equal values by size, then by concepts."""
    asked = [
        (ranking.class_name, table["under_represented"].astype(str) == ranking.class_name),
        (ranking.min_size, table["size"] >= (ranking.min_size or 0)),
        (ranking.max_size, table["size"] <= (ranking.max_size or 0)),
        (ranking.max_q_value, table["q_value"] <= (ranking.max_q_value or 0)),
    ]
    kept = table["concepts"].map(set(ranking.concepts).issubset)
    if ranking.any_of:
        kept &= ~table["concepts"].map(set(ranking.any_of).isdisjoint)
    for value, passes in asked:
        if value is not None:
            kept &= passes
    descending = ranking.descending
    if descending is None:
        descending = ranking.by not in ("p_value", "q_value")
    columns = ["leans", "effect"] if ranking.by == "evidence" else [ranking.by]
    ascending = [not descending] * len(columns) + [True, True]
    order = {"ascending": ascending, "na_position": "last"}
    return table[kept].sort_values([*columns, "size", "concepts"], **order).head(ranking.limit)


RANKINGS = (
    Ranking(limit=1000),
    Ranking(descending=False, limit=40),
    Ranking(by="gap", limit=40),
    Ranking(by="gap", concepts=("concept 0",), limit=40),
    Ranking(by="effect", limit=40),
    Ranking(by="q_value", limit=15),
    Ranking(by="q_value", descending=True, limit=15),
    Ranking(by="log_odds_ratio", limit=7),
    Ranking(by="count_class 1", limit=12),
    Ranking(by="rate_class 0", descending=False, limit=12),
    Ranking(class_name="class 2", min_size=2, limit=50),
    Ranking(concepts=("}) DETACH DELETE n //",), max_size=2, limit=50),
    Ranking(max_q_value=0.9, limit=1000),
    Ranking(any_of=("concept 1", HOSTILE[1]), limit=60),
    Ranking(by="gap", any_of=("concept 1",), concepts=("concept 0",), limit=60),
    Ranking(by="lift", any_of=("concept 1",), limit=60),
)


def everything(ranking):
    """The same order without filters."""
    return Ranking(by=ranking.by, descending=ranking.descending, limit=100_000)


def test_a_ranking_is_the_one_of_the_table(store, load, random_annotations):
    random = random_annotations(150, seed=2).records()
    leaning = [
        ImageRecord(f"leaning {i}", "class 1", (Mention("concept 0"), Mention(HOSTILE[1])))
        for i in range(60)
    ]
    records = Annotations.from_records([*random, *leaning])
    dataset = load(records, MiningOptions(max_size=3))
    table = imbalance_table(mine_cliques(load_incidence(store, dataset), max_size=3))
    assert 0 < table["leans"].sum() < len(table)
    assert set(table["disagreement"].dropna()) >= {"fewer images, higher rate"}
    for ranking in RANKINGS:
        expected = ranked(table, ranking)
        assert len(expected), ranking
        found = read_imbalances(store, dataset, ranking)
        pd.testing.assert_frame_equal(
            found, expected.reset_index(drop=True), check_dtype=False, check_categorical=False
        )
        assert filter_imbalances(
            read_imbalances(store, dataset, everything(ranking)), ranking
        ).equals(found)
    names = table["concepts"].tolist()[::-7]
    by_name = read_imbalances_of(store, dataset, [*names, ("not mined",)])
    assert by_name["concepts"].tolist() == names
    singles = table[table["leans"] & (table["size"] == 1)]["concepts"]
    asked = ["concept 0", "concept 1", HOSTILE[1]]
    leaning = leaning_concepts(store, dataset).intersection(asked)
    assert leaning == {*singles.map("".join)}.intersection(asked)
    totals = clique_totals(store, dataset)
    assert totals.leaning == (table["q_value"] <= 0.05).sum()
    assert totals.unproven == ((table["q_value"] > 0.05) & (table["gap"] > 0)).sum()


@pytest.mark.parametrize("n_classes", [6, 20])
def test_saved_queries_name_the_classes_that_rates_and_counts_compare(store, load, ask, n_classes):
    records = images(n_classes)
    expected = rows_of(records)
    dataset = load(Annotations.from_records(records), MiningOptions(2, common=()))
    one = next(iter(expected))
    for name, given in (
        ("imbalances", {}),
        ("imbalances-by-gap", {}),
        ("imbalances-with-concepts", {"concepts": [one[0]]}),
        ("clique", {"concepts": list(one)}),
    ):
        found = ask(name, **given)
        wanted = [c for c in expected if {*given.get("concepts", ())} <= {*c}]
        assert {tuple(row["concepts"]) for row in found} == {
            *([one] if name == "clique" else wanted)
        }
        for asked in found:
            row = expected[tuple(asked["concepts"])]
            assert dict(asked["counts"]) == row.counts
            names = ("over_represented", "under_represented", "gap", "highest_rate", "lowest_rate")
            told = [asked[each] for each in names]
            assert told == [row.most, row.fewest, row.gap, row.highest, row.lowest]
            assert asked["effect"] == float(row.effect)
            odds = [asked[f"log_odds_ratio{end}"] for end in ("", "_low", "_high")]
            assert odds == pytest.approx(row.log_odds)
    strongest = sorted((row.log_odds[0] for row in expected.values()), reverse=True)
    by_odds = read_imbalances(store, dataset, Ranking(by="log_odds_ratio", limit=100))
    assert by_odds["log_odds_ratio"].tolist() == pytest.approx(strongest)
    for row in ask("imbalances-from-images-2"):
        of = expected[tuple(row["concepts"])]
        assert (row["over_represented"], row["under_represented"]) == (of.most, of.fewest)


def test_rows_with_the_same_images_are_folded_beyond_the_last_row(store, load):
    groups = [("a", "bcd", 3), ("b", "bcd", 1), ("a", "e", 2), ("b", "e", 1), ("a", "be", 1)]
    annotations = Annotations.from_records(
        [
            ImageRecord(f"{name} {concepts} {i}", name, tuple(map(Mention, concepts)))
            for name, concepts, images in groups
            for i in range(images)
        ]
    )
    dataset = load(annotations, MiningOptions(max_size=3, common=()))
    # 3 of a and 1 of b show b, c and d together; c, d and every set with one of them is within.
    same = {("c",), ("d",), ("b", "c"), ("b", "d"), ("c", "d")}
    for limit in (1000, 2):
        found = read_folded_imbalances(store, dataset, Ranking(by="gap", limit=limit))
        rows = dict(zip(found["concepts"], found["repeats"], strict=True))
        assert {*rows["b", "c", "d"]} == same
        assert rows.get(("b",), ()) == ()
        assert same.isdisjoint(rows)
    plain = read_imbalances(store, dataset, Ranking(limit=1000))
    folded = read_folded_imbalances(store, dataset, Ranking(limit=1000))
    assert len(plain) == len(folded) + len(same)
    assert folded.columns.tolist() == [*plain.columns, "repeats"]


def test_what_stands_on_its_own_is_what_all_effects_say(store, load, random_annotations):
    random = random_annotations(120, seed=3).records()
    pair = tuple(map(Mention, ("one", "other")))
    lamp = tuple(map(Mention, ("lamp", "person")))
    groups = [("class 0", pair, 40), ("class 0", (), 40), ("class 1", pair[:1], 40)]
    groups += [("class 1", pair[1:], 40), ("class 2", pair, 9), ("class 2", lamp, 90)]
    records = [
        ImageRecord(f"{name} {mentions} {i}", name, mentions)
        for name, mentions, images in groups
        for i in range(images)
    ]
    dataset = load(Annotations.from_records([*random, *records]), MiningOptions(2, common=()))
    cliques = load_cliques(store, dataset)
    effects = own_effects(cliques).set_index(pd.Index(cliques.names(), tupleize_cols=False))
    stands = effects[(effects["own_q_value"] <= 0.05) & (effects["own_effect"] > 0)]
    found = read_standing(store, dataset)
    assert found["own_effect"].round(12).is_monotonic_decreasing
    listed = [{one, *same} for one, same in zip(found["concepts"], found["repeats"], strict=True)]
    assert {*stands.index} <= set.union(*listed)
    for group, effect, q in zip(listed, found["own_effect"], found["own_q_value"], strict=True):
        of_group = stands[stands.index.isin(group)]
        assert effect == of_group["own_effect"].max()
        assert q in of_group["own_q_value"].tolist()
    # lamp and person have the same images: each alone leans, and together nothing more.
    assert {("lamp", "person"), ("lamp",), ("person",)} in listed
    assert {("one", "other")} in listed
    names = tuple(cliques.names()[::5])
    few = read_own_effects(store, dataset, names)
    whole = effects.iloc[::5].reset_index(drop=True)[["own_effect", "own_over", "explained"]]
    pd.testing.assert_frame_equal(few, whole, rtol=1e-6)
