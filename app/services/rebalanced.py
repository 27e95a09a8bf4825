"""Build the rebalanced dataset: a job's dataset with its accepted images."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.settings import Settings
from graph.database.store import GraphStore
from graph.dataset.write import IngestReport
from graph.jobs.merge import GeneratedImage, read_accepted, write_rebalanced
from graph.jobs.status import Job
from graph.progress import Progress, silent
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
    job: Job,
    into: str | None = None,
    *,
    images: Sequence[GeneratedImage] | None = None,
    split: str | None = None,
    progress: Progress = silent,
) -> RebalancedDataset:
    """Copy a job's dataset and its accepted candidates into another dataset, ready for mining.

    A repeated call writes only what has changed. The job's own dataset is not touched.

    Parameters
    ----------
    into : str or None
        Name of the other dataset; by default the job's dataset with ``-rebalanced`` appended.
    images : sequence of GeneratedImage, or None
        The job's accepted images; read from the graph by default.
    split : str or None
        Split of all generated images; by default each takes that of the image that its object
        comes from.

    Raises
    ------
    DatasetExistsError
        `into` is a dataset that was not made here for the same job.
    OptionError
        No candidate is accepted, or `into` cannot name a dataset.
    StaleError
        The job's dataset is incomplete: an ingest of it has not ended.
    """
    name = f"{job.dataset}-rebalanced" if into is None else into
    if images is None:
        images = read_accepted(store, job.id)
    report = write_rebalanced(store, job, name, images, split=split, progress=progress)
    copy_regions(settings.regions_folder(), job.dataset, name)
    return RebalancedDataset(name, len(images), report)
