"""Contract of all formats: records that are written are read back, whatever their names."""

import csv
import io
import json
import unicodedata

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings, strategies as st

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions

HOSTILE = [
    'o\'hare "quoted" `ticked`',
    "}) DETACH DELETE n //",
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "\u202eright to left \u0634\u0627\u0631\u0639",
    "\U0001f6e3\ufe0f",
    "long " * 59 + "name!",
    "NA",
    "null",
    "007",
    "-1",
    "[1]",
    "a,b;c|d",
    "\ufeffmark",
]
TEXT = st.text(
    st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20
) | st.sampled_from(HOSTILE)


def cleaned(text: str) -> str:
    """A name as every reader keeps it: no outer white space, nothing without width, NFC."""
    visible = text.translate(dict.fromkeys(map(ord, "\u200b\u2060\ufeff")))
    return unicodedata.normalize("NFC", visible.strip())


NAMES = TEXT.map(cleaned).filter(lambda name: name and name == name.strip())
IDS = TEXT.filter(str.strip)
NUMBERS = st.floats(0, 1e6, width=32)
MENTIONS = st.builds(
    Mention,
    NAMES,
    score=st.none() | st.floats(0, 1),
    area_px2=st.none() | NUMBERS,
    box=st.none() | st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS),
)
RECORDS = st.lists(
    st.builds(
        ImageRecord,
        IDS,
        NAMES,
        st.lists(MENTIONS, max_size=4).map(tuple),
        split=st.none() | NAMES,
        uri=st.none() | IDS,
        width_px=st.none() | st.integers(1, 10_000),
        height_px=st.none() | st.integers(1, 10_000),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda record: record.id,
).filter(lambda records: {record.class_name for record in records} != {"-1", "1"})
PLAIN = [ImageRecord("a", "b", (Mention("c"),))]
COLUMNS = ReadOptions(
    id_column="id",
    class_column="label",
    concepts_column="concepts",
    split_column="split",
    uri_column="uri",
    width_column="width",
    height_column="height",
)


def as_object(mention):
    return {
        "concept": mention.concept,
        "score": mention.score,
        "area": mention.area_px2,
        "box": mention.box,
    }


def as_row(record, concepts):
    return {
        "id": record.id,
        "label": record.class_name,
        "concepts": concepts,
        "split": record.split,
        "uri": record.uri,
        "width": record.width_px,
        "height": record.height_px,
    }


def write_text(records, separator):
    buffer = io.StringIO()
    rows = [as_row(r, json.dumps([as_object(m) for m in r.mentions])) for r in records]
    writer = csv.DictWriter(buffer, rows[0], delimiter=separator)
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue().encode()


def write_jsonl(records, _):
    rows = [as_row(r, [as_object(m) for m in r.mentions]) for r in records]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def write_parquet(records, _):
    item = pa.struct(
        [
            ("concept", pa.string()),
            ("score", pa.float64()),
            ("area", pa.float64()),
            ("box", pa.list_(pa.float64())),
        ]
    )
    rows = [as_row(r, [as_object(m) for m in r.mentions]) for r in records]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    types = {"concepts": pa.list_(item), "width": pa.int32(), "height": pa.int32()}
    table = pa.table(
        {name: pa.array(v, types.get(name, pa.string())) for name, v in columns.items()}
    )
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def same(annotations, records):
    expected = Annotations.from_records(records)
    for one, other in (
        (annotations.images, expected.images),
        (annotations.mentions, expected.mentions),
    ):
        # The type of no names at all is open.
        open_type = [
            name for name in one if one[name].isna().all() and one[name].dtype == "category"
        ]
        pd.testing.assert_frame_equal(one.drop(columns=open_type), other.drop(columns=open_type))
    assert list(annotations.records()) == list(records)


@pytest.mark.parametrize(
    ("writer", "separator"),
    [
        (write_text, ","),
        (write_text, ";"),
        (write_text, "\t"),
        (write_jsonl, ""),
        (write_parquet, ""),
    ],
    ids=["csv", "semicolons", "tsv", "jsonl", "parquet"],
)
@settings(max_examples=60, deadline=None)
@given(records=RECORDS)
@example(records=PLAIN)
@example(records=[ImageRecord(name, name, (Mention(name),)) for name in map(cleaned, HOSTILE)])
def test_table(writer, separator, records, tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "data"
    path.write_bytes(writer(records, separator))
    same(read_annotations(path, COLUMNS), records)


@settings(max_examples=60, deadline=None)
@given(records=RECORDS)
@example(records=PLAIN)
@example(records=[ImageRecord("caption", "caption"), ImageRecord("1", "0")])
def test_coco(records, tmp_path_factory):
    """Classes are categories here, and boxes stand first among what a record may lack."""
    classes = {record.class_name for record in records}
    records = [
        ImageRecord(
            r.id,
            r.class_name,
            tuple(m for m in r.mentions if m.concept not in classes),
            "train",
            r.uri,
            r.width_px,
            r.height_px,
        )
        for r in records
    ]
    names = sorted(classes | {m.concept for r in records for m in r.mentions})
    content = {
        "images": [
            {"id": r.id, "file_name": r.uri, "width": r.width_px, "height": r.height_px}
            for r in records
        ],
        "annotations": [
            {
                "image_id": r.id,
                "category_id": names.index(m.concept),
                "bbox": m.box,
                "area": m.area_px2,
                "score": m.score,
            }
            for r in records
            for m in (*r.mentions, Mention(r.class_name))
        ],
        "categories": [{"id": number, "name": name} for number, name in enumerate(names)],
    }
    path = tmp_path_factory.mktemp("coco") / "data"
    path.write_text(json.dumps(content))
    options = ReadOptions(class_category={c: c for c in classes}, split="train")
    same(read_annotations(path, options), records)


@settings(max_examples=60, deadline=None)
@given(records=RECORDS)
def test_delimited_concepts(records, tmp_path_factory):
    """Names without the delimiter survive, in any number; the rest of a record is not written."""
    names = [[m.concept for m in r.mentions if "|" not in m.concept] for r in records]
    records = [
        ImageRecord(r.id, r.class_name, tuple(map(Mention, concepts)))
        for r, concepts in zip(records, names, strict=True)
    ]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["image_id", "label", "concepts"])
    for r in records:
        writer.writerow([r.id, r.class_name, "|".join(m.concept for m in r.mentions)])
    path = tmp_path_factory.mktemp("table") / "data"
    path.write_text(buffer.getvalue())
    same(read_annotations(path, ReadOptions(delimiter="|")), records)
