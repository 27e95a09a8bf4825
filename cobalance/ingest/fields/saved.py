"""People's choices for a file's columns, kept beside it in a small TOML file."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec

from cobalance.base import CobalanceError, InputError, decode_toml, replacing
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.reader import read_text


class _Saved(msgspec.Struct, forbid_unknown_fields=True):
    field: dict[str, str] = {}
    names: dict[str, dict[str, str]] = {}


def saved_file(path: Path) -> Path:
    """The file of choices beside a file or folder: ``faces.csv.fields.toml``."""
    whole = path.resolve()
    return whole.with_name(f"{whole.name}.fields.toml")


def with_saved(path: Path, options: ReadOptions) -> ReadOptions:
    """The options with the choices of before; their own come first.

    Raises
    ------
    InputError
        The file of choices cannot be used.
    """
    file = saved_file(path)
    try:
        is_there = file.is_file()
    except OSError:  # nor may the file beside it be read, which says so
        is_there = False
    if not is_there:
        return options

    try:
        saved = msgspec.convert(decode_toml(read_text(file)), _Saved)
    except ValueError as error:
        raise InputError(
            str(file),
            None,
            f"cannot be used ({error})",
            "Write tables [field] and [names.COLUMN] of texts, or delete it.",
        ) from None

    names = {**saved.names, **options.names}
    return replace(options, field={**saved.field, **options.field}, names=names)


def save_choices(path: Path, options: ReadOptions) -> Path | None:
    """Keep the choices of options beside a file; None where there are no choices, or no place."""
    if not (options.field or options.names):
        return None
    tables = {"field": options.field} if options.field else {}
    tables |= {f"names.{_quote(column)}": names for column, names in options.names.items()}
    lines = list[str]()
    for table, values in tables.items():
        lines.append(f"[{table}]")
        lines += [f"{_quote(key)} = {_quote(value)}" for key, value in values.items()]

    file = saved_file(path)
    try:
        with replacing(file) as part:
            part.write_text("\n".join([*lines, ""]), encoding="utf-8")
    except CobalanceError:
        return None
    return file


def _quote(text: object) -> str:
    """A text as TOML has it, which is as JSON has it."""
    return json.dumps(str(text), ensure_ascii=False)
