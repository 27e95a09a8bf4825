"""Manifest rows: settings that decide pixels and verdicts, and the filters' judgements."""

import json

from cobalance.generation.filters.filter import Judgement
from cobalance.generation.image_request import GeneratedImage
from cobalance.generation.output.manifest import manifest_frame
from cobalance.generation.output.manifest_rows import judge_row


def test_settings_are_all_that_decides_pixels_and_verdicts(row):
    assert json.loads(row["settings"]) == {
        "steps": 3,
        "dtype": "float16",
        "pipeline": "AnyPipeline",
        "scheduler_config": {"beta_end": 0.012},
        "filters": {"clip": {"model": "owner/clip", "weights_sha256": "1" * 64}},
    }


def test_accepted_by_all_or_rejected_with_every_reason(row, pixels):
    yes, no = Judgement(0.7), Judgement(0.1, "No cow.", {"cosine": 0.04})
    made = GeneratedImage(pixels, details={"digital_source_type": "other", "placed_at": [1, 2]})
    assert judge_row(row, made, {"a": yes})["verdict"] == "accepted"
    found = judge_row(row, made, {"a": yes, "b": no, "c": Judgement(0, "No road.")})
    assert (found["verdict"], found["reason"]) == ("rejected", "No cow. No road.")
    assert '"cosine": 0.04' in found["scores"]
    assert found["digital_source_type"] == "other"
    assert "placed_at" in found["settings"]
    assert (found["width_px"], found["height_px"]) == (32, 24)
    assert manifest_frame([found])["candidate"].tolist() == [row["candidate"]]
