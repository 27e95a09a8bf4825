"""Label Studio's CSV and TSV, as its converter writes them: a column for each control."""

import csv
import io
import json

import pytest

from cobalance.ingest.load import detect_format, read_annotations

ABOUT = {
    "annotation_id": 101, "annotator": 1, "created_at": "2026-01-01T00:00:00Z",
    "lead_time": 1.5, "updated_at": "2026-01-02T00:00:00Z",
}  # fmt: skip
SIDES = {"x": 5, "y": 8, "width": 20, "height": 22, "rotation": 0}


def region(name):
    size = {"original_width": 32, "original_height": 24}
    return json.dumps([{**SIDES, "rectanglelabels": [name], **size}])


def write_rows(path, rows, separator):
    text = io.StringIO()
    table = csv.DictWriter(text, sorted({*ABOUT, *rows[0]}), delimiter=separator)
    table.writeheader()
    table.writerows({**ABOUT, **row} for row in rows)
    path.write_text(text.getvalue())


@pytest.mark.parametrize(("name", "separator"), [("export.csv", ","), ("export.tsv", "\t")])
def test_regions_are_objects_and_answers_are_concepts(name, separator, tmp_path):
    several = json.dumps({"choices": ["rain", "fog"]})
    rows = [
        {"id": 1, "image": "/data/upload/1/p1.jpg", "label": region("hull"), "weather": "sun"},
        {"id": 2, "image": "/data/upload/1/p2.jpg", "label": region("mast"), "weather": several},
        {"id": 2, "image": "/data/upload/1/p2.jpg", "label": region("hull"), "weather": "sun"},
        {"id": 3, "image": "/data/upload/1/p3.jpg", "label": "", "weather": ""},
    ]
    write_rows(tmp_path / name, rows, separator)

    assert detect_format(tmp_path / name) == "label-studio-csv"
    records = list(read_annotations(tmp_path / name).records())
    assert [(record.id, record.concepts) for record in records] == [
        ("p1.jpg", ("hull", "weather: sun")),
        ("p2.jpg", ("mast", "weather: fog", "weather: rain")),
        ("p3.jpg", ()),
    ]
    assert records[0].mentions[0].box == pytest.approx((1.6, 1.92, 6.4, 5.28))


def test_choices_alone_are_a_table(tmp_path):
    rows = [
        {"id": 1, "image": "/data/upload/1/p1.jpg", "label": "hen"},
        {"id": 2, "image": "/data/upload/1/p2.jpg", "label": "egg"},
    ]
    write_rows(tmp_path / "export.csv", rows, ",")
    annotations = read_annotations(tmp_path / "export.csv")
    assert annotations.images["class_name"].tolist() == ["hen", "egg"]
    assert annotations.mentions.empty
