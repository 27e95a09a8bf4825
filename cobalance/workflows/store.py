"""Open the graph store that the settings name."""

from cobalance.graph.database.local.server_control import ensure_running
from cobalance.graph.database.store import GraphStore
from cobalance.graph.progress import Progress, silent
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
    endpoint = ensure_running(settings.local_server(), progress)
    store = GraphStore.connect(endpoint.uri, endpoint.username, endpoint.password)
    store.folder = settings.local_server().home
    return store
