"""Draw a human study from a job's accepted edits, and read its results."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from cobalance.base import assign
from cobalance.evaluation import blind_sentence, draw_pairs, study_results
from cobalance.generation import RECIPES
from cobalance.graph import (
    Assignment,
    GraphStore,
    Job,
    Study,
    StudyPair,
    create_study,
    read_answers,
    read_job,
    read_pairs,
    read_panel,
    read_plan_options,
)
from cobalance.ingest import GroupWords, combine_words
from cobalance.workflows.panel.answers import clean_people

MOST_PAIRS = 300
"""That are drawn unless told otherwise, as in Resampled Datasets (section 3.4)."""


@dataclass(frozen=True)
class Sample:
    """How a study's sample is drawn, see `cobalance.notebook.jobs.Job.study`."""

    people: tuple[str, ...]
    pairs: int | None = None
    overlap: int | None = None
    seed: int = 0
    words: tuple[str, ...] = ()


def draw_study(store: GraphStore, job: str, sample: Sample) -> Study:
    """Create a study of a job's accepted edits, with a blind sample for each person.

    Raises
    ------
    NotFoundError
        There is no such job.
    OptionError
        It has too few accepted edits with files, a name of a person is missing, twice or none, or
        the overlap is not one of these people.
    UnknownNameError, InputError
        A word list cannot be used.
    """
    origin = read_job(store, job)
    people = clean_people(sample.people)
    edits = read_pairs(store, job).rename(columns={"candidate": "pair"})
    n = sample.pairs
    if n is None:
        n = min(MOST_PAIRS, max(edits["original"].nunique(), 1))
    overlap = len(people) if sample.overlap is None else sample.overlap

    rng = np.random.default_rng(sample.seed)
    drawn = draw_pairs(edits, n, rng)
    assigned = assign(n, len(people), overlap, rng)
    groups = sorted({*edits["asked"], *edits["own"]} - {""})
    words = _words(store, origin, sample.words)

    study = create_study(
        store,
        job,
        groups=groups,
        people=people,
        pairs=_pairs(drawn, words, groups),
        assignments=list(map(Assignment, *(column.tolist() for _, column in assigned.items()))),
        settings={"pairs": n, "overlap": overlap, "seed": sample.seed},
    )
    return read_panel(store, Study, study)


def _words(store: GraphStore, job: Job, names: Sequence[str]) -> GroupWords | None:
    """The words of groups: those given, else of the job's plan, else of its recipe."""
    recipe = str(job.settings.get("recipe", ""))
    usual = RECIPES[recipe].plan if recipe in RECIPES else None
    planned = read_plan_options(store, job.dataset, job.plan)
    names = names or planned.get("words", () if usual is None else usual.words)
    return combine_words(names) if names else None


def _pairs(drawn: pd.DataFrame, words: GroupWords | None, groups: Sequence[str]) -> list[StudyPair]:
    pairs = []
    for row in drawn.to_dict("records"):
        pair = StudyPair(
            candidate=str(row["pair"]),
            original=str(row["original"]),
            uri=str(row["uri"]),
            original_uri=str(row["original_uri"]),
            asked=str(row["asked"]),
            own=str(row["own"]),
            sentence=blind_sentence(str(row["caption"]), words, groups),
        )
        pairs.append(pair)
    return pairs


def results_frame(store: GraphStore, study: Study) -> pd.DataFrame:
    """All results of a study so far; see `cobalance.evaluation.study.agreement.study_results`.

    Raises
    ------
    MissingExtraError
        krippendorff is not installed.
    """
    rows = [(pair.candidate, pair.asked, pair.own) for pair in study.pairs]
    pairs = pd.DataFrame(rows, columns=["pair", "asked", "own"])
    return study_results(read_answers(store, study), pairs, study.groups, study.people)
