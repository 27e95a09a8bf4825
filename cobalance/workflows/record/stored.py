"""Examine a dataset of the store, and load the counts of a record as one."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import Annotations, DataError, Progress, inflect, silent
from cobalance.counting import Cliques, CoOccurrence, Incidence, MiningOptions
from cobalance.generation import ExportError, read_merged
from cobalance.graph import (
    Counted,
    DatasetState,
    GraphStore,
    IfExists,
    ImageTotals,
    IngestReport,
    Sample,
    SplitIncidence,
    dataset_state,
    find_left_out,
    load_images,
    mine_images,
    mining_of,
    read_cliques,
    read_generated_ids,
    split_incidence,
    write_totals,
)
from cobalance.workflows.embed.search import find_across_splits
from cobalance.workflows.folders import Folders
from cobalance.workflows.properties import compare_classes, read_properties
from cobalance.workflows.record.document import write_document
from cobalance.workflows.record.examination import Examination, count_groups, measure_bits


def examine_dataset(
    store: GraphStore, folders: Folders, dataset: str, progress: Progress = silent
) -> Examination:
    """Examine a mined dataset by the numbers of the graph.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it has not been mined since it changed.
    DataError
        It is compared by concepts in place of its classes.
    """
    state = dataset_state(store, dataset)
    state.require_own_classes("A bias record")
    options, cliques = mining_of(state), read_cliques(store, state)

    # Without images, the concepts that were counted are those of single combinations.
    singles = cliques.take(cliques.sizes() == 1)
    examined = Examination(
        name=dataset,
        source=state.source or dataset,
        query=f"cobalance imbalances {quote(dataset)}",
        options=options,
        cliques=cliques,
        concepts=tuple(names[0] for names in singles.names()),
        concept_images=singles.counts,
        n_left_out=len(find_left_out(store, dataset)),
    )

    progress("read images", 0, None)
    images = _read_images(store, state, options.split)
    if images is None:
        return examined

    generated = read_generated_ids(store, dataset)
    return replace(
        examined,
        concepts=images.concepts,
        concept_images=images.class_concept_counts().T,
        without_concepts=images.without_concepts(),
        bits=measure_bits(images),
        n_across=count_groups(find_across_splits(store, folders, dataset, progress=progress)),
        properties=_read_properties(store, folders, dataset),
        n_generated=len(generated),
        activities=_read_activities(store, folders, generated),
    )


@dataclass(frozen=True, eq=False)
class _RecordedCounts:
    """Combinations of a record in place of images that are to be counted."""

    examined: Examination

    def load(self, store: GraphStore, state: DatasetState) -> SplitIncidence:
        """No images: DataError as of the store."""
        return load_images(store, state)

    def count(self, options: MiningOptions, max_cliques: int) -> Counted:
        """The recorded combinations, for any options."""
        del options, max_cliques
        cliques = self.examined.cliques
        n_concepts = int((cliques.sizes() == 1).sum())
        return Counted(cliques, len(cliques.concepts) - n_concepts)

    def sample(self, cliques: Cliques, sample: Sample, split: str | None) -> SplitIncidence:
        """No image."""
        del cliques, sample, split
        return split_incidence(Annotations.from_records(()))


def load_record(
    store: GraphStore,
    dataset: str,
    examined: Examination,
    *,
    source: str,
    if_exists: IfExists = "fail",
    progress: Progress = silent,
) -> IngestReport:
    """Load the counts of a record as a mined dataset without images.

    Parameters
    ----------
    source, if_exists
        As of `cobalance.graph.dataset.sampled.write_totals`.

    Raises
    ------
    ConflictError
        The dataset has other images, and they are not to be replaced.
    """
    totals = _totals(examined)
    report = write_totals(
        store, dataset, totals, Sample(0), source=source, if_exists=if_exists, progress=progress
    )
    mine_images(
        store,
        dataset_state(store, dataset),
        _RecordedCounts(examined),
        examined.options,
        max_cliques=len(examined.cliques),
        progress=progress,
    )
    return report


def _totals(examined: Examination) -> ImageTotals:
    """The counts of single concepts and of the pairs that were counted."""
    cliques = examined.cliques
    pairs = cliques.take(cliques.sizes() == 2)

    by_class = examined.concept_images.T
    class_code, concept_code = np.nonzero(by_class)
    edges = CoOccurrence(
        concept_pairs=pairs.members[:, :2] if len(pairs) else np.empty((0, 2), dtype=np.int64),
        pair_images=pairs.counts.sum(axis=1),
        class_concept=np.column_stack([class_code, concept_code]),
        class_concept_images=by_class[class_code, concept_code],
    )

    without = examined.without_concepts
    content = blake2b(write_document(examined), digest_size=8).digest()
    return ImageTotals(
        concepts=cliques.concepts,
        classes=cliques.classes,
        class_sizes=cliques.class_sizes,
        without_concepts=np.zeros_like(cliques.class_sizes) if without is None else without,
        edges=edges,
        splits={examined.options.split: examined.n_images},
        digest=int.from_bytes(content, signed=True),
    )


def _read_images(store: GraphStore, state: DatasetState, split: str | None) -> Incidence | None:
    """All images of the split; None where the graph has no more than counts, or a sample."""
    try:
        return load_images(store, state).of_split(split)
    except DataError:
        return None


def _read_properties(store: GraphStore, folders: Folders, dataset: str) -> pd.DataFrame | None:
    """How far image properties tell the classes apart; None where they were not measured."""
    try:
        properties = compare_classes(read_properties(store, folders, dataset))
    except DataError:
        return None
    return properties if "auc" in properties else None


def _read_activities(
    store: GraphStore, folders: Folders, generated: list[str]
) -> tuple[Mapping[str, Any], ...]:
    """How images were generated; none where the output folder does not have them."""
    images = pd.DataFrame({"id": generated, "class": "", "concepts": [()] * len(generated)})
    try:
        manifest = read_merged(store, folders.open_output(), images)
    except ExportError:
        return ()
    return tuple(activities_of(manifest))


def activities_of(manifest: pd.DataFrame) -> Iterator[Mapping[str, Any]]:
    """The activities that made the images of a manifest, by job and model, in terms of PROV-O."""
    columns = ["job", "backend", "model", "revision", "digital_source_type"]
    texts = manifest[columns].astype(object).where(manifest[columns].notna(), "")
    for names, rows in texts.groupby(columns, sort=True):
        job, backend, model, revision, source_type = map(str, names)
        made_with = " ".join(filter(None, [model or backend, revision]))
        made = manifest.loc[rows.index]
        made_at, software = made["made_at"].dropna(), made["software"].dropna()

        packages = json.loads(software.iloc[0]) if len(software) else {}
        agents = [
            {"@type": "prov:SoftwareAgent", "prov:label": f"{name} {version}"}
            for name, version in sorted(packages.items())
        ]
        activity = {
            "@type": "prov:Activity",
            "@id": f"urn:cobalance:job:{job}:{backend}",
            "prov:label": f"{inflect(len(rows), 'generated images')} by {made_with}",
            "prov:type": source_type,
            "prov:startedAtTime": made_at.min().isoformat() if len(made_at) else "",
            "prov:endedAtTime": made_at.max().isoformat() if len(made_at) else "",
            "prov:wasAssociatedWith": agents,
        }
        yield {name: value for name, value in activity.items() if value}
