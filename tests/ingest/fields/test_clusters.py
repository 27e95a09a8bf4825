"""Clusters of images, from whatever field of a record names them."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from cobalance.base.errors import InputError
from cobalance.base.records import Annotations, ImageRecord, Metadata
from cobalance.ingest.fields.apply import apply_fields
from cobalance.ingest.load import read_annotations, read_frame
from cobalance.ingest.options import ReadOptions

FRAME = pd.DataFrame(
    {
        "id": ["1", "2", "3", "4"],
        "label": ["cat", "dog", "cat", "dog"],
        "objects": [["sofa"], ["sofa"], ["lawn"], []],
        "video": ["b", None, "a", "b"],
        "patient": [7.0, 7.0, np.nan, 8.0],
        "weight": [0.5, 1.5, 2.5, 0.5],
    }
)


def clusters(**options):
    return read_frame(FRAME, ReadOptions(**options)).images.get("cluster")


@pytest.mark.parametrize("more", [{}, {"concepts_column": "objects"}, {"by_name": False}])
def test_a_column_says_which_images_belong_together(more):
    if more.get("by_name") is False:
        more |= {"id_column": "id", "class_column": "label", "concepts_column": "objects"}
    found = clusters(cluster_column="video", **more)
    assert found.astype(object).where(found.notna(), None).tolist() == ["b", None, "a", "b"]
    assert clusters(**more) is None


def test_whole_numbers_are_names():
    found = clusters(cluster_column="patient").astype(object)
    assert found.where(found.notna(), None).tolist() == ["7", "7", None, "8"]


def test_a_column_of_clusters_is_no_concept():
    flags = FRAME.drop(columns=["objects"]).assign(cow=[1, 0, 1, 1], burst=[0, 0, 1, 1])
    found = read_frame(flags, ReadOptions(cluster_column="burst"))
    assert not any(name.startswith("burst") for name in found.mentions["concept"])
    assert found.images["cluster"].tolist() == ["0", "0", "1", "1"]


def test_records_of_json_have_clusters_too(tmp_path):
    rows = [
        {"id": str(at), "label": "cat", "objects": ["sofa"], "clip": at // 2} for at in range(4)
    ]
    file = tmp_path / "images.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    found = read_annotations(file, ReadOptions(cluster_column="clip"))
    assert found.images["cluster"].tolist() == ["0", "0", "1", "1"]


def test_what_names_no_clusters_is_refused():
    with pytest.raises(InputError, match=r"no column 'vide'.*mean 'video'"):
        clusters(cluster_column="vide")
    with pytest.raises(InputError, match="'objects' holds lists"):
        clusters(cluster_column="objects", concepts_column="video")


def metadata(values, image):
    part = Metadata(np.array(image), {"clip": pa.array(values, pa.large_string())})
    images = Annotations.from_records([ImageRecord("one", "a"), ImageRecord("two", "a")])
    return Annotations(images.images, images.mentions, metadata=(part,))


def test_several_records_of_an_image_name_one_cluster():
    agree = metadata(["x", None, "x", "y"], [0, 0, 0, 1])
    options = ReadOptions(cluster_column="clip")
    assert apply_fields(agree, options, "f").images["cluster"].tolist() == ["x", "y"]
    differ = metadata(["x", "y", "y"], [0, 0, 1])
    with pytest.raises(InputError, match=r"1 images have several values in the column 'clip'"):
        apply_fields(differ, options, "f")
    with pytest.raises(InputError, match=r"no column 'clop'\. Did you mean 'clip'"):
        apply_fields(agree, ReadOptions(cluster_column="clop"), "f")
