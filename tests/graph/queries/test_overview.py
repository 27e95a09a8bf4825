"""What a picture shows is what the records say, however the names look and whatever was mined."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from cobalance.base.errors import UnknownNameError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.queries.concept_counts import CountedDataset, class_counts
from cobalance.graph.queries.overview import read_overview
from cobalance.statistics.contrasts import skew
from cobalance.statistics.imbalance import COUNT

CLASSES = ["class 0", "class 1", "class 2"]
SCRIPT = "<script>alert(1)</script>"


def ask(store, dataset, query, **given):
    """Rows of a query of the catalogue."""
    return CountedDataset.of(store, dataset).ask(query, **given)


def count(annotations, size, split=None):
    """Images of each class that show each set of concepts of a size."""
    counts: dict[tuple[str, ...], Counter[str]] = {}
    for record in annotations.records():
        if split in (None, record.split):
            names = sorted({mention.concept for mention in record.mentions})
            for members in combinations(names, size):
                counts.setdefault(members, Counter())[record.class_name] += 1
    return counts


def by_name(frame, columns=("concept",)):
    return {
        tuple(row[name] for name in columns): {y: row[COUNT + y] for y in CLASSES}
        for row in frame.to_dict("records")
    }


def test_counts_are_those_of_the_records(store, load, random_annotations):
    annotations = random_annotations(300, n_concepts=12)
    dataset = load(annotations, MiningOptions(max_size=2))
    overview = read_overview(store, dataset)
    singles, pairs = count(annotations, 1), count(annotations, 2)
    assert by_name(overview.concepts) == {
        names: {y: found[y] for y in CLASSES} for names, found in singles.items()
    }
    assert by_name(overview.edges, ("concept_1", "concept_2")) == {
        names: {y: found[y] for y in CLASSES} for names, found in pairs.items()
    }
    assert overview.concepts["images"].tolist() == sorted(
        (found.total() for found in singles.values()), reverse=True
    )
    assert overview.edges["images"].tolist() == sorted(
        (found.total() for found in pairs.values()), reverse=True
    )
    classes = Counter(record.class_name for record in annotations.records())
    assert overview.class_sizes == overview.pair_class_sizes == dict(sorted(classes.items()))
    assert overview.hidden_concepts == 0


def test_limits_hide_the_rest_and_say_how_much(store, load, random_annotations):
    annotations = random_annotations(300, n_concepts=12)
    dataset = load(annotations, MiningOptions(max_size=2))
    whole = read_overview(store, dataset)
    some = read_overview(store, dataset, max_concepts=5, max_edges=4)
    assert some.concepts["concept"].tolist() == whole.concepts["concept"].tolist()[:5]
    shown = set(some.concepts["concept"])
    inside = whole.edges[
        whole.edges["concept_1"].isin(shown) & whole.edges["concept_2"].isin(shown)
    ]
    assert some.edges.equals(inside.head(4).reset_index(drop=True))
    assert some.hidden_concepts == 12 - 5
    rarest = whole.concepts["concept"].tolist()[-2:]
    with_rarest = read_overview(store, dataset, max_concepts=3, include=rarest)
    assert set(with_rarest.concepts["concept"][:2]) == set(rarest)
    assert with_rarest.concepts["concept"].tolist()[2:] == whole.concepts["concept"].tolist()[:1]
    only = read_overview(store, dataset, max_concepts=1, include=rarest)
    assert set(only.concepts["concept"]) == set(rarest)


def test_search_takes_text_as_it_is(store, load, random_annotations):
    dataset = load(random_annotations(200, n_concepts=12))
    for text, expected in (
        ("SCRIPT>", [SCRIPT]),
        ("}) DETACH", ["}) DETACH DELETE n //"]),
        ("\U0001f6e3", ["\u0634\u0627\u0631\u0639 \U0001f6e3"]),
        ("'", ['o\'hare "quoted" `ticked`']),
        (".*", []),
    ):
        found = ask(store, dataset, "frequent-concepts", search=text)
        assert [row["concept"] for row in found] == expected
    found = ask(store, dataset, "frequent-concepts", search="Concept", limit=3, always=[SCRIPT])
    assert found[0]["concept"] == SCRIPT
    assert (len(found), found[0]["found"]) == (3, 1 + 7)


@pytest.mark.parametrize("sides", [((), ()), (("class 1",), ()), (("class 2",), ("class 0",))])
def test_the_most_surely_skewed_come_first(store, load, random_annotations, sides):
    annotations = random_annotations(300, n_concepts=12)
    dataset = load(annotations)
    asked = {"left": list(sides[0]), "right": list(sides[1])}
    rows = ask(store, dataset, "skewed-concepts", **asked)
    class_sizes = CountedDataset.of(store, dataset).class_sizes
    left = list(sides[0]) or CLASSES[:1]
    right = list(sides[1]) or [y for y in CLASSES if y not in left]
    sizes = [sum(class_sizes[y] for y in side) for side in (left, right)]

    def z(row):
        counts = dict(row["counts"])
        held = [sum(counts.get(y, 0) for y in side) for side in (left, right)]
        both = sum(held) / sum(sizes)
        spread = both * (1 - both) * (1 / sizes[0] + 1 / sizes[1])
        return abs(held[0] / sizes[0] - held[1] / sizes[1]) / math.sqrt(spread)

    found = [z(row) for row in rows]
    assert len(found) == 12
    np.testing.assert_allclose(found, sorted(found, reverse=True), atol=1e-9)
    assert ask(store, dataset, "skewed-concepts", limit=4, **asked) == rows[:4]


def test_concepts_of_neither_side_are_found_too(store, load):
    records = [
        ImageRecord("1", "a", (Mention("x"),)),
        ImageRecord("2", "b", (Mention("x"),)),
        ImageRecord("3", "c", (Mention("y"),)),
        ImageRecord("4", "d"),
    ]
    dataset = load(Annotations.from_records(records))
    found = ask(store, dataset, "skewed-concepts", left=["a"], right=["b"])
    assert [row["concept"] for row in found] == ["x", "y"]
    assert len(ask(store, dataset, "skewed-concepts", left=["d"])) == 2


def test_pairs_have_counts_when_they_are_mined_and_up_to_date(store, load, random_annotations):
    dataset = load(random_annotations(150))
    unmined = read_overview(store, dataset)
    assert len(unmined.edges)
    assert np.isnan(class_counts(unmined.edges)).all()
    assert np.isnan(unmined.edge_skew([0], [1])).all()
    load(random_annotations(150), MiningOptions(max_size=1))
    assert np.isnan(class_counts(read_overview(store, dataset).edges)).all()
    load(random_annotations(150), MiningOptions(max_size=2, min_support=12))
    some = class_counts(read_overview(store, dataset).edges)
    assert 0 < np.isnan(some).any(axis=1).sum() < len(some)
    load(random_annotations(160))
    assert np.isnan(class_counts(read_overview(store, dataset).edges)).all()


def test_pairs_of_a_mined_split_are_measured_against_it(store, load, random_annotations):
    annotations = random_annotations(300)
    dataset = load(annotations, MiningOptions(max_size=2, split="train"))
    overview = read_overview(store, dataset)
    expected = count(annotations, 2, "train")
    found = by_name(overview.edges, ("concept_1", "concept_2"))
    assert {names: sum(of.values()) for names, of in found.items()} == {
        names: of.total() for names, of in expected.items()
    }
    sizes = Counter(r.class_name for r in annotations.records() if r.split == "train")
    assert overview.pair_class_sizes == dict(sorted(sizes.items()))
    assert overview.class_sizes != overview.pair_class_sizes
    np.testing.assert_allclose(
        overview.edge_skew([0], [1, 2]),
        skew(class_counts(overview.edges), [sizes[y] for y in CLASSES], [0], [1, 2]),
    )


def test_misspelt_names_are_refused(store, load, random_annotations):
    dataset = load(random_annotations(60))
    with pytest.raises(UnknownNameError, match="concept 1"):
        read_overview(store, dataset, include=["concept 1", "concept 111"])


def test_a_dataset_without_concepts_is_an_empty_picture(store, load):
    dataset = load(Annotations.from_records([ImageRecord("1", "a"), ImageRecord("2", "b")]))
    overview = read_overview(store, dataset)
    assert len(overview.concepts) == len(overview.edges) == overview.hidden_concepts == 0
    assert ask(store, dataset, "skewed-concepts") == []
