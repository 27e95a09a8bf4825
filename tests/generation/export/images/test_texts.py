"""Captions, licences and attribution of images, in every format and back again."""

import contextlib
import io
import json
import tarfile
from dataclasses import replace

import pandas as pd
import pyarrow.parquet as pq
import pytest

from cobalance.generation.export import ExportOptions, export
from cobalance.generation.output.manifest import manifest_frame
from cobalance.ingest.frames import TEXT_COLUMNS
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from tests.generation.export.conftest import HOSTILE, generated_row

BY_ND = ("Attribution-NoDerivs License", "http://x/by-nd/2.0/", "http://flickr/1")
# pycocotools is compiled for an older NumPy than ours.
pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning"
)
TEXTS = {
    HOSTILE[0]: (['A "man" | \n<b>x</b>', "Ein Mann 🛣️ ."], *BY_ND),
    HOSTILE[1]: (["another  one"], None, None, None),
    HOSTILE[2]: ([], None, "http://only/address", None),
    HOSTILE[5]: (["of the other split"], "MIT", None, "me & you"),
}
EDITED = ['A "woman" | \n<b>x</b>', "Eine Frau 🛣️ ."]
NAMES = ("captions", "source_captions", "license", "license_url", "attribution")


@pytest.fixture
def told(sample):
    """A dataset of which some images have captions, one of them edited; and texts by image id."""

    def texts(ids):
        assert len(set(ids)) == len(ids)
        rows = [(name, *TEXTS[name]) for name in sorted(ids) if name in TEXTS]
        return pd.DataFrame(rows, columns=("id", *TEXT_COLUMNS), dtype=object)

    def make():
        rows = [generated_row(0, sample.stores, captions=EDITED, source_class="landbird")]
        pasted = json.dumps({"patch_image": HOSTILE[5]})
        rows += [generated_row(1, sample.stores), generated_row(2, sample.stores, settings=pasted)]
        dataset = replace(sample.dataset, generated=manifest_frame(rows), texts=texts)
        wanted = {name: (TEXTS[name][0], [], *TEXTS[name][1:]) for name in TEXTS}
        wanted |= {name: ([], [], None, None, None) for name in HOSTILE if name not in TEXTS}
        first, second, third = (row["candidate"] for row in rows)
        return dataset, wanted | {
            first: (EDITED, TEXTS[HOSTILE[0]][0], *BY_ND),
            second: ([], [], None, None, None),
            third: (
                *([], [], "http://only/address; MIT", "http://only/address; unknown"),
                "unknown; me & you",
            ),
        }

    return make


def columns_of(path, key="image_id"):
    rows = pq.read_table(path).to_pylist()
    return {row[key]: tuple(row[name] for name in NAMES) for row in rows}


def test_every_format_has_the_columns(told, image_format, tmp_path):
    dataset, wanted = told()
    export(dataset, image_format, tmp_path / "out", ExportOptions())
    assert columns_of(tmp_path / "out" / "manifest.parquet") == wanted
    held = read_annotations(tmp_path / "out" / "manifest.parquet")
    ids = held.images["id"].iloc[held.texts["image"]]
    back = {
        image: (captions or [], *about)
        for image, (_, captions, *about) in zip(
            ids, held.texts.itertuples(index=False), strict=True
        )
    }
    assert back == {
        image: (captions, *about)
        for image, (captions, _, *about) in wanted.items()
        if captions or any(about)
    }


def test_imagefolder_and_webdataset(told, tmp_path):
    dataset, wanted = told()
    export(dataset, "imagefolder", tmp_path / "folder", ExportOptions())
    found = {}
    for path in (tmp_path / "folder").glob("*/metadata.parquet"):
        found |= columns_of(path)
    assert found == wanted
    export(dataset, "webdataset", tmp_path / "shards", ExportOptions())
    samples = {}
    for path in (tmp_path / "shards" / "shards").glob("*.tar"):
        with tarfile.open(path) as tar:
            for member in tar:
                if member.name.endswith(".json"):
                    sample = json.loads(tar.extractfile(member).read())
                    samples[sample["id"]] = sample
    for image, texts in wanted.items():
        expected = {name: value for name, value in zip(NAMES, texts, strict=True) if value}
        assert {name: samples[image][name] for name in NAMES if name in samples[image]} == expected


def test_coco_captions_and_back(told, tmp_path, imported_coco):
    dataset, wanted = told()
    export(dataset, "coco", tmp_path / "out", ExportOptions())
    folder = tmp_path / "out" / "annotations"
    assert len(list(folder.glob("captions_*.json"))) == 2
    back = {}
    for path in folder.glob("captions_*.json"):
        coco = imported_coco(path)
        assert sorted(coco.anns) == list(range(1, len(coco.anns) + 1))
        content = json.loads(path.read_bytes())
        assert content.keys() >= {"info", "licenses", "images", "annotations"}
        for number, image in coco.imgs.items():
            own = [one["caption"] for one in coco.loadAnns(coco.getAnnIds(imgIds=[number]))]
            assert own == wanted[image["cobalance"]["id"]][0]
        split = path.stem.removeprefix("captions_")
        annotations = read_annotations(
            folder / f"instances_{split}.json",
            ReadOptions(class_file=tmp_path / "out" / "classes.csv", captions=path),
        )
        names = {
            str(image["id"]): image["cobalance"]["id"]
            for image in json.loads((folder / f"instances_{split}.json").read_bytes())["images"]
        }
        ids = annotations.images["id"].iloc[annotations.texts["image"]].map(names)
        rows = annotations.texts.itertuples(index=False)
        for image, (_, captions, *about) in zip(ids, rows, strict=True):
            back[image] = (captions or [], *about)
    for image, (captions, _, license_name, url, attribution) in wanted.items():
        expected = (captions, license_name, url, attribution)
        assert back.get(image, ([], None, None, None)) == expected


@pytest.fixture
def imported_coco():
    from pycocotools.coco import COCO

    def load(path):
        with contextlib.redirect_stdout(io.StringIO()):
            return COCO(str(path))

    return load


def test_nothing_known_is_nothing_said(sample, image_format, tmp_path):
    export(sample.dataset, image_format, tmp_path / "out", ExportOptions())
    assert "Captions and licences" not in (tmp_path / "out" / "README.md").read_text("utf-8")
    assert not list((tmp_path / "out").glob("annotations/captions*"))
    columns = columns_of(tmp_path / "out" / "manifest.parquet")
    assert set(map(str, columns.values())) == {str(([], [], None, None, None))}


def test_the_card_and_croissant_say_so(told, tmp_path):
    dataset, _ = told()
    export(dataset, "folder", tmp_path / "out", ExportOptions())
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "3 real images and 1 generated image have captions." in card
    assert "edited by word lists" in card
    assert "| Attribution-NoDerivs License | 1 | 1 |" in card
    assert "| MIT | 1 | 0 |" in card
    assert "| http://only/address | 1 | 0 |" in card
    assert "| http://only/address; MIT | 0 | 1 |" in card
    assert "| unknown | 7 | 1 |" in card
    croissant = json.loads((tmp_path / "out" / "croissant.json").read_bytes())
    assert "edited by word lists" in croissant["rai:dataCollection"]
    fields = {
        field["name"]: field for record in croissant["recordSet"] for field in record["field"]
    }
    assert fields["captions"]["isArray"] is True
    assert {"source_captions", "license", "attribution"} <= fields.keys()
