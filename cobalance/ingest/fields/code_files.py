"""Files of codes and their names, as publishers put them beside their lists."""

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cobalance.base import InputError, OptionError, Setting, decode_json
from cobalance.ingest.fields.colour_files import read_colour_names
from cobalance.ingest.names import number_items
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.reader import read_text


def with_code_files(options: ReadOptions) -> ReadOptions:
    """The options with the names that files hold, where ``names`` has a file for a column.

    Raises
    ------
    InputError
        A file cannot be read.
    OptionError
        The names of a column are neither a mapping, a list nor a file.
    """
    names: dict[str, Mapping[str, str]] = {}
    for column, codes in options.names.items():
        content: Any = codes
        if isinstance(content, str | Path):
            names[column] = read_code_names(Path(content))
        elif isinstance(content, Mapping | list | tuple):
            names[column] = number_items(content)
        else:
            raise OptionError(
                f"The names of the codes in {column!r} are {content!r}. Set ",
                Setting("names"),
                ' to {column: {"0": "land", "1": "water"}}, or to {column: "names.txt"}.',
            )
    return replace(options, names=names)


def read_code_names(path: Path) -> dict[str, str]:
    """Read the names of codes.

    A line has a code and its name, a name and its code, or a name alone, numbered from 0; a table
    may have a header, and a count and a header may stand before names that are numbered from 1.
    JSON is an object of names or of codes, or a list of names. Names of colours have a code such
    as ``128,64,0``.

    Raises
    ------
    InputError
        It cannot be read.
    """
    return parse_code_names(read_text(path, "names of codes"), str(path))


def parse_code_names(text: str, file: str) -> dict[str, str]:
    """Read the names of codes in a text, as `read_code_names` does; `file` is for messages."""
    colours = read_colour_names(text)
    if colours is not None:
        return colours
    lines = list(filter(None, map(str.strip, text.splitlines())))
    if not lines:
        return {}

    pairs: Iterable[Any]
    if text.lstrip()[:1] in ("{", "["):
        pairs = _json_pairs(text, file)
    elif lines[0] == str(len(lines) - 2):
        # A count and a header, as in lists of DeepFashion, whose names are followed by a type.
        names = [line.rsplit(maxsplit=1)[0] for line in lines[2:]]
        pairs = enumerate(names, start=1)
    elif all(map(re.compile(r"[^\s,]+,").match, lines)):
        pairs = _table_pairs(lines)
    elif all(map(re.compile(r"^\D.*\s\d+$").search, lines)):
        pairs = [reversed(line.rsplit(maxsplit=1)) for line in lines]
    elif all(map(re.compile(r"\S[:\s]+\S").search, lines)):
        pairs = [re.split(r"[:\s]+", line, maxsplit=1) for line in lines]
    else:
        pairs = enumerate(lines)

    return {str(code): str(name) for code, name in pairs}


def _json_pairs(text: str, file: str) -> list[tuple[Any, Any]]:
    """Codes and names of an object, in either order, or of a list of names."""
    try:
        document = decode_json(text)
    except ValueError as error:
        raise InputError(
            file,
            None,
            f"is not JSON ({error})",
            'Write an object such as {"0": "land", "1": "water"}.',
        ) from None

    pairs = list(number_items(document).items())
    if all(isinstance(value, int) for _, value in pairs):
        return [(code, name) for name, code in pairs]
    return pairs


def _table_pairs(lines: list[str]) -> list[tuple[str, str]]:
    """Codes, in the first column, and names: in the one whose header says so, or the second."""
    header, *rows = csv.reader(lines)
    named = (column for column, title in enumerate(header) if "name" in title.lower())
    column = next(named, 1)
    return [(row[0], row[column]) for row in (header, *rows) if len(row) > column]
