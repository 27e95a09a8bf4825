"""A small dataset with hostile names, half of it generated, for every test of exports."""

import hashlib
import importlib
import json
import warnings
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.generation.export import EXPORTERS, ExportDataset, ExportOptions
from cobalance.generation.export.images.image import split_names
from cobalance.generation.output.manifest import manifest_frame
from cobalance.vision.images.regions import read_regions, write_regions

FORMATS = list(EXPORTERS)
TRAIN = 11  # images of the split train: 7 real ones and 4 generated
OTHER = split_names(["a/b: c"])["a/b: c"]
WITH_IMAGES = [name for name in FORMATS if name != "weights"]
REFERRING = ["folder", "coco"]
HOSTILE = [
    "a/b\\c/../d.jpg",
    "a_b_c_d_jpg",
    'o\'hare "quoted" `ticked` $HOME',
    "\u202eright to left \u0634\u0627\u0631\u0639",
    "\U0001f6e3\ufe0f",
    "long " * 59 + "name!",
    "CON",
    "con",
    "..",
    "-rf",
]
HOSTILE_CLASS = "sea | <script>alert(1)</script> *bird*"
HOSTILE_CONCEPT = '\u0634\u0627\u0631\u0639, "street"; [x]'
SIZE = (16, 12)


def picture(seed: int, kind: str = "PNG", size: tuple[int, int] = SIZE) -> bytes:
    """Bytes of a small image of noise."""
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    out = BytesIO()
    Image.fromarray(pixels).save(out, kind)
    return out.getvalue()


def mask_picture() -> bytes:
    pixels = np.zeros((SIZE[1], SIZE[0]), dtype=np.uint8)
    pixels[3:9, 4:11] = 255
    out = BytesIO()
    Image.fromarray(pixels).convert("1").save(out, "PNG")
    return out.getvalue()


@dataclass
class Stores:
    """The files behind a dataset; reading one that is not there fails as a disk does."""

    real: dict[str, bytes] = field(default_factory=dict)
    generated: dict[str, bytes] = field(default_factory=dict)
    reads: int = 0

    def read_real(self, uri: str) -> bytes:
        self.reads += 1
        return self._read(self.real, uri)

    def read_generated(self, path: str) -> bytes:
        return self._read(self.generated, path)

    @staticmethod
    def _read(files: dict[str, bytes], name: str) -> bytes:
        if name not in files:
            raise FileNotFoundError(2, "No such file or directory", name)
        return files[name]


def generated_row(index: int, stores: Stores, **others: Any) -> dict[str, Any]:
    candidate = f"5f1c/000002/{index:06d}"
    path, mask_path = f"5f1c/images/{index}.png", f"5f1c/masks/{index}.png"
    data = picture(1000 + index)
    stores.generated |= {path: data, mask_path: mask_picture()}
    row = {
        "candidate": candidate,
        "job": "5f1c",
        "query": 2,
        "index": index,
        "class": HOSTILE_CLASS,
        "concepts": ["wood", HOSTILE_CONCEPT],
        "prompt": 'a "photo", of\nwood',
        "seed": 2**63 - 1 - index,
        "verdict": "accepted",
        "reason": "",
        "rank": None,
        "path": path,
        "mask_path": mask_path,
        "width_px": SIZE[0],
        "height_px": SIZE[1],
        "sha256": hashlib.sha256(data).hexdigest(),
        "source_image": HOSTILE[index],
        "source_uri": f"{index}.png",
        "source_class": None,
        "captions": None,
        "mask_sha256": "0" * 64,
        "chunk": "000-000000",
        "chunk_items": [candidate],
        "backend": "inpaint",
        "model": "owner/name",
        "revision": None,
        "weights_sha256": "ab" * 32,
        "digital_source_type": "http://cv.iptc.org/newscodes/digitalsourcetype/"
        "compositeWithTrainedAlgorithmicMedia",
        "settings": json.dumps({"steps": 50, "x_px": index}),
        "scores": json.dumps(
            {"clip": {"score": 0.7 + index, "accepted": True, "reason": "", "details": {}}}
        ),
        "software": json.dumps({"cobalance": "0.1.0"}),
        "made_at": f"2026-01-02T03:04:0{index}.500+00:00",
        "decided_by": None,
    }
    return row | others


def hostile_records(ids: list[str]) -> list[ImageRecord]:
    outline = "[[1,1,7,1,7,6,1,6]]"
    places = (
        Mention("wood", box=(1.0, 2.0, 5.0, 4.0), score=0.5),
        Mention(HOSTILE_CONCEPT, area_px2=30.0, box=(1.0, 1.0, 6.0, 5.0), segmentation=outline),
        Mention("sea", segmentation=outline),
    )
    return [
        ImageRecord(
            image,
            "landbird" if at % 3 else HOSTILE_CLASS,
            (*places[: at % 4], Mention("sky")),
            split=("train", "train", "a/b: c")[at % 3],
            uri=f"{at}.png",
            width_px=SIZE[0] if at % 2 else None,
            height_px=SIZE[1] if at % 2 else None,
        )
        for at, image in enumerate(ids)
    ]


def real_frame(annotations: Annotations) -> pd.DataFrame:
    records = list(annotations.records())
    return pd.DataFrame(
        {
            "id": [record.id for record in records],
            "class": [record.class_name for record in records],
            "split": [record.split for record in records],
            "uri": [record.uri for record in records],
            "width_px": pd.array([record.width_px for record in records], dtype="Int64"),
            "height_px": pd.array([record.height_px for record in records], dtype="Int64"),
            "concepts": [sorted({m.concept for m in record.mentions}) for record in records],
        }
    )


@dataclass
class Sample:
    """A dataset and the files behind it."""

    dataset: ExportDataset
    stores: Stores

    def alone(self) -> ExportDataset:
        """The generated images without the real ones."""
        return replace(self.dataset, real=None, regions=None)


def make_sample(folder: Path, ids: list[str]) -> Sample:
    annotations = Annotations.from_records(hostile_records(ids))
    write_regions(folder, "birds", annotations)
    stores = Stores()
    for at in range(len(ids)):
        stores.real[f"{at}.png"] = picture(at, "JPEG" if at % 2 else "PNG")
    rows = [generated_row(index, stores) for index in range(5)]
    dataset = ExportDataset(
        'birds "<b>" \u202e*x*',
        real_frame(annotations),
        manifest_frame(rows),
        stores.read_real,
        stores.read_generated,
        lambda wanted: read_regions(folder, "birds", wanted),
    )
    return Sample(dataset, stores)


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    return make_sample(tmp_path / "regions", HOSTILE)


@pytest.fixture
def numbered(tmp_path: Path) -> Sample:
    """The same, with ids as COCO has them."""
    return make_sample(tmp_path / "regions", [str(7 + 10 * at) for at in range(len(HOSTILE))])


@pytest.fixture(params=FORMATS)
def any_format(request):
    return request.param


@pytest.fixture(params=WITH_IMAGES)
def image_format(request):
    return request.param


def contents(folder):
    """The content of each file in a folder, by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def only(tmp_path):
    """The names in a test's folder, without that of the regions."""
    return sorted(path.name for path in tmp_path.iterdir() if path.name != "regions")


def one_image_a_file(name):
    return ExportOptions(format_options={"shard_images": 1} if name == "webdataset" else {})


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """The libraries' caches in a folder of the test, and no network."""
    for name in ("HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return tmp_path / "hf"


def imported(name):
    """Import a library; what it warns of meanwhile is its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)


def rows_of(sample):
    """Id, class, concepts and split of each image, from the frames themselves."""
    real, made = sample.dataset.real, sample.dataset.generated
    found = {
        row["id"]: (row["class"], row["concepts"], row["split"]) for row in real.to_dict("records")
    }
    for row in made.to_dict("records"):
        source = row["source_image"]
        split = found[source][2] if source in found else "train"
        found[row["candidate"]] = (row["class"], sorted(row["concepts"]), split)
    return found
