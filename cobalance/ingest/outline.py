"""The keys of a JSON document and where they are, read piece by piece.

What a file is, is told by its keys, wherever they stand: an outline of a thousand points or a
picture in base64 may come before the key that tells. Words of a file's start are no proof: they may
be values.
"""

import codecs
import re
from functools import lru_cache
from pathlib import Path
from typing import IO

import msgspec

from cobalance.base import UNDECODABLE, shorten_list

_PIECE = 1 << 20  # bytes read at once
_MOST_BYTES = 1 << 26  # that are looked at: half a second at most, whatever they hold
_MOST_TOKENS = 200_000  # a quarter of a second
_MOST_KEYS = 20_000  # places of keys: some documents have a key for each image
_DEEPEST = 8  # keys in one another that are recorded
_LONGEST_MARK = 3  # keys in one another that a mark may name
_SAMPLE = 1_000  # records of a list, after which the next list is looked for
_MOST_JUMPS = 50
_SOON = 5_000  # tokens within which a wrong jump would have ended the document

# A text with the colon after it, a list of numbers alone, or a bracket. A text that is cut off
# reaches to the end of the piece.
_TOKEN = re.compile(
    rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)(?:"(\s*:|\s*\Z)?|\\?\Z)|\[[\s\d.,eE+\-\[\]]*\]|[{}\[\]]',
    re.DOTALL,
)
_LIST_END = re.compile(rb'\}\s*\]\s*,\s*(?=")')
_LONGEST_END = 1_000  # bytes, with the white space within
_OPENING = {b"}": b"{", b"]": b"["}
_ROOTS = {b"{": "object", b"[": "list"}
_OF_RECORDS = 2  # brackets around a record of a list in the document's object

KeyPath = tuple[str, ...]


class Outline:
    """Places of a document's keys: each with the keys around it, lists left out.

    Attributes
    ----------
    paths : set of tuple of str
        Such as ``("annotations", "bbox")``, of the first thousands of records.
    top : tuple of str
        Keys of the document, or of the records of one that is a list or has a record a line.
    root : {"object", "list", "lines", ""}
        What the document is; empty if it is no JSON.
    """

    def __init__(self) -> None:
        self.root = ""
        self.paths: set[KeyPath] = set()
        self._ends: set[KeyPath] = set()

    @property
    def top(self) -> tuple[str, ...]:
        """Keys that are within no other, in sorted order."""
        return tuple(sorted(path[0] for path in self.paths if len(path) == 1))

    def has(self, *marks: str) -> bool:
        """Whether there are all of some keys, such as ``regions.shape_attributes``, anywhere.

        A mark of one key in another may be within further keys. One that begins with a slash is of
        the document itself: ``/images.file_name``. Of marks with ``|`` between them, one is enough.
        """
        return all(any(map(self._has, mark.split("|"))) for mark in marks)

    def _has(self, mark: str) -> bool:
        if mark.startswith("/"):
            return tuple(mark[1:].split(".")) in self.paths
        return tuple(mark.split(".")) in self._ends

    def __str__(self) -> str:
        return shorten_list(self.top)

    def add(self, path: KeyPath) -> None:
        """Record a key, but none beyond the limits on their number and depth."""
        if path not in self.paths and len(self.paths) < _MOST_KEYS and len(path) <= _DEEPEST:
            self.paths.add(path)
            self._ends.update(path[-length:] for length in range(1, _LONGEST_MARK + 1))

    def restore(self, paths: set[KeyPath]) -> None:
        """Go back to some `paths`."""
        self.paths, self._ends = set(), set()
        for path in paths:
            self.add(path)


def read_outline(file: IO[bytes], *marks: str) -> Outline:
    """Read the outline of an open file, as far as it goes in half a second.

    Of a long list of records the first thousand are looked at; then comes the next list. Where
    there are `marks`, it ends as soon as they are there.
    """
    scan = _Scan(file)
    if not scan.begin():
        return scan.outline
    n_paths = 0
    for _ in range(_MOST_TOKENS):
        if not scan.step():
            break
        if marks and len(scan.outline.paths) > n_paths:
            n_paths = len(scan.outline.paths)
            if scan.outline.has(*marks):
                break
    return scan.outline


def outline_of(path: Path) -> Outline:
    """The outline of a file; kept, as one format after another asks for it."""
    state = path.stat()
    return _cached_outline(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=32)
def _cached_outline(path: Path, _size: int, _changed: int) -> Outline:
    with path.open("rb") as file:
        return read_outline(file)


class _Tokens:
    """The tokens of a file, which is read piece by piece."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._window = b""
        self._position = 0
        self._n_bytes = 0
        self._read_more(0)
        self._window = self._window.removeprefix(codecs.BOM_UTF8)

    def next(self) -> re.Match[bytes] | None:
        """The next token; None at the end of the file, or after 64 MiB."""
        while True:
            token = _TOKEN.search(self._window, self._position)
            is_cut = token is None or token.end() == len(self._window)
            start = len(self._window) if token is None else token.start()
            if is_cut and self._read_more(start):
                continue

            if token is not None:
                self._position = token.end()
            return token

    def peek(self) -> bytes:
        """The next byte that is no white space; empty at the end."""
        while True:
            rest = self._window[self._position : self._position + 64].lstrip()
            if rest:
                return rest[:1]
            self._position = min(self._position + 64, len(self._window))
            if self._position == len(self._window) and not self._read_more(self._position):
                return b""

    def skip_to_list_end(self) -> bool:
        """Go to the key after the next list of objects; false at the end of the file."""
        while True:
            end = _LIST_END.search(self._window, self._position)
            if end is not None:
                self._position = end.end()
                return True
            # The end of a list may lie across two pieces.
            start = max(self._position, len(self._window) - _LONGEST_END)
            if not self._read_more(start):
                return False

    def _read_more(self, start: int) -> bool:
        """Read another piece behind the bytes from `start` on; false at the end."""
        remaining = self._window[start:]
        # A text longer than a piece is searched again: pieces grow with it.
        wanted = min(max(_PIECE, len(remaining)), _MOST_BYTES - self._n_bytes)
        piece = self._file.read(wanted) if wanted > 0 else b""
        if not piece:
            return False

        self._n_bytes += len(piece)
        self._window, self._position = remaining + piece, 0
        return True


class _Scan:
    """A pass over the tokens of a document, which records its keys."""

    def __init__(self, file: IO[bytes]) -> None:
        self.outline = Outline()
        self._tokens = _Tokens(file)
        # Brackets that are open, each with the keys that it is within.
        self._open: list[tuple[bytes, KeyPath]] = []
        self._within: KeyPath = ()
        self._key: KeyPath = ()
        self._n_records = 0
        self._n_documents = 0

        self._before_jump: set[KeyPath] | None = None
        self._n_jumps = 0
        self._n_tokens = 0

    def begin(self) -> bool:
        """Note the kind of the document; false if it is no JSON."""
        self.outline.root = _ROOTS.get(self._tokens.peek(), "")
        return bool(self.outline.root)

    def step(self) -> bool:
        """Take one token; false at the end, or where the document is no JSON."""
        token = self._tokens.next()
        if token is None:
            return False
        self._n_tokens += 1

        text = token[0]
        match text[:1]:
            case b'"':
                # Texts that no colon follows are values.
                if token[2] and token[2].endswith(b":"):
                    self._name(_decode_key(token[1]))
            case b"{":
                return self._enter(b"{")
            case b"[" if len(text) == 1:
                return self._enter(b"[")
            case b"[":
                return self._pass_numbers(text)
            case closing:
                return self._leave(_OPENING[closing])
        return True

    def _name(self, key: str) -> None:
        self._key = (*self._within, key)
        self.outline.add(self._key)

    def _enter(self, bracket: bytes) -> bool:
        """Go into an object or a list; false where a long list of records is the last."""
        depth = len(self._open)
        if depth == 0:
            self._n_documents += 1
            self._key = ()
        if self._n_documents > 1:
            self.outline.root = "lines"

        if bracket == b"{" and depth == _OF_RECORDS and self._open[-1][0] == b"[":
            self._n_records += 1
            if self._n_records > _SAMPLE:
                return self._jump()
        if bracket == b"[" and depth == 1:
            self._n_records = 0

        self._open.append((bracket, self._within))
        self._within = self._key
        return True

    def _leave(self, bracket: bytes) -> bool:
        """Go out of an object or a list; false where another was open."""
        if not self._open or self._open[-1][0] != bracket:
            return self._jump_again()

        _, self._within = self._open.pop()
        self._key = self._within
        # What comes after the document itself shows that a jump led into a record.
        if not self._open and self._tokens.peek() in (b",", b"]", b"}"):
            return self._jump_again()
        return True

    def _pass_numbers(self, text: bytes) -> bool:
        """Pass a list of numbers, and brackets of lists around it that are within the token."""
        opened = text.count(b"[") - text.count(b"]")
        for _ in range(opened):
            self._open.append((b"[", self._within))
            self._within = self._key
        return all(self._leave(b"[") for _ in range(-opened))

    def _jump(self) -> bool:
        """Go to the key after a long list of records, as far as its end can be told."""
        self._n_jumps += 1
        if self._n_jumps > _MOST_JUMPS or not self._tokens.skip_to_list_end():
            return False

        self._before_jump = set(self.outline.paths)
        self._n_tokens = 0
        self._open = [(b"{", ())]
        self._within = self._key = ()
        return True

    def _jump_again(self) -> bool:
        """After a jump to a list within a record, forget its keys, and go on to the next end."""
        if self._before_jump is None or self._n_tokens > _SOON:
            return False
        self.outline.restore(self._before_jump)
        return self._jump()


def _decode_key(raw: bytes) -> str:
    if b"\\" in raw:
        try:
            return msgspec.json.decode(b'"%s"' % raw, type=str)
        except UNDECODABLE:
            pass
    return raw.decode("utf-8", "replace")
