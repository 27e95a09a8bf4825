"""Blind samples of pairs for several people."""

import numpy as np
import pandas as pd

from cobalance.base import OptionError, Setting


def draw_pairs(pairs: pd.DataFrame, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw pairs at random, no original twice.

    Parameters
    ----------
    pairs : pandas.DataFrame
        ``pair``, a name of its own, and ``original``, the image that was edited; any others. Their
        order does not matter.
    n : int
        How many to draw.

    Returns
    -------
    pandas.DataFrame
        ``n`` rows of `pairs`, in random order.

    Raises
    ------
    OptionError
        There are fewer originals.
    """
    originals = pairs["original"].nunique()
    if not 0 < n <= originals:
        raise OptionError(
            f"{n:,} pairs cannot be drawn, as {originals:,} images have an accepted edit whose "
            "file is kept, and none is shown twice. Ask for fewer with ",
            Setting("pairs"),
            ".",
        )

    # In an order of its own, so that a seed draws the same whichever order they come in.
    ordered = pairs.sort_values("pair", kind="stable", ignore_index=True)
    drawn = ordered.iloc[rng.permutation(len(ordered))].drop_duplicates("original")
    return drawn.head(n).reset_index(drop=True)
