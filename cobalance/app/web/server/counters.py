"""Counters of the web app: how pages end, and how long they take."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)

from cobalance.base import CobalanceError

REGISTRY = CollectorRegistry()
"""All metrics of this process."""

ProcessCollector(registry=REGISTRY)
disable_created_metrics()  # type: ignore[no-untyped-call]
_BUILD = Gauge(
    "cobalance_build_info", "The version that runs here.", ("version",), registry=REGISTRY
)
_BUILD.labels(version("cobalance")).set(1)
_RUNS = Histogram(
    "cobalance_page_run_seconds",
    "Time in which a page is drawn: ok, error (shown as a sentence) or defect.",
    ("page", "outcome"),
    registry=REGISTRY,
)


@contextmanager
def page_run(page: str) -> Iterator[None]:
    """Count a run of a page, and how long it takes."""
    began, outcome = time.perf_counter(), "ok"
    try:
        yield
    except Exception as error:
        outcome = "error" if isinstance(error, CobalanceError) else "defect"
        raise
    finally:
        # Counted also where Streamlit ends the run for the next one.
        _RUNS.labels(page, outcome).observe(time.perf_counter() - began)
