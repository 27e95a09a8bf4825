"""Captions, licences and attribution, from COCO files and from tables of any format."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from cobalance.base.errors import InputError
from cobalance.ingest.load import read_annotations, read_frame
from cobalance.ingest.options import ReadOptions

LICENSES = [
    {"id": 3, "name": "Attribution-NonCommercial-NoDerivs License", "url": "http://x/by-nc-nd"},
    {"id": 4, "name": "Attribution License", "url": "http://x/by"},
]
IMAGES = [
    {
        "id": 1,
        "file_name": "1.jpg",
        "license": 3,
        "flickr_url": "http://flickr/1",
        "coco_url": "http://coco/1",
    },
    {"id": 2, "file_name": "2.jpg", "license": 4, "coco_url": "http://coco/2"},
    {"id": 3, "file_name": "3.jpg", "license": 9},
]
CAPTIONS = [(2, "A dog ."), (1, "A man's hat"), (2, " a  cat"), (1, "Un café\n"), (2, "  ")]
COUNTED = {"1": ["A man's hat", "Un café\n"], "2": ["A dog .", " a  cat"]}


def told(annotations):
    """Texts by image id."""
    if annotations.texts is None:
        return {}
    ids = annotations.images["id"].iloc[annotations.texts["image"]].tolist()
    rows = annotations.texts.drop(columns="image").itertuples(index=False)
    return dict(zip(ids, map(tuple, rows), strict=True))


def captions_of(annotations):
    return {image: captions for image, (captions, *_) in told(annotations).items()}


@pytest.fixture
def files(tmp_path):
    def save(name, content):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return path

    return save


@pytest.fixture
def instances(files):
    def save(images=IMAGES, **more):
        annotations = [
            {"image_id": image["id"], "category_id": category, "bbox": [1, 1, 2, 2]}
            for image in images
            for category in (1, 2)
        ]
        categories = [{"id": 1, "name": "farm"}, {"id": 2, "name": "cow"}]
        content = {"images": images, "annotations": annotations, "categories": categories}
        return files("instances.json", content | {"licenses": LICENSES} | more)

    return save


@pytest.fixture
def coco_captions(files):
    def save(captions=CAPTIONS, images=IMAGES, **more):
        annotations = [
            {"id": number, "image_id": image, "caption": caption}
            for number, (image, caption) in enumerate(captions)
        ]
        return files("captions.json", {"images": images, "annotations": annotations} | more)

    return save


def read(path, **options):
    return read_annotations(path, ReadOptions(class_category={"farm": "farm"}, **options))


def test_licences_of_instances(instances):
    assert told(read(instances())) == {
        "1": (None, LICENSES[0]["name"], LICENSES[0]["url"], "http://flickr/1"),
        "2": (None, LICENSES[1]["name"], LICENSES[1]["url"], "http://coco/2"),
    }


@pytest.mark.parametrize(
    "licenses", [None, {}, "MIT", [1], [{"name": "x"}], [{"id": [3]}], [{"id": 3, "name": 5}]]
)
@pytest.mark.parametrize("on_error", ["fail", "skip"])
def test_licences_that_are_none_are_no_fault(instances, licenses, on_error):
    images = [{**IMAGES[2], "license": {"by": 3}, "flickr_url": 5}]
    path = instances(images, licenses=licenses)
    annotations = read(path, on_error=on_error)
    assert (told(annotations), annotations.skipped) == ({}, ())


@pytest.mark.parametrize(
    ("coco_url", "is_known"),
    [
        ("http://images.cocodataset.org/train2017/000000391895.jpg", True),
        ("http://mscoco.org/images/57870", True),
        ("http://cocodataset.org.example.com/1.jpg", False),
        ("http://[::1/broken", False),
        (7, False),
        (None, False),
    ],
)
def test_without_a_list_numbers_are_trusted_of_cocos_own_images_alone(
    instances, coco_url, is_known
):
    images = [{"id": 1, "file_name": "1.jpg", "license": 6, "coco_url": coco_url}]
    found = read(instances(images, licenses=None))
    if is_known:
        _, name, url, _ = told(found)["1"]
        assert name == "Attribution-NoDerivs License"
        assert url == "http://creativecommons.org/licenses/by-nd/2.0/"
        assert found.notes == read(instances(images, licenses=[{"id": 6}])).notes
    else:
        assert [row[1:3] for row in told(found).values()] in ([], [(None, None)])
        assert "1 image of unknown licence" in found.notes[-1]
        assert "(6); add it" in found.notes[-1]
    other = {"id": 6, "name": "Ours"}
    (mine,) = told(read(instances(images, licenses=[other]))).values()
    assert mine[1] == "Ours"


def test_the_address_of_a_licence_is_no_name_of_it(instances):
    images = [{"id": 1, "file_name": "1.jpg", "license": 1}]
    listed = [{"id": 1, "name": "http://x/by", "url": "http://x/by"}]
    assert told(read(instances(images, licenses=listed))) == {
        "1": (None, None, "http://x/by", None)
    }


def test_coco_captions_beside_instances(instances, coco_captions):
    annotations = read(instances(licenses=[]), captions=coco_captions(licenses=LICENSES))
    assert told(annotations) == {
        "1": (COUNTED["1"], LICENSES[0]["name"], LICENSES[0]["url"], "http://flickr/1"),
        "2": (COUNTED["2"], LICENSES[1]["name"], LICENSES[1]["url"], "http://coco/2"),
    }
    assert annotations.notes[-1].endswith("captions.json: captions of 2 of 3 images")


def test_coco_captions_as_main_input_keep_their_captions(coco_captions):
    annotations = read_annotations(
        coco_captions(licenses=LICENSES),
        ReadOptions(
            vocabulary=("dog", "hat"),
            class_words="coco-gb",
        ),
    )
    assert annotations.images["id"].tolist() == ["1"]
    about = LICENSES[0]["name"], LICENSES[0]["url"], "http://flickr/1"
    assert told(annotations)["1"] == (COUNTED["1"], *about)


def test_images_that_are_not_loaded_are_counted(instances, coco_captions):
    path = instances(IMAGES[:1])
    annotations = read(path, captions=coco_captions())
    assert captions_of(annotations) == {"1": COUNTED["1"]}
    assert annotations.notes[-1].endswith(
        f"captions of 1 of 1 image; left out those of 1 image that {path} does not load"
    )


def test_a_file_of_other_images_is_an_error(instances, coco_captions, files):
    with pytest.raises(
        InputError, match=r"has captions of none of the images of .*instances\.json"
    ):
        read(instances(IMAGES[2:]), captions=coco_captions())
    blank = files("blank.csv", "image_id,caption\n1,\n1, \n")
    with pytest.raises(InputError, match="has captions of none"):
        read(instances(), captions=blank)


ROWS = [(image, caption) for image, caption in CAPTIONS if caption.strip()]


@pytest.mark.parametrize("layout", ["rows", "lists"])
@pytest.mark.parametrize("key", ["id", "file name", "path"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_tables(instances, tmp_path, layout, key, kind):
    named = {"id": "{}", "file name": "{}.jpg", "path": "some/folder/{}.jpg"}[key]
    if layout == "rows":
        frame = pd.DataFrame(ROWS, columns=["image_id", "caption"])
    else:
        lists = [COUNTED["1"], COUNTED["2"]]
        cells = lists if kind in ("parquet", "jsonl") else [json.dumps(cell) for cell in lists]
        frame = pd.DataFrame({"image_id": [1, 2], "caption": cells})
    frame["image_id"] = frame["image_id"].map(named.format)
    path = tmp_path / f"captions.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pandas(frame), path)
    elif kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    assert captions_of(read(instances(), captions=path)) == COUNTED


def test_two_columns_need_no_usual_names(instances, files):
    path = files("captions.csv", 'file,said\n1.jpg,"[sic] a man"\n2.jpg,"[""a"", ""b""]"\n')
    assert captions_of(read(instances(), captions=path)) == {"1": ["[sic] a man"], "2": ["a", "b"]}


def test_file_names_come_before_ids_that_differ(files):
    main = files("main.csv", "image_id,label,concepts,uri\n1,x,a,train/b.jpg\n2,x,a,train/a.jpg\n")
    captions = files(
        "c.csv", "image_id,file_name,caption\n1,train/a.jpg,of a\n2,train/b.jpg,of b\n"
    )
    annotations = read_annotations(main, ReadOptions(captions=captions))
    assert captions_of(annotations) == {"1": ["of b"], "2": ["of a"]}


def test_names_that_two_images_have_are_not_guessed(files):
    main = files(
        "main.csv", "image_id,label,concepts,uri\n1,x,a,u/1.jpg\n2,x,a,v/1.jpg\n3,x,a,w.jpg\n"
    )
    captions = files("c.csv", "file_name,caption\n1.jpg,one\nw.jpg,w\n")
    annotations = read_annotations(main, ReadOptions(captions=captions))
    assert captions_of(annotations) == {"3": ["w"]}
    captions = files("d.csv", "file_name,caption\nx/w.jpg,one\ny/w.jpg,two\nv/1.jpg,v\n")
    annotations = read_annotations(main, ReadOptions(captions=captions))
    assert captions_of(annotations) == {"2": ["v"]}


def test_a_table_keeps_its_own_captions(files):
    main = files(
        "main.csv",
        "image_id,label,concepts,captions,license,attribution\n"
        '1,x,a,"[""one"", ""two""]",MIT,me\n2,x,b,three,,\n3,x,b,,,\n',
    )
    annotations = read_annotations(main)
    assert told(annotations) == {
        "1": (["one", "two"], "MIT", None, "me"),
        "2": (["three"], None, None, None),
    }
    beside = files("c.csv", "image_id,caption\n2,other\n")
    annotations = read_annotations(main, ReadOptions(captions=beside))
    assert captions_of(annotations) == {"1": ["one", "two"], "2": ["other"]}


def test_a_frame_with_lists_of_captions_is_searched(files):
    frame = pd.DataFrame(
        {"image_id": ["1", "2"], "captions": [["a dog", "A man"], ["a woman with a hat"]]}
    )
    options = ReadOptions(
        vocabulary=("dog", "hat"),
        class_words="coco-gb",
    )
    annotations = read_frame(frame, options)
    assert annotations.images["class_name"].tolist() == ["man", "woman"]
    assert annotations.mentions["concept"].tolist() == ["dog", "hat"]
    assert captions_of(annotations) == {"1": ["a dog", "A man"], "2": ["a woman with a hat"]}
    options = ReadOptions(captions=files("c.csv", "image_id,caption\n2,other\n"))
    named = frame.assign(label="x", concepts="a")
    assert captions_of(read_frame(named, options))["2"] == ["other"]


def test_a_column_of_captions_that_is_none_is_no_fault(tmp_path):
    path = tmp_path / "main.parquet"
    table = {"image_id": ["1"], "label": ["x"], "concepts": ["a"], "caption": [0.5]}
    pq.write_table(pa.table(table), path)
    assert told(read_annotations(path)) == {}
    with pytest.raises(InputError, match="holds decimal numbers, where text is needed"):
        read_annotations(
            path,
            ReadOptions(
                caption_column="caption",
                vocabulary=("a",),
            ),
        )


def test_captions_follow_their_images_through_filters(files):
    main = files(
        "main.csv", "image_id,label,concepts,caption\n1,x,a,one\n2,y,a,two\n3,y,a,\n4,y,a,4\n"
    )
    annotations = read_annotations(main, ReadOptions(keep_class=("y",)))
    assert captions_of(annotations) == {"2": ["two"], "4": ["4"]}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("c.json", '{"images": [], "annotations": [{"category_id": 1}]}', "file of instances, not"),
        (
            "c.json",
            '{"images": [{"id": 1}], "annotations": [{"image_id": 2, "caption": ""}]}',
            "is n",
        ),
        ("c.txt", "one\ntwo\n", "there is no column 'caption'"),
        ("c.csv", "image_id,caption\n", "has no rows"),
        ("c.csv", "image_id,length,size\n1,2,3\n", "there is no column 'caption'"),
        ("c.csv", "caption,length,size\n1,2,3\n", "there is no column 'image_id'"),
        ("c.csv", "image_id,caption\n,one\n", "there is no image id"),
        ("c.csv", f"image_id,caption\n1,{'x' * 10_001}\n", "is longer than 10,000 characters"),
    ],
)
def test_files_that_cannot_be_used(instances, files, name, content, reason):
    with pytest.raises(InputError) as caught:
        read(instances(), captions=files(name, content))
    assert caught.value.file.endswith(name)
    assert reason in str(caught.value)


def test_malformed_records_are_skipped_and_told(instances, coco_captions, files):
    path = coco_captions([*CAPTIONS, (7, "of no image"), (1, 5), (2, "x" * 10_001)])
    annotations = read(instances(), captions=path, on_error="skip")
    assert captions_of(annotations) == COUNTED
    assert len(annotations.skipped) == 3
    table = files("c.csv", "image_id,caption\n1,one\n,two\n2,three,3\n2,four\n")
    annotations = read(instances(), captions=table, on_error="skip")
    assert captions_of(annotations) == {"1": ["one"], "2": ["four"]}
    assert [message.error.record for message in annotations.skipped] == [
        "line 4",
        "line 3",
    ]


def test_limits(instances, coco_captions, files):
    table = files("c.csv", 'image_id,caption\n1,"[""a"", ""b"", ""c"", ""d""]"\n')
    for path, what in ((coco_captions(), "annotations"), (table, "captions in its rows")):
        with pytest.raises(InputError, match=f"has more than 3 {what}") as caught:
            read(instances(IMAGES[:1]), captions=path, max_mentions=3)
        assert "max_mentions" in str(caught.value)
    table = files("d.csv", "image_id,caption\n1,a\n1,b\n1,c\n")
    with pytest.raises(InputError, match="has more than 2 rows"):
        read(instances(IMAGES[:1]), captions=table, max_rows=2)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=4),
        min_size=1,
        max_size=4,
    )
)
@example([['["a"]', "[b]", "A\u2028b\x00", " . "]])
def test_any_text_is_kept_exactly(instances, coco_captions, tmp_path, texts):
    images = [{"id": number} for number in range(len(texts))]
    main = instances(images)
    wanted = {
        str(number): kept
        for number, own in enumerate(texts)
        if (kept := [text for text in own if text.strip()])
    }
    table = tmp_path / "captions.parquet"
    rows = pa.table(
        {"image_id": [str(number) for number in range(len(texts))], "captions": texts},
        schema=pa.schema([("image_id", pa.string()), ("captions", pa.list_(pa.string()))]),
    )
    pq.write_table(rows, table)
    flat = [(number, text) for number, own in enumerate(texts) for text in own]
    for path in (table, coco_captions(flat, images)):
        if wanted:
            assert captions_of(read(main, captions=path)) == wanted
        else:
            with pytest.raises(InputError, match="has captions of none"):
                read(main, captions=path)
