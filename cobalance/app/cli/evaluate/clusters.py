"""`cobalance evaluate clusters`: what captions say more often of one class than of the others."""

from shlex import quote
from typing import Annotated

import typer

from cobalance.app.cli.shared.assignments import assigned
from cobalance.app.cli.shared.options import (
    DatasetName,
    FormatOption,
    OutputOption,
    assignments_option,
    notes,
    opened_store,
    out,
)
from cobalance.app.cli.shared.tables import Format, check_output, write_frame
from cobalance.evaluation.training.texts import TEXT_FEATURES
from cobalance.graph.dataset.write import IngestReport
from cobalance.graph.errors import OptionError, needs_extra
from cobalance.graph.wording import inflect
from cobalance.workflows.settings import Settings


def clusters(
    dataset: DatasetName,
    count: Annotated[int, typer.Option("--clusters", "-k", min=1, help="How many clusters.")] = 20,
    embed: Annotated[
        str,
        typer.Option(
            help=f"What embeds captions: {', '.join(TEXT_FEATURES)}. `tfidf` needs no model and no "
            "torch."
        ),
    ] = "clip",
    setting: Annotated[
        list[str] | None, assignments_option("--set", "An option of the embeddings.")
    ] = None,
    words: Annotated[
        str,
        typer.Option(
            help="Word list, built-in or a TOML file, whose words for groups are read as person "
            'and name no cluster; "" for none.'
        ),
    ] = "gensynth",
    seed: Annotated[int, typer.Option(min=0, help="Of the clusters.")] = 0,
    as_concepts: Annotated[
        bool,
        typer.Option(
            "--as-concepts",
            help="Make each cluster a concept of its images, in place of earlier clusters, so that "
            "imbalances and plans see them.",
        ),
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove the clusters from the concepts instead.")
    ] = False,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """Cluster a dataset's captions; show each class's share in a cluster less its share overall.

    As in GenSynth's appendix B.2: K-means of the captions' embeddings. Shifts are in percentage
    points, with 95% intervals; n is the cluster's images.
    """
    check_output(format_, output)
    if remove and as_concepts:
        raise OptionError("--remove undoes --as-concepts. Give one of them.")
    with needs_extra("Clusters of captions", "evaluate"):
        from cobalance.workflows.evaluate import clusters as captions
    with opened_store() as (store, progress):
        if remove:
            _say(captions.remove_clusters(store, dataset, progress=progress), dataset)
            return
        found = captions.cluster_dataset(
            store,
            Settings.from_environment().folders().captions,
            dataset,
            captions.ClusterSettings(count, embed, assigned(setting), words, seed),
            progress=progress,
        )
        report = (
            captions.keep_clusters(store, dataset, found, progress=progress)
            if as_concepts
            else None
        )
    write_frame(found.shifts, format_, output, out)
    if found.without:
        notes.print(
            f"Without captions, and in no cluster: {inflect(found.without, 'images')}.",
            markup=False,
        )
    if report is not None:
        _say(report, dataset)


def _say(report: IngestReport, dataset: str) -> None:
    notes.print(
        f"{inflect(report.updated, 'images')} of {dataset} changed. To count concepts again: "
        f"cobalance mine {quote(dataset)}",
        markup=False,
    )
