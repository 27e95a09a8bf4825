"""Bring a database's schema up to this program's: each migration is applied once and recorded."""

from dataclasses import dataclass

from neo4j import Driver

from graph.database.job_counters import RECOUNT
from graph.database.schema import COPIES, JOB_NODES, STORE_STATEMENTS, definition_statements
from graph.errors import SchemaTooNewError


@dataclass(frozen=True)
class Migration:
    """One step of the schema.

    Parameters
    ----------
    version : int
        1, 2, 3, ... without a gap.
    name : str
        What the step does, in a few words.
    statements : tuple of str
        Cypher, each safe to run again: a kill between a step and its record repeats the step.
    """

    version: int
    name: str
    statements: tuple[str, ...]


MIGRATIONS = (
    Migration(
        1, "keys and indexes of the concept graph", (*STORE_STATEMENTS, *definition_statements())
    ),
    Migration(
        2,
        "keys and indexes of rebalancing jobs",
        (
            *definition_statements(JOB_NODES),
            "CREATE CONSTRAINT worker_key IF NOT EXISTS FOR (n:Worker) REQUIRE n.id IS UNIQUE",
        ),
    ),
    Migration(
        3,
        "counts on jobs, and cliques packed: to be mined again",
        (
            *definition_statements(COPIES),
            f"MATCH (j:Job) SET j.updated_at = j.updated_at WITH j {RECOUNT}",
            "MATCH (d:Dataset) SET d.cliques_digest = null",
        ),
    ),
)


def migrate(driver: Driver, database: str) -> int:
    """Apply the migrations that `database` has not seen, and return its version.

    Raises
    ------
    SchemaTooNewError
        The database has seen a migration that this program does not know. Nothing is changed.
    """
    known = MIGRATIONS[-1].version
    records, _, _ = driver.execute_query(
        "MATCH (m:Migration) RETURN coalesce(max(m.version), 0) AS version", database_=database
    )
    current = int(records[0]["version"])
    if current > known:
        raise SchemaTooNewError(
            f"The database {database!r} has schema version {current}; this cobalance knows "
            f"versions up to {known}. Update cobalance, or point NEO4J_DATABASE at another "
            f"database."
        )
    for migration in MIGRATIONS[current:]:
        for statement in migration.statements:
            driver.execute_query(statement, database_=database)
        driver.execute_query(
            "MERGE (m:Migration {version: $version}) "
            "ON CREATE SET m.name = $name, m.applied_at = datetime()",
            version=migration.version,
            name=migration.name,
            database_=database,
        )
    if current < known:
        driver.execute_query("CALL db.awaitIndexes(300)", database_=database)
    return known
