"""Schema migrations: each is applied to a database once and recorded in it.

A migration is a frozen text: a change of the declared schema needs a new one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from neo4j import Driver
from neo4j.exceptions import ClientError

from cobalance.graph.errors import SchemaVersionError, Setting

_CREATED = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists"


@dataclass(frozen=True)
class Migration:
    """One schema migration; versions are without a gap. Those below 17 were never released.

    Each statement is safe to run again: a kill between a step and its record repeats the step.
    """

    version: int
    name: str
    statements: tuple[str, ...]


MIGRATIONS = (
    Migration(
        17,
        "the schema of 0.1.0",
        (
            "CREATE CONSTRAINT dataset_key IF NOT EXISTS FOR (n:Dataset) "
            "REQUIRE (n.name) IS UNIQUE",
            "CREATE CONSTRAINT migration_key IF NOT EXISTS FOR (n:Migration) "
            "REQUIRE (n.version) IS UNIQUE",
            "CREATE CONSTRAINT class_key IF NOT EXISTS FOR (n:Class) "
            "REQUIRE (n.dataset, n.name) IS UNIQUE",
            "CREATE CONSTRAINT concept_key IF NOT EXISTS FOR (n:Concept) "
            "REQUIRE (n.dataset, n.name) IS UNIQUE",
            "CREATE CONSTRAINT image_key IF NOT EXISTS FOR (n:Image) "
            "REQUIRE (n.dataset, n.id) IS UNIQUE",
            "CREATE CONSTRAINT clique_key IF NOT EXISTS FOR (n:Clique) "
            "REQUIRE (n.dataset, n.concepts) IS UNIQUE",
            "CREATE INDEX clique_gap IF NOT EXISTS FOR (n:Clique) ON (n.dataset, n.gap)",
            "CREATE CONSTRAINT plan_key IF NOT EXISTS FOR (n:Plan) "
            "REQUIRE (n.dataset, n.name) IS UNIQUE",
            "CREATE CONSTRAINT generationquery_key IF NOT EXISTS FOR (n:GenerationQuery) "
            "REQUIRE (n.dataset, n.key) IS UNIQUE",
            "CREATE INDEX generationquery_plan IF NOT EXISTS FOR (n:GenerationQuery) "
            "ON (n.dataset, n.plan)",
            "CREATE CONSTRAINT job_key IF NOT EXISTS FOR (n:Job) REQUIRE (n.id) IS UNIQUE",
            "CREATE INDEX job_dataset IF NOT EXISTS FOR (n:Job) ON (n.dataset)",
            "CREATE CONSTRAINT jobquery_key IF NOT EXISTS FOR (n:JobQuery) "
            "REQUIRE (n.id) IS UNIQUE",
            "CREATE INDEX jobquery_dataset IF NOT EXISTS FOR (n:JobQuery) ON (n.dataset)",
            "CREATE INDEX jobquery_job_state IF NOT EXISTS FOR (n:JobQuery) ON (n.job, n.state)",
            "CREATE CONSTRAINT candidate_key IF NOT EXISTS FOR (n:Candidate) "
            "REQUIRE (n.id) IS UNIQUE",
            "CREATE INDEX candidate_dataset IF NOT EXISTS FOR (n:Candidate) ON (n.dataset)",
            "CREATE INDEX candidate_job_verdict IF NOT EXISTS FOR (n:Candidate) "
            "ON (n.job, n.verdict)",
            "CREATE INDEX candidate_query_verdict IF NOT EXISTS FOR (n:Candidate) "
            "ON (n.query, n.verdict)",
            "CREATE CONSTRAINT worker_key IF NOT EXISTS FOR (n:Worker) REQUIRE (n.id) IS UNIQUE",
            "CREATE CONSTRAINT cliquetable_key IF NOT EXISTS FOR (n:CliqueTable) "
            "REQUIRE (n.dataset, n.part) IS UNIQUE",
            "CREATE CONSTRAINT incidencetable_key IF NOT EXISTS FOR (n:IncidenceTable) "
            "REQUIRE (n.dataset, n.part) IS UNIQUE",
            "CREATE CONSTRAINT imagelist_key IF NOT EXISTS FOR (n:ImageList) "
            "REQUIRE (n.dataset, n.key) IS UNIQUE",
            "CREATE INDEX candidate_job_decided_at IF NOT EXISTS FOR (n:Candidate) "
            "ON (n.job, n.decided_at)",
            "CREATE CONSTRAINT task_key IF NOT EXISTS FOR (n:Task) REQUIRE (n.id) IS UNIQUE",
            "CREATE INDEX task_dataset IF NOT EXISTS FOR (n:Task) ON (n.dataset)",
            "CREATE INDEX task_state IF NOT EXISTS FOR (n:Task) ON (n.state)",
            "CREATE CONSTRAINT evaluation_key IF NOT EXISTS FOR (n:Evaluation) "
            "REQUIRE (n.id) IS UNIQUE",
            "CREATE INDEX evaluation_dataset IF NOT EXISTS FOR (n:Evaluation) ON (n.dataset)",
            "CREATE INDEX evaluation_train IF NOT EXISTS FOR (n:Evaluation) ON (n.train)",
            "CREATE INDEX evaluation_test IF NOT EXISTS FOR (n:Evaluation) ON (n.test)",
            "CREATE CONSTRAINT score_key IF NOT EXISTS FOR (n:Score) REQUIRE (n.key) IS UNIQUE",
            "CREATE INDEX score_dataset IF NOT EXISTS FOR (n:Score) ON (n.dataset)",
            "CREATE INDEX score_evaluation IF NOT EXISTS FOR (n:Score) ON (n.evaluation)",
            "CREATE CONSTRAINT annotationrun_key IF NOT EXISTS FOR (n:AnnotationRun) "
            "REQUIRE (n.id) IS UNIQUE",
            "CREATE INDEX annotationrun_dataset IF NOT EXISTS FOR (n:AnnotationRun) ON (n.dataset)",
            "CREATE CONSTRAINT attribute_key IF NOT EXISTS FOR (n:Attribute) "
            "REQUIRE (n.dataset, n.key) IS UNIQUE",
            "CREATE CONSTRAINT study_key IF NOT EXISTS FOR (n:Study) REQUIRE (n.id) IS UNIQUE",
            "CREATE INDEX study_dataset IF NOT EXISTS FOR (n:Study) ON (n.dataset)",
            "CREATE INDEX study_job IF NOT EXISTS FOR (n:Study) ON (n.job)",
            "CREATE CONSTRAINT studyanswer_key IF NOT EXISTS FOR (n:StudyAnswer) "
            "REQUIRE (n.key) IS UNIQUE",
            "CREATE INDEX studyanswer_dataset IF NOT EXISTS FOR (n:StudyAnswer) ON (n.dataset)",
            "CREATE INDEX studyanswer_study IF NOT EXISTS FOR (n:StudyAnswer) ON (n.study)",
            "CREATE CONSTRAINT audit_key IF NOT EXISTS FOR (n:Audit) REQUIRE (n.id) IS UNIQUE",
            "CREATE INDEX audit_dataset IF NOT EXISTS FOR (n:Audit) ON (n.dataset)",
            "CREATE INDEX audit_run IF NOT EXISTS FOR (n:Audit) ON (n.run)",
            "CREATE CONSTRAINT auditanswer_key IF NOT EXISTS FOR (n:AuditAnswer) "
            "REQUIRE (n.key) IS UNIQUE",
            "CREATE INDEX auditanswer_dataset IF NOT EXISTS FOR (n:AuditAnswer) ON (n.dataset)",
            "CREATE INDEX auditanswer_audit IF NOT EXISTS FOR (n:AuditAnswer) ON (n.audit)",
            "CREATE INDEX clique_leans_effect IF NOT EXISTS FOR (n:Clique) "
            "ON (n.dataset, n.leans, n.effect)",
            "CREATE CONSTRAINT tag_key IF NOT EXISTS FOR (n:Tag) "
            "REQUIRE (n.dataset, n.name) IS UNIQUE",
            "CREATE CONSTRAINT imagenote_key IF NOT EXISTS FOR (n:ImageNote) "
            "REQUIRE (n.dataset, n.id) IS UNIQUE",
            "CREATE CONSTRAINT excludedimage_key IF NOT EXISTS FOR (n:ExcludedImage) "
            "REQUIRE (n.dataset, n.id) IS UNIQUE",
            "CREATE CONSTRAINT savedview_key IF NOT EXISTS FOR (n:SavedView) "
            "REQUIRE (n.dataset, n.name) IS UNIQUE",
        ),
    ),
)


@contextmanager
def _unless_created() -> Iterator[None]:
    """Ignore that another process has just created the same index or constraint.

    ``IF NOT EXISTS`` looks before it takes the lock.
    """
    try:
        yield
    except ClientError as error:
        if error.code != _CREATED:
            raise


def migrate(driver: Driver, database: str) -> int:
    """Apply the pending migrations to `database`, and return its schema version.

    Raises
    ------
    SchemaVersionError
        The database has seen a migration that this program does not know, or is from before 0.1.0.
        Nothing is changed.
    """
    first, known = MIGRATIONS[0].version, MIGRATIONS[-1].version
    records, _, _ = driver.execute_query(
        "MATCH (m:Migration) RETURN coalesce(max(m.version), 0) AS version", database_=database
    )
    current = int(records[0]["version"])
    if current > known:
        raise SchemaVersionError(
            f"The database {database!r} has schema version {current}; this cobalance knows "
            f"versions up to {known}. Upgrade cobalance, or set ",
            Setting("database"),
            " to another database.",
        )
    if 0 < current < first:
        raise SchemaVersionError(
            f"The database {database!r} was made by a version of cobalance from before 0.1.0, "
            "which this one cannot read. Load the datasets again into an empty one: set ",
            Setting("database"),
            ", or for the one on this machine ",
            Setting("home"),
            ".",
        )
    for migration in MIGRATIONS:
        if migration.version <= current:
            continue
        for statement in migration.statements:
            with _unless_created():
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
