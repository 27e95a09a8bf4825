"""Names of files and folders that every file system takes, whatever images and splits are called.

Letters without accents, digits, ``-`` and ``_`` alone: no slash, no dot (which ends a sample's key
in WebDataset), nothing that a shell or a Windows disk reads in its own way, such as ``con``.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

_LONGEST = 60
WITHOUT_SPLIT = "without_split"
_PORTS = {f"{port}{number}" for port in ("com", "lpt") for number in range(10)}
# No file's names to Windows; and to load_dataset of Hugging Face, all splits at once.
_RESERVED = {"aux", "con", "nul", "prn", *_PORTS, "all"}


def file_stem(image_id: str) -> str:
    """Give an image's file name without its ending: readable, unique, the same in every export.

    With its digest it is no device's name, whatever the image is called.

    Examples
    --------
    >>> file_stem("train/cat 1.jpg")
    'train_cat_1_jpg-5e51df90ac091f38'
    >>> file_stem("شارع")
    'image-40c0f8d20ae8c548'
    """
    return f"{_slug(image_id) or 'image'}-{_digest(image_id)[:16]}"


def split_names(splits: Iterable[str | None]) -> dict[str | None, str]:
    """Give each split a name of letters, digits and ``_``: its own, if that is one.

    A split that has to be renamed gets a digest, and so does one whose name differs from another
    one's in case alone, or is reserved: ``all`` by load_dataset, such as ``con`` by Windows. Where
    no image has a split, all are ``train``, which is what loaders take them for.

    Examples
    --------
    >>> split_names(["train", "val", "train"])
    {'train': 'train', 'val': 'val'}
    >>> split_names([None]), split_names([None, "a/b"])
    ({None: 'train'}, {None: 'without_split', 'a/b': 'a_b_c14cddc0'})
    """
    known = set(splits)
    if known == {None}:
        return {None: "train"}
    named = sorted(name for name in known if name is not None)
    slugs = {name: _slug(name).replace("-", "_") for name in named}
    times = Counter([WITHOUT_SPLIT, *(slug.lower() for slug in slugs.values())])
    names: dict[str | None, str] = {None: WITHOUT_SPLIT} if None in known else {}
    for name in named:
        slug = slugs[name]
        plain = slug == name and times[slug.lower()] == 1 and slug.lower() not in _RESERVED
        names[name] = slug if plain else f"{slug or 'split'}_{_digest(name)[:8]}"
    return names


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", text[: 2 * _LONGEST])[:_LONGEST].strip("_")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
