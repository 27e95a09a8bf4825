"""Mine a dataset on the engine that has its images: the kernel here, or Apache Spark."""

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from cobalance.base import DataError, Progress, log_run, silent
from cobalance.counting import Engine, MiningOptions
from cobalance.graph import (
    CountedImages,
    GraphStore,
    HeldImages,
    MiningReport,
    apply_tags,
    dataset_state,
    mine_images,
)


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
    """Mine a dataset as `cobalance.graph.dataset.mining.mine_images` does, on an engine of choice.

    What tags say of images is applied to them first. `engine` and `master` are those of
    `cobalance.notebook.datasets.Dataset.mine`; `classes` are the concepts to compare by, see
    `cobalance.graph.dataset.cliques.read_comparison`.

    Raises
    ------
    MissingExtraError
        The extra ``spark`` is needed and not installed.
    """
    apply_tags(store, dataset, progress=progress)
    state = dataset_state(store, dataset)
    state.require_complete()

    elsewhere = state.images_at is not None
    if elsewhere and classes:
        raise DataError("Images that stay in Parquet files are compared by their classes alone.")

    on_spark = engine == "spark" or (engine == "auto" and elsewhere)
    logging.getLogger(__name__).debug("mined on %s", "Spark" if on_spark else "the kernel here")
    images: AbstractContextManager[CountedImages]
    if on_spark:
        # Spark is imported only where it counts.
        from cobalance.workflows.on_spark.session import open_images

        images = open_images(store, state, master)
    else:
        images = nullcontext(HeldImages.read(store, state, options, progress=progress))

    with images as opened:
        return mine_images(
            store,
            state,
            opened,
            options,
            max_cliques=max_cliques,
            compared=classes,
            progress=progress,
        )
