"""Files of the names of colours, as publishers of masks put them beside these."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import filterfalse
from typing import Any

from cobalance.base import decode_json
from cobalance.ingest.names import number_items

_NAMES = ("name", "label", "class", "class_name", "label_name", "readable", "title", "category")
_CODES = ("id", "idx", "index", "code", "value", "pixel value", "pixel_value", "label_id",
          "labelid", "class_id", "class id", "train_id", "trainid")  # fmt: skip
_COLOURS = ("color", "colour", "rgb", "palette", "hex", "class_color")
_CHANNELS = (("r", "g", "b"), ("red", "green", "blue"))
_LISTS = ("labels", "categories", "classes", "label_map", "items")
# CamVid's line: three numbers and a name; CVAT's: a name, three numbers, parts and actions.
_COLOUR = r"(?P<red>\d{1,3})[\s,]+(?P<green>\d{1,3})[\s,]+(?P<blue>\d{1,3})"
_COLOUR_FIRST = re.compile(rf"{_COLOUR}[\s,]+(?P<name>\D.*)")
_NAME_FIRST = re.compile(rf"(?P<name>[^:]+):{_COLOUR}(:.*)?")
_NO_NAME = re.compile(r"#|$")
_HEX = re.compile(r"#?([0-9a-fA-F]{6})")


def colour_code(red: float, green: float, blue: float) -> str:
    """The code of a colour, among codes and their names.

    Examples
    --------
    >>> colour_code(128, 64, 0)
    '128,64,0'
    """
    return f"{int(red)},{int(green)},{int(blue)}"


def read_colour_names(text: str) -> dict[str, str] | None:
    """Names of colours, and of codes where the file has these, too; None for another file.

    Known are CamVid's and CVAT's lines, tables with columns for the name and for red, green and
    blue, or for a code, and JSON of Datumaro, Mapillary or with a colour for each name.

    Examples
    --------
    >>> read_colour_names("road:128,64,128::")
    {'128,64,128': 'road'}
    """
    if text.lstrip()[:1] in ("{", "["):
        return _of_json(text)
    lines = list(filterfalse(_NO_NAME.match, map(str.strip, text.splitlines())))
    if not lines:
        return None

    for pattern in (_COLOUR_FIRST, _NAME_FIRST):
        matches = list(filter(None, map(pattern.fullmatch, lines)))
        if len(matches) == len(lines):
            names = dict[str, str]()
            for match in matches:
                red, green, blue = map(int, match.group("red", "green", "blue"))
                names[colour_code(red, green, blue)] = match["name"].strip()
            return names
    return _of_table(lines)


def _of_table(lines: Sequence[str]) -> dict[str, str] | None:
    """Names in a table whose header names them, and their codes or colours."""
    delimiter = max("\t;,", key=lines[0].count)
    header, *rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    titles = list(map(str.lower, map(str.strip, header)))
    name = next(filter(titles.__contains__, _NAMES), None)
    code = next(filter(titles.__contains__, _CODES), None)
    channels = next(filter({*titles}.issuperset, _CHANNELS), ())
    # Darwin writes a colour in one column.
    colour = next(filter(titles.__contains__, _COLOURS), None)
    if name is None:
        return None

    names = dict[str, str]()
    for row in rows:
        if len(row) != len(titles):
            return None
        cells = dict(zip(titles, map(str.strip, row), strict=True))
        if code is not None:
            names[cells[code]] = cells[name]
        if colour is not None:
            numbers = re.findall(r"\d+", cells[colour])
            if len(numbers) != 3:
                return None
            names[colour_code(*map(int, numbers))] = cells[name]
        if channels:
            numbers = list(map(cells.__getitem__, channels))
            if not all(map(str.isdecimal, numbers)):
                return None
            names[colour_code(*map(int, numbers))] = cells[name]
    return names or None


def _of_json(text: str) -> dict[str, str] | None:
    """Names in JSON; None where it is another file."""
    try:
        document = decode_json(text)
    except ValueError:
        return None

    names = dict[str, str]()
    items: Any = document
    if isinstance(document, dict):
        key = next(filter(document.__contains__, _LISTS), None)
        items = document.get(key, document)
    if not isinstance(items, (dict, list)):
        return None

    numbered = number_items(items)
    for code, item in numbered.items():
        if isinstance(item, Mapping):
            names |= _of_item(code, item)
        elif _is_colour(item):
            names[colour_code(*item[:3])] = str(code)
        elif isinstance(item, str):
            names[str(code)] = item

    colours = document.get("segmentation_colors") if isinstance(document, dict) else None
    if isinstance(colours, list):
        for colour, name in zip(colours, list(names.values()), strict=False):
            if _is_colour(colour):
                names[colour_code(*colour)] = name
    return names or None


def _of_item(position: object, item: Mapping[str, Any]) -> dict[str, str]:
    """Codes of an object with a name."""
    values = dict(zip(map(str.lower, map(str, item)), item.values(), strict=True))
    name = next(filter(None, map(values.get, _NAMES)), None)
    if not isinstance(name, str):
        return {}
    # In Mapillary's list the position is the code.
    code = next(filter(values.__contains__, _CODES), None)
    names = {str(position if code is None else values[code]): name}
    for colour in filter(None, map(values.get, _COLOURS)):
        if _is_colour(colour):
            names[colour_code(*colour[:3])] = name
        elif isinstance(colour, str) and (match := _HEX.fullmatch(colour)):
            names[colour_code(*bytes.fromhex(match[1]))] = name
    return names


def _is_colour(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) in (3, 4)
        and all(isinstance(part, int) and 0 <= part <= 255 for part in value)
    )


def parse_codes(names: Mapping[Any, str]) -> tuple[dict[int, str], dict[int, str]]:
    """Names by whole numbers, and by colours as 0xRRGGBB; codes that are neither are left out.

    Examples
    --------
    >>> parse_codes({"7": "road", "128,64,128": "road", "#0000ff": "sea"})
    ({7: 'road'}, {8405120: 'road', 255: 'sea'})
    """
    by_value, by_colour = dict[int, str](), dict[int, str]()
    for code, name in names.items():
        text = str(code).strip().strip("()[]")
        numbers = _whole_numbers(re.split(r"[\s,]+", text))
        match = _HEX.fullmatch(text)
        if len(numbers) == 1:
            by_value[numbers[0]] = name
        elif len(numbers) == 3:
            red, green, blue = numbers
            by_colour[red << 16 | green << 8 | blue] = name
        elif match is not None:
            by_colour[int(match[1], 16)] = name
    return by_value, by_colour


def _whole_numbers(texts: Iterable[str]) -> list[int]:
    """Texts as whole numbers; none where one is no such number."""
    parts = list(texts)
    if not all(part.isdecimal() and part.isascii() for part in parts):
        return []
    return list(map(int, parts))
