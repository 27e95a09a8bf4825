"""Draw people for pairs that are judged: who sees which, in which order."""

from itertools import repeat

import numpy as np
import pandas as pd

from cobalance.base.errors import OptionError, Setting


def assign(n: int, people: int, overlap: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw who judges which pairs, in which order, and on which side each original is.

    Each pair goes to those who have the fewest so far, so that loads differ by one pair at most.

    Parameters
    ----------
    n : int
        Number of pairs.
    people : int
        How many people judge.
    overlap : int
        How many of them judge each pair: 1 as in GenSynth (appendix D), whose annotators share no
        image, or more for their agreement.

    Returns
    -------
    pandas.DataFrame
        In the order in which each person judges: ``person`` and ``pair``, both from 0, and
        ``original_first``, whether the original is on the left.

    Raises
    ------
    OptionError
        The overlap is not between 1 and the number of people.

    Examples
    --------
    >>> drawn = assign(4, people=3, overlap=2, rng=np.random.default_rng(0))
    >>> sorted(drawn.groupby("person").size()), drawn.groupby("pair").size().tolist()
    ([2, 3, 3], [2, 2, 2, 2])
    """
    if not 1 <= overlap <= people:
        raise OptionError(
            f"Each is to be judged by {overlap:,} of {people:,} people. Ask for 1 to all of "
            "them with ",
            Setting("overlap"),
            ".",
        )

    loads = np.zeros(people, np.int64)
    rows: list[tuple[int, int]] = []
    for pair in range(n):
        # Those with the fewest pairs so far; chance decides among people with equally many.
        order = rng.permutation(people)
        judges = order[np.argsort(loads[order], kind="stable")][:overlap]
        loads[judges] += 1
        rows += zip(judges.tolist(), repeat(pair))

    drawn = pd.DataFrame(rows, columns=["person", "pair"]).astype(np.int64)
    # Each person has an order of their own.
    drawn = drawn.iloc[rng.permutation(len(drawn))]
    drawn["original_first"] = rng.random(len(drawn)) < 0.5
    return drawn.sort_values("person", kind="stable", ignore_index=True)
