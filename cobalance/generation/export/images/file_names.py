"""File and folder names that are valid in every file system, for any image id and split.

They consist of ASCII letters, digits, ``-`` and ``_``: no slash, no dot (which ends a sample's key
in WebDataset), nothing special to a shell, and no device name of Windows, such as ``con``.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

_LONGEST = 60
WITHOUT_SPLIT = "without_split"
_PORTS = {f"{port}{number}" for port in ("com", "lpt") for number in range(10)}
# Device names of Windows; and to load_dataset of Hugging Face, all splits at once.
_RESERVED = {"aux", "con", "nul", "prn", *_PORTS, "all"}


def file_stem(image_id: str) -> str:
    """File name of an image without its extension: readable, unique, the same in every export.

    The digest also keeps it from being a device name.

    Examples
    --------
    >>> file_stem("train/cat 1.jpg")
    'train_cat_1_jpg-5e51df90ac091f38'
    >>> file_stem("شارع")
    'image-40c0f8d20ae8c548'
    """
    return f"{_slug(image_id) or 'image'}-{_digest(image_id)[:16]}"


def split_names(splits: Iterable[str | None]) -> dict[str | None, str]:
    """Name of each split in the export, of letters, digits and ``_``: its own, if possible.

    A name is changed, and ends in a digest, if it has other characters, differs from another one
    only in case, or is reserved: ``all`` by load_dataset, ``con`` and others by Windows. If no
    image has a split, the name is ``train``, as loaders assume.

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
