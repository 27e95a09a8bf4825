"""Results of a human study, from the answers in the graph."""

import pandas as pd

from cobalance.evaluation.study.results import study_results
from cobalance.graph.database.store import GraphStore
from cobalance.graph.studies.reading import Study, read_answers


def results_frame(store: GraphStore, study: Study) -> pd.DataFrame:
    """All results of a study so far; see `cobalance.evaluation.study.results.study_results`.

    Raises
    ------
    MissingExtraError
        krippendorff is not installed.
    """
    pairs = pd.DataFrame(
        [(pair.candidate, pair.asked, pair.own) for pair in study.pairs],
        columns=["pair", "asked", "own"],
    )
    return study_results(read_answers(store, study.id), pairs, study.groups, study.people)
