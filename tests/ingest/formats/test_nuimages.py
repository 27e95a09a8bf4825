"""nuImages: what is refused. How it is read is in `tests.ingest.published.driving`."""

import json

import pytest

from cobalance.base.errors import InputError
from cobalance.ingest.load import read_annotations
from tests.ingest.published.driving import nuimages


@pytest.mark.parametrize("named", ["", "object_ann.json"])
@pytest.mark.parametrize(
    ("table", "rows", "said"),
    [
        ("log", None, "object_ann.json: (has no|needs) .*log.json"),
        ("log", [], "object_ann.json, d1: has no .l1."),
        ("sample_data", [], "has no images"),
        ("sensor", [{"channel": "CAM_BACK"}], "object_ann.json: has no .token."),
    ],
)
def test_tables_that_lack_something_are_refused(tmp_path, named, table, rows, said):
    nuimages(tmp_path)
    version = tmp_path / "nuimages/v1.0-train"
    path = version / f"{table}.json"
    path.unlink()
    if rows is not None:
        path.write_text(json.dumps(rows))
    with pytest.raises(InputError, match=said):
        read_annotations(version / named)
