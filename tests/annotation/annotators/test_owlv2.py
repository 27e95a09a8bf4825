"""Concepts that a detector finds, as mentions."""

from pathlib import Path

import pytest

from cobalance.annotation.annotators import ANNOTATORS
from cobalance.base.errors import JobBlockedError, OptionError, UnknownNameError
from cobalance.base.records import Annotations, ImageRecord
from cobalance.vision.models.detector import open_detector
from cobalance.vision.models.options import DetectorOptions
from tests.generation.filters.making import noise
from tests.tiny.vision import save_owlv2


def test_each_detection_is_a_mention(tmp_path: Path) -> None:
    model = save_owlv2(tmp_path / "tiny-owlv2")
    images, vocabulary = [noise(0), noise(1, 32, 32)], ["ocean", "cow"]
    annotator = ANNOTATORS.open("owlv2", {"model": str(model), "threshold": 0.3})
    mentions = annotator.annotate(images, vocabulary)
    detector = open_detector(DetectorOptions(model=str(model), threshold=0.3))
    expected = detector.detect(images, vocabulary)
    assert sum(map(len, expected)) > 0
    assert mentions == expected
    assert {(one.source, one.area_px2) for own in mentions for one in own} == {("tiny-owlv2", None)}
    record = ImageRecord("1", "landbird", tuple(mentions[0]))
    assert next(Annotations.from_records([record]).records()) == record
    assert annotator.describe()["annotator"] == "owlv2"


def test_registry(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown annotator 'yolo'. Known: .*owlv2"):
        ANNOTATORS.open("yolo")
    with pytest.raises(OptionError, match="The annotator owlv2 has no option 'vocabulary'"):
        ANNOTATORS.open("owlv2", {"vocabulary": []})
    with pytest.raises(JobBlockedError, match="no such folder"):
        ANNOTATORS.open("owlv2", {"model": str(tmp_path / "nothing")})
