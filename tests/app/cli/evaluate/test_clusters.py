"""Clusters of captions from the command line: planted ones, as concepts, and taken back."""

import json

import pytest

from tests.app.cli.conftest import table

SKI, FOOD = "skis down a snowy slope", "eats pizza at a table"


@pytest.fixture
def captioned(run, dataset, tmp_path):
    """30 of 40 on skis are men, 10 of 40 with pizza: half of all. One image has no caption."""
    rows = ["id,class,concepts,caption"]
    for i in range(80):
        man = i < 30 or i >= 70
        who = "man" if man else "woman"
        text = f"A {who} {SKI if i < 40 else FOOD}"
        rows.append(f"{i},{who},{'snow' if i % 2 else 'table'},{text}")
    (tmp_path / "people.csv").write_text("\n".join([*rows, "none,man,snow,", ""]))
    run("ingest", tmp_path / "people.csv", "--dataset", dataset)
    return dataset


def test_shifts_and_concepts(run, captioned, store, dump_of):
    run("mine", captioned, "--max-size", 2)
    before = dump_of(store, captioned)
    options = ("evaluate", "clusters", captioned, "--embed", "tfidf", "-f", "csv")
    done = run(*options, "-k", 2)
    rows = table(done).set_index(["name", "group"])
    assert "Without captions, and in no cluster: 1 image." in done.stderr
    assert rows["n"].tolist() == [40] * 4
    men = rows.xs("man", level="group")
    ski, food = (next(name for name in men.index if word in name) for word in ("slope", "pizza"))
    assert men["shift"].to_dict() == pytest.approx({ski: 25, food: -25})
    assert rows.loc[(ski, "woman"), "shift"] == pytest.approx(-25)
    assert (rows["low"] < rows["shift"]).all()
    assert (rows["shift"] < rows["high"]).all()
    assert sorted(json.loads(rows["words"].iloc[0])) in (
        ["skis", "slope", "snowy"],
        ["eats", "pizza", "table"],
    )
    assert dump_of(store, captioned) == before

    said = run(*options, "-k", 2, "--as-concepts").stderr
    assert f"80 images of {captioned} changed." in said
    assert "0 images" in run(*options, "-k", 2, "--as-concepts").stderr
    run("mine", captioned, "--max-size", 2)
    listed = table(run("imbalances", captioned, "-f", "csv"))
    (row,) = listed[listed["concepts"] == json.dumps([ski])].to_dict("records")
    assert (row["count_man"], row["count_woman"]) == (30, 10)
    run("evaluate", "clusters", captioned, "--embed", "tfidf", "-k", 1, "--as-concepts")
    edges = store.read(
        "MATCH (:Image {dataset: $d})-[e:CONTAINS {source: 'cluster'}]->(c) "
        "RETURN c.name AS name, count(*) AS n", d=captioned,
    )  # fmt: skip
    assert [edge["n"] for edge in edges] == [80]

    assert "80 images" in run("evaluate", "clusters", captioned, "--undo").stderr
    run("mine", captioned, "--max-size", 2)
    assert dump_of(store, captioned) == before


def test_what_cannot_be_clustered_is_refused(run, captioned, bare):
    def refused(*options, exit_code=2):
        done = run("evaluate", "clusters", *options, "--embed", "tfidf", exit_code=exit_code)
        return " ".join(done.stderr.split())

    assert "80 images cannot be in 81 clusters" in refused(captioned, "-k", 81)
    assert "fewer than 9 different embeddings" in refused(captioned, "-k", 9)
    assert "--undo takes back --as-concepts" in refused(captioned, "--undo", "--as-concepts")
    assert "has no captions" in refused(bare, exit_code=1)


@pytest.fixture
def bare(run, store, tmp_path):
    from cobalance.graph.dataset.drop_rename import drop_dataset

    name = f"{tmp_path.name} bare"
    (tmp_path / "bare.csv").write_text("id,class,concepts\n1,a,x\n")
    run("ingest", tmp_path / "bare.csv", "--dataset", name)
    yield name
    drop_dataset(store, name)
