"""Mine a dataset on the engine that has its images: the kernel here, or Apache Spark."""

import logging
from collections.abc import Sequence

from cobalance.base import DataError, Progress, log_run, silent
from cobalance.counting import Engine, MiningOptions
from cobalance.graph.database import GraphStore
from cobalance.graph.dataset import MiningReport, dataset_state, mine_dataset
from cobalance.graph.tags import apply_tags


@log_run
def mine(
    store: GraphStore,
    dataset: str,
    options: MiningOptions,
    *,
    max_cliques: int,
    engine: Engine = "auto",
    master: str | None = None,
    classes: Sequence[str] | None = None,
    progress: Progress = silent,
) -> MiningReport:
    """Mine a dataset as `cobalance.graph.dataset.mining.mine_dataset` does, on an engine of choice.

    What tags say of images is applied to them first. `engine` and `master` are those of
    `cobalance.notebook.datasets.Dataset.mine`; `classes` are the concepts to compare by, see
    `cobalance.graph.dataset.compared.read_comparison`.

    Raises
    ------
    MissingExtraError
        The extra ``spark`` is needed and not installed.
    """
    apply_tags(store, dataset, progress=progress)
    elsewhere = dataset_state(store, dataset).images_at is not None
    if elsewhere and classes:
        raise DataError("Images that stay in Parquet files are compared by their classes alone.")

    on_spark = engine == "spark" or (engine == "auto" and elsewhere)
    logging.getLogger(__name__).debug("mined on %s", "Spark" if on_spark else "the kernel here")
    if not on_spark:
        return mine_dataset(
            store,
            dataset,
            options,
            max_cliques=max_cliques,
            compared=classes,
            progress=progress,
        )
    # Spark is imported only where it counts.
    from cobalance.workflows.on_spark.session import mine_on_spark

    return mine_on_spark(
        store,
        dataset,
        options,
        max_cliques=max_cliques,
        master=master,
        compared=classes,
        progress=progress,
    )
