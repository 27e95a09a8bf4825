"""Datasets as they were published are read right, or refused; see `form` for what a form is."""

import shlex
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cobalance.app.cli import ingest
from cobalance.app.cli.main import whole_program
from cobalance.base.errors import InputError, OptionError
from cobalance.base.records import Annotations
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import declared_options
from tests.ingest.published.form import Form, Seen
from tests.ingest.published.not_yet import NOT_YET
from tests.ingest.published.page import FORMS, PAGE, with_tables

_SPLITS = {"training": "train", "valid": "val", "validation": "val"}


@cache
def ingest_command() -> Any:
    """The command, with its options."""
    return whole_program().commands["ingest"]  # type: ignore[attr-defined]


def read(command: str) -> Annotations:
    """Read what a command of `cobalance ingest` reads."""
    words = shlex.split(command)
    known = {option for parameter in ingest_command().params for option in parameter.opts}
    if unknown := [word for word in words if word.startswith("--") and word not in known]:
        raise OptionError(f"There is no option {unknown[0]}.")
    given = ingest_command().make_context("ingest", words).params
    options = ingest._read_options({name: given[name] for name in declared_options()})
    return read_annotations(Path(given["file"]), options, given["input_format"])


def found_images(annotations: Annotations, form: Form) -> dict[str, Seen]:
    """What was read of each image, by the keys of the truth."""
    found = {}
    for record in annotations.records():
        names = [record.id, record.uri or record.id]
        keys = [key for key in form.images if key in names] or [
            key for key in form.images if any(key in name for name in names)
        ]
        key = keys[0] if len(keys) == 1 and keys[0] not in found else f"{record.id} ({keys})"
        truth = form.images.get(key)
        split = _SPLITS.get(record.split or "", record.split)
        concepts = {c for c in record.concepts if c.partition(": ")[0] not in form.left_open}
        boxes = {
            name: sorted(m.box for m in record.mentions if m.concept == name and m.box is not None)
            for name in (truth.boxes if truth else ())
        }
        found[key] = Seen(frozenset(concepts), record.class_name, split, boxes)
    return found


def differences(found: dict[str, Seen], form: Form) -> list[str]:
    """What differs from the truth, image by image."""
    told = [f"no image {key}" for key in form.images.keys() - found.keys()]
    for key, one in found.items():
        truth = form.images.get(key)
        if truth is None:
            told.append(f"no such image: {key}")
            continue
        told += [
            f"{key}: {what} {got}, not {right}"
            for what, got, right in zip(Seen._fields[:3], one, truth, strict=False)
            if got != right
        ]
        for name, boxes in truth.boxes.items():
            if np.shape(one.boxes[name]) != np.shape(boxes) or not np.allclose(
                one.boxes[name], boxes, atol=0.01
            ):
                told.append(f"{key}: boxes of {name} {one.boxes[name]}, not {boxes}")
    return told


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_form_is_read_right_or_refused(
    form: Form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    form.write(tmp_path)
    reason = NOT_YET.get(form.name)
    if reason is None:
        assert differences(found_images(read(form.command), form), form) == []
        return
    with pytest.raises((InputError, OptionError)):
        read(form.command)


def test_the_page_has_the_commands_of_the_forms_that_are_read_right() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == with_tables(text), "run: python -m tests.ingest.published.page"


def test_forms_that_wait_exist() -> None:
    assert NOT_YET.keys() - FORMS.keys() == set()
