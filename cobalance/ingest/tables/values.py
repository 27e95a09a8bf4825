"""A column's different values, and which one each record has."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import BoolArray, FloatArray, IntArray
from cobalance.ingest.frames import TEXT

MISSING = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
     "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
)  # fmt: skip
"""Texts that stand for a missing value, as `pandas.read_csv` has them."""
FLAGS = {"1": 1, "true": 1, "yes": 1, "0": 0, "-1": 0, "false": 0, "no": 0}
"""Texts in lower case that say that a concept is present or absent."""
_SAMPLE = 1_000  # values that are looked at one by one
_MISSING = pa.array(sorted(MISSING), TEXT)


@dataclass(frozen=True, eq=False)
class Values:
    """Values of a column's records as codes; -1 where missing.

    `distinct` are the values, stripped text or floats, in the order of their codes.
    """

    codes: IntArray
    distinct: pa.Array

    @cached_property
    def filled(self) -> int:
        """Records that have a value."""
        return int((self.codes >= 0).sum())

    @cached_property
    def sample(self) -> list[str]:
        """The first values as text."""
        return _texts(self.distinct.slice(0, _SAMPLE))

    @cached_property
    def texts(self) -> list[str]:
        """All values as text."""
        return _texts(self.distinct)

    @cached_property
    def numbers(self) -> FloatArray:
        """Each value as a number; NaN for others."""
        if self.distinct.type != TEXT:
            numbers = self.distinct.to_numpy(zero_copy_only=False).astype(np.float64)
        else:
            texts = self.distinct.to_pandas()
            numbers = pd.to_numeric(texts, errors="coerce").to_numpy(np.float64, na_value=np.nan)
        return np.where(np.isfinite(numbers), numbers, np.nan)

    @cached_property
    def counts(self) -> IntArray:
        """Records with each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.distinct))

    def flags(self) -> list[float | None]:
        """1 present, 0 absent, NaN neither, of each value; None for a column without flags.

        Beside 0, -1 says neither: CheXpert writes it where a report is uncertain.
        """
        texts = [text.lower().removesuffix(".0") for text in self.texts]
        flag_of: dict[str, float] = {**FLAGS}
        if {"-1", "0", "1"} <= {*texts}:
            flag_of["-1"] = np.nan
        return list(map(flag_of.get, texts))

    def are_flags(self) -> BoolArray:
        """Which distinct values are flags."""
        return np.array([flag is not None for flag in self.flags()], dtype=bool)


def _texts(values: pa.Array) -> list[str]:
    return [f"{value:.15g}" if isinstance(value, float) else value for value in values.to_pylist()]


def encode_values(column: pa.Array) -> Values:
    """Encode a column of text or floats.

    Examples
    --------
    >>> values = encode_values(pa.array(["b", " a", "NA", None, "b "], TEXT))
    >>> values.codes.tolist(), values.texts
    ([0, 1, -1, -1, 0], ['b', 'a'])
    """
    encoded = column.dictionary_encode()
    raw = encoded.dictionary
    if column.type == TEXT:
        trimmed = pc.utf8_trim_whitespace(raw).dictionary_encode()
        distinct, of_raw = trimmed.dictionary, trimmed.indices.to_numpy(zero_copy_only=False)
        is_missing = pc.is_in(distinct, _MISSING)
    else:
        distinct, of_raw = raw, np.arange(len(raw))
        is_missing = pc.invert(pc.is_finite(raw))

    # Codes count the values that are not missing; the last is of nulls.
    is_value = ~is_missing.to_numpy(zero_copy_only=False)
    new_code = np.append(np.where(is_value, np.cumsum(is_value) - 1, -1)[of_raw], -1)
    codes = pc.fill_null(encoded.indices, len(raw)).to_numpy(zero_copy_only=False)
    return Values(new_code[codes], distinct.filter(pa.array(is_value)))


def name_values(column: pa.Array, names: Mapping[str, str]) -> pa.Array:
    """A column with names in place of its codes; whole numbers match with and without decimals.

    Examples
    --------
    >>> name_values(pa.array([0.0, 1.0, None]), {"0": "land"}).to_pylist()
    ['land', '1', None]
    """
    if not names:
        return column
    values = encode_values(column)
    named = [names.get(text, names.get(text.removesuffix(".0"), text)) for text in values.texts]
    # The remainder of -1, a missing value, is the place of the null.
    return pa.array([*named, None], TEXT).take(pa.array(values.codes % (len(named) + 1)))
