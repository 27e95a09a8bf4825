"""Labels from Python: ordered, made here, accepted, changed, rejected."""

import sys

import numpy as np
import pytest
from PIL import Image

import cobalance as cb
from cobalance.base.records import Annotations, ImageRecord, Mention
from tests.e2e import bright


def test_labels_come_and_go(store, dataset, settings, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cobalance.annotation.annotators.owlv2", bright)
    levels = {"a": (250, 0, 0), "b": (250, 250, 0), "c": (0, 0, 0)}
    for name, level in levels.items():
        Image.fromarray(np.full((8, 8, 3), level, np.uint8)).save(tmp_path / f"{name}.png")
    own = settings.model_copy(
        update={"cobalance_output": str(tmp_path / "out"), "cobalance_images": (str(tmp_path),)}
    )
    records = [ImageRecord(name, "ab"[i % 2], (Mention("x"),), uri=f"{name}.png")
               for i, name in enumerate(levels)]  # fmt: skip
    data = cb.Store(store, own).load(cb.Data(Annotations.from_records(records), dataset), dataset)
    labels = data.label("owlv2", level="object", concepts=("red", "green"), threshold=0.5)
    assert "queued, 0 of 1 chunk" in labels.title()
    with pytest.raises(cb.CobalanceError, match="once it is done"):
        labels.accept()
    labels.run()
    assert labels.frame.set_index("concept")["images"].to_dict() == {"red": 2, "green": 1}
    ((ids, scores),) = labels.scores()
    assert ids == list(levels)
    assert scores.iloc[1].tolist() == pytest.approx([250 / 255, 250 / 255])
    labels.accept("ann")
    concepts = {record.id: {m.concept for m in record.mentions} for record in
                data.read().annotations.records()}  # fmt: skip
    assert concepts == {"a": {"x", "red"}, "b": {"x", "red", "green"}, "c": {"x"}}
    assert [one.id for one in data.labels()] == [labels.id]
    cb.Store(store, own).load(cb.Data(Annotations.from_records(records[:2]), dataset), dataset)
    assert {r.id: len(r.mentions) for r in data.read().annotations.records()} == {
        "a": 2, "b": 3, "c": 1,
    }  # fmt: skip
    labels.change(thresholds={"red": 1.0}).reject()
    assert {m.concept for r in data.read().annotations.records() for m in r.mentions} == {"x"}
    assert labels.images()["concept"].tolist() == ["green"]
