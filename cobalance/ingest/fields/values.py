"""A column's different values, and which one each record has."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base.arrays import FloatArray, IntArray
from cobalance.ingest.frames import TEXT
from cobalance.ingest.tables.columns import MISSING, PRESENT

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
        first = self.distinct.slice(0, _SAMPLE).to_pylist()
        return [f"{value:.15g}" if isinstance(value, float) else value for value in first]

    @cached_property
    def texts(self) -> list[str]:
        """All values as text."""
        values = self.distinct.to_pylist()
        return [f"{value:.15g}" if isinstance(value, float) else value for value in values]

    @cached_property
    def numbers(self) -> FloatArray:
        """Each value as a number; NaN for others."""
        if self.distinct.type != TEXT:
            found = self.distinct.to_numpy(zero_copy_only=False).astype(np.float64)
        else:
            texts = self.distinct.to_pandas()
            found = pd.to_numeric(texts, errors="coerce").to_numpy(np.float64, na_value=np.nan)
        return np.where(np.isfinite(found), found, np.nan)

    @cached_property
    def counts(self) -> IntArray:
        """Records with each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.distinct))

    def flags(self) -> list[float | None]:
        """1 present, 0 absent, NaN neither, of each value; None for a column without flags.

        Beside 0, -1 says neither: CheXpert writes it where a report is uncertain.
        """
        texts = [text.lower().removesuffix(".0") for text in self.texts]
        three = {"-1", "0", "1"} <= {*texts}
        return [np.nan if three and text == "-1" else PRESENT.get(text) for text in texts]


def encode_values(column: pa.Array) -> Values:
    """Encode a column of text or floats.

    Examples
    --------
    >>> values = encode_values(pa.array(["b", " a", "NA", None, "b "], TEXT))
    >>> values.codes.tolist(), values.texts
    ([0, 1, -1, -1, 0], ['b', 'a'])
    """
    encoded = column.dictionary_encode()
    given = encoded.dictionary
    if column.type == TEXT:
        trimmed = pc.utf8_trim_whitespace(given).dictionary_encode()
        distinct, of_given = trimmed.dictionary, trimmed.indices.to_numpy(zero_copy_only=False)
        missing = pc.is_in(distinct, _MISSING)
    else:
        distinct, of_given = given, np.arange(len(given))
        missing = pc.invert(pc.is_finite(given))
    kept = ~missing.to_numpy(zero_copy_only=False)
    new = np.append(np.where(kept, np.cumsum(kept) - 1, -1)[of_given], -1)
    codes = pc.fill_null(encoded.indices, len(given)).to_numpy(zero_copy_only=False)
    return Values(new[codes], distinct.filter(pa.array(kept)))


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
    short = {text: text.removesuffix(".0") for text in values.texts}
    named = [names.get(text, names.get(short[text], text)) for text in values.texts]
    return pa.array([*named, None], TEXT).take(pa.array(values.codes % (len(named) + 1)))
