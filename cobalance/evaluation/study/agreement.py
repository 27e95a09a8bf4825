"""Results of a human study: shares of answers, agreement of people with orders and each other."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from cobalance.base import STRING, needs_extra
from cobalance.evaluation.study.questions import CANNOT_TELL, QUESTIONS
from cobalance.statistics import proportions

ALL = ""
"""The group of all pairs, and the person for all people."""
COLUMNS = ("measure", "question", "person", "group", "answer", "value", "low", "high", "n")
ASKED = "agreement with what was asked for"
OWN = "agreement with the original's group"
BOTH = "same group seen in both images"
ALPHA = "Krippendorff's alpha"
SHARE = "share of answers"


def study_results(
    answers: pd.DataFrame, pairs: pd.DataFrame, groups: Sequence[str], people: Sequence[str]
) -> pd.DataFrame:
    """All results of a study, one table.

    Parameters
    ----------
    answers : pandas.DataFrame
        ``pair``, ``person``, ``question``, ``answer``: at most one of each person to each question
        about a pair.
    pairs : pandas.DataFrame
        ``pair``, ``asked``, the group that was asked for, and ``own``, the original's group; empty
        where it is not known.
    groups : sequence of str
        The groups to choose from.
    people : sequence of str
        Everybody who judges, with or without an answer so far.

    Returns
    -------
    pandas.DataFrame
        ``measure``, ``question``, ``person`` and ``group`` (empty for all; the group asked for),
        ``answer``, ``value``, ``low``, ``high`` (NaN where nobody has answered, or undefined) and
        ``n``, the answers behind it. From `answer_shares`, `agreement` and `alphas`.
    """
    return pd.concat(
        [
            answer_shares(answers, pairs, groups),
            agreement(answers, pairs, people),
            alphas(answers, groups),
        ],
        ignore_index=True,
    )


def answer_shares(
    answers: pd.DataFrame, pairs: pd.DataFrame, groups: Sequence[str]
) -> pd.DataFrame:
    """The share of each answer to each question, over all pairs and by the group asked for.

    Intervals are Wilson's, of single answers: where people share pairs they are too narrow.
    """
    asked_by_pair = pairs.set_index("pair")["asked"]
    asked = answers["pair"].map(asked_by_pair)

    rows = []
    for question in QUESTIONS:
        is_of_question = answers["question"] == question.key
        for group in (ALL, *sorted(set(asked_by_pair))):
            chosen = answers.loc[is_of_question & ((asked == group) | (group == ALL)), "answer"]
            for answer in question.choices_among(groups):
                n_hits = int((chosen == answer).sum())
                rows.append((question.key, ALL, group, answer, n_hits, len(chosen)))
    return _shares(SHARE, rows)


def agreement(answers: pd.DataFrame, pairs: pd.DataFrame, people: Sequence[str]) -> pd.DataFrame:
    """How often the group that people see is the one asked for, the original's, and in both alike.

    GenSynth (appendix D) gives the first two for each annotator. Somebody who cannot tell does not
    agree; pairs whose original has no known group do not count for the second, and for the third
    only those of which the person has told the group of both images.
    """
    truth = pairs.set_index("pair")
    seen = answers.pivot_table(
        index=["person", "pair"], columns="question", values="answer", aggfunc="first"
    ).reindex(columns=["group_original", "group_edited"])
    truth_by_row = truth.reindex(seen.index.get_level_values("pair"))
    originals_group = truth_by_row["own"].to_numpy()
    asked_group = truth_by_row["asked"].to_numpy()

    # Of each measure: its question, the rows that count, and those that are right.
    original, edited = seen["group_original"], seen["group_edited"]
    can_tell = (original != CANNOT_TELL) & (edited != CANNOT_TELL)
    is_answered = original.notna() & edited.notna()
    has_group = original.notna() & (originals_group != "")
    measures = {
        ASKED: ("group_edited", edited.notna(), edited == asked_group),
        OWN: ("group_original", has_group, original == originals_group),
        BOTH: (ALL, can_tell & is_answered, original == edited),
    }

    names = seen.index.get_level_values("person")
    frames = []
    for measure, (question, counts, hits) in measures.items():
        rows = []
        for person in (ALL, *people):
            counts_for_person = counts.to_numpy() & ((names == person) | (person == ALL))
            n_hits = int((hits.to_numpy() & counts_for_person).sum())
            rows.append((question, person, ALL, "", n_hits, int(counts_for_person.sum())))
        frames.append(_shares(measure, rows))
    return pd.concat(frames, ignore_index=True)


def alphas(answers: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Krippendorff's alpha of each question: 1 where all agree, 0 by chance.

    Nominal, and "cannot tell" is an answer like the others. ``n`` counts the answers to pairs that
    two people or more have judged. NaN where there are none, and where all their answers are the
    same: there is then no disagreement to be expected.

    Raises
    ------
    MissingExtraError
        krippendorff is not installed.
    """
    with needs_extra("Krippendorff's alpha", "evaluate"):
        import krippendorff

    rows = []
    for question in QUESTIONS:
        chosen = answers[answers["question"] == question.key]
        choices = question.choices_among(groups)
        counts = pd.crosstab(chosen["pair"], chosen["answer"]).reindex(
            columns=list(choices), fill_value=0
        )

        # One answer to a pair has nothing to agree with.
        table = counts[counts.sum(axis=1) > 1].to_numpy(dtype=np.int64)
        # Alpha is 0 / 0 where all answers are the same.
        value = np.nan
        if np.count_nonzero(table.sum(axis=0)) > 1:
            value = float(krippendorff.alpha(value_counts=table, level_of_measurement="nominal"))
        rows.append((ALPHA, question.key, ALL, ALL, "", value, np.nan, np.nan, int(table.sum())))

    return _frame(rows)


def _shares(measure: str, rows: Sequence[tuple[str, str, str, str, int, int]]) -> pd.DataFrame:
    """Shares with their intervals, of rows of question, person, group, answer, hits and n."""
    hits, n = [row[4] for row in rows], [row[5] for row in rows]
    shares = zip(rows, *proportions(hits, n), strict=True)
    return _frame([(measure, *row[:4], *share, row[5]) for row, *share in shares])


def _frame(rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    types = dict.fromkeys(COLUMNS[:5], STRING) | dict.fromkeys(COLUMNS[5:8], "float64")
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(types | {"n": "int64"})
