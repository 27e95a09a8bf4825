"""Attributes from the command line: what they cost, proposed, reviewed, accepted."""

import json
from pathlib import Path

import pandas as pd
import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.annotations.attributes import list_attributes
from cobalance.graph.annotations.runs import list_runs
from cobalance.graph.dataset.write import write_annotations
from tests.app.cli.calling import call
from tests.app.cli.conftest import table
from tests.support.scripted_endpoint import Answer, scripted_endpoint

KEY = "sk-never-to-be-seen"


def reply_to(body):
    text = body["messages"][0]["content"]
    if "response_format" in body:
        return Answer("no schemas here", 400)
    if "attribute categories" in text:
        return '["habitat", "furniture", "gender"]'
    if '"habitat"' in text:
        return '["wetland", "forest", "wetlands"]'
    if '"furniture"' in text:
        return '["a perch", "sparrow", "feeder"]'
    return "no" if "wetland" in text else "Yes."


@pytest.fixture
def birds(store, dataset):
    records = [ImageRecord(str(i), "House sparrow", (Mention("tree"),), uri="x") for i in range(3)]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    return dataset


def test_from_a_caption_to_accepted_attributes(store, environment, birds, tmp_path):
    def annotate(*arguments, exit_code=0):
        done = call(
            environment | {"COBALANCE_OUTPUT": str(tmp_path / "output")}, "annotate", *arguments
        )
        assert done.returncode == exit_code, done.stderr
        said.append(done.stdout + done.stderr)
        return done

    said: list[str] = []
    small = ("-N", 3, "-M", 3, "-R", 2)
    cost = table(annotate("cost", "a photo of a bird", *small, "-d", birds, "-f", "csv"))
    assert cost.loc[0, ["calls", "images", "image_passes"]].tolist() == [2 + 2 * 3 + 3, 3, 6]
    assert cost.loc[0, "chat_seconds"] == "unknown"
    assert "--measure" in annotate("cost", "--url", "http://x/v1", exit_code=2).stderr
    with scripted_endpoint(reply_to) as served:
        chat = ("--url", served.url, "--model", "m")
        measured = table(annotate("cost", *small, "--measure", *chat, "-f", "csv"))
        assert (measured.loc[0, "chat_seconds"] > 0, len(served.requests)) == (True, 2)
    (tmp_path / "key").write_text(KEY)
    order = ("propose", "a photo of a bird", "-d", birds, *small, "--compare-by", "letters")
    assert "--local" in annotate(*order, exit_code=2).stderr
    nameless = annotate(*order, "--url", "http://127.0.0.1:1/v1", "--model", "", exit_code=2)
    assert "The language model: model is ''" in nameless.stderr
    with scripted_endpoint(reply_to) as served:
        chat = ("--url", served.url, "--model", "m", "--key-file", tmp_path / "key")
        done = annotate(*order, *chat)
        assert "6 attributes" in done.stderr
        assert "gender" in done.stderr
        asked = len(served.requests)
        assert annotate(*order, *chat).stdout == done.stdout
        assert len(served.requests) == asked
        assert {one["authorization"] for one in served.headers} == {f"Bearer {KEY}"}
    runs = list_runs(store, birds)
    assert [(run.kind, run.state, run.id) for run in runs] == [
        ("propose", "done", done.stdout.strip())
    ]
    assert runs[0].settings["usage"]["replies"] == 8

    file = tmp_path / "review.csv"
    annotate("review", birds, "--sheet", "-f", "csv", "-o", file)
    rows = pd.read_csv(file, keep_default_na=False).set_index("proposed")
    assert rows.loc["sparrow", "flags"] == "names the class 'House sparrow'"
    assert "near synonym of 'wetland'" in rows.loc["wetlands", "flags"]
    assert rows.loc["forest", "caption"] == "a bird in a forest"[:10] + "forest"
    rows["decision"] = ["accept", "rename", "merge", "accept", "reject", ""]
    rows.loc["forest", "name"] = "woodland"
    rows.loc["wetlands", "into"] = "wetland"
    rows.reset_index().to_csv(file, index=False)
    annotate("review", birds, "--from", file)
    annotate("review", birds, "--accept-all")
    states = list_attributes(store, birds).set_index("proposed")
    assert states["state"].tolist() == ["accepted", "accepted", "merged", "accepted", "rejected",
                                        "accepted"]  # fmt: skip
    assert states.loc["forest", "name"] == "woodland"
    file.write_text("category,proposed,decision\nhabitat,forest,perhaps\n")
    done = annotate("review", birds, "--from", file, exit_code=1)
    assert "line 2: the decision 'perhaps' is none" in done.stderr
    assert list_attributes(store, birds)["state"].tolist() == states["state"].tolist()

    kept = [path.read_text() for path in Path(tmp_path / "output").rglob("*.json")]
    assert len(kept) == 8
    dump = store.read("MATCH (n) WHERE n.dataset = $name RETURN properties(n) AS p", name=birds)
    assert KEY not in "".join((*kept, *said, json.dumps(dump, default=str)))
