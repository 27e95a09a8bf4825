"""Which of the data of a tool's tasks are their pictures."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cobalance.vision import IMAGE_ENDINGS, VIDEO_ENDINGS

_USUAL = ("image", "img", "photo", "picture", "video")
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*://")
_MOST = 1_000  # characters that are looked at
_ADDRESSES = ("/data/", "/tasks/", "data:image")


def picture_keys(tasks: Iterable[Mapping[str, Any]]) -> list[str]:
    """Keys whose values are pictures, the most likely first.

    These are values that end as pictures do, else addresses, else those of a key such as ``image``.
    A key with one and the same value in all tasks, such as a logo, is none if another has values
    that differ.
    """
    values_of: dict[str, set[str]] = defaultdict(set)
    n_tasks = 0

    for data in tasks:
        n_tasks += 1
        for key, value in data.items():
            # Pictures may be written out in base64.
            values_of[key].update(text[-_MOST:] for text in _texts(value))

    for is_picture in (_has_ending, _is_address):
        keys = [
            key
            for key, values in values_of.items()
            if values and 2 * sum(map(is_picture, values)) > len(values)
        ]
        differing = [key for key in keys if len(values_of[key]) > 1 or n_tasks == 1]
        if keys:
            return sorted(differing or keys, key=lambda key: (_rank(key), -len(values_of[key])))

    # A name without an ending may be a picture's, or a person's.
    return [key for key, values in values_of.items() if values and _rank(key) < len(_USUAL)]


def _texts(value: Any) -> list[str]:
    """Texts of a value, which may be addresses of a task's pictures."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        return []
    # Pages of a task are addresses, or objects with one.
    texts = []
    for item in value:
        own = list(item.values()) if isinstance(item, dict) else [item]
        if own and isinstance(own[0], str):
            texts.append(own[0])
    return texts


def _rank(key: str) -> int:
    """Position of the word for a picture with which a key begins."""
    for number, word in enumerate(_USUAL):
        if key.lower().startswith(word):
            return number
    return len(_USUAL)


def _has_ending(text: str) -> bool:
    endings = (*IMAGE_ENDINGS, *VIDEO_ENDINGS)
    path = text.partition("?")[0].lower()
    return path.endswith(endings) or text.lower().endswith(endings)


def _is_address(text: str) -> bool:
    return bool(_SCHEME.match(text)) or text.startswith(_ADDRESSES)


def pictures_of(
    data: Mapping[str, Any], keys: Sequence[str], tags: Sequence[str]
) -> list[tuple[str, str]]:
    """Pictures of a task, each with the tag of the template that shows it.

    Raises
    ------
    ValueError
        The task has no picture, or several, and what is answered does not say about which.
    """
    present = [key for key in keys if _texts(data.get(key))]
    if not present:
        raise ValueError(f"none of its data ({', '.join(data)}) is a picture")

    if len(tags) < 2 or len(present) < 2:
        named = [key for key in present if key in tags]
        key = (named or present)[0]
        return [(key, address) for address in _texts(data[key])]

    # Several tags of the template show a picture each, and may be called as the data.
    if {*tags} <= {*present}:
        return [(key, address) for key in tags for address in _texts(data[key])]
    raise ValueError(
        f"it has several pictures ({', '.join(present)}), and which of them {', '.join(tags)} show "
        "is in the template alone; call the tags of the template as the data"
    )
