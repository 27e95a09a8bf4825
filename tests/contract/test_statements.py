"""The program's own Cypher: each statement is valid, and of what the schema declares."""

import re
from types import ModuleType

import pytest
from neo4j import GraphDatabase

from cobalance.graph.annotations import statements as annotation_statements
from cobalance.graph.console.guard import check_read_only
from cobalance.graph.database import schema, statements as database_statements
from cobalance.graph.database.job_nodes import JOB_COUNTERS
from cobalance.graph.database.local.server_control import ensure_running
from cobalance.graph.database.query import Statement
from cobalance.graph.dataset import statements as dataset_statements
from cobalance.graph.evaluations import statements as evaluation_statements
from cobalance.graph.jobs import (
    reads as job_reads,
    statements as job_statements,
    verdict_statements,
)
from cobalance.graph.jobs.counters import RECOUNT
from cobalance.graph.panels import statements as panel_statements
from cobalance.graph.queries import statements as query_statements
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.graph.tags import statements as tag_statements
from cobalance.graph.tasks import statements as task_statements
from cobalance.graph.tasks.monitoring import GAUGES


def named(*modules: ModuleType) -> dict[str, Statement]:
    return {
        f"{module.__name__}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Statement)
    }


ALL = named(
    *(database_statements, dataset_statements, query_statements),
    *(job_reads, job_statements, verdict_statements, task_statements, evaluation_statements),
    *(panel_statements, annotation_statements, tag_statements),
)
PANELS = {
    f"{kind.name}: {each.purpose}": each
    for kind in (panel_statements.AUDIT_KIND, panel_statements.STUDY_KIND)
    for each in (
        *(kind.create, kind.save, kind.answers),
        *map(kind.read, ("id", "dataset", kind.subject)),
    )
}
ALL |= PANELS | {f"gauge {name}": each for name, each in GAUGES.items()}
EVALUATIONS = named(task_statements, evaluation_statements, panel_statements) | PANELS
JOBS = named(job_reads, job_statements, verdict_statements)
CHANGES = re.compile(r"\b(CREATE|MERGE|SET|DELETE|REMOVE)\b")
WRITES = {name: each for name, each in ALL.items() if CHANGES.search(each.text)}
READS = {name: each for name, each in ALL.items() if name not in WRITES}
DECLARED = {node.label for node in schema.ALL_NODES} | {edge.type for edge in schema.EDGES}


@pytest.mark.parametrize("statement", ALL.values(), ids=list(ALL))
def test_a_statement_is_valid_and_its_labels_are_declared(store, statement):
    parameters = dict.fromkeys(re.findall(r"\$(\w+)", statement.text))
    assert store.write(f"EXPLAIN {statement.text}", **parameters) == []
    assert statement.purpose.endswith(".")
    assert set(re.findall(r"[(\[]\w*:(\w+)", statement.text)) <= DECLARED


@pytest.mark.parametrize("statement", READS.values(), ids=list(READS))
def test_a_read_only_reads(statement):
    check_read_only(statement.text)


@pytest.mark.parametrize("statement", WRITES.values(), ids=list(WRITES))
def test_a_write_takes_no_value_but_as_a_parameter(statement):
    """What stands in quotes are states and verdicts, never a name."""
    known = {"preparing", "queued", "running", "done", "failed", "cancelled"}
    known |= {"pending", "accepted", "rejected", "P1D", "", "\n", "id", "\\n"}
    assert set(re.findall(r"'([^']*)'", statement.text)) <= known


def test_the_counters_of_jobs_are_those_that_are_declared():
    kept = re.findall(r"j\.(\w+) = ", RECOUNT)
    assert kept == [counter.name for counter in JOB_COUNTERS]


@pytest.fixture(scope="module")
def plan_of(settings, store):
    """The operators of a statement's plan, with what each finds, a line each."""
    if settings.neo4j_uri is not None:
        uri, login = settings.neo4j_uri, (settings.neo4j_username, settings.password())
    else:
        endpoint = ensure_running(settings.local_server())
        uri, login = endpoint.uri, (endpoint.username, endpoint.password)

    def lines(plan):
        yield f"{plan['operatorType']} {plan['args'].get('Details', '')}"
        for child in plan.get("children", []):
            yield from lines(child)

    with GraphDatabase.driver(uri, auth=login) as driver:

        def read(statement):
            parameters = dict.fromkeys(re.findall(r"\$(\w+)", statement.text))
            _, summary, _ = driver.execute_query(f"EXPLAIN {statement.text}", parameters)
            return list(lines(summary.plan))

        yield read


@pytest.mark.parametrize("statement", JOBS.values(), ids=list(JOBS))
def test_candidates_and_queries_are_found_by_an_index(plan_of, statement):
    """There are millions; an index of two properties needs a predicate on both."""
    scans = re.compile(r"NodeByLabelScan\S* \w+:(Candidate|JobQuery)\b")
    assert [line for line in plan_of(statement) if scans.match(line)] == []


@pytest.mark.parametrize("statement", EVALUATIONS.values(), ids=list(EVALUATIONS))
def test_evaluations_tasks_and_scores_are_found_by_an_index(plan_of, statement):
    """But for lists of all that there are."""
    lists = {task_statements.TASKS: "Task", evaluation_statements.EVALUATIONS: "Evaluation"}
    scans = re.compile(r"NodeByLabelScan\S* \w+:(\w+)")
    found = [scans.match(line) for line in plan_of(statement)]
    assert {each[1] for each in found if each} <= {lists.get(statement), "Dataset", "Worker"}


@pytest.mark.parametrize(
    ("name", "index"), [("imbalances", "leans, effect"), ("imbalances-by-gap", "gap")]
)
def test_imbalances_come_off_an_index_in_their_order(plan_of, name, index):
    """There are tens of thousands; only equal ones are sorted."""
    plan = plan_of(CATALOGUE[name])
    assert any(f"RANGE INDEX q:Clique(dataset, {index})" in line for line in plan)
    assert any(line.startswith("PartialTop") for line in plan)
