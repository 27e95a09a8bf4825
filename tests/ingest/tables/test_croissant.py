"""Croissant: the same records as mlcroissant's, and what is refused."""

import json
from hashlib import sha256

import mlcroissant
import pytest

from cobalance.graph.errors import InputError
from cobalance.graph.progress import silent
from cobalance.ingest.load import detect_format, read_annotations
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables import load_table
from tests.ingest.published.hubs import croissant

FIELDS = ("image_id", "label", "weather", "split")


@pytest.fixture
def described(tmp_path):
    """A Croissant file, and a function that changes and writes it."""
    croissant(tmp_path)
    path = tmp_path / "croissant.json"

    def change(edit):
        about = json.loads(path.read_text())
        edit(about)
        path.write_text(json.dumps(about))
        return path

    return change


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
def test_the_records_are_those_of_mlcroissant(described, tmp_path):
    digest = sha256((tmp_path / "data/streets.csv").read_bytes()).hexdigest()
    path = described(lambda about: about["distribution"][0].update(sha256=digest))
    assert detect_format(path) == "croissant"
    columns = load_table(path, Problems("a"), silent).columns
    ours = list(zip(*(columns[name].to_pylist() for name in FIELDS), strict=True))
    records = mlcroissant.Dataset(str(path)).records("streets")
    assert ours == [
        tuple(record[f"streets/{name}"].decode() for name in FIELDS) for record in records
    ]


def test_a_table_is_found_by_its_name_after_a_download(described, tmp_path):
    (tmp_path / "data/streets.csv").rename(tmp_path / "streets.csv")
    url = "https://example.org/files/streets.csv"
    path = described(lambda about: about["distribution"][0].update(contentUrl=url))
    assert len(read_annotations(path).images) == 5
    (tmp_path / "streets.csv").unlink()
    with pytest.raises(InputError, match=f"describes {url}, which is not beside it"):
        read_annotations(path)


@pytest.mark.parametrize("url", ["../secret.csv", "/etc/passwd", "croissant.json"])
def test_a_table_lies_beside_the_file(described, tmp_path, url):
    (tmp_path.parent / "secret.csv").write_text("picture\n1.jpg\n")
    path = described(lambda about: about["distribution"][0].update(contentUrl=url))
    with pytest.raises(InputError, match="which is not beside it"):
        read_annotations(path)


def transform(about):
    about["recordSet"][0]["field"][1]["source"]["transform"] = {"regex": "(a+)+$"}


def join(about):
    about["recordSet"][0]["field"][1]["source"]["fileObject"] = {"@id": "other.csv"}


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (transform, "the field streets/label is transformed"),
        (join, "its records join streets.csv, other.csv"),
        (lambda about: about.update(recordSet=[]), "no field is a column of a file"),
        (lambda about: about.update(recordSet=[3]), "describes no table that can be read"),
        (lambda about: about.pop("distribution"), "describes no table that can be read"),
    ],
)
def test_what_is_more_than_a_table_is_refused(described, edit, said):
    with pytest.raises(InputError, match=said) as caught:
        read_annotations(described(edit))
    assert "Name the files of its records." in str(caught.value)
