"""Labels from the command line: ordered and made here, shown, accepted, changed, rejected."""

import numpy as np
import pytest
from PIL import Image

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.annotations.runs import list_runs
from cobalance.graph.dataset.read import load_incidence
from cobalance.graph.dataset.write import write_annotations
from tests.app.cli.calling import call
from tests.app.cli.conftest import table
from tests.support.scripted_endpoint import Answer, scripted_endpoint
from tests.tiny.vision import save_owlv2


@pytest.fixture
def birds(store, dataset, tmp_path):
    (tmp_path / "pictures").mkdir()
    for i in range(4):
        pixels = np.random.default_rng(i).integers(0, 255, (40, 48, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "pictures" / f"{i}.png")
    records = [
        ImageRecord(f"{i}", "ab"[i % 2], (Mention("tree"),), uri=f"{i}.png") for i in range(4)
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    return dataset


@pytest.fixture
def annotate(environment, tmp_path):
    def command(*arguments, exit_code=0):
        own = {
            "COBALANCE_IMAGES": str(tmp_path / "pictures"),
            "COBALANCE_OUTPUT": str(tmp_path / "output"),
        }
        done = call(environment | own, "annotate", *arguments)
        assert done.returncode == exit_code, done.stderr
        return done

    return command


def test_from_an_order_to_concepts_and_back(store, annotate, birds, tmp_path):
    model = save_owlv2(tmp_path / "owlv2")
    order = ("label", birds, "--annotator", "owlv2", "--set", f"model={model}", "--level", "object",
             "--concept", "sea", "--threshold", "0", "--chunk", "3")  # fmt: skip
    done = annotate(*order, "--here")
    run = done.stdout.strip()
    assert f"cobalance annotate accept {run}" in done.stderr
    listed = table(annotate("runs", birds, "-f", "csv"))
    assert listed[["kind", "state", "done"]].to_numpy().tolist() == [["label", "done", "2/2"]]
    assert table(annotate("runs", run[:6], "-f", "csv"))["images"].tolist() == [4]
    assert load_incidence(store, birds).concepts == ("tree",)
    assert "4 images of" in annotate("accept", run).stderr
    assert set(load_incidence(store, birds).concepts) == {"sea", "tree"}
    assert "finite" in annotate("threshold", run, "nan", exit_code=2).stderr
    assert "several of a category too" in annotate("threshold", run, "--multi", exit_code=2).stderr
    annotate("threshold", run, "--set", "sea=2")
    assert load_incidence(store, birds).concepts == ("tree",)
    assert "Reject it first" in annotate("delete", run, "--yes", exit_code=1).stderr
    annotate("reject", run)
    annotate("delete", run, "--yes")
    assert "There is no annotation run" in annotate("runs", birds).stderr
    assert not list((tmp_path / "output" / "annotations" / run).rglob("*.parquet"))
    waiting = annotate(*order)
    assert "2 chunks ordered" in waiting.stderr
    assert "is queued" in annotate("accept", waiting.stdout.strip(), exit_code=1).stderr


KEY = "sk-very-secret-0123456789"


def test_images_go_to_an_address_only_when_that_is_said(store, annotate, birds, tmp_path):
    (tmp_path / "key").write_text(KEY)

    def answer(body):
        text = body["messages"][0]["content"][1]["text"]
        return Answer("Yes", first_tokens={"Yes": 0.6, "No": 0.2} if "sea" in text else {"no": 1})

    with scripted_endpoint(answer) as served:
        order = ("label", birds, "--annotator", "vlm", "--url", served.url, "--model", "m",
                 "--concept", "sea", "--concept", "hut",
                 "--rule", "threshold", "--key-file")  # fmt: skip
        refused = annotate(*order, tmp_path / "key", "--here", exit_code=2).stderr
        assert "with --send-images" in refused
        assert "no key file" in annotate(*order, "no key file", exit_code=2).stderr
        assert not served.requests
        assert not list_runs(store, birds)
        done = annotate(*order, tmp_path / "key", "--send-images", "--here")
        assert len(served.requests) == 8
        assert "8 questions with an image will be sent to 127.0.0.1:" in done.stderr
    assert {one["authorization"] for one in served.headers} == {f"Bearer {KEY}"}
    (run,) = list_runs(store, birds)
    assert (run.model, run.state, run.revision, run.licence) == ("m", "done", None, None)
    shown = table(annotate("runs", run.id, "-f", "csv")).set_index("concept")
    assert shown["images"].to_dict() == {"sea": 4, "hut": 0}
    files = [file for file in (tmp_path / "output").rglob("*") if file.is_file()]
    assert sum(file.parent.name == "replies" for file in files) == 8
    assert not any(KEY.encode() in file.read_bytes() for file in files)
    everything = store.read("MATCH (n) RETURN [key IN keys(n) | toStringOrNull(n[key])] AS texts")
    assert not any(KEY in (text or "") for row in everything for text in row["texts"])
    assert KEY not in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--annotator", "owl"), "unknown annotator 'owl'"),
        (("--annotator", "owlv2", "--concept", "x"), "the caption that names the domain alone"),
        (("--annotator", "owlv2", "--concept", "x", "--level", "pixel"), "unknown level 'pixel'"),
        (("--annotator", "owlv2", "--concept", "x", "--rule", "best"), "unknown rule 'best'"),
        (
            ("--annotator", "owlv2", "--concept", "x", "--level", "object", "--multi"),
            "is a choice only",
        ),
        (
            ("--annotator", "owlv2", "--concept", "x", "--base", "b", "--split", "no"),
            "no split 'no'",
        ),
    ],
)
def test_what_cannot_be_ordered_is_refused(annotate, birds, arguments, message):
    assert message in annotate("label", birds, *arguments, exit_code=2).stderr


def test_without_accepted_attributes_there_is_nothing_to_label(annotate, birds):
    refused = annotate("label", birds, "--annotator", "owlv2", exit_code=1).stderr
    assert "has no accepted attributes of" in refused
