"""Images of the dataset that a job leads to: chosen counterfactuals, images of earlier jobs."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

import pandas as pd

from cobalance.base import OptionError, Setting, check_known, inflect
from cobalance.generation.export.options import ExportError
from cobalance.generation.output.chunk_records import read_records
from cobalance.generation.output.manifest import manifest_frame
from cobalance.generation.planning import Composition, ResultOptions, compose_dataset
from cobalance.generation.recipes import DEFAULT, RECIPES
from cobalance.graph import GraphStore, Job, generated_id, read_counterfactuals, read_verdicts
from cobalance.vision.stored.output_folder import OutputFolder


def compose_job(
    store: GraphStore,
    job: Job,
    read_images: Callable[[], pd.DataFrame],
    given: Mapping[str, Any] | None = None,
) -> Composition | None:
    """Choose the images of a job's dataset; None for a job that edits none, which takes all.

    Parameters
    ----------
    read_images : callable
        Gives the dataset's images: ``id`` and ``class``. Generated images of earlier jobs count as
        real ones, those of this job as what it generated.
    given : mapping, optional
        Fields of `ResultOptions` that differ from the recipe's own choice; ``recipe`` names another
        recipe than the job's, whose choice it is.

    Raises
    ------
    OptionError
        Options are given, and the job edits no images; or see `compose_dataset`.
    UnknownNameError
        There is no such option.
    """
    counterfactuals = read_counterfactuals(store, job.id)
    if not counterfactuals:
        if given:
            raise OptionError(
                f"The job {job.id} edits no images, so that all real ones stay. Leave out the "
                "choice of real images."
            )
        return None

    values = dict(given or {})
    recipe = values.pop("recipe", None) or job.settings.get("recipe") or DEFAULT
    check_known("option of the result", values, [field.name for field in fields(ResultOptions)])
    options = replace(RECIPES[str(recipe)].result or ResultOptions(), **values)

    # Images of this job that were merged before are not real ones.
    images = read_images()
    merged: set[str] = set()
    for counterfactual in counterfactuals:
        merged.update(map(generated_id, counterfactual.images))
    return compose_dataset(images[~images["id"].isin(merged)], counterfactuals, options)


def with_source_concepts(made: pd.DataFrame, images: pd.DataFrame) -> pd.DataFrame:
    """Give edited images the concepts that their sources have now, as a merge does.

    The manifest has those that the sources had when they were planned. Since then annotations may
    have been corrected, and a correction is as true of what was made of an image, which shows all
    but its group unchanged. So every set of concepts has equal counts in all groups, whether an
    image stands beside its counterfactuals or not.

    Parameters
    ----------
    made : pandas.DataFrame
        Rows of the manifest.
    images : pandas.DataFrame
        The dataset's: ``id`` and ``concepts``.

    Returns
    -------
    pandas.DataFrame
        The same rows; those of images that are made anew, or whose source is gone, unchanged.
    """
    current = dict(zip(images["id"], images["concepts"], strict=True))
    edited = made["source_class"].notna()
    sources = made["source_image"].where(edited)

    concepts = [
        current.get(source, planned)
        for source, planned in zip(sources, made["concepts"], strict=True)
    ]
    return made.assign(concepts=pd.Series(concepts, made.index, dtype=object))


def read_merged(store: GraphStore, folder: OutputFolder, images: pd.DataFrame) -> pd.DataFrame:
    """Read the manifest rows of images that earlier jobs generated and that were merged.

    Class and concepts are the dataset's, which an annotator may have found; verdicts are current.
    The output folder keeps the rows of a job that was dropped with its dataset.

    Parameters
    ----------
    images : pandas.DataFrame
        ``id``, ``class`` and ``concepts`` (a list of str).

    Returns
    -------
    pandas.DataFrame
        The columns of `cobalance.generation.output.manifest.MANIFEST_SCHEMA`, in order of
        candidate.

    Raises
    ------
    ExportError
        The folder does not have all of them.
    """
    labels = {}
    for image, *label in images[["id", "class", "concepts"]].itertuples(index=False):
        labels[image] = label
    candidates_of: dict[str, set[str]] = {}
    for image in labels:
        # Candidates are named job/query/index.
        candidate = str(image).removeprefix(generated_id(""))
        job = candidate.rpartition("/")[0].rpartition("/")[0]
        candidates_of.setdefault(job, set()).add(candidate)

    rows = []
    for job, candidates in sorted(candidates_of.items()):
        job_rows = _read_rows(store, folder, job, candidates) if job else []
        if len(job_rows) < len(candidates):
            raise ExportError(
                f"{folder.place} has {len(job_rows):,} of the "
                f"{inflect(len(candidates), 'generated images')} that the dataset has from job "
                f"{job or '?'}. Name the folder that its workers wrote to with ",
                Setting("output"),
                ", or put the folder of that job back into it.",
            )
        rows += job_rows

    # The dataset may have changed classes and concepts since the images were made.
    for row in rows:
        row["class"], row["concepts"] = labels[generated_id(row["candidate"])]
    return manifest_frame(rows)


def _read_rows(
    store: GraphStore, folder: OutputFolder, job: str, candidates: set[str]
) -> list[dict[str, Any]]:
    """Read the records of a job's candidates that have a file, with the verdicts on them."""
    verdicts = read_verdicts(store, job, sorted(candidates))
    return [
        row | verdicts.get(row["candidate"], {})
        for row in read_records(folder, job)
        if row["candidate"] in candidates and row["path"] is not None
    ]
