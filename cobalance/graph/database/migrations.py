"""Bring a database to the declared schema, and record the version that it then has.

All constraints and indexes are derived from the declared nodes. A release that declares others
raises `VERSION`; one that changes stored data adds the statements for it to `CHANGES`.
"""

from collections.abc import Mapping

from neo4j import Driver
from neo4j.exceptions import ClientError, ResultFailedError

from cobalance.base import SchemaVersionError, Setting
from cobalance.graph.database.declarations import Definition
from cobalance.graph.database.schema import ALL_NODES

FIRST = 18
"""The schema of 0.1.0; earlier ones were never released."""
VERSION = 19
CHANGES: Mapping[int, str] = {
    # Labels that moved between images left a dataset's digest as it was: what was derived before
    # may be of other images than it says, and is derived anew. Of copies, tags are loaded labels.
    19: """
MATCH (d:Dataset) WHERE d.digests IS NULL AND d.digest IS NOT NULL
SET d.digests = 0, d.cliques_digest = null
WITH d
CALL (d) { MATCH (t:CliqueTable {dataset: d.name}) DELETE t }
CALL (d) { MATCH (p:Plan {dataset: d.name}) SET p.mined_as = '' }
CALL (d) {
  WITH d WHERE d.rebalanced_by IS NOT NULL AND d.tag_concepts IS NULL
  MATCH (c:Concept {dataset: d.name})<-[e:CONTAINS {source: 'image tag'}]-()
  SET e.source = 'image tag when loaded'
}""",
}
"""By version, Cypher that changes what earlier ones stored, also in a backup; may be repeated."""

_CREATED = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists"


def migrate(driver: Driver, database: str) -> int:
    """Create the constraints and indexes that `database` lacks, and return its schema version.

    Every statement may be repeated: a kill before the version is recorded repeats them all.

    Raises
    ------
    SchemaVersionError
        The database has a newer schema than this program knows, or one from before 0.1.0. Nothing
        is changed.
    """
    records, _, _ = driver.execute_query(
        "MATCH (m:Migration) RETURN coalesce(max(m.version), 0) AS version", database_=database
    )
    current = int(records[0]["version"])

    if current > VERSION:
        raise SchemaVersionError(
            f"The database {database!r} has schema version {current}; this cobalance knows "
            f"versions up to {VERSION}. Upgrade cobalance, or set ",
            Setting("database"),
            " to another database.",
        )

    if 0 < current < FIRST:
        raise SchemaVersionError(
            f"The database {database!r} was made by a version of cobalance from before 0.1.0, "
            "which this one cannot read. Load the datasets again into an empty one: set ",
            Setting("database"),
            ", or for the one on this machine ",
            Setting("home"),
            ".",
        )
    if current == VERSION:
        return VERSION

    for node in ALL_NODES:
        for definition in node.definitions:
            _create(driver, database, definition)
    for text in changes_since(current):
        driver.execute_query(text, database_=database)

    # The version is recorded last: a kill before repeats all of the statements.
    driver.execute_query(
        "MERGE (m:Migration {version: $version}) "
        "ON CREATE SET m.name = 'schema version ' + $version, m.applied_at = datetime()",
        version=VERSION,
        database_=database,
    )
    driver.execute_query("CALL db.awaitIndexes(300)", database_=database)
    return VERSION


def changes_since(version: int) -> list[str]:
    """Cypher of the changes to stored data after a version of the schema."""
    return [text for changed_in, text in sorted(CHANGES.items()) if changed_in > version]


def _create(driver: Driver, database: str, definition: Definition) -> None:
    keys = ", ".join(f"n.{name}" for name in definition.properties)
    promise = f"REQUIRE ({keys}) IS UNIQUE" if definition.kind == "constraint" else f"ON ({keys})"
    try:
        driver.execute_query(
            f"CREATE {definition.kind.upper()} {definition.name} IF NOT EXISTS "
            f"FOR (n:{definition.label}) {promise}",
            database_=database,
        )
    except (ClientError, ResultFailedError) as error:
        # IF NOT EXISTS looks before it takes the lock: another process has just created the same.
        # The driver may raise it from the rollback, as the cause of a failed result.
        codes = (getattr(error, "code", None), getattr(error.__cause__, "code", None))
        if _CREATED not in codes:
            raise
