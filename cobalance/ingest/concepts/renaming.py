"""Tables that rename, merge and drop concepts."""

from contextlib import suppress
from pathlib import Path

import numpy as np

from cobalance.base import clean_name, decode_json, decode_toml, shorten_list, silent, suggest_names
from cobalance.ingest.names import Coded, name_fault
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import read_head, read_text
from cobalance.ingest.tables import detect_table_format

_FORM = "Write the columns concept and becomes as CSV, becomes empty to drop a concept"


def read_concept_table(path: Path, problems: Problems) -> dict[str, tuple[str, str]]:
    """Read a table that renames, merges or drops concepts.

    Parameters
    ----------
    path : Path
        A table with the columns ``concept`` and ``becomes``, or a TOML or JSON file of one
        mapping. An empty value drops the concept; two concepts with the same value merge.

    Returns
    -------
    dict of str to (str, str)
        New name (empty to drop) of each concept, and the place of its entry in the file.

    Raises
    ------
    InputError
        The file, or an entry in it, cannot be used.
    """
    result: dict[str, tuple[str, str]] = {}
    for place, raw, becomes in _entries(path, problems):
        concept, name = clean_name(raw), clean_name(becomes)

        # An empty name is no fault: it drops the concept.
        fault = name_fault(concept) or (name_fault(name) if name else None)

        if fault is not None:
            problems.record(place, f"a name {fault}", _FORM)
        elif concept in result:
            problems.record(
                place,
                f"the concept {concept!r} is at {result[concept][1]} already",
                "Leave one out",
            )
        else:
            result[concept] = (name, place)
    return result


def _entries(path: Path, problems: Problems) -> list[tuple[str, str, str]]:
    """Place, concept and new name of each entry."""
    head = read_head(path)
    is_json = head.lstrip().startswith(b"{")
    mapping: object = None
    if is_json or b"=" in head:
        text = read_text(path)
        with suppress(ValueError):
            mapping = decode_json(text) if is_json else decode_toml(text)

    # A JSON file of one record with these columns is a table.
    if isinstance(mapping, dict) and not {"concept", "becomes"} <= mapping.keys():
        for key, value in mapping.items():
            if not (value is None or isinstance(value, str)):
                raise problems.fatal(f"becomes {value!r}, which is no text", f"{_FORM}.", repr(key))
        return [(repr(key), key, value or "") for key, value in mapping.items()]

    form = detect_table_format(path, head)
    if form is None:
        raise problems.fatal("is not a table in a known format", f"{_FORM}.")
    table = form.load(path, problems, silent)
    if not {"concept", "becomes"} <= table.columns.keys():
        raise problems.fatal(
            f"has no columns concept and becomes (its columns: {shorten_list(table.columns)})",
            f"{_FORM}.",
        )

    concepts = table.columns["concept"].to_pylist()
    new_names = table.columns["becomes"].to_pylist()
    return [
        (table.place(row), str(concept or ""), str(becomes or ""))
        for row, (concept, becomes) in enumerate(zip(concepts, new_names, strict=True))
    ]


def apply_concept_table(
    concepts: Coded, table: dict[str, tuple[str, str]], problems: Problems
) -> Coded:
    """Rename concepts; dropped ones get -1.

    All entries apply at once: if a becomes b and b becomes c, a ends as b.

    Raises
    ------
    InputError
        The table names a concept that the data lacks; the message lists the closest.

    Examples
    --------
    >>> concepts = Coded(np.array([0, 1, 2]), ("car", "person", "truck"))
    >>> table = {"truck": ("vehicle", "line 2"), "car": ("vehicle", "line 3"), "person": ("", "")}
    >>> result = apply_concept_table(concepts, table, Problems("table.csv"))
    >>> result.codes.tolist(), result.names
    ([0, -1, 0], ('vehicle',))
    """
    names_here = set(concepts.names)
    for concept, (_, place) in table.items():
        if concept not in names_here:
            hint = suggest_names(concept, concepts.names).removesuffix(".")
            problems.record(place, f"{concept!r} is not a concept of the data", hint)

    new_names = [table.get(name, (name, ""))[0] for name in concepts.names]
    # Dropped concepts have an empty name.
    names = sorted({*new_names} - {""})
    number = dict(zip(names, range(len(names)), strict=True)) | {"": -1}
    new_code = np.array([*map(number.get, new_names), -1], dtype=np.int64)
    return Coded(new_code[concepts.codes], tuple(names))
