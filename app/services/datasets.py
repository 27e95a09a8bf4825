"""The composition root: opens the store that the settings name and runs the jobs on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from app.settings import Settings
from generation.planners import plan
from generation.planning.plan import Plan, PlanOptions
from generation.planning.simulation import summarize_plan
from graph.database.local.server import ensure_running
from graph.database.store import GraphStore
from graph.dataset import state as datasets
from graph.dataset.plans import write_plan
from graph.dataset.write import IngestReport, write_annotations
from graph.jobs.merge import read_accepted, write_rebalanced
from graph.jobs.status import read_job
from graph.progress import Progress, silent
from graph.queries.mined import load_cliques
from graph.records import Annotations, Mention
from ingest.concepts.plurals import counted
from ingest.images.regions import copy_regions, drop_regions, rename_regions, write_regions


def open_store(settings: Settings, progress: Progress = silent) -> GraphStore:
    """Open the server that the settings name, or start or join the user's own.

    Raises
    ------
    StoreUnavailableError
        It cannot be reached, or not started.
    """
    if settings.neo4j_uri is not None:
        return GraphStore.connect(
            settings.neo4j_uri,
            settings.neo4j_username,
            settings.password(),
            settings.neo4j_database,
        )
    endpoint = ensure_running(settings.local_server(), progress)
    return GraphStore.connect(endpoint.uri, endpoint.username, endpoint.password)


def default_dataset_name(file: Path | str) -> str:
    """The dataset that a file is loaded into when nobody names another one.

    Examples
    --------
    >>> default_dataset_name("annotations/cars.train.csv")
    'cars'
    """
    return Path(file).name.partition(".")[0]


def load_dataset(
    store: GraphStore,
    dataset: str,
    annotations: Annotations,
    *,
    source: str,
    replace: bool = False,
    progress: Progress = silent,
) -> IngestReport:
    """Load annotations into a dataset with all that belongs to them.

    Parameters
    ----------
    source : str
        Where the annotations came from, for people.
    replace : bool
        Delete the dataset's images that are not in `annotations`.

    Raises
    ------
    StoreError
        Another process writes the same dataset at the same time, or the database fails, or the
        images' boxes and outlines cannot be written.
    """
    report = write_annotations(
        store, dataset, annotations, source=source, replace=replace, progress=progress
    )
    folder = Settings.from_environment().regions_folder()
    write_regions(folder, dataset, annotations, replace=replace, progress=progress)
    return report


def drop_dataset(store: GraphStore, dataset: str, progress: Progress = silent) -> None:
    """Delete a dataset with all that belongs to it.

    Raises
    ------
    DatasetNotFoundError
        There is none of that name.
    """
    datasets.drop_dataset(store, dataset, progress)
    drop_regions(Settings.from_environment().regions_folder(), dataset)


def rename_dataset(store: GraphStore, dataset: str, new: str, progress: Progress = silent) -> None:
    """Rename a dataset with all that belongs to it.

    Raises
    ------
    DatasetExistsError
        The new name is taken.
    """
    datasets.rename_dataset(store, dataset, new, progress)
    rename_regions(Settings.from_environment().regions_folder(), dataset, new)


def describe_load(dataset: str, report: IngestReport) -> str:
    """What a load has done, as a sentence.

    Examples
    --------
    >>> describe_load("cars", IngestReport(4, 1, 0, 2, 0))
    'cars: 4 images new, 1 changed, 0 deleted, 2 as before.'
    """
    return (
        f"{dataset}: {counted(report.created, 'images')} new, {report.updated:,} changed, "
        f"{report.deleted:,} deleted, {report.unchanged:,} as before."
    )


@dataclass(frozen=True)
class RebalancedDataset:
    """A dataset with the images that a job has made for it.

    Parameters
    ----------
    dataset : str
        The new dataset's name.
    generated : int
        Its images that the job has made.
    report : IngestReport
        What writing it did.
    """

    dataset: str
    generated: int
    report: IngestReport


def rebalanced_dataset(
    store: GraphStore,
    job: str,
    into: str | None = None,
    *,
    split: str | None = None,
    found: Mapping[str, Sequence[Mention]] | None = None,
    progress: Progress = silent,
) -> RebalancedDataset:
    """Write a job's dataset and its accepted candidates into another dataset, to be mined.

    Again, it changes what has changed since, and nothing else. The job's own dataset stays.

    Parameters
    ----------
    into : str or None
        The other dataset; by default named like the job's, with ``-rebalanced`` behind.
    split : str or None
        Of all generated images; by default each is of the split of the image that its object is
        from.
    found : mapping of str to sequence of Mention, or None
        By candidate, the concepts that an annotator has found; by default it shows its query's.

    Raises
    ------
    JobNotFoundError
        There is no such job.
    DatasetExistsError
        `into` is a dataset that was not made here for the same job.
    OptionError
        No candidate is accepted, or `into` cannot name a dataset.
    StaleError
        The job's dataset is not whole.
    """
    dataset = read_job(store, job).dataset
    name = f"{dataset}-rebalanced" if into is None else into
    images = read_accepted(store, job, found)
    report = write_rebalanced(store, dataset, name, job, images, split=split, progress=progress)
    copy_regions(Settings.from_environment().regions_folder(), dataset, name)
    return RebalancedDataset(name, len(images), report)


@dataclass(frozen=True)
class Planned:
    """A plan with what it achieves.

    Parameters
    ----------
    plan : Plan
        As kept in the graph.
    summary : pandas.DataFrame
        From `summarize_plan`: cliques, gaps before and after, and images, per size.
    """

    plan: Plan
    summary: pd.DataFrame

    def queries(self) -> pd.DataFrame:
        """The generation queries: class, concepts, n."""
        return pd.DataFrame(
            [(query.class_name, query.concepts, query.n) for query in self.plan.queries],
            columns=["class", "concepts", "n"],
        )


def plan_dataset(
    store: GraphStore,
    dataset: str,
    planner: str,
    options: PlanOptions,
    name: str | None = None,
    progress: Progress = silent,
) -> Planned:
    """Plan the images that rebalance a mined dataset, and keep the plan in the graph.

    Parameters
    ----------
    planner : str
        A name in `generation.planners.PLANNERS`.
    name : str or None
        The plan's name in the dataset; the planner's by default.

    Raises
    ------
    UnknownNameError
        No planner has this name.
    OptionError
        The options ask for sizes that were not mined.
    StaleError
        The dataset has not been mined, or has changed since.
    """
    progress("read cliques", 0, None)
    cliques = load_cliques(store, dataset, max_size=options.max_size)
    progress("plan", 0, None)
    made = plan(cliques, planner, options)
    write_plan(
        store,
        dataset,
        name or planner,
        [(query.class_name, query.concepts, query.n) for query in made.queries],
        planner=planner,
        min_size=made.options.min_size,
        max_size=made.options.max_size or options.min_size,
        max_per_query=options.max_per_query,
        budget=options.budget,
        progress=progress,
    )
    return Planned(made, summarize_plan(cliques, made))
