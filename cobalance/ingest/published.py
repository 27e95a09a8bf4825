"""Files that the authors of ConBias publish for a dataset: counts and queries, no images."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from cobalance.base.documents import UNDECODABLE, decode_json, decoding_fault
from cobalance.base.errors import InputError
from cobalance.base.names import clean_name
from cobalance.ingest.names import name_fault
from cobalance.ingest.reader import read_start
from cobalance.ingest.tables.sheets import csv_records

Kind = Literal["co-occurrence", "cliques", "common cliques", "queries"]
Key = tuple[str, tuple[str, ...]]
"""A class, empty for all of them, and concepts in ascending order."""

T = TypeVar("T")
_MOST = 2**53  # images
_REMEDY = (
    "Name a co-occurrence CSV, or the JSON of a clique dictionary, of common cliques or of queries."
)


@dataclass(frozen=True)
class Published:
    """Content of a published file.

    Parameters
    ----------
    kind : str
        What it holds: ``co-occurrence``, ``cliques``, ``common cliques`` or ``queries``.
    rows : dict of Key to int or None
        Images of each class and concepts, in the file's order; None where it only names them.
    names : dict of str to str or None
        The dataset's name, as in `rows`, of each of the file's; None where the dataset lacks it.
    """

    kind: Kind
    rows: dict[Key, int | None]
    names: dict[str, str | None]

    @property
    def sizes(self) -> set[int]:
        """How many concepts its combinations have."""
        return {len(concepts) for _, concepts in self.rows}


def read_published(
    file: str | Path, classes: Collection[str], concepts: Collection[str]
) -> Published:
    """Read a file of ConBias's, whichever it is, with the names of a dataset; see `match_names`.

    Parameters
    ----------
    file : str or Path
        A co-occurrence matrix (CSV: names of classes and concepts in the first line and column), or
        JSON: a clique dictionary ``{"2": [[[concept, ...], {class: images, ...}], ...]}``, common
        cliques ``[[concept, ...], ...]``, or queries ``[[class, [concept, ...], images], ...]``.
    classes, concepts : collection of str
        The dataset's; its classes are the names of a matrix that are no concepts.

    Raises
    ------
    InputError
        The file cannot be read, or is none of these.
    """
    source = str(file)
    read_start(Path(file))
    try:
        text = Path(file).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(source, None, "is no text in UTF-8", _REMEDY) from None
    found = dict[Key, int | None]()
    if text.lstrip()[:1] not in ("[", "{"):
        kind: Kind = "co-occurrence"
        rows = _matrix(text, source, classes, concepts)
    else:
        kind, rows = _document(text, source)
    for place, class_name, names, images in rows:
        key = _key(source, place, class_name, names)
        if images is not None and not 0 <= images <= _MOST:
            reason = f"{str(images)[:20]} is no count of images"
            raise InputError(source, place, reason, "Correct it.")
        if key in found:
            what = f"{' + '.join(key[1])} of {key[0] or 'all'}"
            raise InputError(source, place, f"{what} is there twice", "Keep one.")
        found[key] = images
    if not found:
        raise InputError(source, None, "holds nothing to compare", _REMEDY)
    of_classes = match_names((class_name for class_name, _ in found if class_name), classes)
    of_concepts = match_names((name for _, names in found for name in names), concepts)
    named: dict[Key, int | None] = {}
    for (class_name, shown), images in found.items():
        ours = tuple(sorted(of_concepts[name] or name for name in shown))
        named[of_classes.get(class_name) or class_name, ours] = images
    return Published(kind, named, of_classes | of_concepts)


def match_names(theirs: Iterable[str], ours: Collection[str]) -> dict[str, str | None]:
    """Match names: exactly, else by all but letter case where one name of each side is left.

    Returns
    -------
    dict of str to str or None
        Ours of each of theirs; None where there is no match.

    Examples
    --------
    >>> match_names(["Cow", "elk", "Owl", "OWL"], ["cow", "owl"])
    {'Cow': 'cow', 'elk': None, 'Owl': None, 'OWL': None}
    """
    named, known = dict.fromkeys(theirs), set(ours)
    alike = Counter(map(str.casefold, named.keys() ^ known))
    left = {name.casefold(): name for name in known - named.keys() if alike[name.casefold()] == 2}
    return {name: name if name in known else left.get(name.casefold()) for name in named}


_Row = tuple[str, str, list[str], int | None]
"""The place, class, concepts and images of a row."""


def _key(file: str, place: str, class_name: str, names: list[str]) -> Key:
    cleaned = [clean_name(name) for name in names]
    for name in (*cleaned, *([clean_name(class_name)] if class_name else [])):
        fault = name_fault(name)
        if fault is not None:
            raise InputError(file, place, f"a name {fault}", "Correct it.")
    if not cleaned or len(set(cleaned)) < len(cleaned):
        fault = "a concept is there twice" if cleaned else "there is no concept"
        raise InputError(file, place, fault, "Correct it.")
    return clean_name(class_name), tuple(sorted(cleaned))


def _document(text: str, file: str) -> tuple[Kind, list[_Row]]:
    """Content of a JSON file, with its rows."""
    try:
        held = decode_json(text)
    except ValueError as error:
        raise InputError(file, None, f"is not JSON ({error})", _REMEDY) from None
    if isinstance(held, dict):
        sizes = _as(dict[str, list[tuple[list[str], dict[str, int]]]], held, file)
        rows: list[_Row] = []
        for size, cliques in sizes.items():
            for at, (names, counts) in enumerate(cliques):
                place = f'"{size}"[{at}]'
                if str(len(names)) != size:
                    reason = f"has {len(names)} concepts, not {size}"
                    raise InputError(file, place, reason, "Correct it.")
                rows += [(place, class_name, names, n) for class_name, n in counts.items()]
        return "cliques", rows
    if held and isinstance(held[0], list) and any(isinstance(part, list) for part in held[0]):
        queries = _as(list[tuple[str, list[str], int]], held, file)
        return "queries", [(f"[{at}]", *query) for at, query in enumerate(queries)]
    named = _as(list[list[str]], held, file)
    return "common cliques", [(f"[{at}]", "", names, None) for at, names in enumerate(named)]


def _as(type_: type[T], held: Any, file: str) -> T:
    try:
        return msgspec.convert(held, type_)
    except (msgspec.ValidationError, *UNDECODABLE) as error:
        raise InputError(file, None, decoding_fault(error), _REMEDY) from None


def _matrix(
    text: str, file: str, classes: Collection[str], concepts: Collection[str]
) -> list[_Row]:
    """The rows of a symmetric matrix: each class with each concept, and each two concepts."""
    lines = csv_records(text, file, _REMEDY, strict=True)
    place, header = next(lines, ("line 1", []))
    names = [clean_name(name) for name in header[1:]]
    if not names or header[0].strip() or len(set(names)) < len(names):
        reason = "is no header of different names behind an empty cell"
        raise InputError(file, place, reason, _REMEDY)
    counts: dict[str, dict[str, int]] = {}
    places: dict[str, str] = {}
    for place, cells in lines:
        name = clean_name(cells[0])
        if name not in names or name in counts or len(cells) != len(header):
            reason = f"{name!r} is no name of the header, there twice, or of too few or many cells"
            raise InputError(file, place, reason, _REMEDY)
        images = [_count(cell, file, place) for cell in cells[1:]]
        counts[name] = dict(zip(names, images, strict=True))
        places[name] = place
    if len(counts) < len(names):
        missing = next(name for name in names if name not in counts)
        raise InputError(file, None, f"has no line for {missing!r}", "Add it.")
    known = match_names(names, [*classes, *concepts])
    of_class = {name for name in names if known[name] in classes}
    rows: list[_Row] = []
    for at, one in enumerate(names):
        for other in names[at + 1 :]:
            shared = counts[one][other]
            if counts[other][one] != shared:
                reason = f"{one} and {other} share {shared} images in one line, "
                reason += f"{counts[other][one]} in the other"
                raise InputError(file, places[other], reason, "Correct it.")
            of = [name for name in (one, other) if name in of_class]
            if len(of) < 2:
                held = [name for name in (one, other) if name not in of_class]
                rows.append((places[one], "".join(of), held, shared))
    return rows


def _count(cell: str, file: str, place: str) -> int:
    try:
        value = float(cell)
        if value.is_integer():
            return int(value)
    except (ValueError, OverflowError):
        pass
    raise InputError(file, place, f"{cell[:100]!r} is no count of images", "Correct it.")
