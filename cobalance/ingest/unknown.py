"""Error for a file of unknown format, which names its keys and the nearest format."""

import codecs
from pathlib import Path

import msgspec

from cobalance.base import UNDECODABLE, InputError, Setting, Text
from cobalance.ingest.coco import syntax_fault
from cobalance.ingest.formats import FORMATS
from cobalance.ingest.formats.tool_reader import ToolReader
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.outline import Outline, outline_of
from cobalance.ingest.problems import Problems
from cobalance.ingest.trees import FileTree
from cobalance.ingest.unread_json import unread_form

_MOST_BYTES = 1 << 26  # of a document that is decoded to find a fault
_SETTINGS = (".yaml", ".yml")
_NEAR = 0.5  # share of a format's keys that a document has which comes near


def unknown_format(path: Path, shown_path: str, remedy: Text = ()) -> InputError:
    """The error of a file that is of none of the known formats.

    Parameters
    ----------
    shown_path : str
        How the message names the file.
    remedy : Text
        What else helps.
    """
    if path.suffix.lower() in _SETTINGS:
        reason = "says where images and labels are, as YOLO's data.yaml does, and holds none"
        folder = shown_path.rpartition("/")[0] or "."
        return InputError(shown_path, None, reason, f"Name the folder that they are in: {folder}.")

    choose: Text = ("Set ", Setting("input_format"))
    outline = outline_of(path)
    if not outline.root:
        reason = f"is of none of the known formats ({', '.join(FORMATS)})"
        return InputError(shown_path, None, reason, (*choose, *(remedy or (" to one of them.",))))

    if outline.root != "lines" and (fault := _syntax_fault(path, shown_path)) is not None:
        return fault

    if (refusal := unread_form(outline, shown_path)) is not None:
        return refusal

    choose = ("Export it as COCO, or set ", Setting("input_format"))
    if not outline.paths:
        reason = "is JSON without keys, which no format has"
    else:
        reason = f"is JSON of none of the known formats; its keys are {outline}"
        nearest = _nearest(outline)
        if nearest is not None:
            name, missing_keys = nearest
            reason += f". The nearest is {name}, which has {' and '.join(missing_keys)} as well"
    return InputError(shown_path, None, reason, (*choose, *(remedy or (" to its format.",))))


def _syntax_fault(path: Path, shown_path: str) -> InputError | None:
    """The error of a document that is no JSON; None if it is, or too large to tell."""
    if path.stat().st_size > _MOST_BYTES:
        return None
    content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    try:
        msgspec.json.decode(content, type=msgspec.Raw)
        content.decode()
    except UNDECODABLE as error:
        return syntax_fault(error, memoryview(content), Problems(shown_path, ReadOptions()))
    return None


def first_document(tree: FileTree) -> str | None:
    """The first JSON document of a folder or an archive that is not empty; None if it has none."""
    for name in tree.below("", ".json", ".ndjson", ".jsonl"):
        if tree.outline(name).paths:
            return name
    return None


def _nearest(outline: Outline) -> tuple[str, list[str]] | None:
    """The format of which a document has most of the keys, and the keys that it lacks."""
    best: tuple[float, str, list[str]] = (0.0, "", [])
    for name, form in FORMATS.items():
        if not isinstance(form.reader, ToolReader) or not form.reader.keys:
            continue
        keys = form.reader.keys
        missing_keys = [_show(key) for key in keys if not outline.has(key)]
        share = 1 - len(missing_keys) / len(keys)
        if share > best[0]:
            best = share, name, missing_keys

    share, name, missing_keys = best
    if share < _NEAR or not missing_keys:
        return None
    return name, missing_keys


def _show(key: str) -> str:
    return " or ".join(repr(part.removeprefix("/")) for part in key.split("|"))
