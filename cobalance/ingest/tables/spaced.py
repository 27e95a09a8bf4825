"""Tables with spaces between fields and a header line, as of Stanford Online Products."""

import re
from dataclasses import dataclass
from pathlib import Path

from cobalance.ingest.tables.delimited import Delimited
from cobalance.ingest.tables.guesses import USUAL_NAMES, normal_name

_NAME = re.compile(r"[A-Za-z_][\w.-]*$")
_LOOKED_AT = 20  # lines
_IMAGES = {*USUAL_NAMES["id"], *USUAL_NAMES["uri"]}


@dataclass(frozen=True)
class Spaced(Delimited):
    """Fields separated by spaces, below a header that names images as columns usually do."""

    description: str = "Text with spaces between fields and a header line"
    separators: str = " "

    def detects(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        """Whether the first line has names of columns, and the next ones as many fields."""
        text = head.decode("utf-8", "replace")
        complete_lines = text.split("\n")[: _LOOKED_AT + 1]
        if len(text) < len(head) or len(complete_lines) > _LOOKED_AT:
            complete_lines = complete_lines[:-1]
        fields = list(map(str.split, filter(str.strip, complete_lines)))
        if not fields:
            return False

        header, *rows = fields
        are_names = len(header) > 1 and all(map(_NAME.match, header))
        if not are_names or not rows or _IMAGES.isdisjoint(map(normal_name, header)):
            return False

        # A row has a number in it, as sentences have not.
        have_numbers = all(map(re.compile(r"\d").search, map(" ".join, rows)))
        are_equal = all(len(row) == len(header) for row in rows)
        return are_equal and have_numbers and not re.search("[,;\t]", text)
