"""Errors name what Python has: keywords of this package, and methods of its results."""

import inspect
import re

import pandas as pd
import pytest

import cobalance as cb
from cobalance.base.errors import InputError
from cobalance.notebook.remedies import CALLS


def test_a_keyword_of_a_reader_is_named(tmp_path):
    frame = pd.DataFrame({"label": ["x"], "tags": ["cow"]})
    with pytest.raises(InputError, match=r"columns: label, tags, index\. Set class_column to"):
        cb.read(frame, class_column="kind")
    file = tmp_path / "cars.csv"
    file.write_text("id,label,tags\n1,x,cow\n1,y,cow\n")
    with pytest.raises(InputError, match="on_error='skip'"):
        cb.read(file)


def test_every_call_is_there():
    for call in CALLS.values():
        if call.startswith("cobalance "):  # a command
            continue
        place, method = re.match(r"(store(?:\[.*?\]|\.job\(.*?\))?)\.(\w+)\(", call).groups()
        owner = {"store": cb.Store, "store[{0}]": cb.Dataset}.get(place, cb.Job)
        assert inspect.isfunction(getattr(owner, method)), call
