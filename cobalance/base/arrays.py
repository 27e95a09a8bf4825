"""Types of arrays and columns that all packages share, and hashes of their values."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.util import hash_array

IntArray = npt.NDArray[np.integer]
FloatArray = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]
BoolArray = npt.NDArray[np.bool_]

STRING = pd.StringDtype(na_value=np.nan)
"""Strings, with NaN where there is none: what pandas 3 calls ``"str"``, and pandas 2 has, too."""


def hash_texts(texts: Iterable[Any]) -> Hashes:
    """Hash texts to 64 bits, the same in every process."""
    return hash_array(np.asarray(texts, dtype=object), categorize=False)


def mix_bits(numbers: Hashes) -> Hashes:
    """Scatter 64-bit numbers (the finalizer of SplitMix64), so that sums of them tell a lot."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
