"""Croissant: the same records as mlcroissant's, and what is refused."""

import json
from hashlib import sha256

import mlcroissant
import pandas as pd
import pytest

from cobalance.base.errors import InputError
from cobalance.base.progress import silent
from cobalance.ingest.load import detect_format, read_annotations
from cobalance.ingest.preview import sample_table
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables import load_table
from tests.ingest.published.hubs import croissant, croissant_parquet

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


OF_MLCROISSANT = "ignore:ConjunctiveGraph is deprecated:DeprecationWarning"


@pytest.mark.filterwarnings(OF_MLCROISSANT)
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


def test_its_first_rows_are_those_of_its_table(described, tmp_path):
    sample = sample_table(tmp_path / "croissant.json", "croissant")
    assert sample.columns == [*FIELDS]
    assert sample.guesses["label"].roles == ("class",)


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


def plain(value):
    """A value of mlcroissant as a table has it: text, missing, or a list."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if value is None or value != value:
        return None
    return value.decode() if isinstance(value, bytes) else str(value)


def records_of_both(path, records, fields, **mapping):
    """Records as mlcroissant yields them, and as they are read here."""
    theirs = pd.DataFrame(list(mlcroissant.Dataset(str(path), mapping=mapping).records(records)))
    columns = load_table(path, Problems("a"), silent).columns
    return (
        [list(map(plain, theirs[f"{records}/{name}"])) for name in fields],
        [columns[name].to_pylist() for name in fields],
    )


@pytest.fixture
def joined(tmp_path):
    """Images that refer to places by a part of a column, and have a column of several tags."""
    rows = ["image,place,tags", "1.jpg,x1/lane,a|b", "2.jpg,x2/road,b", "3.jpg,none,"]
    (tmp_path / "images.csv").write_text("\n".join(rows))
    (tmp_path / "places.csv").write_text("code,city\nx2,Bern\nx1,Oslo\n")

    def file(name):
        digest = sha256((tmp_path / name).read_bytes()).hexdigest()
        return mlcroissant.FileObject(
            id=name, name=name, content_url=name, encoding_formats=["text/csv"], sha256=digest
        )

    def field(name, source, **more):
        text = [mlcroissant.DataType.TEXT]
        return mlcroissant.Field(id=name, name=name, data_types=text, source=source, **more)

    def column(file, name, **step):
        transforms = [mlcroissant.Transform(**step)] if step else []
        extract = mlcroissant.Extract(column=name)
        return mlcroissant.Source(file_object=file, extract=extract, transforms=transforms)

    code, city = (mlcroissant.Source(field=f"places/{name}") for name in ("code", "city"))
    places = [field(f"places/{name}", column("places.csv", name)) for name in ("code", "city")]
    place = column("images.csv", "place", regex=r"^(x\d)/.*$")
    tags = column("images.csv", "tags", separator="|")
    images = [
        field("images/image_id", column("images.csv", "image")),
        field("images/place", place, references=code),
        field("images/tags", tags, repeated=True),
        field("images/city", city),
    ]
    about = mlcroissant.Metadata(
        name="streets",
        url="https://example.org/streets",
        license=["mit"],
        distribution=[file("images.csv"), file("places.csv")],
        record_sets=[
            mlcroissant.RecordSet(id="places", name="places", fields=places),
            mlcroissant.RecordSet(id="images", name="images", fields=images),
        ],
    )
    (tmp_path / "croissant.json").write_text(json.dumps(about.to_json(), default=str))
    return tmp_path / "croissant.json"


@pytest.mark.filterwarnings(OF_MLCROISSANT)
def test_joined_and_transformed_records_are_those_of_mlcroissant(joined):
    theirs, ours = records_of_both(joined, "images", ("image_id", "place", "tags", "city"))
    assert ours == theirs
    assert ours[2:] == [[["a", "b"], ["b"], None], ["Oslo", "Bern", None]]


@pytest.mark.filterwarnings(OF_MLCROISSANT, "ignore:The inplace keyword:DeprecationWarning")
def test_the_records_of_a_set_of_files_are_those_of_mlcroissant(tmp_path):
    croissant_parquet(tmp_path)
    path = tmp_path / "streets/croissant.json"
    theirs, ours = records_of_both(path, "default", ("split", "label"), repo=str(path.parent))
    names = {"0": "indoor", "1": "outdoor"}
    assert ours == [theirs[0], [names[code] for code in theirs[1]]]
    assert set(ours[0]) == {"train", "test"}


def test_a_key_that_is_in_several_rows_is_refused(joined):
    places = joined.with_name("places.csv")
    places.write_text(places.read_text() + "x1,Rome\n")
    with pytest.raises(InputError, match="describes no table that can be read"):
        read_annotations(joined)


def transform(about):
    about["recordSet"][0]["field"][1]["source"]["transform"] = {"jsonQuery": "a"}


def other_expression(about):
    about["recordSet"][0]["field"][1]["source"]["transform"] = {"regex": "^(a+)b"}


def expression(about):
    about["recordSet"][0]["field"][1]["source"]["transform"] = {"regex": r"(a)\1"}


def join(about):
    about["recordSet"][0]["field"][1]["source"]["fileObject"] = {"@id": "other.csv"}


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (transform, "the values of streets.csv/kind are transformed by jsonQuery: a"),
        (other_expression, r"no value of streets.csv/kind matches \^\(a\+\)b"),
        (expression, "describes no table that can be read"),
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


def test_of_several_sets_the_one_with_images_is_read(tmp_path):
    def field(records, column, file):
        source = {"fileObject": {"@id": file}, "extract": {"column": column}}
        name = f"{records}/{column}"
        return {"@id": name, "name": name, "dataType": "sc:Text", "source": source}

    document = {
        "@context": {"cr": "http://mlcommons.org/croissant/"},
        "distribution": [
            {"@id": name, "contentUrl": name} for name in ("names.csv", "rows.csv")
        ],
        "recordSet": [
            {"@id": "labels", "field": [field("labels", "name", "names.csv")]},
            {"@id": "images", "field": [
                field("images", "image", "rows.csv"), field("images", "label", "rows.csv")
            ]},
        ],
    }  # fmt: skip
    (tmp_path / "croissant.json").write_text(json.dumps(document))
    (tmp_path / "names.csv").write_text("name,code\nhen,0\negg,1\n")
    (tmp_path / "rows.csv").write_text("image,label\n1.jpg,hen\n2.jpg,egg\n")

    annotations = read_annotations(tmp_path / "croissant.json")
    assert annotations.images["id"].tolist() == ["1.jpg", "2.jpg"]
    assert annotations.images["class_name"].tolist() == ["hen", "egg"]
