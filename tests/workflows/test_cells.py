"""Frames are written so that pandas reads them back."""

import io

import pandas as pd

from cobalance.workflows.cells import to_csv
from tests.conftest import HOSTILE


def test_csv_is_read_back_by_pandas():
    frame = pd.DataFrame({"name": [*HOSTILE, "bell \x07 escape \x1b", "a & b \"c\" 'd'"]})
    frame["images"] = range(len(frame))
    pd.testing.assert_frame_equal(pd.read_csv(io.BytesIO(to_csv(frame))), frame)
