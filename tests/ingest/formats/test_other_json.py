"""Forms that are not read are refused by their names."""

import pytest

from cobalance.base.errors import InputError
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
