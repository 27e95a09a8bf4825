"""Repeatable random draws, from SHA-256 and raw Philox words."""

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cobalance.base import T


class Draws:
    """Random draws that are the same on every machine, and in every version of NumPy.

    The 64-bit words are those of Philox-4x64-10, a counter-based generator (Salmon et al., Parallel
    random numbers: as easy as 1, 2, 3, SC 2011). Its key is the first 128 bits of the SHA-256 of
    what identifies the draws. NumPy promises that the words of a bit generator stay the same from
    version to version, but not the methods of `numpy.random.Generator` (NEP 19); those needed are
    written out here.

    Parameters
    ----------
    *identity : object
        What identifies the draws, such as an image's seed and the purpose.
    """

    def __init__(self, *identity: object) -> None:
        digest = hashlib.sha256("/".join(map(str, identity)).encode()).digest()
        self._philox = np.random.Philox(key=int.from_bytes(digest[:16], "big"))

    def uniform(self) -> float:
        """A number from 0 inclusive to 1 exclusive: a word's upper 53 bits, over 2**53."""
        return float(self.uniforms(1)[0])

    def uniforms(self, *shape: int) -> npt.NDArray[np.float64]:
        """An array of such numbers, drawn row by row."""
        words = self._philox.random_raw(shape)
        return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, count: int) -> int:
        """A whole number from 0 to ``count - 1``: the upper half of a word's product with `count`.

        No number is more likely than another by more than 2**-64.
        """
        return int(self._philox.random_raw()) * count >> 64

    def choice(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]
