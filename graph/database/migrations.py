"""Schema migrations: each is applied to a database once and recorded in it.

A migration is a frozen text: a change of the declared schema needs a new one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from neo4j import Driver
from neo4j.exceptions import ClientError

from graph.errors import SchemaTooNewError, Setting

_CREATED = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists"


@dataclass(frozen=True)
class Migration:
    """One schema migration; versions are 1, 2, 3, ... without a gap.

    Each statement is safe to run again: a kill between a step and its record repeats the step.
    """

    version: int
    name: str
    statements: tuple[str, ...]


MIGRATIONS = (
    Migration(
        1,
        "keys and indexes of the concept graph",
        (
            "CREATE CONSTRAINT dataset_key IF NOT EXISTS FOR (n:Dataset) REQUIRE n.name IS UNIQUE",
            "CREATE CONSTRAINT migration_key IF NOT EXISTS FOR (n:Migration) "
            "REQUIRE n.version IS UNIQUE",
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
        ),
    ),
    Migration(
        2,
        "keys and indexes of rebalancing jobs",
        (
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
            "CREATE CONSTRAINT worker_key IF NOT EXISTS FOR (n:Worker) REQUIRE n.id IS UNIQUE",
        ),
    ),
    Migration(
        3,
        "counts on jobs, and cliques packed: to be mined again",
        (
            "CREATE CONSTRAINT cliquetable_key IF NOT EXISTS FOR (n:CliqueTable) "
            "REQUIRE (n.dataset, n.part) IS UNIQUE",
            "MATCH (j:Job) SET j.updated_at = j.updated_at WITH j \n"
            "CALL (j) {\n"
            "  OPTIONAL MATCH (q:JobQuery {job: j.id})\n"
            "  WITH j, sum(CASE q.state WHEN 'queued' THEN 1 ELSE 0 END) AS all_queued, "
            "sum(CASE q.state WHEN 'running' THEN 1 ELSE 0 END) AS all_running, "
            "sum(CASE q.state WHEN 'done' THEN 1 ELSE 0 END) AS all_done, "
            "sum(CASE q.state WHEN 'failed' THEN 1 ELSE 0 END) AS all_failed, "
            "sum(CASE WHEN q.state = 'done' AND q.accepted < q.n THEN 1 ELSE 0 END) AS all_short, "
            "sum(q.n) AS all_wanted, "
            "sum(CASE WHEN q.accepted < q.n THEN q.accepted ELSE q.n END) AS all_covered, "
            "sum(q.accepted) AS all_accepted, sum(q.rejected) AS all_rejected, "
            "sum(CASE WHEN q.state IN ['queued', "
            "'running'] AND q.accepted < q.n THEN q.n - q.accepted ELSE 0 END) AS all_remaining, "
            "sum(toInteger(round(1000000 * q.seconds))) AS all_microseconds\n"
            "  SET j.queued = all_queued, j.running = all_running, j.done = all_done, "
            "j.failed = all_failed, j.short = all_short, j.wanted = all_wanted, "
            "j.covered = all_covered, j.accepted = all_accepted, j.rejected = all_rejected, "
            "j.remaining = all_remaining, j.microseconds = all_microseconds\n"
            "}",
            "MATCH (d:Dataset) SET d.cliques_digest = null",
        ),
    ),
    Migration(
        4,
        "the property whole of jobs is named complete",
        ("MATCH (j:Job) WHERE j.whole IS NOT NULL SET j.complete = j.whole REMOVE j.whole",),
    ),
    Migration(
        5,
        "packed images",
        (
            "CREATE CONSTRAINT incidencetable_key IF NOT EXISTS FOR (n:IncidenceTable) "
            "REQUIRE (n.dataset, n.part) IS UNIQUE",
        ),
    ),
    Migration(
        6,
        "candidates that wait for the best of them to be chosen",
        (
            "MATCH (q:JobQuery) WHERE q.pending IS NULL SET q.pending = 0",
            "MATCH (j:Job) WHERE j.pending IS NULL SET j.pending = 0",
        ),
    ),
    Migration(
        7,
        "packed lists of images",
        (
            "CREATE CONSTRAINT imagelist_key IF NOT EXISTS FOR (n:ImageList) "
            "REQUIRE (n.dataset, n.key) IS UNIQUE",
        ),
    ),
    Migration(
        8,
        "candidates by when people decided on them",
        (
            "CREATE INDEX candidate_job_decided_at IF NOT EXISTS FOR (n:Candidate) "
            "ON (n.job, n.decided_at)",
        ),
    ),
    Migration(
        9,
        "tasks, evaluations and their scores; recipe and backend of jobs",
        (
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
            # Names of recipes and backends are plain words, which JSON writes as they are.
            'MATCH (j:Job) WHERE j.backend IS NULL AND j.settings CONTAINS \'"backend": "\' '
            "SET j.backend = split(split(j.settings, '\"backend\": \"')[1], '\"')[0]",
            'MATCH (j:Job) WHERE j.recipe IS NULL AND j.settings CONTAINS \'"recipe": "\' '
            "SET j.recipe = split(split(j.settings, '\"recipe\": \"')[1], '\"')[0]",
        ),
    ),
    Migration(
        10,
        "candidates that jobs have yet to make",
        (
            "MATCH (j:Job) WHERE j.unmade IS NULL SET j.updated_at = j.updated_at WITH j \n"
            "CALL (j) {\n"
            "  OPTIONAL MATCH (q:JobQuery {job: j.id})\n"
            "  WHERE q.state IN ['queued', 'running'] AND j.best_of > 1\n"
            "  WITH j, q.n * j.best_of + coalesce(q.more, 0) "
            "- q.accepted - q.rejected - q.pending AS unmade\n"
            "  WITH j, sum(CASE WHEN unmade > 0 THEN unmade ELSE 0 END) AS all_unmade\n"
            "  SET j.unmade = all_unmade\n"
            "}",
        ),
    ),
    Migration(
        11,
        "annotation runs and attributes",
        (
            "CREATE CONSTRAINT annotationrun_key IF NOT EXISTS FOR (n:AnnotationRun) "
            "REQUIRE (n.id) IS UNIQUE",
            "CREATE INDEX annotationrun_dataset IF NOT EXISTS FOR (n:AnnotationRun) ON (n.dataset)",
            "CREATE CONSTRAINT attribute_key IF NOT EXISTS FOR (n:Attribute) "
            "REQUIRE (n.dataset, n.key) IS UNIQUE",
        ),
    ),
    Migration(
        12,
        "human studies and their answers",
        (
            "CREATE CONSTRAINT study_key IF NOT EXISTS FOR (n:Study) REQUIRE (n.id) IS UNIQUE",
            "CREATE INDEX study_dataset IF NOT EXISTS FOR (n:Study) ON (n.dataset)",
            "CREATE INDEX study_job IF NOT EXISTS FOR (n:Study) ON (n.job)",
            "CREATE CONSTRAINT studyanswer_key IF NOT EXISTS FOR (n:StudyAnswer) "
            "REQUIRE (n.key) IS UNIQUE",
            "CREATE INDEX studyanswer_dataset IF NOT EXISTS FOR (n:StudyAnswer) ON (n.dataset)",
            "CREATE INDEX studyanswer_study IF NOT EXISTS FOR (n:StudyAnswer) ON (n.study)",
        ),
    ),
    Migration(
        13,
        "audits of annotation runs and their answers",
        (
            "CREATE CONSTRAINT audit_key IF NOT EXISTS FOR (n:Audit) REQUIRE (n.id) IS UNIQUE",
            "CREATE INDEX audit_dataset IF NOT EXISTS FOR (n:Audit) ON (n.dataset)",
            "CREATE INDEX audit_run IF NOT EXISTS FOR (n:Audit) ON (n.run)",
            "CREATE CONSTRAINT auditanswer_key IF NOT EXISTS FOR (n:AuditAnswer) "
            "REQUIRE (n.key) IS UNIQUE",
            "CREATE INDEX auditanswer_dataset IF NOT EXISTS FOR (n:AuditAnswer) ON (n.dataset)",
            "CREATE INDEX auditanswer_audit IF NOT EXISTS FOR (n:AuditAnswer) ON (n.audit)",
        ),
    ),
    Migration(
        14,
        "evidence of cliques",
        (
            # Cliques of a mining that ended badly have no sizes to divide by: mined again, they do.
            "MATCH (d:Dataset) WHERE d.mined_classes IS NOT NULL\n"
            "MATCH (q:Clique {dataset: d.name}) WHERE q.leans IS NULL\n"
            "CALL (d, q) {\n"
            "  MATCH (q)-[counted:COUNTED_IN]->(y:Class)\n"
            "  WITH q, counted.images AS n, [i IN range(0, size(d.mined_classes) - 1) "
            "WHERE d.mined_classes[i] = y.name | d.mined_images[i]][0] AS total\n"
            "  WITH q, n, total WHERE total > 0\n"
            "  WITH q, n, total ORDER BY toFloat(n) / total\n"
            "  WITH q, collect([n, total]) AS cells\n"
            "  WITH q, cells[0] AS low, cells[-1] AS high\n"
            "  SET q.leans = coalesce(q.q_value <= 0.05, false), "
            "q.effect = toFloat(high[0] * low[1] - low[0] * high[1]) / (high[1] * low[1])\n"
            "} IN TRANSACTIONS OF 10000 ROWS",
            "MATCH (d:Dataset) WHERE d.mined_classes IS NOT NULL\n"
            "SET d.leaning_cliques = COUNT { MATCH (q:Clique {dataset: d.name}) WHERE q.leans }, "
            "d.unproven_cliques = COUNT { MATCH (q:Clique {dataset: d.name}) "
            "WHERE q.gap > 0 AND NOT q.leans }",
            "CREATE INDEX clique_leans_effect IF NOT EXISTS FOR (n:Clique) "
            "ON (n.dataset, n.leans, n.effect)",
        ),
    ),
    Migration(
        15,
        "tags, notes, images left out and saved views",
        (
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
    Migration(
        16,
        "log odds ratios of the classes with the highest and the lowest rate",
        (
            # Before, of those with most and fewest images: of equal counts the first and the last.
            # Intervals of one confidence are as wide as their standard errors are large.
            """
MATCH (d:Dataset) WHERE d.mined_classes IS NOT NULL
MATCH (q:Clique {dataset: d.name}) WHERE q.effect > 0 AND q.highest_rate IS NULL
CALL (d, q) {
  MATCH (q)-[e:COUNTED_IN]->(y:Class)
  WITH d, q, e.images AS n,
    [i IN range(0, size(d.mined_classes) - 1) WHERE d.mined_classes[i] = y.name][0] AS i ORDER BY i
  WITH q, collect({name: d.mined_classes[i], n: n, of: d.mined_images[i]}) AS cells
  WITH q, [c IN cells WHERE c.name IN [coalesce(q.over_represented, cells[0].name),
      coalesce(q.under_represented, cells[-1].name)]] AS before,
    reduce(a = cells[0], c IN cells | CASE WHEN c.n * a.of > a.n * c.of THEN c ELSE a END) AS high,
    reduce(a = cells[0], c IN cells | CASE WHEN c.n * a.of < a.n * c.of THEN c ELSE a END) AS low
  WITH q, high, low, [pair IN [before, [high, low]] |
    [pair[0].n, pair[1].of - pair[1].n, pair[0].of - pair[0].n, pair[1].n]] AS tables
  UNWIND tables AS cells
  WITH q, high, low, [n IN cells | n + CASE WHEN 0 IN cells THEN 0.5 ELSE 0.0 END] AS cells
  WITH q, high, low, collect(log(cells[0] * cells[1] / (cells[2] * cells[3])))[1] AS ratio,
    collect(sqrt(reduce(s = 0.0, n IN cells | s + 1 / n))) AS errors
  WITH q, high, low, ratio,
    (q.log_odds_ratio_high - q.log_odds_ratio_low) / 2 * errors[1] / errors[0] AS width
  SET q.highest_rate = high.name, q.lowest_rate = low.name, q.log_odds_ratio = ratio,
    q.log_odds_ratio_low = ratio - width, q.log_odds_ratio_high = ratio + width
} IN TRANSACTIONS OF 10000 ROWS""",
            # Equal rates of different counts: the interval was of other classes.
            """
MATCH (q:Clique) WHERE q.effect = 0 AND q.gap > 0
CALL (q) {
  SET q.log_odds_ratio = 0.0, q.log_odds_ratio_low = null, q.log_odds_ratio_high = null
} IN TRANSACTIONS OF 10000 ROWS""",
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
            f"versions up to {known}. Upgrade cobalance, or set ",
            Setting("database"),
            " to another database.",
        )
    for migration in MIGRATIONS[current:]:
        for statement in migration.statements:
            if " IN TRANSACTIONS" in statement:  # commits by itself, so that memory is bounded
                with driver.session(database=database) as session:
                    session.run(statement).consume()
            else:
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
