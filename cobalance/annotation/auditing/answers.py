"""What people say of the labels that they check, as one verdict a label."""

import pandas as pd

from cobalance.annotation.auditing.consensus import UNKNOWN, consensus

SHOWS, DOES_NOT = "shows", "does not"
ANSWERS = (SHOWS, DOES_NOT, UNKNOWN)
"""Whether the image shows the concept."""


def decided(labels: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """The labels that people agree on, with what they say.

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

    Examples
    --------
    >>> labels = pd.DataFrame({"image": ["a", "b"], "concept": "sky", "class_name": "bird",
    ...                        "labelled": [True, False]})
    >>> answers = pd.DataFrame({"image": ["a", "a", "b", "b"], "concept": "sky",
    ...     "person": ["ann", "bob"] * 2, "answer": ["unknown", "shows", "shows", "does not"]})
    >>> decided(labels, pd.concat([answers, answers.iloc[1:2].assign(person="eve")]))
      image concept class_name  labelled  shows
    0     a     sky       bird      True   True
    """
    keys = ["image", "concept"]
    given = {
        key: consensus(found["answer"].tolist())
        for key, found in answers.groupby(keys, sort=False, observed=True)
    }
    said = [given.get(key) for key in zip(labels["image"], labels["concept"], strict=True)]
    result = labels.assign(shows=pd.Series(said, index=labels.index, dtype=object) == SHOWS)
    clear = [answer in (SHOWS, DOES_NOT) for answer in said]
    return result[clear].reset_index(drop=True)
