"""COCO captions become annotations by a vocabulary."""

import json

from graph.records import Mention
from ingest.load import read_annotations
from ingest.options import (
    ClassOptions,
    ReadOptions,
    VocabularyOptions,
)
from tests.ingest.coco_files import CAPTIONS


def test_coco_captions(write):
    options = ReadOptions(
        classes=ClassOptions(words="coco-gb"),
        vocabulary=VocabularyOptions(concepts=("hot dog", "bench")),
    )
    annotations = read_annotations(write(json.dumps(CAPTIONS)), options)
    mention = {name: Mention(name, "caption") for name in ("hot dog", "bench")}
    assert [(r.id, r.class_name, r.mentions) for r in annotations.records()] == [
        ("10", "man", (mention["hot dog"], mention["hot dog"], mention["bench"])),
        ("20", "woman", (mention["bench"],)),
    ]
