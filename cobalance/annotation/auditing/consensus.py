"""The answer that several people agree on (GELDA, appendix B.2)."""

from collections import Counter
from collections.abc import Sequence

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
    del counts[UNKNOWN]
    return _leader(counts) if counts else UNKNOWN


def _leader(counts: Counter[str]) -> str | None:
    most = counts.most_common(2)
    if not most or (len(most) == 2 and most[0][1] == most[1][1]):
        return None
    return most[0][0]
