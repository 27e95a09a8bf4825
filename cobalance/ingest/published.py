"""Files that the authors of ConBias publish for a dataset: counts and queries, no images."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Any, Literal

import msgspec

from cobalance.base import UNDECODABLE, InputError, T, clean_name, decode_json, decoding_fault
from cobalance.ingest.names import name_fault, without
from cobalance.ingest.reader import read_start
from cobalance.ingest.tables.sheets import csv_records

Kind = Literal["co-occurrence", "cliques", "common cliques", "queries"]
Key = tuple[str, tuple[str, ...]]
"""A class, empty for all of them, and concepts in ascending order."""

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
    if text.lstrip()[:1] in ("[", "{"):
        kind, rows = _document(text, source)
    else:
        kind, rows = "co-occurrence", _matrix(text, source, classes, concepts)

    counts = dict[Key, int | None]()
    for place, class_name, names, images in rows:
        key = _key(source, place, class_name, names)
        if images is not None and not 0 <= images <= _MOST:
            raise InputError(
                source, place, f"{str(images)[:20]} is no count of images", "Correct it."
            )
        if key in counts:
            what = f"{' + '.join(key[1])} of {key[0] or 'all'}"
            raise InputError(source, place, f"{what} is there twice", "Keep one.")
        counts[key] = images
    if not counts:
        raise InputError(source, None, "holds nothing to compare", _REMEDY)

    # Names that the dataset lacks stay as the file has them.
    our_classes = match_names((class_name for class_name, _ in counts if class_name), classes)
    their_concepts = chain.from_iterable(names for _, names in counts)
    our_concepts = match_names(their_concepts, concepts)
    named: dict[Key, int | None] = {}
    for (class_name, combination), images in counts.items():
        ours = tuple(sorted(our_concepts[name] or name for name in combination))
        named[our_classes.get(class_name) or class_name, ours] = images
    return Published(kind, named, our_classes | our_concepts)


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
    their_names, our_names = dict.fromkeys(theirs), set(ours)
    # By all but case two names are one if there is no third: one of each side.
    n_alike = Counter(map(str.casefold, their_names.keys() ^ our_names))
    new_names = our_names - their_names.keys()
    match_of = {name.casefold(): name for name in new_names if n_alike[name.casefold()] == 2}
    return {
        name: name if name in our_names else match_of.get(name.casefold()) for name in their_names
    }


_Row = tuple[str, str, list[str], int | None]
"""The place, class, concepts and images of a row."""


def _key(file: str, place: str, class_name: str, names: list[str]) -> Key:
    """The class and the concepts of a row, cleaned; raises for names that cannot be used."""
    concepts, class_ = list(map(clean_name, names)), clean_name(class_name)
    for name in [*concepts, class_] if class_name else concepts:
        fault = name_fault(name)
        if fault is not None:
            raise InputError(file, place, f"a name {fault}", "Correct it.")

    if not concepts or len(set(concepts)) < len(concepts):
        raise InputError(
            file,
            place,
            "a concept is there twice" if concepts else "there is no concept",
            "Correct it.",
        )
    return class_, tuple(sorted(concepts))


def _document(text: str, file: str) -> tuple[Kind, list[_Row]]:
    """Content of a JSON file, with its rows."""
    try:
        document = decode_json(text)
    except ValueError as error:
        raise InputError(file, None, f"is not JSON ({error})", _REMEDY) from None
    if isinstance(document, dict):
        sizes = _as(dict[str, list[tuple[list[str], dict[str, int]]]], document, file)
        rows: list[_Row] = []
        for size, cliques in sizes.items():
            for number, (names, counts) in enumerate(cliques):
                place = f'"{size}"[{number}]'
                if str(len(names)) != size:
                    raise InputError(
                        file, place, f"has {len(names)} concepts, not {size}", "Correct it."
                    )
                rows += [(place, class_name, names, n) for class_name, n in counts.items()]
        return "cliques", rows

    # A query has a list of concepts within it, a clique is one.
    if document and isinstance(document[0], list) and list in map(type, document[0]):
        queries = _as(list[tuple[str, list[str], int]], document, file)
        return "queries", [(f"[{number}]", *query) for number, query in enumerate(queries)]
    cliques_alone = _as(list[list[str]], document, file)
    return "common cliques", [
        (f"[{number}]", "", names, None) for number, names in enumerate(cliques_alone)
    ]


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
    names = list(map(clean_name, header[1:]))
    if not names or header[0].strip() or len(set(names)) < len(names):
        raise InputError(
            file, place, "is no header of different names behind an empty cell", _REMEDY
        )

    counts: dict[str, dict[str, int]] = {}
    places: dict[str, str] = {}
    for place, cells in lines:
        name = clean_name(cells[0])
        if name not in names or name in counts or len(cells) != len(header):
            raise InputError(
                file,
                place,
                f"{name!r} is no name of the header, there twice, or of too few or many cells",
                _REMEDY,
            )
        images = [_count(cell, file, place) for cell in cells[1:]]
        counts[name] = dict(zip(names, images, strict=True))
        places[name] = place
    if len(counts) < len(names):
        missing = without(names, counts)[0]
        raise InputError(file, None, f"has no line for {missing!r}", "Add it.")

    matches = match_names(names, [*classes, *concepts])
    their_classes = {name for name in names if matches[name] in classes}
    rows: list[_Row] = []
    for name, other in combinations(names, 2):
        shared, shared_again = counts[name][other], counts[other][name]
        if shared_again != shared:
            reason = (
                f"{name} and {other} share {shared} images in one line, {shared_again} in the other"
            )
            raise InputError(file, places[other], reason, "Correct it.")
        pair = {name, other}
        # An image has one class, so that two classes share none.
        if not pair <= their_classes:
            concepts_of_pair = without((name, other), their_classes)
            rows.append((places[name], "".join(pair & their_classes), concepts_of_pair, shared))
    return rows


def _count(cell: str, file: str, place: str) -> int:
    try:
        value = float(cell)
        if value.is_integer():
            return int(value)
    except (ValueError, OverflowError):
        pass
    raise InputError(file, place, f"{cell[:100]!r} is no count of images", "Correct it.")
