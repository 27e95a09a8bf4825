"""Captions beside the graph: what is written is read, whatever was there before."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from cobalance.base.errors import InputError
from cobalance.base.records import Annotations, ImageRecord
from cobalance.ingest.captions.image_texts import caption_files, read_image_texts, write_image_texts
from cobalance.ingest.frames import TextColumns

HOSTILE = ["a/b", "..", "\u202eشارع 🛣️", "x" * 200, "A", "a", " %2F", "con"]
NOTHING = (None, None, None, None)


def told(texts):
    """Annotations of images by id: captions, licence, its address, attribution; None: unknown."""
    annotations = Annotations.from_records(ImageRecord(name, "street") for name in texts)
    columns = [list(column) for column in zip(*texts.values(), strict=True)]
    every = np.arange(len(texts))
    return replace(annotations, texts=TextColumns(every, *columns).frame(every))


def held(folder, dataset, ids=None):
    frame = read_image_texts(folder, dataset, ids)
    assert frame["id"].is_monotonic_increasing
    return {row[0]: tuple(row[1:]) for row in frame.itertuples(index=False)}


def test_what_is_written_is_read(tmp_path):
    texts = {
        "2": (["b", "a", "b"], "CC BY", "http://x/by", "http://flickr/2"),
        "10": (None, None, None, "http://flickr/10"),
        "1": ([" A  man .\n", "«Été» 🛣️"], None, None, None),
        "none": NOTHING,
    }
    assert write_image_texts(tmp_path, "d", told(texts)) == 3
    assert held(tmp_path, "d") == {
        "1": ([" A  man .\n", "«Été» 🛣️"], None, None, None),
        "10": ([], None, None, "http://flickr/10"),
        "2": (["b", "a", "b"], "CC BY", "http://x/by", "http://flickr/2"),
    }
    assert held(tmp_path, "d", ["2", "none", "gone"]).keys() == {"2"}
    assert (
        held(tmp_path, "d", []) == held(tmp_path, "other") == held(tmp_path, "other", ["1"]) == {}
    )


def test_what_a_new_file_does_not_tell_stays(tmp_path):
    write_image_texts(
        tmp_path, "d", told({"1": (["one"], "BY", "u", None), "2": (["two"], *"abc")})
    )
    write_image_texts(
        tmp_path, "d", told({"1": (None, "BY-ND", None, "x"), "3": (["three"], *"def")})
    )
    assert held(tmp_path, "d") == {
        "1": (["one"], "BY-ND", "u", "x"),
        "2": (["two"], *"abc"),
        "3": (["three"], *"def"),
    }
    write_image_texts(tmp_path, "d", told({"1": (["another", "one"], None, None, None)}))
    assert held(tmp_path, "d", ["1"]) == {"1": (["another", "one"], "BY-ND", "u", "x")}


def test_replacing_leaves_no_other_image(tmp_path):
    texts = {name: ([name], None, None, None) for name in "abc"}
    write_image_texts(tmp_path, "d", told(texts))
    write_image_texts(
        tmp_path, "d", told({"a": NOTHING, "b": (["B"], None, None, None)}), replace=True
    )
    assert held(tmp_path, "d") == {"a": (["a"], *[None] * 3), "b": (["B"], *[None] * 3)}
    write_image_texts(tmp_path, "d", told({"c": (["C"], None, None, None)}), afresh=True)
    assert held(tmp_path, "d") == {"c": (["C"], *[None] * 3)}
    write_image_texts(tmp_path, "d", told({"x": NOTHING}), replace=True)
    assert not caption_files(tmp_path).path("d").exists()
    assert write_image_texts(tmp_path, "d", told({"x": NOTHING})) == 0


def test_the_same_again_leaves_the_file_alone(tmp_path):
    texts = {str(number): ([f"caption {number}"], "BY", None, None) for number in range(5_000)}
    write_image_texts(tmp_path, "d", told(texts))
    path = caption_files(tmp_path).path("d")
    before = path.stat()
    write_image_texts(tmp_path, "d", told(texts))
    write_image_texts(tmp_path, "d", told({"7": NOTHING}))
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert held(tmp_path, "d", ["4999", "0"]) == {
        name: tuple(texts[name]) for name in ("0", "4999")
    }
    assert len(held(tmp_path, "d")) == 5_000


@pytest.mark.parametrize("seed", range(4))
def test_any_number_of_writes_equals_a_dictionary(tmp_path, seed):
    random = Random(seed)
    names = [f"{number:x}/{HOSTILE[number % 8][:9]}" for number in range(4_500)]
    model = {}
    for _ in range(3):
        chosen = random.sample(names, random.choice([1, 50, 4_000]))
        texts = {
            name: (
                random.choice([None, [f"{random.random()}"], ["x", "y"]]),
                *(random.choice([None, "p", "q"]) for _ in range(3)),
            )
            for name in chosen
        }
        write_image_texts(tmp_path, "d", told(texts))
        for name, new in texts.items():
            old = model.get(name, NOTHING)
            model[name] = tuple(a if a is not None else b for a, b in zip(new, old, strict=True))
    wanted = {
        name: (captions or [], *rest)
        for name, (captions, *rest) in model.items()
        if (captions, *rest) != NOTHING
    }
    assert held(tmp_path, "d") == wanted
    some = random.sample(names, 20)
    assert held(tmp_path, "d", some) == {name: wanted[name] for name in some if name in wanted}


def test_copy_rename_and_drop(tmp_path):
    texts = told({"1": (["one"], "BY", None, None)})
    for name in HOSTILE:
        write_image_texts(tmp_path, name, told({"1": ([name], None, None, None)}))
    assert all(held(tmp_path, name)["1"][0] == [name] for name in HOSTILE)
    write_image_texts(tmp_path, "d", texts)
    caption_files(tmp_path).copy("d", "e")
    assert held(tmp_path, "e") == held(tmp_path, "d")
    caption_files(tmp_path).rename("d", "a")
    assert (held(tmp_path, "d"), held(tmp_path, "a")) == ({}, held(tmp_path, "e"))
    caption_files(tmp_path).drop("a")
    caption_files(tmp_path).drop("never")
    assert held(tmp_path, "a") == {}
    caption_files(tmp_path).copy("a", "e")
    assert held(tmp_path, "e") == {}


def test_a_broken_file_is_named(tmp_path):
    texts = told({"1": (["one"], None, None, None)})
    write_image_texts(tmp_path, "d", texts)
    path = caption_files(tmp_path).path("d")
    path.write_bytes(b"no parquet")
    with pytest.raises(InputError, match="is no file of captions"):
        read_image_texts(tmp_path, "d")
    with pytest.raises(InputError, match="is no file of captions"):
        write_image_texts(tmp_path, "d", texts)
    assert write_image_texts(tmp_path, "d", texts, afresh=True) == 1
