import logging

import pytest

from cobalance.generation.export import EXPORTERS, export
from tests.generation.export.conftest import imported, rows_of


@pytest.mark.filterwarnings(
    "ignore:ConjunctiveGraph is deprecated:DeprecationWarning", "ignore:The inplace keyword"
)
@pytest.mark.parametrize("name", list(EXPORTERS))
def test_croissant_validates_and_gives_records(name, sample, tmp_path, offline, caplog):
    export(sample.dataset, name, tmp_path / "out")
    mlcroissant = imported("mlcroissant")
    caplog.set_level(logging.CRITICAL, "absl")
    path = tmp_path / "out" / "croissant.json"
    dataset = mlcroissant.Dataset(jsonld=str(path))  # raises what is wrong with it
    assert dataset.metadata.ctx.issues.errors == set()
    assert dataset.metadata.name == sample.dataset.name
    listed = {entry.id for entry in dataset.metadata.file_objects}
    images = dataset.metadata.file_sets
    files = {
        file.relative_to(tmp_path / "out").as_posix()
        for file in (tmp_path / "out").rglob("*")
        if file.is_file()
    }
    said = {"croissant.json", "README.md", "SHA256SUMS", "cobalance-export.json"}
    in_sets = set()
    for entry in images:
        (pattern,) = entry.includes
        in_sets |= {p.relative_to(tmp_path / "out").as_posix() for p in path.parent.glob(pattern)}
    assert listed | in_sets | said == files
    record_set, n_images = ("weights", 10) if name == "weights" else ("manifest", 15)
    records = list(dataset.records(record_set))
    assert len(records) == n_images
    found = rows_of(sample)
    for record in records:
        image = record[f"{record_set}/image_id"].decode()
        assert record[f"{record_set}/label"].decode() == found[image][0]
        if name != "weights":
            concepts = [concept.decode() for concept in record["manifest/concepts"]]
            assert concepts == found[image][1]
    if name != "weights":
        assert len(list(dataset.records("generated"))) == 5
