"""Files of codes and their names, as publishers put them beside their lists."""

import csv
import re
from pathlib import Path

from cobalance.base.documents import decode_json
from cobalance.base.errors import InputError
from cobalance.ingest.reader import read_text


def read_code_names(path: Path) -> dict[str, str]:
    """Read the names of codes.

    A line has a code and its name, a name and its code, or a name alone, numbered from 0; a table
    may have a header, and a count and a header may stand before names that are numbered from 1.
    JSON is an object of names or of codes, or a list of names.

    Raises
    ------
    InputError
        It cannot be read.
    """
    text = read_text(path, "names of codes")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if text.lstrip()[:1] in ("{", "["):
        try:
            held = decode_json(text)
        except ValueError as error:
            remedy = 'Write an object such as {"0": "land", "1": "water"}.'
            raise InputError(str(path), None, f"is not JSON ({error})", remedy) from None
        pairs = list(held.items() if isinstance(held, dict) else enumerate(held))
        if all(isinstance(code, int) for _, code in pairs):
            pairs = [(code, name) for name, code in pairs]
    elif lines[0] == str(len(lines) - 2):
        pairs = [(at, line.rsplit(maxsplit=1)[0]) for at, line in enumerate(lines[2:], 1)]
    elif all(re.match(r"[^\s,]+,", line) for line in lines):
        header, *rows = csv.reader(lines)
        at = next((at for at, name in enumerate(header) if "name" in name.lower()), 1)
        pairs = [(row[0], row[at]) for row in (header, *rows) if len(row) > at]
    elif all(re.search(r"^\D.*\s\d+$", line) for line in lines):
        pairs = [(code, name) for name, code in (line.rsplit(maxsplit=1) for line in lines)]
    elif all(re.search(r"\S[:\s]+\S", line) for line in lines):
        split = (re.split(r"[:\s]+", line, maxsplit=1) for line in lines)
        pairs = [(code, name) for code, name in split]
    else:
        pairs = list(enumerate(lines))
    return {str(code): str(name) for code, name in pairs}
