"""Open the graph store that the settings name, and say where it is."""

from dataclasses import dataclass, field
from math import inf, isfinite
from pathlib import Path
from typing import Any

from cobalance.base import (
    MissingExtraError,
    Progress,
    StoreUnavailableError,
    mask_credentials,
    silent,
)
from cobalance.graph import (
    USERNAME,
    GraphStore,
    Home,
    LocalServerSettings,
    encryption,
    list_datasets,
)
from cobalance.graph.database.local import server_control as local_server
from cobalance.workflows.settings import Settings


def open_store(settings: Settings, progress: Progress = silent) -> GraphStore:
    """Connect to the server that the settings name, or start or join the local one.

    Raises
    ------
    StoreUnavailableError
        It cannot be reached or started.
    """
    if settings.neo4j_uri is not None:
        return GraphStore.connect(
            settings.neo4j_uri,
            settings.neo4j_username,
            settings.password(),
            settings.neo4j_database,
        )

    endpoint = local_server.ensure_running(settings.local_server(), progress)
    store = GraphStore.connect(endpoint.uri, endpoint.username, endpoint.password)
    store.folder = settings.local_server().home
    return store


@dataclass(frozen=True)
class Connection:
    """Address and credentials of a store, for any Neo4j driver.

    `password_file` has the password and nothing else; without one it is in the variable
    NEO4J_PASSWORD. `auth` is user and password, as drivers take them: to pass on, not to print.
    """

    uri: str
    username: str
    database: str
    password_file: Path | None
    encryption: str
    auth: tuple[str, str] = field(repr=False, compare=False)


def connection(settings: Settings, store: GraphStore) -> Connection:
    """How any driver connects to the store that the settings name, which is open.

    A local server keeps its address while it runs, and takes it again if it is free then.
    """
    password_file: Path | None
    if settings.neo4j_uri is not None:
        password_file = settings.neo4j_password_file
        auth = (settings.neo4j_username, settings.password())
    else:
        password_file = Home(settings.local_server().home).password
        auth = USERNAME, password_file.read_text(encoding="utf-8")

    if password_file is not None:
        password_file = password_file.absolute()
    return Connection(
        uri=store.uri,
        username=auth[0],
        database=store.database,
        password_file=password_file,
        encryption=encryption(store.uri),
        auth=auth,
    )


def store_status(settings: Settings) -> dict[str, Any]:
    """State of the store that the settings name, and where its parts are; None where unknown.

    A local server that is not running stays so, and has no URI. ``problem`` is the error of one
    that cannot be used: it does not answer, or nothing here can start it.
    """
    local, folders = settings.local_server(), settings.folders()
    is_local = settings.neo4j_uri is None
    status: dict[str, Any] = {
        "uri": settings.neo4j_uri,
        "database": settings.neo4j_database,
        "local": is_local,
        "running": False,
        **dict.fromkeys(_UNKNOWN),
    }

    if is_local:
        status |= _local_status(local)
    uri = status["uri"]
    status |= {
        "uri": uri and mask_credentials(uri),
        "home": folders.home.absolute(),
        "images": list(map(mask_credentials, settings.cobalance_images)),
        "output": mask_credentials(folders.output),
        "queue": mask_credentials(settings.queue_url()),
    }

    try:
        if uri is not None:
            status["encryption"] = encryption(uri)
            status["encrypted"] = status["encryption"] != "not encrypted"
        else:
            local_server.require_packages()
        # A local server is not started to be asked.
        if not is_local or status["phase"] == "ready":
            with open_store(settings) as store:
                status["version"], status["edition"] = store.server()
                status |= {"datasets": len(list_datasets(store)), "running": True}
    except (StoreUnavailableError, MissingExtraError) as error:
        status["problem"] = error
    return status


def _local_status(local: LocalServerSettings) -> dict[str, Any]:
    """Where a local server keeps its data, and the state of one that runs."""
    status: dict[str, Any] = {"database": "neo4j"}
    idle_stop_s: float | None = local.idle_stop_s
    server = local_server.status(local)
    if server is not None:
        status |= vars(server)
        idle_stop_s = server.idle_stop_s

    # A server that never stops by itself has an infinite time, or none.
    status["idle_stop_s"] = idle_stop_s if isfinite(idle_stop_s or inf) else None
    status["data"] = local.home.expanduser().absolute()
    return status


_UNKNOWN = (
    "problem",
    "encrypted",
    "encryption",
    "version",
    "edition",
    "datasets",
    "pid",
    "phase",
    "resident_mb",
    "running_s",
    "log",
    "idle_stop_s",
    "data",
)
"""Keys of a status whose values may be unknown."""
