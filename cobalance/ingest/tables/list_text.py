"""Lists of concepts in text: JSON, or as Python, pandas and NumPy print them."""

import ast
import re
import warnings
from typing import Any

import msgspec

from cobalance.ingest.documents import UNDECODABLE, decoding_fault

_ITEM = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ITEMS = re.compile(_ITEM, re.DOTALL)
# NumPy prints no commas.
_PRINTED = re.compile(
    rf"(?:\[\s*(?:(?:{_ITEM})\s*(?:,\s*)?)*\]|\(\s*(?:(?:{_ITEM})\s*(?:,\s*)?)*\)"
    rf"|\{{\s*(?:(?:{_ITEM})\s*(?:,\s*)?)*\}}|set\(\))",
    re.DOTALL,
)
_START = re.compile(r"\[|[({]\s*['\"]|set\(\)$")
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))", re.DOTALL | re.IGNORECASE
)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}


class CellConcept(msgspec.Struct):
    """A concept as an object in a list."""

    concept: str
    score: float | None = None
    area: float | None = None
    box: tuple[float, float, float, float] | None = None


Items = list[str | CellConcept]
_DECODER = msgspec.json.Decoder(Items)


def starts_list(cell: str) -> bool:
    """Whether a cell starts like a list.

    Examples
    --------
    >>> [starts_list(cell) for cell in ('["a"]', "['a']", "{'a'}", "(a)", "a|b")]
    [True, True, True, False, False]
    """
    return _START.match(cell) is not None


def parse_list(cell: str) -> Items:
    r"""Parse a list in JSON, or as Python prints a list, a tuple or a set of texts or of dicts.

    Raises
    ------
    ValueError
        It is neither.

    Examples
    --------
    >>> parse_list('["a", "b|c"]'), parse_list("['a', 'b c']"), parse_list("['a' 'b']")
    (['a', 'b|c'], ['a', 'b c'], ['a', 'b'])
    """
    try:
        return _DECODER.decode(cell)
    except UNDECODABLE as error:
        if cell.startswith("[") and "'" not in cell:
            raise ValueError(decoding_fault(error)) from None
        fault = decoding_fault(error)
    if _PRINTED.fullmatch(cell):
        return [_ESCAPE.sub(_unescape, item[1:-1]) for item in _ITEMS.findall(cell)]
    try:
        return msgspec.convert(_literal(cell), Items)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        raise ValueError(fault) from None


def _unescape(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    return chr(int(code, 16)) if code else _LETTERS.get(found[4], found[4])


def _literal(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of escapes that Python would not write
        return ast.literal_eval(text)
