"""COCO captions become annotations by a vocabulary."""

import json

import pytest

from cobalance.base.records import Mention
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from tests.ingest.coco_files import CAPTIONS


def test_coco_captions(write):
    options = ReadOptions(
        class_words="coco-gb",
        vocabulary=("hot dog", "bench"),
    )
    annotations = read_annotations(write(json.dumps(CAPTIONS)), options)
    mention = {name: Mention(name, "caption") for name in ("hot dog", "bench")}
    assert [(r.id, r.class_name, r.mentions) for r in annotations.records()] == [
        ("10", "man", (mention["hot dog"], mention["hot dog"], mention["bench"])),
        ("20", "woman", (mention["bench"],)),
    ]


@pytest.mark.parametrize("caption", ["a man, a bench, a bench, a bench", "a man, a man, a man"])
def test_a_limit_on_what_is_found_in_captions(caption, write, failure):
    entries = [{**entry, "caption": caption} for entry in CAPTIONS["annotations"]]
    most = len(entries) + 1
    options = ReadOptions(
        vocabulary=("bench",),
        class_words="coco-gb",
        max_mentions=most,
    )
    error = failure(write(json.dumps({**CAPTIONS, "annotations": entries})), options)
    assert error.reason == f"has more than {most} concepts in its captions"
