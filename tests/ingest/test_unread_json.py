"""Forms that are not read are refused by their names."""

import json
import zipfile

import pytest

from cobalance.base.errors import InputError
from cobalance.ingest.load import read_annotations
from tests.ingest.tool_files import read_files

FORMS = {
    "SA-1B": {"image": {"image_id": 1, "file_name": "sa_1.jpg"},
              "annotations": [{"predicted_iou": 0.9, "stability_score": 0.9}]},
    "YouTube-VIS": {"videos": [{"id": 1, "file_names": ["1/0.jpg"]}], "categories": [],
                    "annotations": [{"id": 1, "video_id": 1, "bboxes": [None]}]},
    "Encord": [{"label_hash": "x", "data_hash": "y", "data_units": {}}],
    "Labelbox's NDJSON for imports": [{"uuid": "1", "dataRow": {"id": "2"}, "name": "cart"}],
    "MPII": [{"image": "a.jpg", "joints": [[1, 2]], "center": [1, 2], "scale": 3.5}],
    "Scale": [{"task_id": "1", "type": "imageannotation", "params": {}, "response": {}}],
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_a_form_that_is_not_read_is_refused_by_its_name(tmp_path, name):
    with pytest.raises(InputError, match=name):
        read_files(tmp_path, {"a.json": FORMS[name]}, "a.json")


def test_it_stops_a_folder_and_an_archive_that_have_it(tmp_path):
    (tmp_path / "street.jpg").write_bytes(b"")
    (tmp_path / "labels.csv").write_text("image,label\nstreet.jpg,road\n")
    task = {"task_id": "1", "params": {"attachment": "street.jpg"}, "response": {}}
    (tmp_path / "tasks.json").write_text(json.dumps([task]))
    with pytest.raises(InputError, match=r"tasks\.json: is a task of Scale"):
        read_annotations(tmp_path)

    with zipfile.ZipFile(tmp_path / "tasks.zip", "w") as archive:
        archive.writestr("tasks.json", json.dumps([task]))
    with pytest.raises(InputError, match=r"tasks\.json: is a task of Scale"):
        read_annotations(tmp_path / "tasks.zip")
