"""Metrics for Prometheus: the app's pages, the database, jobs, tasks and workers.

``GET /metrics`` asks for the token of COBALANCE_METRICS_TOKEN_FILE, as ``Authorization: Bearer``;
without that variable it is 404. It answers while the database does not: ``cobalance_database_up``
is 0 then, and the rest is left out. It never starts a local server.
"""

import asyncio
import logging
import time
from collections.abc import Iterable
from hmac import compare_digest
from typing import Any

from neo4j import AsyncDriver
from neo4j.exceptions import DriverError, Neo4jError
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from cobalance.app.web.server.counters import REGISTRY
from cobalance.app.web.server.health import LIMIT_S, open_driver, running_endpoint
from cobalance.base import CobalanceError
from cobalance.graph import ALIVE_S, GAUGES, Endpoint
from cobalance.workflows import Settings

PATH = "/metrics"

_UP = "cobalance_database_up", "Whether the database answers."
_LATENCY = "cobalance_database_latency_seconds", "Time of a trivial query."
# Time limit of all counts: Prometheus waits for 10 s.
_COUNTS_S = 6.0


class Monitor(Collector):
    """Gauges of the database and its content, read over a connection that is kept."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._token = settings, settings.metrics_token()
        self._gauges: list[GaugeMetricFamily] = []
        self._driver: tuple[Endpoint, AsyncDriver] | None = None
        REGISTRY.register(self)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Gauges of the last reading, for the registry."""
        return self._gauges

    async def answer(self, request: Request) -> Response:
        """Answer who has the token; 404 without one."""
        if self._token is None:
            return PlainTextResponse("COBALANCE_METRICS_TOKEN_FILE is not set.\n", status_code=404)

        # Compared in constant time, which says nothing about the token.
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not compare_digest(token.encode(), self._token.encode()):
            return PlainTextResponse(
                "Send the token as `Authorization: Bearer TOKEN`.\n",
                status_code=401,
                headers={"WWW-Authenticate": "Bearer"},
            )

        await self._refresh()
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        text = await asyncio.to_thread(encode, REGISTRY)
        return Response(text, headers={"Content-Type": content_type, "Cache-Control": "no-store"})

    async def _refresh(self) -> None:
        """Read the gauges anew; of a database that does not answer only that it is down."""
        gauges = [GaugeMetricFamily(*_UP, value=0)]
        try:
            async with asyncio.timeout(LIMIT_S):
                endpoint = await asyncio.to_thread(running_endpoint, self._settings)
                # A local server that was started anew is another endpoint.
                if self._driver is None or self._driver[0] != endpoint:
                    await self.close()
                    self._driver = endpoint, open_driver(endpoint, "cobalance-metrics")
                began = time.perf_counter()
                await self._run("RETURN 1")
            took_s = time.perf_counter() - began
            gauges = [GaugeMetricFamily(*_UP, value=1), GaugeMetricFamily(*_LATENCY, value=took_s)]

            async with asyncio.timeout(_COUNTS_S):
                for name, statement in GAUGES.items():
                    gauge = GaugeMetricFamily(f"cobalance_{name}", statement.purpose)
                    for row in await self._run(statement.text):
                        gauge.add_sample(gauge.name, row["labels"], row["n"])
                    gauges.append(gauge)
        except (TimeoutError, Neo4jError, DriverError, ValueError, CobalanceError) as error:
            logging.getLogger(__name__).debug("database: %s: %s", type(error).__name__, error)
        self._gauges = gauges

    async def close(self) -> None:
        """Close the connection."""
        if self._driver is not None:
            await self._driver[1].close()
            self._driver = None

    async def _run(self, text: str) -> list[dict[str, Any]]:
        _, driver = self._driver  # type: ignore[misc]
        database = self._settings.neo4j_database
        async with driver.session(database=database, default_access_mode="READ") as session:
            return await (await session.run(text, alive_ms=int(ALIVE_S * 1000))).data()
