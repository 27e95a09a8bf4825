"""How far a dataset is on its way: planned, made, compared, evaluated."""

from dataclasses import dataclass

from cobalance.graph.database import GraphStore
from cobalance.graph.queries import statements


@dataclass(frozen=True)
class DatasetProgress:
    """Progress of a dataset beyond mining: plan, job, images, comparison, evaluation.

    For a dataset that a job rebalanced, what came before is that job's.

    Parameters
    ----------
    planned, ordered : bool
        Whether there is a plan, and a job.
    making : bool
        Whether a job has yet to end.
    made : bool
        Whether a job has accepted images.
    compared : bool
        Whether a dataset with a job's images is mined beside its original.
    evaluated : bool
        Whether a model that was trained or tested on the dataset has scores.
    """

    planned: bool
    ordered: bool
    making: bool
    made: bool
    compared: bool
    evaluated: bool


def dataset_progress(store: GraphStore, dataset: str) -> DatasetProgress:
    """Read how far a dataset is; all false for one that does not exist."""
    (row,) = store.read(statements.PROGRESS, dataset=dataset)
    return DatasetProgress(**row)
