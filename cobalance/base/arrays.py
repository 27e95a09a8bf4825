"""Types of arrays and columns that all packages share."""

import numpy as np
import numpy.typing as npt
import pandas as pd

IntArray = npt.NDArray[np.integer]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

STRING = pd.StringDtype(na_value=np.nan)
"""Strings, with NaN where there is none: what pandas 3 calls ``"str"``, and pandas 2 has, too."""
