"""Open the graph store that the settings name, and say where it is."""

from dataclasses import dataclass, field
from math import inf, isfinite
from pathlib import Path
from typing import Any

from cobalance.base.errors import MissingExtraError, StoreUnavailableError
from cobalance.base.progress import Progress, silent
from cobalance.base.safe_text import mask_credentials
from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.database.local.home import USERNAME, Home
from cobalance.graph.database.store import GraphStore, encryption
from cobalance.graph.dataset.state import list_datasets
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
    if settings.neo4j_uri is not None:
        file, auth = settings.neo4j_password_file, (settings.neo4j_username, settings.password())
    else:
        file = Home(settings.local_server().home).password
        auth = USERNAME, file.read_text(encoding="utf-8")
    place = None if file is None else file.absolute()
    return Connection(store.uri, auth[0], store.database, place, encryption(store.uri), auth)


def store_status(settings: Settings) -> dict[str, Any]:
    """State of the store that the settings name, and where its parts are; None where unknown.

    A local server that is not running stays so, and has no URI. ``problem`` is the error of one
    that cannot be used: it does not answer, or nothing here can start it.
    """
    local, folders = settings.local_server(), settings.folders()
    is_local = settings.neo4j_uri is None
    server = local_server.status(local) if is_local else None
    uri = server.uri if server else settings.neo4j_uri
    idle_stop_s = server.idle_stop_s if server else local.idle_stop_s
    found: dict[str, Any] = {
        "uri": uri and mask_credentials(uri),
        "database": "neo4j" if is_local else settings.neo4j_database,
        "local": is_local,
        "running": False,
        **dict.fromkeys(("problem", "encrypted", "encryption", "version", "edition", "datasets")),
        **dict.fromkeys(("pid", "phase", "resident_mb", "running_s", "log")),
        **(vars(server) if server else {}),
        "idle_stop_s": idle_stop_s if is_local and isfinite(idle_stop_s or inf) else None,
        "data": local.home.expanduser().absolute() if is_local else None,
        "home": folders.home.absolute(),
        "images": [mask_credentials(root) for root in settings.cobalance_images],
        "output": mask_credentials(folders.output),
        "queue": mask_credentials(settings.queue_url()),
    }
    try:
        if uri is not None:
            found["encryption"] = encryption(uri)
            found["encrypted"] = found["encryption"] != "not encrypted"
        else:
            local_server.require_packages()
        if not is_local or found["phase"] == "ready":
            with open_store(settings) as store:
                found["version"], found["edition"] = store.server()
                found |= {"datasets": len(list_datasets(store)), "running": True}
    except (StoreUnavailableError, MissingExtraError) as error:
        found["problem"] = error
    return found
