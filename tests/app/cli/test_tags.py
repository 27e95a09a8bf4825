"""Tags from the command line and Python: counted by the next mining, and taken back."""

import json

import pytest

import cobalance as cb
from tests.app.cli.conftest import table


@pytest.fixture
def loaded(run, dataset, tmp_path):
    rows = ["id,class,concepts", *(f"{i},{'cat' if i % 2 else 'dog'},sofa" for i in range(8))]
    (tmp_path / "pets.csv").write_text("\n".join([*rows, ""]))
    run("ingest", tmp_path / "pets.csv", "--dataset", dataset)
    return dataset


def counts(run, dataset):
    listed = table(run("imbalances", dataset, "-f", "csv"))
    return {
        "+".join(json.loads(row["concepts"])): (row["count_cat"], row["count_dog"])
        for row in listed.to_dict("records")
    }


def test_a_tag_is_counted_and_images_are_left_out(run, loaded, store, settings, tmp_path):
    ids = tmp_path / "ids.txt"
    ids.write_text("2\n\n4\n")
    said = run(
        "tags", "add", loaded, "dusk", 1, "--from", ids, "--role", "concept", "--author", "ann"
    )
    assert f"3 images of {loaded} tagged dusk." in said.stderr
    assert "3 images change their concepts: cobalance mine" in said.stderr
    run("tags", "add", loaded, "blurred", 3, 2, "--role", "exclude")
    run("mine", loaded)
    assert counts(run, loaded) == {"sofa": (3, 3), "dusk": (1, 1), "dusk+sofa": (1, 1)}
    listed = table(run("tags", "list", loaded, "-f", "csv")).set_index("tag")
    assert listed["images"].to_dict() == {"blurred": 2, "dusk": 3}
    assert listed["left_out"].to_dict() == {"blurred": 2, "dusk": 1}
    assert listed.loc["dusk", "created_by"] == "ann"
    shown = table(run("tags", "show", loaded, "blurred", "-f", "csv"))
    assert shown["class"].tolist() == ["dog", "cat"]
    assert "2 images come back" in run("tags", "role", loaded, "blurred", "tag").stderr

    # Whoever reads counts until the next one is told that they do not follow the tags.
    waiting = "These are not the counts by the tags that there are now: 2 images come back."
    readers = [["imbalances", loaded], ["plan", loaded], ["compare", "datasets", loaded, loaded]]
    for command in readers:
        assert waiting in " ".join(run(*command).stderr.split())
    assert "2 images come back" in run("tags", "apply", loaded).stderr
    assert "2 images of" in run("tags", "remove", loaded, "dusk", 1, 4).stderr
    assert "3 images change" in run("tags", "delete", loaded, "dusk").stderr
    run("mine", loaded)
    for command in readers:
        assert "counts by the tags" not in " ".join(run(*command).stderr.split())
    assert counts(run, loaded) == {"sofa": (4, 4)}
    run("tags", "note", loaded, 3, "a cat, really", "--author", "bo")
    notes = table(run("tags", "notes", loaded, "-f", "csv"))
    assert notes[["note", "written_by"]].to_numpy().tolist() == [["a cat, really", "bo"]]
    data = cb.Store(store, settings)[loaded]
    assert data.tag("wet", ["0", "1", "2"], role="exclude", by="ann") == 3
    assert data.mine().imbalances().frame["count_cat"].tolist() == [3]
    assert data.tagged("wet")["left_out"].all()
    data.untag("wet", ["0"])
    assert data.apply_tags().brought_back == 1
    data.untag("wet")
    assert data.tags()["tag"].tolist() == ["blurred"]
    data.note("3", "")
    assert data.notes().empty
