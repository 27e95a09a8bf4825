"""Concepts from captions on the command line: asked once, accepted, taken back."""

import json

import pandas as pd
import pytest

from cobalance.annotation.language.endpoint import Endpoint
from cobalance.base.errors import DataError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.annotations.runs import list_runs
from cobalance.graph.dataset.write import write_annotations
from cobalance.ingest.captions.image_texts import write_image_texts
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.label.extract import extract_concepts
from tests.app.cli.calling import call
from tests.app.cli.conftest import table
from tests.support.scripted_endpoint import Answer, scripted_endpoint

FINDS = {
    "two dogs on a beach": ["dogs", "beach", "sand"],
    "A dog by the sea": ["dog", "sea", "summer"],
    "nothing much": [],
}


def reply_to(body):
    text = body["messages"][0]["content"]
    return json.dumps({"items": next(FINDS[one] for one in FINDS if json.dumps(one) in text)})


def test_captions_become_concepts_once_accepted(
    store, environment, settings, dataset, tmp_path, dump
):
    captions = [["two dogs on a beach", "A dog by the sea"], ["A dog by the sea"],
                ["nothing much"], [], [" "]]  # fmt: skip
    records = [ImageRecord(str(at), "pet", (Mention("bowl"),)) for at in range(5)]
    whole = Annotations.from_records(records)
    write_annotations(store, dataset, whole, source="a test")
    before = dump(dataset)
    chat = Endpoint("http://x/v1", "m")
    with pytest.raises(DataError, match="has a caption"):
        extract_concepts(store, OutputFolder(str(tmp_path)), chat, dataset, tmp_path)
    texts = pd.DataFrame({"image": range(5), "captions": captions})
    texts[["license", "license_url", "attribution"]] = None
    captioned = Annotations(whole.images, whole.mentions, texts=texts)
    # A local server is the tests' own.
    home = tmp_path if settings.neo4j_uri is not None else settings.cobalance_home
    write_image_texts(home / "captions", dataset, captioned)

    def annotate(*arguments, exit_code=0):
        done = call(environment | {"COBALANCE_HOME": str(home)}, "annotate", *arguments)
        assert done.returncode == exit_code, done.stderr
        return done

    broken = True
    with scripted_endpoint(
        lambda body: Answer("no", 403) if broken and len(served.requests) > 2 else reply_to(body)
    ) as served:
        order = ("extract", dataset, "--url", served.url, "--model", "m")
        annotate(*order, exit_code=1)
        assert [(run.kind, run.state) for run in list_runs(store, dataset)] == [
            ("caption", "failed")
        ]
        broken = False
        done = annotate(*order)
        assert "3 concepts in captions of 3 images. 1 reply asked for, 2 kept" in done.stderr
        assert "2 of 6" in done.stderr.replace("\n", " ")
        asked = len(served.requests)
        run = done.stdout.strip()
        assert annotate(*order).stdout.strip() == run
        assert len(served.requests) == asked
    found = table(annotate("runs", run, "-f", "csv"))
    counts = dict(zip(found["concept"], found["images"], strict=True))
    assert counts == {"dog": 2, "beach": 1, "sea": 2}
    annotate("accept", run)
    rows = store.read(
        "MATCH (i:Image {dataset: $name})-[:CONTAINS]->(c:Concept) RETURN i.id AS id, c.name AS c",
        name=dataset,
    )
    of = {at: {row["c"] for row in rows if row["id"] == at} for at in "01234"}
    assert of["0"] == {"bowl", "dog", "beach", "sea"}
    assert of["1"] == {"bowl", "dog", "sea"}
    assert of["2"] == of["3"] == of["4"] == {"bowl"}
    annotate("reject", run)
    assert {line for line in dump(dataset) if "CONTAINS" in line} == {
        line for line in before if "CONTAINS" in line
    }
