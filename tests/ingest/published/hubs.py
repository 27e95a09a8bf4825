"""Hugging Face, Croissant, WebDataset and img2dataset; their own libraries write them."""

from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import webdataset

from tests.ingest.published.form import (
    form,
    pixels,
    put,
    put_csv,
    put_json,
    put_lines,
    put_pictures,
    seen,
)

CAR, BUS = (8.0, 12.0, 16.0, 24.0), (30.0, 10.0, 20.0, 30.0)
_WEATHER = ("clear", "rainy")
_ROWS = [
    {"file": "0001.png", "split": "train", "label": "indoor", "weather": 0, "cars": [CAR]},
    {"file": "0002.png", "split": "train", "label": "outdoor", "weather": 1, "cars": [CAR, BUS]},
    {"file": "0003.png", "split": "train", "label": "outdoor", "weather": 0, "cars": []},
    {"file": "0004.png", "split": "test", "label": "indoor", "weather": 1, "cars": [BUS]},
    {"file": "0005.png", "split": "test", "label": "outdoor", "weather": 0, "cars": []},
]
_TRUTH = {
    row["file"]: seen(
        f"weather: {_WEATHER[row['weather']]}",
        cls=row["label"],
        split=row["split"],
        **({"car": row["cars"]} if row["cars"] else {}),
    )
    for row in _ROWS
}


@form("Hugging Face image folder with metadata.csv", "streets",
      {f"{one.split}/{name}": one._replace(concepts=one.concepts - {"car"}, boxes={})
       for name, one in _TRUTH.items()})  # fmt: skip
def hf_folder_csv(folder: Path) -> None:
    """Hugging Face, Create an image dataset, ImageFolder: a table in the folder of each split."""
    for split in ("train", "test"):
        rows = [row for row in _ROWS if row["split"] == split]
        put_pictures(folder / "streets" / split, [row["file"] for row in rows])
        put_csv(
            folder / "streets" / split / "metadata.csv",
            "file_name,label,weather",
            [(row["file"], row["label"], _WEATHER[row["weather"]]) for row in rows],
        )


@form("Hugging Face image folder with metadata.jsonl", "streets",
      {f"{one.split}/{name}": one for name, one in _TRUTH.items()})  # fmt: skip
def hf_folder_jsonl(folder: Path) -> None:
    """Hugging Face, Create an image dataset, ImageFolder: objects with bbox and categories."""
    for split in ("train", "test"):
        rows = [row for row in _ROWS if row["split"] == split]
        put_pictures(folder / "streets" / split, [row["file"] for row in rows])
        put_lines(
            folder / "streets" / split / "metadata.jsonl",
            [
                {
                    "file_name": row["file"],
                    "label": row["label"],
                    "weather": _WEATHER[row["weather"]],
                    "objects": {"bbox": row["cars"], "categories": ["car"] * len(row["cars"])},
                }
                for row in rows
            ],
        )


def _dataset(split: str) -> Any:
    """Rows of a split with numbered labels, pictures and objects."""
    rows = [row for row in _ROWS if row["split"] == split]
    box = datasets.List(datasets.Value("float32"), length=4)
    features = datasets.Features(
        {
            "image": datasets.Image(),
            "label": datasets.ClassLabel(names=["indoor", "outdoor"]),
            "weather": datasets.ClassLabel(names=list(_WEATHER)),
            "objects": {
                "bbox": datasets.List(box),
                "category": datasets.List(datasets.ClassLabel(names=["bus", "car"])),
            },
        }
    )
    columns = {
        "image": [{"bytes": pixels("png"), "path": row["file"]} for row in rows],
        "label": [("indoor", "outdoor").index(row["label"]) for row in rows],
        "weather": [row["weather"] for row in rows],
        "objects": [
            {"bbox": row["cars"], "category": [1] * len(row["cars"])} for row in rows
        ],
    }  # fmt: skip
    return datasets.Dataset.from_dict(columns, features=features)


@form("Hugging Face Parquet shards", "streets", _TRUTH)
def hf_parquet(folder: Path) -> None:
    """Hugging Face, push_to_hub: data/split-number-of-number.parquet, features in the schema."""
    root = folder / "streets/data"
    root.mkdir(parents=True)
    for split, n_shards in (("train", 2), ("test", 1)):
        whole = _dataset(split)
        for number in range(n_shards):
            name = f"{split}-{number:05}-of-{n_shards:05}.parquet"
            whole.shard(n_shards, number, contiguous=True).to_parquet(root / name)
    put(folder / "streets/README.md", "---\nlicense: cc0-1.0\n---\n# Streets\n")


@form("Hugging Face Parquet, one shard", "train-00000-of-00001.parquet",
      {name: one._replace(split=None)
       for name, one in _TRUTH.items() if one.split == "train"})  # fmt: skip
def hf_parquet_file(folder: Path) -> None:
    """Hugging Face, push_to_hub: a class is its name, and a number is never a flag in silence."""
    _dataset("train").to_parquet(folder / "train-00000-of-00001.parquet")


@form("Hugging Face save_to_disk", "streets", _TRUTH)
def hf_saved(folder: Path) -> None:
    """Hugging Face, DatasetDict.save_to_disk: an Arrow file and a description for each split."""
    parts = {split: _dataset(split) for split in ("train", "test")}
    datasets.DatasetDict(parts).save_to_disk(folder / "streets")


@form(
    "Croissant",
    "croissant.json",
    {name: one._replace(concepts=one.concepts - {"car"}, boxes={}) for name, one in _TRUTH.items()},
)
def croissant(folder: Path) -> None:
    """MLCommons, Croissant 1.0: JSON-LD that names a CSV file and the columns of its records."""
    put_csv(
        folder / "data/streets.csv",
        "picture,kind,weather,part",
        [
            (row["file"], row["label"], _WEATHER[row["weather"]], row["split"])
            for row in _ROWS
        ],
    )  # fmt: skip
    fields = {"image_id": "picture", "label": "kind", "weather": "weather", "split": "part"}
    put_json(
        folder / "croissant.json",
        {
            "@context": {
                "@language": "en", "@vocab": "https://schema.org/", "column": "cr:column",
                "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/",
                "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
                "dct": "http://purl.org/dc/terms/", "extract": "cr:extract", "field": "cr:field",
                "fileObject": "cr:fileObject", "recordSet": "cr:recordSet", "sc":
                "https://schema.org/", "source": "cr:source",
            },
            "@type": "sc:Dataset",
            "name": "streets",
            "description": "Streets in all weathers.",
            "conformsTo": "http://mlcommons.org/croissant/1.0",
            "license": "https://creativecommons.org/publicdomain/zero/1.0/",
            "url": "https://example.org/streets",
            "distribution": [
                {"@type": "cr:FileObject", "@id": "streets.csv", "name": "streets.csv",
                 "contentUrl": "data/streets.csv", "encodingFormat": "text/csv", "sha256": "0" * 64}
            ],
            "recordSet": [
                {
                    "@type": "cr:RecordSet",
                    "@id": "streets",
                    "name": "streets",
                    "field": [
                        {"@type": "cr:Field", "@id": f"streets/{name}", "name": f"streets/{name}",
                         "dataType": "sc:Text", "source": {"fileObject": {"@id": "streets.csv"},
                                                           "extract": {"column": column}}}
                        for name, column in fields.items()
                    ],
                }
            ],
        },
        indent=2,
    )  # fmt: skip


@form("Croissant of a dataset on Hugging Face, beside its Parquet files",
      "streets/croissant.json", _TRUTH)  # fmt: skip
def croissant_parquet(folder: Path) -> None:
    """Hugging Face, Get Croissant metadata: a set of files, splits by their paths."""
    root = folder / "streets"
    for split in ("train", "test"):
        (root / "default" / split).mkdir(parents=True)
        for number in range(2):
            shard = _dataset(split).shard(2, number, contiguous=True)
            shard.to_parquet(root / f"default/{split}/{number:04}.parquet")
    files = {"fileSet": {"@id": "parquet-files-for-config-default"}}

    def column(name: str, kind: str, **more: Any) -> dict[str, Any]:
        source = {**files, "extract": {"column": name}, **more}
        return {"@type": "cr:Field", "@id": f"default/{name}", "dataType": kind, "source": source}

    context = {
        "@language": "en", "@vocab": "https://schema.org/", "column": "cr:column",
        "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/",
        "data": {"@id": "cr:data", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "dct": "http://purl.org/dc/terms/", "extract": "cr:extract", "field": "cr:field",
        "fileObject": "cr:fileObject", "fileProperty": "cr:fileProperty", "fileSet": "cr:fileSet",
        "includes": "cr:includes", "jsonPath": "cr:jsonPath", "key": "cr:key",
        "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex",
        "sc": "https://schema.org/", "source": "cr:source", "transform": "cr:transform",
    }  # fmt: skip
    put_json(
        root / "croissant.json",
        {
            "@context": context,
            "@type": "sc:Dataset",
            "name": "streets",
            "conformsTo": "http://mlcommons.org/croissant/1.1",
            "url": "https://example.org/datasets/someone/streets",
            "distribution": [
                {"@type": "cr:FileObject", "@id": "repo", "name": "repo",
                 "contentUrl": "https://example.org/someone/streets/tree/refs%2Fconvert%2Fparquet",
                 "encodingFormat": "git+https", "sha256": "0" * 64},
                {"@type": "cr:FileSet", "@id": "parquet-files-for-config-default",
                 "containedIn": {"@id": "repo"}, "encodingFormat": "application/x-parquet",
                 "includes": "default/*/*.parquet"},
            ],
            "recordSet": [
                {"@type": "cr:RecordSet", "dataType": "cr:Split", "@id": "default_splits",
                 "key": {"@id": "default_splits/split_name"},
                 "field": [{"@type": "cr:Field", "@id": "default_splits/split_name",
                            "dataType": "sc:Text"}],
                 "data": [{"default_splits/split_name": name} for name in ("train", "test")]},
                {"@type": "cr:RecordSet", "@id": "default", "field": [
                    {"@type": "cr:Field", "@id": "default/split", "dataType": "sc:Text",
                     "source": {**files, "extract": {"fileProperty": "fullpath"}, "transform":
                                {"regex": "default/(?:partial-)?(train|test)/.+parquet$"}},
                     "references": {"field": {"@id": "default_splits/split_name"}}},
                    column("image", "sc:ImageObject", transform={"jsonPath": "bytes"}),
                    column("label", "sc:Integer"),
                    column("weather", "sc:Integer"),
                ]},
            ],
        },
    )  # fmt: skip


@form(
    "WebDataset",
    "shards",
    {
        f"{int(name[:4])}.png": one._replace(split=None, concepts=one.concepts - {"car"}, boxes={})
        for name, one in _TRUTH.items()
    },
)
def webdataset_shards(folder: Path) -> None:
    """webdataset/webdataset: cls, an image and JSON of each sample; names of classes beside."""
    (folder / "shards").mkdir()
    pattern = str(folder / "shards/streets-%06d.tar")
    with webdataset.ShardWriter(pattern, maxcount=3, verbose=0) as writer:
        for row in _ROWS:
            writer.write(
                {
                    "__key__": str(int(row["file"][:4])),
                    "png": pixels("png"),
                    "cls": ("indoor", "outdoor").index(row["label"]),
                    "json": {"weather": _WEATHER[row["weather"]]},
                }
            )
    put(folder / "shards/classes.json", '["indoor", "outdoor"]')


@form(
    "LAION and others, as img2dataset writes them",
    "laion/00000.parquet --id-column key --vocabulary words.txt",
    {
        "000000000": seen("bus"),
        "000000001": seen("bus", "dog"),
        "000000002": seen("dog"),
        "000000003": seen(),
    },
    "status", "similarity", "pwatermark", "punsafe", "original_width", "original_height", "NSFW",
    "error_message", "width", "height",
)  # fmt: skip
def laion(folder: Path) -> None:
    """rom1504/img2dataset: a table beside each shard, with captions and scores."""
    captions = ["A red bus", "Bus stop with a dog", "Two dogs in the rain", "An empty road"]
    columns = {
        "url": [f"https://example.org/{number}.jpg" for number in range(4)],
        "caption": captions,
        "similarity": [0.31, 0.28, 0.33, 0.29],
        "NSFW": ["UNLIKELY", "UNLIKELY", "UNSURE", "UNLIKELY"],
        "key": [f"{number:09}" for number in range(4)],
        "status": ["success"] * 3 + ["failed_to_download"],
        "error_message": [None, None, None, "HTTP Error 404: Not Found"],
        "width": [256, 256, 256, None],
        "height": [192, 192, 192, None],
        "original_width": [640, 800, 1024, None],
        "original_height": [480, 600, 768, None],
        "exif": ["{}"] * 4,
        "sha256": [f"{number:064x}" for number in (7, 8, 9)] + [None],
    }
    (folder / "laion").mkdir()
    pq.write_table(pa.table(columns), folder / "laion/00000.parquet")
    put(folder / "words.txt", "bus\ndog\n")
