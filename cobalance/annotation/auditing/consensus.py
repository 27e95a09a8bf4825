"""Consensus of the people who answer about a label (GELDA, appendix B.2)."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd

UNKNOWN = "unknown"
"""The answer of somebody who cannot tell."""


def consensus(answers: Sequence[str]) -> str | None:
    """The answer that most people gave.

    "For images where the consensus attribute is the 'unknown' label, we select the attribute with
    the next highest annotation count if available (else we leave as 'unknown')." Where two answers
    lead with the same number there is none; so too among the next highest.

    Parameters
    ----------
    answers : sequence of str
        One or several of each person; `UNKNOWN` where somebody could not tell.

    Returns
    -------
    str or None
        None without a consensus, and without an answer.

    Examples
    --------
    >>> consensus(["vintage", "vintage", "bohemian"]), consensus(["unknown", "unknown", "formal"])
    ('vintage', 'formal')
    >>> consensus(["a", "b"]), consensus(["unknown"]), consensus([])
    (None, 'unknown', None)
    """
    counts = Counter(answers)
    leader = _leader(counts)
    if leader != UNKNOWN:
        return leader

    # Where most cannot tell, the others decide.
    del counts[UNKNOWN]
    return _leader(counts) if counts else UNKNOWN


def _leader(counts: Counter[str]) -> str | None:
    most = counts.most_common(2)
    # Two answers that are given equally often lead to none.
    if not most or (len(most) == 2 and most[0][1] == most[1][1]):
        return None
    return most[0][0]


SHOWS, DOES_NOT = "shows", "does not"
ANSWERS = (SHOWS, DOES_NOT, UNKNOWN)
"""Whether the image shows the concept."""


def select_agreed(labels: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Select the labels that people agree on, with their verdict.

    Parameters
    ----------
    labels : pandas.DataFrame
        ``image``, ``concept``, ``class_name`` and ``labelled``, an image and concept once.
    answers : pandas.DataFrame
        ``image``, ``concept``, ``person`` and ``answer``, one of `ANSWERS`.

    Returns
    -------
    pandas.DataFrame
        The columns of `labels` with ``shows`` (bool); without labels that nobody has checked, that
        most people cannot tell, or on which as many say yes as no.
    """
    keys = ["image", "concept"]
    answer_lists = answers.groupby(keys, sort=False, observed=True)["answer"].agg(list)
    consensuses = answer_lists.map(consensus).to_dict()
    pairs = list(zip(labels["image"], labels["concept"], strict=True))
    verdicts = pd.Series(list(map(consensuses.get, pairs)), index=labels.index, dtype=object)

    agreed = labels.assign(shows=verdicts == SHOWS)
    return agreed[verdicts.isin((SHOWS, DOES_NOT))].reset_index(drop=True)
