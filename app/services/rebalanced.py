"""Build the rebalanced dataset: a job's dataset with its accepted images."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.settings import Settings
from graph.database.store import GraphStore
from graph.dataset.write import IngestReport
from graph.jobs.merge import read_accepted, write_rebalanced
from graph.jobs.status import read_job
from graph.progress import Progress, silent
from graph.records import Mention
from ingest.images.regions import copy_regions


@dataclass(frozen=True)
class RebalancedDataset:
    """A dataset that a job's accepted images were added to.

    Parameters
    ----------
    dataset : str
        The new dataset's name.
    generated : int
        How many of its images the job generated.
    report : IngestReport
        What writing it did.
    """

    dataset: str
    generated: int
    report: IngestReport


def rebalanced_dataset(
    store: GraphStore,
    settings: Settings,
    job: str,
    into: str | None = None,
    *,
    split: str | None = None,
    found: Mapping[str, Sequence[Mention]] | None = None,
    progress: Progress = silent,
) -> RebalancedDataset:
    """Copy a job's dataset and its accepted candidates into another dataset, ready for mining.

    A repeated call writes only what has changed. The job's own dataset is not touched.

    Parameters
    ----------
    into : str or None
        Name of the other dataset; by default the job's dataset with ``-rebalanced`` appended.
    split : str or None
        Split of all generated images; by default each takes that of the image that its object
        comes from.
    found : mapping of str to sequence of Mention, or None
        Concepts that an annotator found, by candidate; by default those of its query.

    Raises
    ------
    JobNotFoundError
        There is no such job.
    DatasetExistsError
        `into` is a dataset that was not made here for the same job.
    OptionError
        No candidate is accepted, or `into` cannot name a dataset.
    StaleError
        The job's dataset is incomplete: an ingest of it has not ended.
    """
    dataset = read_job(store, job).dataset
    name = f"{dataset}-rebalanced" if into is None else into
    images = read_accepted(store, job, found)
    report = write_rebalanced(store, dataset, name, job, images, split=split, progress=progress)
    copy_regions(settings.regions_folder(), dataset, name)
    return RebalancedDataset(name, len(images), report)
