"""The console on a real server: what gets through, what comes back, and that limits hold."""

import json
import subprocess
import sys
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings as examples, strategies as st
from neo4j import READ_ACCESS
from neo4j.exceptions import Neo4jError

from cobalance.base.errors import (
    OptionError,
    QueryError,
    QueryRefusedError,
    QueryTimeoutError,
    StoreUnavailableError,
)
from cobalance.graph.console import run as console
from cobalance.graph.console.guard import PROCEDURES, check_read_only
from cobalance.graph.console.message_limit import MessageLimit
from cobalance.graph.console.run import LANGUAGE, MAX_RUNNING, run_console_query
from cobalance.graph.database import DriverPool
from cobalance.graph.database.local.server_control import ensure_running
from tests.support.waiting import until

CORPUS = json.loads((Path(__file__).parents[2] / "data" / "cypher_console.json").read_text("utf-8"))
PARAMETERS = {"set": 1, "create": 2, "delete n": 3}
# The server looks at the clock between rows only: it computes this to its end, a few seconds on.
SLOW = "RETURN all(x IN range(1, 300000000) WHERE x > $least) AS x"


@pytest.fixture
def ask(store):
    return partial(run_console_query, store.console_drivers, store.database)


@pytest.fixture
def address(settings):
    """The server's URI, user and password."""
    if settings.neo4j_uri is not None:
        return [settings.neo4j_uri, settings.neo4j_username, settings.password()]
    endpoint = ensure_running(settings.local_server())
    return [endpoint.uri, endpoint.username, endpoint.password]


@pytest.fixture
def pair(store):
    """The name of two images of no dataset with an edge between them."""
    name = f"test {uuid.uuid4()}"
    store.write(
        "CREATE (:Image {dataset: $name, id: 'a'})-[:DERIVED_FROM {at: date('2024-05-01')}]->"
        "(:Image:Other {dataset: $name, id: 'b', split: null})",
        name=name,
    )
    yield name
    store.write("MATCH (i:Image {dataset: $name}) DETACH DELETE i", name=name)


def read_mode(store, query):
    """What the server does with a query in READ mode, rolled back."""
    with (
        store.driver.session(database=store.database, default_access_mode=READ_ACCESS) as session,
        session.begin_transaction(timeout=30) as transaction,
    ):
        summary = transaction.run(query, PARAMETERS).consume()
        transaction.rollback()
        return summary


def is_refused(ask):
    try:
        ask("RETURN 1 AS x")
    except QueryRefusedError:
        return True
    return False


def computing(store):
    """How many of the console's queries the server has not ended yet."""
    (row,) = store.read(
        "SHOW TRANSACTIONS YIELD metaData WHERE metaData.cobalance_console_s IS NOT NULL "
        "RETURN count(*) AS n"
    )
    return row["n"]


def running(store):
    """The texts of the console's queries that the server computes, as they were sent."""
    rows = store.read(
        "SHOW TRANSACTIONS YIELD metaData, currentQuery "
        "WHERE metaData.cobalance_console_s IS NOT NULL AND currentQuery <> '' "
        "RETURN currentQuery AS text"
    )
    return [row["text"] for row in rows]


def wait_until_none_is_stuck(ask):
    until(lambda: not is_refused(ask), timeout_s=120)


@pytest.mark.parametrize("query", CORPUS["harmless"])
def test_what_the_guard_passes_runs(ask, query):
    ask(query, PARAMETERS)


@pytest.mark.parametrize("language", ["", LANGUAGE])
@pytest.mark.parametrize("query", CORPUS["refused_twice"])
def test_the_server_is_a_second_wall(store, query, language):
    with pytest.raises(Neo4jError):
        read_mode(store, language + query)


@pytest.mark.parametrize("language", ["", LANGUAGE])
@pytest.mark.parametrize("query", CORPUS["refused_by_guard"])
def test_only_the_guard_refuses_these(store, query, language):
    read_mode(store, language + query)
    with pytest.raises(QueryRefusedError):
        check_read_only(query)


@pytest.mark.parametrize("query", CORPUS["cypher_25"])
def test_what_is_called_the_newer_language_is_none_of_the_console_s(store, query):
    with pytest.raises(Neo4jError):
        read_mode(store, LANGUAGE + query)


def test_every_query_is_sent_in_the_language_that_is_checked(ask, store):
    texts = set()
    with ThreadPoolExecutor() as pool, suppress(QueryTimeoutError):
        answer = pool.submit(ask, SLOW, {"least": 0}, timeout_s=5)
        until(lambda: texts.update(running(store)) or texts)
        answer.result()
    assert texts == {LANGUAGE + SLOW}


PIECES = (
    *("MATCH (n)", "WITH n", "WITH n AS", "RETURN n", "RETURN 1 AS", "WHERE", "UNWIND [1] AS x"),
    *("CREATE (m)", "SET n.x = 1", "DELETE n", "MERGE (m)", "REMOVE n.x", "CALL { ", " }"),
    *("CALL db.labels()", "CALL dbms.info()", "YIELD *", "UNION", "ORDER BY", "LIMIT 1", "IN"),
    *(
        "as",
        "set",
        "create",
        "delete",
        "n",
        "x",
        "n.set",
        "'set'",
        "`set`",
        "1",
        "(",
        ")",
        "[",
        "]",
    ),
    *("{set: 1}", ",", "=", "+", "*", "-", ".", ":", "|", "CASE WHEN", "THEN", "END", "DISTINCT"),
    *("IS :: INTEGER", "FOREACH (x IN [1] |", "LOAD CSV FROM 'x' AS l", "// c\n", "/* c */", ";"),
    *("SHOW INDEXES", "EXISTS {", "COUNT {", "USE neo4j", "IN TRANSACTIONS", "FINISH"),
    *("WITH DISTINCT", "distinct", "not", "NOT", "CASE", "case", "WITH n, n AS distinct"),
    *("WITH n, n AS `not`", "count(*)", "%", "CONTAINS", "UNION DISTINCT", "()-->()", "DELETE not"),
)


@examples(
    max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.tuples(
        st.sampled_from(["", "MATCH (n)", "MATCH (n) WITH n", "UNWIND [1] AS set", "MATCH (as)"]),
        st.lists(st.sampled_from(PIECES), max_size=4).map(" ".join),
        st.sampled_from(["", "RETURN 1 AS y", "RETURN n AS y", "WITH 1 AS y RETURN y"]),
    ).map(" ".join)
)
def test_whatever_the_guard_passes_the_server_takes_as_a_read(store, query):
    try:
        check_read_only(query)
        summary = read_mode(store, f"{LANGUAGE}EXPLAIN {query}")
    except (QueryRefusedError, Neo4jError):
        return
    event("taken by both")
    assert summary.query_type in ("r", "s")  # a read, or SHOW of the schema
    assert not summary.counters.contains_updates


def test_the_allowed_procedures_exist_and_read(store):
    rows = store.read("SHOW PROCEDURES YIELD name, mode RETURN name, mode")
    modes = {row["name"]: row["mode"] for row in rows}
    assert {modes[name] for name in PROCEDURES} <= {"READ", "DBMS"}


def test_returns_columns_and_plain_values(ask):
    result = ask(
        "RETURN 1 AS b, 'x' AS a, [1.5, null, {k: true}] AS list, date('2024-05-01') AS day, "
        "datetime('2024-05-01T10:00Z') AS moment, duration('P1DT2S') AS span, "
        "point({x: 1, y: 2}) AS place, $data AS data",
        {"data": b"\x01\xff"},
    )
    assert result.columns == ("b", "a", "list", "day", "moment", "span", "place", "data")
    assert result.rows == [
        (
            *(
                1,
                "x",
                [1.5, None, {"k": True}],
                "2024-05-01",
                "2024-05-01T10:00:00Z",
            ),
            *("P1DT2S", {"srid": 7203, "coordinates": [1.0, 2.0]}, "01ff"),
        )
    ]
    assert not result.truncated
    assert 0 < result.elapsed_s < 30
    json.dumps(result.rows)


def test_a_connection_in_use_is_closed_quietly(store):
    def open_driver():
        driver = store.open_driver()
        close = driver.close

        def close_in_use():  # as when the query's thread is writing to it
            close()
            raise BufferError("Existing exports of data: object cannot be re-sized")

        driver.close = close_in_use
        return driver

    drivers = DriverPool(open_driver)
    result = run_console_query(drivers, store.database, "UNWIND [1, 2] AS x RETURN x", max_rows=1)
    assert result.rows == [(1,)]


def test_connections_serve_again_unless_a_query_fails_or_is_given_up(store):
    connected = []

    def open_driver():
        connected.append(store.open_driver())
        return connected[-1]

    drivers = DriverPool(open_driver)
    ask = partial(run_console_query, drivers, store.database)
    for number in range(20):
        assert ask("RETURN $number AS x", {"number": number}).rows == [(number,)]
    # The next query does not wait for the end of the one before.
    assert len(connected) <= MAX_RUNNING

    with pytest.raises(QueryTimeoutError):
        ask(SLOW, {"least": 0}, timeout_s=0.2)
    assert ask("RETURN date('2024-05-01') AS x").rows == [("2024-05-01",)]
    with pytest.raises(QueryError):
        ask("RETURN 1 / 0 AS x")
    assert ask("RETURN 2 AS x").rows == [(2,)]

    wait_until_none_is_stuck(ask)
    drivers.close()


def test_returns_nodes_relationships_and_paths_as_maps(ask, pair):
    result = ask(
        "MATCH p = (a:Image {dataset: $name, id: 'a'})-[r]->(b) RETURN a, r, b, p", {"name": pair}
    )
    a, r, b, p = result.rows[0]
    assert (a["labels"], a["properties"]) == (["Image"], {"dataset": pair, "id": "a"})
    assert (b["labels"], b["properties"]) == (["Image", "Other"], {"dataset": pair, "id": "b"})
    assert (r["type"], r["properties"]) == ("DERIVED_FROM", {"at": "2024-05-01"})
    assert (r["start"], r["end"]) == (a["id"], b["id"])
    assert p == {"nodes": [a, b], "relationships": [r]}
    json.dumps(result.rows)


def test_no_rows_still_have_columns(ask):
    result = ask("UNWIND [] AS x RETURN x, 1 AS y")
    assert (result.columns, result.rows, result.truncated) == (("x", "y"), [], False)


@pytest.mark.parametrize(("rows", "truncated"), [(99, False), (100, False), (101, True)])
def test_says_whether_there_were_more_rows(ask, rows, truncated):
    result = ask("UNWIND range(1, $rows) AS x RETURN x", {"rows": rows}, max_rows=100)
    assert (len(result.rows), result.truncated) == (min(rows, 100), truncated)


def test_the_server_does_not_compute_the_rows_that_are_left_out(ask):
    result = ask("UNWIND range(1, 10000000000) AS x RETURN x", max_rows=3000)
    assert len(result.rows) == 3000
    assert result.truncated
    assert result.elapsed_s < 20


def test_the_values_in_all_rows_are_limited_too(ask, monkeypatch):
    monkeypatch.setattr(console, "MAX_VALUES", 1000)
    result = ask("UNWIND range(1, 10) AS i RETURN range(1, 300) AS xs")
    assert (len(result.rows), result.truncated) == (3, True)
    with pytest.raises(QueryError, match="first row alone holds more than 1,000 values"):
        ask("RETURN range(1, 3000) AS xs")
    with pytest.raises(QueryError, match="first row alone"):
        ask("RETURN $long AS x", {"long": "x" * 100_000})


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("RETURN $a + $b AS x", "Expected parameter\\(s\\): a, b. Give each one a value"),
        ("RETURN 1 +", "Invalid input"),
        ("MATCH (n) RETURN m", "Variable `m` not defined"),
        ("RETURN 1 / 0 AS x", "/ by zero"),
        ("RETURN $unknown AS x", "Expected parameter"),
    ],
)
def test_the_server_s_own_message_comes_through(ask, query, said):
    with pytest.raises(QueryError, match=said):
        ask(query)


@pytest.mark.parametrize(
    ("query", "offset"),
    [
        ("MATCH (n)\nRETURN m", 17),
        ("RETURN '\U0001f600' AS a, unknown(1)", 17),  # two characters for the server
        ("RETURN 1 +", 10),
        ("CYPHER 5 RETURN m", 16),
        ("EXPLAIN RETURN m", 15),
        ("MATCH (n)\nDETACH DELETE n", 10),  # refused by the guard
        ("RETURN 1 / 0 AS x", None),
    ],
)
def test_a_mistake_s_place_is_known(ask, query, offset):
    with pytest.raises((QueryError, QueryRefusedError)) as raised:
        ask(query)
    assert raised.value.offset == offset


@pytest.mark.parametrize(
    "query",
    [
        "RETURN m",
        "RETURN 1 +",
        "RETURN 'a long text" + " and longer" * 40 + "' AS x, m",
        "MATCH (n)\nRETURN m",
        "// why\nMATCH (n)\n  RETURN n.x, m",
        "RETURN 1 AS x UNION RETURN 2 AS y",
        "RETURN date('never') AS x",
    ],
)
def test_a_mistake_s_message_is_as_if_nothing_stood_before_the_query(ask, store, query):
    with pytest.raises(Neo4jError) as direct:
        store.driver.execute_query(query)
    with pytest.raises(QueryError) as asked:
        ask(query)
    assert str(asked.value) == direct.value.message


@pytest.mark.parametrize("value", [object(), 2**70])
def test_a_parameter_that_no_server_takes(ask, value):
    with pytest.raises(QueryError, match="A parameter cannot be sent"):
        ask("RETURN $x AS x", {"x": value})


@pytest.mark.parametrize("limits", [{"timeout_s": 0}, {"timeout_s": float("inf")}, {"max_rows": 0}])
def test_limits_are_above_zero(ask, limits):
    with pytest.raises(OptionError):
        ask("RETURN 1 AS x", **limits)


def test_an_unknown_database(store):
    with pytest.raises(StoreUnavailableError, match="no database 'nothing'"):
        run_console_query(store.console_drivers, "nothing", "RETURN 1 AS x")


def test_refuses_before_it_connects():
    def connect():
        raise AssertionError("connected")

    with pytest.raises(QueryRefusedError):
        run_console_query(DriverPool(connect), "neo4j", "CREATE (n)")


@pytest.mark.parametrize(
    "query",
    [
        "UNWIND range(1, 30000000) AS x RETURN sum(x) AS x",
        "UNWIND range(1, 5000) AS x UNWIND range(1, 5000) AS y RETURN count(*) AS n",
    ],
)
def test_a_query_of_seconds_is_given_up_and_stopped_at_a_shorter_limit(ask, query):
    with pytest.raises(QueryTimeoutError, match=r"did not end within 0\.2 s"):
        ask(query, timeout_s=0.2)
    wait_until_none_is_stuck(ask)


@pytest.mark.parametrize(
    "query",
    [SLOW.replace("$least", "0"), "RETURN reduce(s = 0, i IN range(1, 200000000) | s + i) AS x"],
)
def test_a_query_that_neo4j_cannot_stop_is_given_up_and_holds_nothing(ask, store, query):
    threads = threading.active_count()
    with pytest.raises(QueryTimeoutError, match=r"did not end within 0\.2 s"):
        ask(query, timeout_s=0.2)
    assert store.read("RETURN 1 AS x") == [{"x": 1}]
    until(lambda: computing(store) == 0)
    until(lambda: threading.active_count() <= threads)  # those of earlier tests may end, too


def test_only_so_many_run_at_once(ask, store):
    most = 0
    with ThreadPoolExecutor(6) as pool:
        running = [pool.submit(ask, SLOW, {"least": -n}, timeout_s=1) for n in range(6)]
        while not all(each.done() for each in running):
            most = max(most, computing(store))
        errors = {type(each.exception()) for each in running}
    assert most <= MAX_RUNNING
    assert errors <= {QueryTimeoutError, QueryRefusedError}
    until(lambda: computing(store) == 0)


def test_refuses_while_the_server_computes_earlier_ones(ask, store):
    with ExitStack() as stack:
        for _ in range(MAX_RUNNING):
            session = stack.enter_context(store.driver.session(database=store.database))
            late = session.begin_transaction(metadata={"cobalance_console_s": 0.0})
            stack.enter_context(late)
            late.run("RETURN 1").consume()
        until(lambda: is_refused(ask))
        with pytest.raises(QueryRefusedError, match="still computes 2 earlier queries"):
            ask("RETURN 1 AS x")
    ask("RETURN 1 AS x")


@pytest.mark.parametrize("value", ["[x]", "{a: x}"])
def test_a_value_nested_too_deeply(ask, store, value):
    with pytest.raises(QueryError):
        ask(f"RETURN reduce(x = 1, i IN range(1, 600) | {value}) AS x")
    assert store.read("RETURN 1 AS x") == [{"x": 1}]


def test_a_parameter_nested_too_deeply(ask):
    nested: list[object] = []
    for _ in range(2000):
        nested = [nested]
    with pytest.raises(QueryError, match="nested too deeply"):
        ask("RETURN $x AS x", {"x": nested})


def test_explain_and_profile_show_the_plan(ask):
    explained = ask("EXPLAIN MATCH (n:Image {dataset: 'none'}) RETURN n.id AS x")
    assert explained.columns == ("operator", "details", "estimated rows")
    assert explained.rows[0][0] == "ProduceResults"
    assert any("Image" in details for _, details, _ in explained.rows)
    profiled = ask("PROFILE UNWIND range(1, 30) AS x WITH x WHERE x > 10 RETURN x")
    counted = dict(zip(profiled.columns, profiled.rows[0], strict=True))
    assert counted["operator"] == "ProduceResults"
    assert counted["rows"] == 20
    json.dumps(profiled.rows)


def test_a_single_value_that_is_too_large_is_not_received(ask, store, monkeypatch):
    limits = []

    def limited(transaction):
        limits.append(MessageLimit(transaction, max_bytes=10_000))
        return limits[-1]

    monkeypatch.setattr(console, "MessageLimit", limited)
    with pytest.raises(QueryError, match="first row alone"):
        ask("RETURN range(1, 300000) AS x")  # 1.4 MB
    assert limits[0]._received < 100_000
    # The limit is of each query, whose connection is the same.
    for _ in range(3):
        assert ask("RETURN range(1, 3000) AS x").rows == [(list(range(1, 3001)),)]


PROGRAM = f"""
import json, sys
from neo4j import GraphDatabase
from cobalance.graph.console.run import run_console_query
from cobalance.graph.database import DriverPool
from cobalance.base.errors import QueryTimeoutError

uri, username, password, database = json.loads(sys.stdin.read())
try:
    run_console_query(
        DriverPool(lambda: GraphDatabase.driver(uri, auth=(username, password))),
        database, {SLOW!r}, {{"least": 0}}, timeout_s=0.5,
    )
except QueryTimeoutError:
    print("given up")
"""


def test_the_process_can_end_while_the_server_computes(ask, store, address):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        input=json.dumps([*address, store.database]),
        capture_output=True,
        text=True,
        cwd=Path(console.__file__).parents[3],
    )
    assert (done.stdout, done.stderr, done.returncode) == ("given up\n", "", 0)
    wait_until_none_is_stuck(ask)
