"""Health endpoint of the web app, for monitoring.

``GET /healthz`` needs no login. It answers 200 and ``{"status": "ok", "database": "ok", "version":
...}``, or 503 with ``"status": "unavailable"`` and the reason as ``database``. It never starts a
local server that has stopped, and does not keep one from stopping.
"""

import asyncio
import time
from importlib.metadata import version

from neo4j import AsyncDriver, AsyncGraphDatabase, NotificationMinimumSeverity
from neo4j.exceptions import AuthError, ClientError, DriverError, Neo4jError
from starlette.requests import Request
from starlette.responses import JSONResponse

from cobalance.base import CobalanceError, StoreUnavailableError
from cobalance.graph import USERNAME, Endpoint, Home
from cobalance.graph.database.local import server_control as local_server
from cobalance.workflows import Settings, in_environment

PATH = "/healthz"
LIMIT_S = 2.0
"""Time limit of a trivial query."""

# An answer is kept this long: requests cannot flood the database.
_KEPT_S = 1.0


class DatabaseProbe:
    """Check whether the database of the settings answers, over a new connection each time."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = asyncio.Lock()
        self._asked_at = -_KEPT_S
        self._problem: str | None = None

    async def answer(self, _: Request) -> JSONResponse:
        """Answer a request."""
        # One question at a time: requests that come meanwhile share its answer.
        async with self._lock:
            if time.monotonic() - self._asked_at >= _KEPT_S:
                self._problem = await self._ask()
                self._asked_at = time.monotonic()
            problem = self._problem

        status, code = ("ok", 200) if problem is None else ("unavailable", 503)
        return JSONResponse(
            {
                "status": status,
                "database": problem or "ok",
                "version": version("cobalance"),
            },
            status_code=code,
            headers={"Cache-Control": "no-store"},
        )

    async def _ask(self) -> str | None:
        """The problem, without details; None if the database answers in time."""
        try:
            async with asyncio.timeout(LIMIT_S):
                endpoint = await asyncio.to_thread(running_endpoint, self._settings)
                async with (
                    open_driver(endpoint, "cobalance-health") as driver,
                    driver.session(
                        database=self._settings.neo4j_database, default_access_mode="READ"
                    ) as session,
                ):
                    await (await session.run("RETURN 1")).consume()
        except TimeoutError:
            return f"It does not answer within {LIMIT_S:.0f} s."
        except AuthError:
            return "It refuses our user or password."
        except ClientError:
            return "It refuses a trivial query."
        except (DriverError, Neo4jError, ValueError):
            return "It does not answer."
        except StoreUnavailableError as error:
            return error.render(in_environment)
        except CobalanceError:
            return "Its settings cannot be used; the log says why."

        return None


def running_endpoint(settings: Settings) -> Endpoint:
    """Endpoint of the running database; never starts one."""
    if settings.neo4j_uri is not None:
        return Endpoint(settings.neo4j_uri, settings.neo4j_username, settings.password(), 0)

    local = settings.local_server()
    server = local_server.status(local)
    if server is None:
        raise StoreUnavailableError("The local server is not running; opening a page starts it.")
    if server.phase != "ready":
        raise StoreUnavailableError(f"The local server is {server.phase}.")
    try:
        password = Home(local.home).password.read_text(encoding="utf-8")
    except OSError as error:
        raise StoreUnavailableError("The local server's password cannot be read.") from error
    return Endpoint(server.uri, USERNAME, password, server.pid)


def open_driver(endpoint: Endpoint, user_agent: str) -> AsyncDriver:
    """Prepare to connect to the database, with little patience."""
    return AsyncGraphDatabase.driver(
        endpoint.uri,
        auth=(endpoint.username, endpoint.password),
        connection_timeout=LIMIT_S,
        connection_acquisition_timeout=LIMIT_S,
        notifications_min_severity=NotificationMinimumSeverity.OFF,
        user_agent=user_agent,
    )
