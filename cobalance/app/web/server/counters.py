"""Counters of the web app: requests by route, runs of pages."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import (
    CollectorRegistry,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cobalance.graph.errors import CobalanceError

REGISTRY = CollectorRegistry()
"""All metrics of this process."""

ProcessCollector(registry=REGISTRY)
disable_created_metrics()  # type: ignore[no-untyped-call]
_ROUTES = ("/_stcore", "/media", "/static", "/component", "/login", "/healthz", "/metrics")
_REQUESTS = Histogram(
    "cobalance_http_request_seconds",
    "Time of requests, refused ones too, to the answer.",
    ("route", "code"),
    registry=REGISTRY,
)
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
    finally:  # also where Streamlit ends the run for the next one
        _RUNS.labels(page, outcome).observe(time.perf_counter() - began)


class RequestCounter:
    """ASGI middleware that counts HTTP requests by route, of which there are few."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or a connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, code = time.perf_counter(), 500
        route = next((one for one in _ROUTES if f"{scope['path']}/".startswith(f"{one}/")), "page")

        async def sending(message: Message) -> None:
            nonlocal code
            code = message.get("status", code)
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            _REQUESTS.labels(route, str(code)).observe(time.perf_counter() - began)
