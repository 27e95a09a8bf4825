"""Names of concepts, classes and splits: validation, and columns of codes.

A name is any text of 1 to 1,000 characters without control characters, stripped of surrounding
white space and of spaces without width, and normalised to Unicode NFC, so that a word typed on two
systems is the same name. Case and inner spaces are kept. Ids and URIs of images are kept exactly.
"""

import posixpath
import re
import unicodedata
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import STRING, BoolArray, IntArray, clean_name, group_pairs

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
W = TypeVar("W")

BLOCK = 1 << 20  # codes looked up at once
LONGEST = 1_000  # characters; the graph indexes names, and index keys have a limit of 8 kB
_SPLITS = {"train": "train", "training": "train", "val": "val", "valid": "val",
           "validation": "val", "dev": "val", "test": "test", "testing": "test",
           "eval": "test"}  # fmt: skip
_UNLABELLED = {"pred": "pred", "predict": "pred"}
"""Beside cars_train and cars_test, what is to be predicted."""
_CONTROL = "[\\x00-\\x1f\\x7f-\\x9f]"  # Unicode category Cc


def name_fault(name: str) -> str | None:
    r"""Describe the fault of a cleaned name as a clause; None if it is valid.

    Examples
    --------
    >>> name_fault("stop sign"), name_fault(""), name_fault("a\x00b")
    (None, 'is empty', "holds the control character '\\x00'")
    """
    if not name:
        return "is empty"
    if len(name) > LONGEST:
        return f"is longer than {LONGEST:,} characters"
    for character in name:
        category = unicodedata.category(character)
        if category == "Cc":
            return f"holds the control character {character!r}"
        if category == "Cs":
            return f"holds half a surrogate pair, {character!r}"
    return None


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of names as integer codes: positions in `names`, -1 for none.

    Names are distinct and in sorted order.
    """

    codes: IntArray
    names: Sequence[str]

    @classmethod
    def constant(cls, name: str, n: int) -> "Coded":
        """The same name everywhere."""
        return cls(np.zeros(n, dtype=np.int64), (name,))

    @classmethod
    def none(cls, n: int) -> "Coded":
        """No name anywhere."""
        return cls(np.full(n, -1, dtype=np.int64), ())


@dataclass(frozen=True, eq=False)
class NameColumn(Coded):
    """A column of cleaned names, with the faults of values as they were written.

    `raw_codes` are positions in `raw_faults` by row; -1, the last, is a missing value, which "is
    empty". The fault of a valid value is None.
    """

    raw_codes: IntArray
    raw_faults: Sequence[str | None]

    def fault(self, row: int) -> str:
        """Describe the fault of a row with the code -1 as a clause."""
        return str(self.raw_faults[self.raw_codes[row]])

    @property
    def empty(self) -> BoolArray:
        """True where the fault is that the value is empty."""
        is_empty = np.array(self.raw_faults, dtype=np.object_) == "is empty"
        return np.asarray(is_empty[self.raw_codes], dtype=np.bool_)


def encode_names(column: pa.Array) -> NameColumn:
    """Clean a text column's values and encode them as integers.

    Examples
    --------
    >>> column = encode_names(pa.array(["tree", " tree", None, "bus"]))
    >>> column.codes.tolist(), column.names, column.fault(2)
    ([1, 1, -1, 0], ('bus', 'tree'), 'is empty')
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    encoded = column.dictionary_encode()
    # Without a missing one they are not copied.
    indices = encoded.indices
    raw_codes = pc.fill_null(indices, -1) if indices.null_count else indices
    raw_codes = raw_codes.to_numpy(zero_copy_only=False)
    return recode_names(raw_codes, encoded.dictionary.to_pylist())


def recode_names(raw_codes: IntArray, raw: Sequence[str | None]) -> NameColumn:
    """Clean the names of codes (-1 for none) and renumber them in sorted order."""
    cleaned = [clean_name(text or "") for text in raw]
    fault_of = list(map(name_fault, cleaned))
    sound = sorted({name for name, fault in zip(cleaned, fault_of, strict=True) if fault is None})

    # The last is of the code -1, a missing value; half the bits of a position are enough.
    position = pd.Index(sound, dtype=object).get_indexer(pd.Index([*cleaned, ""], dtype=object))
    codes = translate_codes(raw_codes, position.astype(np.int32))
    return NameColumn(codes, tuple(sound), raw_codes, [*fault_of, "is empty"])


def unreadable(column: pa.Array) -> BoolArray:
    """Rows of a text column that are empty, too long or hold control characters; never null."""
    odd = pc.or_(
        pc.match_substring_regex(column, _CONTROL),
        pc.or_(
            pc.match_substring_regex(column, r"^\s*$"),
            pc.greater(pc.utf8_length(column), LONGEST),
        ),
    )
    return np.asarray(pc.fill_null(odd, False), dtype=np.bool_)


def categorical(codes: IntArray, names: Sequence[str]) -> pd.Categorical:
    """Turn codes into a categorical of the names that occur."""
    occurs = np.zeros(len(names) + 1, dtype=np.bool_)
    for start in range(0, len(codes), BLOCK):
        occurs[codes[start : start + BLOCK]] = True

    used = np.flatnonzero(occurs[:-1])
    # The last is of the code -1; the smallest type saves most of the memory.
    new_code = np.full(len(names) + 1, -1, dtype=np.min_scalar_type(-max(len(used), 1)))
    new_code[used] = np.arange(len(used))
    used_names: Any = pd.Index([names[code] for code in used.tolist()], dtype=STRING)
    return pd.Categorical.from_codes(translate_codes(codes, new_code), categories=used_names)


def translate_codes(codes: IntArray, new_code: IntArray) -> IntArray:
    """Look codes up, block by block: numpy would convert all to 64 bits at once."""
    translated = np.empty(len(codes), dtype=new_code.dtype)
    for start in range(0, len(codes), BLOCK):
        translated[start : start + BLOCK] = new_code[codes[start : start + BLOCK]]
    return translated


def split_named(name: str) -> str | None:
    """Split that a folder is called by.

    Examples
    --------
    >>> split_named("valid"), split_named("train2017"), split_named("trains")
    ('val', 'train', None)
    """
    return _SPLITS.get(re.sub(r"[-_\d]+$", "", name.lower()))


def split_in_name(name: str) -> tuple[str | None, str]:
    """Split that a word of a folder's name says, and the other words; None for none or several.

    Examples
    --------
    >>> split_in_name("cars_train"), split_in_name("WIDER_val"), split_in_name("val_images2017")
    (('train', 'cars'), ('val', 'wider'), ('val', 'images2017'))
    >>> split_in_name("cars")
    (None, 'cars')
    """
    words = list(filter(None, re.split(r"[-_. ]+", name.lower())))
    named = {word: split_named(word) or _UNLABELLED.get(word) for word in words}
    splits = {split for split in named.values() if split is not None}
    rest = " ".join(word for word in words if named[word] is None)
    return (splits.pop() if len(splits) == 1 else None), rest


def split_folders(folders: Iterable[str]) -> set[str]:
    """Folders that are called as splits are, and are no classes beside others.

    Such a folder is a class beside at least as many others as there are splits, if these have
    images in themselves where it has some, or all have them below. Folders of a level whose names
    differ in words for splits alone are splits, too.

    Examples
    --------
    >>> split_folders(["train/car", "train/train", "test/car"]) == {"train", "test"}
    True
    >>> split_folders(["bus", "car", "train"])
    set()
    >>> split_folders(["cars_test", "cars_train"]) == {"cars_test", "cars_train"}
    True
    """
    with_images = set(folders)
    siblings = group_pairs(
        (posixpath.dirname(path), path) for folder in with_images for path in upwards(folder)
    )
    split_paths = set[str]()
    for paths in map(set, siblings.values()):
        splits = {path for path in paths if split_named(posixpath.basename(path))}

        for split in splits:
            has_images = split in with_images
            alike = sum((other in with_images) == has_images for other in paths - splits)
            # Two splits are rarely two classes, and one folder beside train may be a further part.
            least = max(len(splits) + (len(splits) > 1), 1 if has_images else 2)
            if alike < least:
                split_paths.add(split)
        split_paths |= _prefixed_splits(paths)

    # Kaggle packs a folder into one of its own name: seg_train/seg_train.
    for path in sorted(path for paths in siblings.values() for path in set(paths)):
        folder, _, name = path.rpartition("/")
        is_repeated = folder in split_paths and posixpath.basename(folder) == name
        if is_repeated and split_named(name) is None:
            split_paths.add(path)
    return split_paths


def _prefixed_splits(paths: Iterable[str]) -> set[str]:
    """Folders of a level whose names differ in words for splits alone, if there are several."""
    by_rest: dict[str, dict[str, str]] = {}
    for path in paths:
        split, rest = split_in_name(posixpath.basename(path))
        if split is not None and rest:
            by_rest.setdefault(rest, {})[path] = split

    splits = set[str]()
    for split_of in by_rest.values():
        if len({*split_of.values()}) > 1:
            splits.update(split_of)
    return splits


def split_of_folder(name: str) -> str | None:
    """Split that a folder, which is one of a split, is called by, or has a word for."""
    return split_named(name) or split_in_name(name)[0]


def split_within(folder: str, splits: Collection[str]) -> str | None:
    """Split of the outermost of a folder and those above it that is one of some `splits`."""
    for path in reversed(upwards(folder)):
        if path in splits:
            return split_of_folder(posixpath.basename(path))
    return None


def class_parts(folder: str, splits: Collection[str]) -> list[str | None]:
    """Names of a folder and those above it, from the lowest on; None for splits."""
    return [None if path in splits else posixpath.basename(path) for path in upwards(folder)]


def upwards(folder: str) -> list[str]:
    """A folder and those above it, from the lowest on.

    Examples
    --------
    >>> upwards("data/train/car")
    ['data/train/car', 'data/train', 'data']
    """
    parts = folder.split("/")
    return ["/".join(parts[:depth]) for depth in range(len(parts), 0, -1)]


def split_of_path(path: str) -> str | None:
    """Split that the outermost of a file's folders is called by."""
    return next(filter(None, map(split_named, path.split("/")[:-1])), None)


def split_of_file(path: str) -> str | None:
    """Split that the name of a file, else one of its folders, is called by.

    Examples
    --------
    >>> split_of_file("a/rock_train.txt"), split_of_file("valid/a.json"), split_of_file("1.csv")
    ('train', 'val', None)
    """
    words = re.split("[^a-z]+", path.rpartition("/")[2].lower().rpartition(".")[0])
    splits = {_SPLITS[word] for word in words if word in _SPLITS and word not in ("dev", "eval")}
    return splits.pop() if len(splits) == 1 else split_of_path(path)


def usual_splits(column: Coded) -> Coded:
    """The same splits by their usual names."""
    return recode_names(column.codes, [split_named(name) or name for name in column.names])


def without(names: Iterable[K], others: Collection[Any]) -> list[K]:
    """Names that are not among others, in their order.

    Examples
    --------
    >>> without(["id", "sky", "uri"], {"id", "uri"})
    ['sky']
    """
    return [name for name in names if name not in others]


def omit(columns: Mapping[K, V], names: Collection[Any]) -> dict[K, V]:
    """Columns but for those of some names.

    Examples
    --------
    >>> omit({"id": 1, "sky": 2}, {"id"})
    {'sky': 2}
    """
    return {name: column for name, column in columns.items() if name not in names}


def map_values(function: Callable[[V], W], columns: Mapping[K, V]) -> dict[K, W]:
    """Apply a function to each column.

    Examples
    --------
    >>> map_values(len, {"sky": [1, 2], "sea": []})
    {'sky': 2, 'sea': 0}
    """
    return {name: function(column) for name, column in columns.items()}


def rename_some(names: Iterable[str], new_names: Mapping[str, str]) -> list[str]:
    """Names with new ones in the place of some.

    Examples
    --------
    >>> rename_some(["sky", "sea"], {"sea": "ocean"})
    ['sky', 'ocean']
    """
    return [new_names.get(name, name) for name in names]


def put_before(prefix: str, names: Iterable[object]) -> list[str]:
    """Names of values with their column's name before them.

    Examples
    --------
    >>> put_before("hair", ["black", "blond"])
    ['hair: black', 'hair: blond']
    """
    return [f"{prefix}: {name}" for name in names]


def number_items(items: Any) -> dict[Any, Any]:
    """The items of an object, or those of a list by their positions.

    Examples
    --------
    >>> number_items(["cat", "dog"]), number_items({"7": "cat"})
    ({0: 'cat', 1: 'dog'}, {'7': 'cat'})
    """
    return items if isinstance(items, dict) else dict(enumerate(items))
