"""Mine a dataset where its images are: in memory, in their files, or on Apache Spark."""

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from cobalance.base import Action, DataError, Progress, Text, inflect, log_run, silent
from cobalance.counting import Engine, MiningOptions
from cobalance.graph import (
    CountedImages,
    GraphStore,
    HeldImages,
    MiningReport,
    apply_tags,
    clique_totals,
    dataset_state,
    mine_images,
    pending_tags,
    read_mining_options,
)
from cobalance.workflows.in_files.loading import open_images


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

    in_files = engine not in ("auto", "memory") or (engine == "auto" and elsewhere)
    logging.getLogger(__name__).debug("mined in %s", "files" if in_files else "memory")
    images: AbstractContextManager[CountedImages]
    if in_files:
        images = open_images(store, state, engine, master, progress)
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


def warn_left_out(store: GraphStore, dataset: str) -> Text:
    """Warn of concepts that mining left out, as some class never shows them; empty for none."""
    totals = clique_totals(store, dataset)
    n_left_out = totals.left_out
    # Without any combination, `findings.no_clique` says why.
    if not (n_left_out and totals.cliques):
        return ""

    who = " or ".join(map(repr, read_mining_options(store, dataset).common or ())) or "some class"
    of_all = f"{n_left_out:,} of {inflect(totals.concepts + n_left_out, 'concepts')}"
    are, them = ("is", "it") if n_left_out == 1 else ("are", "them")
    text = f"{of_all} {are} left out, since {who} never shows {them}. To keep {them}, "
    return (text, Action("mine", dataset, common=()), ".")


def warn_waiting_tags(store: GraphStore, dataset: str) -> Text:
    """Warn of tags that the counts do not follow yet; empty for none."""
    changes = pending_tags(store, dataset)
    if not changes:
        return ""
    text = f"These are not the counts by the tags that there are now: {changes.describe()}. To "
    return (text + "count by them, ", Action("mine", dataset), ".")
