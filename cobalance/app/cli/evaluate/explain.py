"""`cobalance evaluate artefact`, `cam` and `clusters`: why a model fails, and where it looks."""

from typing import Annotated

import typer

from cobalance.app.cli.shared import (
    Assignments,
    DatasetName,
    EvaluationId,
    JobId,
    SeedOption,
    TableOutput,
    assigned,
    folders,
    note_changed,
    notes,
    opened_store,
)
from cobalance.base import OptionError, inflect, needs_extra
from cobalance.evaluation import TEXT_FEATURES


def artefact(
    to: TableOutput,
    evaluation: EvaluationId,
    job: JobId,
    first: Annotated[str, "One of the two predicted groups, such as man. Not needed for two."] = "",
    second: Annotated[str, "The other, such as woman."] = "",
    seed: Annotated[int, typer.Option(min=0, help="Random seed, of the bootstrap.")] = 0,
) -> None:
    """Predict test images and a job's edits of them: a model that shifts sees the painter's traces.

    The job paints regions of test images anew with their own captions: `cobalance plan-edits
    DATASET --recipe resampled-control`, then `enqueue` with any backend, and `work`. Scores are
    kept.
    """
    with needs_extra("Predicting images", "evaluate"):
        from cobalance.workflows import run_artefact_test
    with opened_store() as (store, progress):
        test = run_artefact_test(
            store, folders(), evaluation, job, first, second, seed=seed, progress=progress
        )

    to.write(test.scores.drop(columns=["method", "seed"]))
    notes.print(f"Of {inflect(len(test.edited), 'test images')} that were edited.")


def cam(
    to: TableOutput,
    evaluation: EvaluationId,
    count: Annotated[
        int,
        typer.Option("--count", "-n", min=1, help="How many images: test images, drawn at random."),
    ] = 200,
    objects: Annotated[
        list[str] | None,
        typer.Option("--object"),
        "A concept whose regions are the object, or * for any. Repeat it. Default: the class's own "
        "name.",
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Map where a network sees each image's class (GradCAM), and how much of it is on the object.

    The page Evaluate shows the kept maps. A large object has much of a map by itself: compare
    cam_energy with mask_share, its area.
    """
    with needs_extra("Class activation maps", "train"):
        from cobalance.workflows import map_activations

    with opened_store() as (store, progress):
        maps = map_activations(
            store,
            folders(),
            evaluation,
            most=count,
            objects=tuple(objects or ()),
            seed=seed,
            progress=progress,
        )

    to.write(maps.scores.drop(columns=["method", "seed"]))
    if maps.without_regions:
        notes.print(
            f"{inflect(maps.without_regions, 'images')} of {len(maps.images):,} have no regions of "
            "their object, and no share. Name it with --object."
        )


def clusters(
    to: TableOutput,
    dataset: DatasetName,
    count: Annotated[int, typer.Option("--clusters", "-k", min=1, help="How many clusters.")] = 20,
    embed: Annotated[
        str,
        f"What embeds captions: {', '.join(TEXT_FEATURES)}. `tfidf` needs no model and no torch.",
    ] = "clip",
    setting: Annotated[Assignments, "An option of the embeddings. Repeat it."] = None,
    words: Annotated[
        str,
        "Word list of groups, by name or file, whose words are read as person and name no "
        'cluster; "" for none.',
    ] = "gensynth",
    seed: SeedOption = 0,
    as_concepts: Annotated[
        bool,
        "Make each cluster a concept of its images, in place of earlier clusters, so that "
        "imbalances and plans see them.",
    ] = False,
    undo: Annotated[bool, "Remove the clusters from the concepts instead."] = False,
) -> None:
    """Cluster a dataset's captions; show each class's share in a cluster minus its share overall.

    As in GenSynth's appendix B.2: K-means of the captions' embeddings. Shifts are in percentage
    points, with 95% intervals; n is the cluster's images.
    """
    if undo and as_concepts:
        raise OptionError("--undo takes back --as-concepts. Give one of them.")
    with needs_extra("Clusters of captions", "evaluate"):
        from cobalance.workflows.evaluate import clusters as captions

    report = None
    with opened_store() as (store, progress):
        if undo:
            note_changed(captions.remove_clusters(store, dataset, progress=progress), dataset)
            return
        clustered = captions.cluster_dataset(
            store,
            folders().captions,
            dataset,
            captions.ClusterSettings(count, embed, assigned(setting), words, seed),
            progress=progress,
        )
        if as_concepts:
            report = captions.keep_clusters(store, dataset, clustered, progress=progress)

    to.write(clustered.shifts)
    if clustered.without:
        notes.print(f"Without captions, and in no cluster: {inflect(clustered.without, 'images')}.")
    if report is not None:
        note_changed(report, dataset)
