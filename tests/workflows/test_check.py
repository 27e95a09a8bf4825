"""A dataset beside published counts: what is equal, what differs, what one side lacks."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cobalance as cb
from cobalance.base.errors import CobalanceError
from cobalance.counting.cliques import count_chosen

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"
NAMES = {
    "conbias_co_occurrence_urbancars.csv": 106,
    "conbias_clique_dict_urbancars.json": 144,
    "conbias_common_cliques_filtered_urbancars.json": 89,
    "conbias_concepts_generation_urbancars.json": 69,
}


@pytest.fixture(scope="module")
def data():
    rows = [("a", "cow|road")] * 2 + [("a", "cow"), ("b", "cow|road"), ("b", "owl"), ("a", "owl")]
    return cb.read(pd.DataFrame(rows, columns=["label", "objects"]))


@pytest.fixture
def compared(data, tmp_path):
    def of(content, **options):
        file = tmp_path / "file"
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        found = cb.compare_published(data, file, **options).frame
        found = found.astype(object).where(found.notna(), None)
        return [tuple(row) for row in found.itertuples(index=False)]

    return of


@pytest.mark.parametrize("written", [str, str.title], ids=["as published", "Title Case"])
@pytest.mark.parametrize("name", NAMES)
def test_urbancars_is_as_published(name, written, tmp_path):
    kept = ROOT / "tests" / "data" / name
    file = kept if kept.exists() else SHARED / name
    if not file.exists():
        pytest.skip("the published files are not beside the tests")
    (tmp_path / name).write_text(written(file.read_text()))
    found = cb.compare_published(cb.urbancars(), tmp_path / name)
    assert found.frame["result"].value_counts().to_dict() == {"equal": NAMES[name]}
    assert f"{NAMES[name]} equal" in found.title()
    assert ("In other letter case: " in found.title()) == (written is str.title)


def test_names_match_in_other_letter_case_where_that_is_unique(data, tmp_path):
    """`cow` is there exactly; two names that case alone tells apart are no one's."""
    file = tmp_path / "cliques.json"
    counts = [("cow", 3), ("Cow", 1), ("ROAD", 2), ("Owl", 1), ("OWL", 1), ("elk", 0)]
    file.write_text(json.dumps({"1": [[[name], {"A": n}] for name, n in counts]}))
    found = cb.compare_published(data, file)
    equal = found.frame[found.frame["result"] == "equal"]
    assert set(equal["concepts"]) == {("cow",), ("road",)}
    assert set(equal["class"]) == {"a"}
    assert found.title().endswith(
        "2 equal. In other letter case: A as a, ROAD as road. "
        "Names that the dataset lacks: Cow, Owl, OWL, elk"
    )


def test_cliques(compared):
    assert compared({"2": [[["road", "cow"], {"a": 9, "b": 1}], [["cow", "elk"], {"a": 1}]]}) == [
        ("a", ("cow", "road"), 9, 2, "differs"),
        ("a", ("cow", "elk"), 1, None, "only published"),
        ("b", ("cow", "road"), 1, 1, "equal"),
    ]
    assert compared({"1": [[["cow"], {"a": 3, "b": 1, "c": 5}]]}) == [
        ("c", ("cow",), 5, None, "only published"),
        ("a", ("owl",), None, 1, "only here"),
        ("b", ("owl",), None, 1, "only here"),
        ("a", ("road",), None, 2, "only here"),
        ("b", ("road",), None, 1, "only here"),
        ("a", ("cow",), 3, 3, "equal"),
        ("b", ("cow",), 1, 1, "equal"),
    ]


def test_a_matrix(compared):
    assert compared(",a,b,cow,owl\na,0,0,3,1\nb,0,0,2,1\ncow,3,2,0,0\nowl,1,1,0,0\n") == [
        ("b", ("cow",), 2, 1, "differs"),
        ("a", ("road",), None, 2, "only here"),
        ("b", ("road",), None, 1, "only here"),
        ("", ("cow", "road"), None, 3, "only here"),
        ("a", ("cow",), 3, 3, "equal"),
        ("a", ("owl",), 1, 1, "equal"),
        ("b", ("owl",), 1, 1, "equal"),
    ]


def test_common_cliques_and_queries(compared):
    assert compared([["road"], ["cow"], ["elk"]]) == [
        ("", ("elk",), None, None, "only published"),
        ("", ("owl",), None, None, "only here"),
        ("", ("road",), None, None, "equal"),
        ("", ("cow",), None, None, "equal"),
    ]
    assert compared([["b", ["cow"], 1], ["b", ["road"], 1], ["a", ["elk"], 3]]) == [
        ("b", ("cow",), 1, 2, "differs"),
        ("a", ("elk",), 3, None, "only published"),
        ("b", ("road",), 1, 1, "equal"),
    ]
    long = [["b", ["cow", *map(str, range(5_000))], 1]]
    with pytest.raises(CobalanceError):
        compared(long)


def test_any_combination_is_counted(data):
    rng = np.random.default_rng(3)
    incidence = data.incidence()
    names = [*incidence.concepts, "elk"]
    chosen = [rng.choice(names, rng.integers(1, 4), replace=False).tolist() for _ in range(30)]
    held = [set(row) for row in data.mentions.groupby("image")["concept"].agg(set)]
    labels = data.images["class_name"].astype(str).tolist()
    expected = [
        [
            sum(set(some) <= one and label == name for one, label in zip(held, labels, strict=True))
            for name in incidence.classes
        ]
        for some in chosen
    ]
    assert count_chosen(incidence, chosen).tolist() == expected
