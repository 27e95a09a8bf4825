import pytest

from cobalance.generation.export import EXPORTERS, export
from cobalance.ingest.load import detect_format, read_annotations
from tests.generation.export.conftest import rows_of


def shown(record):
    return sorted({mention.concept for mention in record.mentions})


@pytest.mark.parametrize("name", sorted(set(EXPORTERS) - {"weights"}))
def test_the_table_of_images_is_ingested_again(name, sample, tmp_path):
    export(sample.dataset, name, tmp_path / "out")
    path = tmp_path / "out" / "manifest.parquet"
    assert detect_format(path) == "parquet"
    records = list(read_annotations(path).records())
    found = rows_of(sample)
    assert {record.id for record in records} == set(found)
    for record in records:
        assert (record.class_name, shown(record), record.split) == found[record.id]
        assert (record.width_px, record.height_px) == (16, 12)
        if name != "webdataset":
            assert (tmp_path / "out" / record.uri).exists()


@pytest.mark.parametrize("name", sorted(set(EXPORTERS) - {"weights"}))
def test_a_folder_is_ingested_again_with_its_own_concepts_alone(name, sample, tmp_path):
    export(sample.dataset, name, tmp_path / "out")
    records = {record.id: record for record in read_annotations(tmp_path / "out").records()}
    found = rows_of(sample)
    assert records.keys() == set(found)
    for at, record in records.items():
        assert (record.class_name, shown(record), record.split) == found[at]
