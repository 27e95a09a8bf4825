"""Tables with spaces between fields."""

import pytest

from cobalance.ingest.load import detect_format, read_annotations
from cobalance.ingest.tables import TABLES


def test_a_list_of_stanford_online_products(tmp_path):
    path = tmp_path / "Ebay_train.txt"
    path.write_text(
        "image_id class_id super_class_id path\n"
        "1 1 1 bicycle_final/11_0.JPG\n2 1 1 bicycle_final/11_1.JPG\n3 2 2 chair_final/5_1.JPG\n"
    )
    assert detect_format(path) == "spaced"
    records = list(read_annotations(path).records())
    assert [record.uri for record in records] == [
        "bicycle_final/11_0.JPG", "bicycle_final/11_1.JPG", "chair_final/5_1.JPG"
    ]  # fmt: skip
    assert records[2].concepts == ("class_id: 2", "super_class_id: 2")


@pytest.mark.parametrize(
    "content",
    ["an image is here\nand there is one\n", "image label\n1.jpg a b\n", "hen egg\n1 2\n"],
)
def test_other_text_is_none(content, tmp_path):
    assert not TABLES["spaced"].detects(tmp_path / "a.txt", content.encode())
