"""Tokenizer of Cypher 5 that splits text exactly as the server does."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cobalance.base import QueryRefusedError

# The server's whitespace differs from Python's (Cypher5Lexer.g4, rule SPACE): U+0085 belongs to
# names there, and U+00A0 is a space.
_SPACES = "\t\n\v\f\r\x1c-\x20\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"

_TOKEN = re.compile(
    rf"""(?P<space>[{_SPACES}]+ | //[^\r\n]*+ | /\*.*?\*/)
      | (?P<string>'(?:[^'\\]|\\.)*+' | "(?:[^"\\]|\\.)*+")
      | (?P<quoted>`(?:[^`]|``)*+`)
      | (?P<number>\d\w*+(?:\.\d\w*+)? | \.\d\w*+)
      | (?P<word>[^\W\d]\w*+)
      | (?P<symbol>\.\. | :: | <= | >= | <> | != | =~ | \+= | \|\|
                   | [-+*%^=<>()\[\]{{}},.:;|&!?$] | /(?!\*))""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:(?P<u>u)(?P<code>[0-9A-Fa-f]{4})?|.)", re.DOTALL)
# They end a string, a name in backticks or a comment.
_DELIMITERS = "'\"`\\/*\r\n"
_UNFINISHED = {
    "'": "this string is not closed",
    '"': "this string is not closed",
    "`": "this name in backticks is not closed",
    "/*": "this comment is not closed",
}


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a query; whitespace and comments are skipped.

    Parameters
    ----------
    kind : str
        ``"word"``, ``"quoted"`` (a name in backticks), ``"number"``, ``"string"``, ``"symbol"``,
        or ``"edge"`` before the first and after the last.
    text : str
        As written.
    offset : int
        Where it starts, in characters.
    """

    kind: str
    text: str
    offset: int

    def is_symbol(self, *symbols: str) -> bool:
        """Whether it is one of these symbols."""
        return self.kind == "symbol" and self.text in symbols

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these words (given in capitals), in any case."""
        return self.kind == "word" and self.text.upper() in words

    def is_name(self) -> bool:
        """Whether it can be a name: a word, or anything in backticks."""
        return self.kind in ("word", "quoted")

    def name(self) -> str:
        """The name without its backticks, and doubled ones inside undone."""
        return self.text[1:-1].replace("``", "`") if self.kind == "quoted" else self.text


def refusal(text: str, offset: int, reason: str, remedy: str) -> QueryRefusedError:
    r"""The error for rejected text, with its line and column.

    Examples
    --------
    >>> print(refusal("RETURN 1\nMERGE (n)", 9, "MERGE writes", "Leave it out."))
    query, line 2, column 1: MERGE writes. Leave it out.
    """
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return QueryRefusedError(
        f"query, line {line}, column {column}: {reason}. {remedy}", offset=offset
    )


def tokenize(text: str) -> Iterator[Token]:
    r"""Yield the tokens of a query in order; O(n) in its length.

    Two things that the server accepts are refused. Unicode escapes of what can end a string, a name
    or a comment (``\u0027``): the server replaces them before it looks for these. And invisible
    characters in names without backticks.

    Raises
    ------
    QueryRefusedError
        A string, name or comment is not closed, or a character or Unicode escape is not allowed.

    Examples
    --------
    >>> [token.text for token in tokenize("RETURN 'a /* b' // c")]
    ['RETURN', "'a /* b'"]
    """
    for escape in _ESCAPE.finditer(text):
        code = escape["code"]
        if escape["u"] and not (code and chr(int(code, 16)) not in _DELIMITERS):
            raise refusal(
                text,
                escape.start(),
                "a Unicode escape is replaced before the query is read, so one of a quote, a "
                "backslash, a slash, an asterisk or a line's end could end a string or a comment "
                "unseen, and it has four hexadecimal digits",
                "Type the character itself, or give it as a parameter.",
            )

    offset, before = 0, ""
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            raise _unreadable(text, offset)
        # The server would read a$b as one name.
        if match[0] == "$" and (before.isalnum() or before == "_"):
            raise _unreadable(text, offset)

        kind = str(match.lastgroup)
        if kind != "space":
            yield Token(kind, match[0], offset)
        offset, before = match.end(), match[0][-1]


def _unreadable(text: str, offset: int) -> QueryRefusedError:
    for opening, reason in _UNFINISHED.items():
        if text.startswith(opening, offset):
            return refusal(text, offset, reason, "Close it.")

    character = text[offset]
    name = repr(character) if character.isprintable() else f"U+{ord(character):04X}"
    return refusal(
        text,
        offset,
        f"the character {name} is not allowed outside strings, comments and names in backticks",
        "Remove it, or write the name that it belongs to in backticks.",
    )
