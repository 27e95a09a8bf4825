"""Subjects of a gate: datasets of the store."""

from dataclasses import replace

import pandas as pd

from cobalance.base import Progress, silent
from cobalance.graph import GraphStore, read_annotations
from cobalance.workflows.embed.search import find_across_splits
from cobalance.workflows.folders import Folders
from cobalance.workflows.gate.rules import Rules
from cobalance.workflows.gate.subjects import ACROSS, Subject
from cobalance.workflows.properties import compare_classes, read_properties


def from_store(
    store: GraphStore, folders: Folders, dataset: str, rules: Rules, progress: Progress = silent
) -> Subject:
    """Read a dataset, with near duplicates and properties where rules need them.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete: the graph keeps a sample of its images.
    DataError
        A rule needs properties of image files that have not been measured.
    """
    annotations = read_annotations(store, dataset, progress)
    subject = Subject(dataset, annotations, pd.DataFrame(columns=ACROSS))
    if rules.separate_splits:
        across = find_across_splits(store, folders, dataset, progress=progress)
        subject = replace(subject, across=across)
    if rules.max_property_auc is not None:
        properties = compare_classes(read_properties(store, folders, dataset))
        subject = replace(subject, properties=properties)
    return subject
