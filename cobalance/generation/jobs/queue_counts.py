"""Count waiting and running chunks and tasks in the job queue's database, without opening it."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, inspect, text
from sqlalchemy.engine import make_url

_TABLE = "workflow_status"
_COUNTS = """
SELECT queue_name, status, COUNT(*), MIN(created_at) FROM {table}
WHERE queue_name IS NOT NULL AND status IN ('ENQUEUED', 'PENDING', 'DELAYED')
GROUP BY queue_name, status"""


def open_counts(url: str, limit_s: int) -> Engine:
    """Prepare a connection of one's own, which gives up after some seconds; see `read_counts`."""
    parsed, options = make_url(url), dict[str, Any](timeout=limit_s)
    if parsed.get_backend_name() != "sqlite":
        parsed = parsed.set(drivername="postgresql+psycopg")
        limit_ms = 1000 * limit_s
        options = {"connect_timeout": limit_s, "tcp_user_timeout": limit_ms}
        options["options"] = f"-c statement_timeout={limit_ms}"
    return create_engine(parsed, connect_args=options, pool_pre_ping=True)


def read_counts(engine: Engine) -> Iterator[tuple[tuple[str, str, str], int, float]]:
    """Kind, extra and state of entries, how many there are, and seconds since the oldest came."""
    is_file = engine.dialect.name == "sqlite"
    if is_file and not Path(engine.url.database or "").exists():
        return  # no worker has been there yet
    schema = None if is_file else "dbos"
    with engine.connect() as connection:
        if not inspect(connection).has_table(_TABLE, schema=schema):
            return
        table = _TABLE if schema is None else f"{schema}.{_TABLE}"
        rows = connection.execute(text(_COUNTS.format(table=table))).all()
    for queue, status, n, since_ms in rows:
        kind, _, extra = queue.partition("-")
        state = "running" if status == "PENDING" else "waiting"
        yield (kind, extra, state), n, time.time() - since_ms / 1000
