"""Every answer of a read, in each form that it is given in, equals the driver's."""

import csv
import io
import json
import math
import uuid
from functools import partial

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings as examples, strategies as st
from neo4j.graph import Node, Path as GraphPath, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time
from streamlit.dataframe_util import convert_pandas_df_to_arrow_bytes

from cobalance.app.cli.shared.tables import Format, TableOutput, as_text
from cobalance.app.web.page.cypher import answers, pictures
from cobalance.base.errors import QueryError
from cobalance.graph.console.run import run_console_query
from cobalance.graph.console.values import MAX_DEPTH
from cobalance.graph.queries.console_query import names_in, result_frame
from cobalance.workflows.cells import to_csv, to_json

SMALLEST, LARGEST = -(2**63), 2**63 - 1

STATEMENTS = [
    "RETURN null AS x",
    "RETURN true AS x, false AS y",
    "UNWIND [true, null, false] AS x RETURN x",
    f"RETURN {LARGEST} AS x, {SMALLEST} AS y",
    f"UNWIND [{LARGEST}, null, {SMALLEST}] AS x RETURN x",
    "UNWIND [3784612452067358798, null] AS digest RETURN digest",
    f"UNWIND [{LARGEST}, 0.5] AS x RETURN x",
    f"UNWIND [{LARGEST}, 0.5, null, 'a', true] AS x RETURN x",
    "UNWIND [1, 2.5, null] AS x RETURN x",
    "UNWIND [9007199254740993, 1.0] AS x RETURN x",
    "UNWIND [true, 1] AS x RETURN x",
    "UNWIND [0.5, true] AS x RETURN x",
    "UNWIND [0.0/0.0, 1.0/0.0, 'a', null, [1]] AS x RETURN x",
    "RETURN 1e-07 AS n",
    "UNWIND [1e-07, 2.0, null, -0.0, 1e300, 5e-324] AS n RETURN n",
    "UNWIND [0.0/0.0, 1.0/0.0, -1.0/0.0, 1.5] AS x RETURN x",
    "UNWIND [0.0/0.0, null, 1] AS x RETURN x",
    "RETURN [0.0/0.0, 1.0/0.0, null] AS x, {a: -1.0/0.0} AS y",
    "RETURN '' AS x, ' a ' AS y, 'a\"b,c\n\t' AS z, '\N{GRINNING FACE} 日本' AS w",
    "UNWIND ['a', null, ''] AS x RETURN x",
    "RETURN '2024-05-01' AS x, 'null' AS y, '[1]' AS z, 'NaN' AS w",
    "RETURN [] AS x, [[]] AS y, [null] AS z, [[], null, [1]] AS w",
    "UNWIND [[1, 2], [], null] AS x RETURN x",
    "UNWIND [[1, 2], ['a', [true, {b: null}]]] AS x RETURN x",
    "RETURN [1, 2.5] AS x, [1, 'a', null, [2]] AS y, [[1], [2.5], ['c']] AS z",
    f"RETURN [{LARGEST}, 0.5] AS x",
    "RETURN ['cow', 3] AS pair, [['cow', 3], ['pig', 4]] AS counts, [0.5, null] AS limits",
    "RETURN [null, null] AS x, [0.1, 0.2] AS y",
    "RETURN {} AS x, {a: {}} AS y, [{}] AS z",
    "UNWIND [{a: 1}, {b: 'c'}, {}, null] AS x RETURN x",
    "UNWIND [{a: 1}, {a: null}] AS x RETURN x",
    "UNWIND [{a: 1}, {a: 2}] AS x RETURN x",
    "RETURN {`a b`: 1, `a.b`: 2, `\"`: 3, `é`: {`1`: [null]}} AS x",
    # Maps with the keys of what they are not.
    "RETURN {nodes: 3, relationships: 0} AS stats",
    "RETURN {nodes: [1], relationships: ['a']} AS stats",
    "RETURN {nodes: [], relationships: []} AS stats",
    "RETURN {id: 'a', labels: ['b'], properties: {digest: 1}} AS x",
    "RETURN {id: 1, labels: 2, properties: 3} AS x",
    "RETURN {labels: 'a', properties: null} AS x",
    "RETURN {labels: ['X'], properties: {name: 'n', digest: 3}} AS x",
    "RETURN {id: 1, type: 2, start: 3, end: 4, properties: 5} AS x",
    "RETURN {id: 'a', type: 't', start: 'b', end: 'c', properties: {images: 'many'}} AS x",
    "RETURN {type: 't', start: 1, end: 2, properties: []} AS x",
    "RETURN [{id: 1, labels: [], properties: {}}, {srid: 1, coordinates: 'a'}] AS x",
    # Points, dates, times.
    "RETURN point({x: 1, y: 2}) AS a, point({x: 1, y: 2, z: 3}) AS b, "
    "point({longitude: 10, latitude: 50}) AS c, point({longitude: 1, latitude: 2, height: 3}) AS d",
    "UNWIND [point({x: 1, y: 2}), null, point({x: 1, y: 2, z: 3})] AS p RETURN p, [p] AS ps",
    "RETURN date('2024-02-29') AS a, date('0001-01-01') AS b, date('9999-12-31') AS c",
    "RETURN duration('P1Y2M3DT4H5M6.000000007S') AS a, duration('-PT0.5S') AS b, "
    "duration({months: -1, days: 40, nanoseconds: -1}) AS c",
    "RETURN {when: [datetime('2024-05-01T12:00:00Z'), null], how: [duration('P1D')]} AS x",
    # Nodes, relationships, paths.
    "MATCH (n:Answer {of: $of}) RETURN n ORDER BY n.at",
    "MATCH (n:Answer {of: $of})-[r]->(m) RETURN n, r, m ORDER BY r.at, n.at",
    "MATCH p = (:Answer {of: $of})-[*0..2]->() RETURN p, nodes(p) AS ns, relationships(p) AS rs",
    "MATCH (n:Answer {of: $of})-[r:BARE]->() RETURN r",
    "MATCH (n:Answer {of: $of}) RETURN {n: n, all: [n]} AS x, properties(n) AS y, labels(n) AS z",
    "MATCH (n:Answer {of: $of}) RETURN collect(n) AS concepts, count(*) AS images",
    "MATCH (n:Answer {of: $of, at: 0}) UNWIND [n, {id: 1, labels: 2, properties: 3}, 4] AS x "
    "RETURN x",
    "MATCH (n:Answer {of: $of, at: 0}) RETURN [n, [n, null], 'a'] AS x",
    # Columns and rows.
    "UNWIND [] AS x RETURN x, 1 AS y",
    "RETURN 1 AS n, 2 AS N, 3 AS `n `, 4 AS `n.n`, 5 AS `0`, 6 AS `_index`, 7 AS index",
    "RETURN 1 AS `a\nb`, 2 AS `a,b`, 3 AS `\"`, 4 AS `__index_level_0__`, 5 AS `[red]`",
    "RETURN 'a' AS concept_1, 1.0/0.0 AS images, 'b' AS concept_2",
    "RETURN 'a' AS start, 'b' AS end, -5 AS n",
    "RETURN [1, 'a'] AS concepts, 1 AS class, {a: 1} AS concept, null AS start, 'x' AS end",
    "UNWIND [['b', 'a'], null, []] AS concepts RETURN concepts, 3 AS images",
    "RETURN " + ", ".join(f"{i}{i}{i} AS column_{i}" for i in range(1, 41)),
    "EXPLAIN MATCH (n:Answer) RETURN n",
    "PROFILE MATCH (n:Answer {of: $of}) RETURN n",
    *(f"RETURN reduce(x = {start}, i IN range(1, {n}) | {of}) AS x"
      for n in (20, 60, MAX_DEPTH - 3)
      for start, of in (("[]", "[x]"), ("{}", "{a: x}"))),
]  # fmt: skip


@pytest.fixture(scope="module")
def of(store):
    """The mark of three nodes with relationships between them, one of which has no properties."""
    name = f"test {uuid.uuid4()}"
    store.write(
        "CREATE (a:Answer {of: $of, at: 0, name: 'a', digest: 3784612452067358798}), "
        "(b:Answer:Class {of: $of, at: 1, concepts: ['x', 'y'], on: date('2024-05-01'), "
        "place: point({x: 1, y: 2})}), (c:Answer {of: $of, at: 2}), "
        "(a)-[:R {at: 1, images: 3}]->(b), (b)-[:BARE]->(c), "
        "(c)-[:R {at: 2, images: 1.0/0.0, n: 2}]->(c)",
        of=name,
    )
    yield name
    store.write("MATCH (n:Answer {of: $of}) DETACH DELETE n", of=name)


@pytest.fixture(scope="module")
def names(store, of):
    """What the page calls these nodes, by element id."""
    rows = store.read("MATCH (n:Answer {of: $of}) RETURN elementId(n) AS id ORDER BY n.at", of=of)
    return {row["id"]: name for row, name in zip(rows, ("a", "x + y", "Answer"), strict=True)}


@pytest.fixture(scope="module")
def ask(store):
    return partial(run_console_query, store.console_drivers, store.database)


def native(value, names=None):
    """A value of the driver as the docs say that an answer has it; with `names`, on the page."""
    match value:
        case Node():
            properties = native(dict(value))
            node = {"id": value.element_id, "labels": sorted(value.labels)}
            if names is not None:
                del node["id"]
            return node | {"properties": properties}
        case Relationship():
            start, end = value.start_node.element_id, value.end_node.element_id
            properties = native(dict(value))
            if names is not None:
                ends = {"start": names[start], "end": names[end]}
                return {"type": value.type, **ends, "properties": properties}
            edge = {"id": value.element_id, "type": value.type, "start": start, "end": end}
            return edge | {"properties": properties}
        case GraphPath():
            parts = {"nodes": [*value.nodes], "relationships": [*value.relationships]}
            return native(parts, names)
        case Point():
            return {"srid": value.srid, "coordinates": [*value]}
        case Duration() | Date():
            return str(value)
        case Time():
            raise AssertionError("see the test of times")
        case DateTime():  # in UTC, without a fraction
            return value.iso_format().replace(".000000000+00:00", "Z")
        case list():
            return [native(item, names) for item in value]
        case dict():
            return {key: native(item, names) for key, item in value.items()}
    return value


def asked_of_driver(store, query, parameters):
    with store.driver.session(database=store.database) as session:
        result = session.run(query, parameters)
        columns = result.keys()
        return columns, [record.values() for record in result]


def same(value, other, *, finite=False):
    """Whether two values are equal, types and digits included; with `finite`, as JSON has them."""
    if finite and isinstance(other, float) and not math.isfinite(other):
        other = None
    if isinstance(other, dict):
        return (
            isinstance(value, dict)
            and value.keys() == other.keys()
            and all(same(value[key], item, finite=finite) for key, item in other.items())
        )
    if isinstance(other, list):
        return (
            isinstance(value, list)
            and len(value) == len(other)
            and all(same(*pair, finite=finite) for pair in zip(value, other, strict=True))
        )
    if isinstance(other, float) and math.isnan(other):
        return isinstance(value, float) and math.isnan(value)
    if isinstance(other, bool) or other is None or isinstance(other, str):
        return type(value) is type(other) and value == other
    # A whole number may be a float beside others, if that has all of its digits.
    return isinstance(value, int | float) and not isinstance(value, bool) and value == other


def in_cell(value, other):
    """Whether a cell of a frame is a value: a missing one stands for null."""
    value = value.item() if hasattr(value, "item") else value
    if other is None:
        return value is None or value is pd.NA or math.isnan(value)
    return same(value, other)


def in_csv(text, other):
    match other:
        case None:
            return text == ""
        case bool() | str() | int():
            return text == str(other) or (isinstance(other, int) and text == f"{other}.0")
        case float():
            return text == "" if math.isnan(other) else float(text) == other
    return same(json.loads(text), other, finite=True)


def in_parquet(value, other, *, as_json):
    if not as_json or other is None or isinstance(other, str):
        return same(value, other)
    if isinstance(other, float) and not math.isfinite(other):
        return value is None
    return same(json.loads(value), other, finite=True)


def check_everywhere(result, columns, rows, file, capsys):
    """Compare an answer with what the driver gave, in each form that it is given in."""
    assert [*result.columns] == [*columns]
    frame = result_frame(result)
    assert [*frame.columns] == [*columns]
    assert len(frame) == len(rows)
    is_nan = {
        name: any(isinstance(row[at], float) and math.isnan(row[at]) for row in rows)
        for at, name in enumerate(columns)
    }

    for row, cells in zip(rows, frame.itertuples(index=False, name=None), strict=True):
        assert all(map(in_cell, cells, row)), (cells, row)

    for row, read in zip(rows, json.loads(to_json(frame)), strict=True):
        assert [*read] == [*columns]
        assert all(same(read[c], v, finite=True) for c, v in zip(columns, row, strict=True)), read

    header, *lines = csv.reader(io.StringIO(to_csv(frame).decode(), newline=""))
    assert header == [*columns]
    if len(columns) == 1:  # an empty line has no cells
        lines = [line or [""] for line in lines]
    for row, line in zip(rows, lines, strict=True):
        assert all(map(in_csv, line, row)), (line, row)

    capsys.readouterr()
    TableOutput(Format.PARQUET, file).write(frame)
    note = capsys.readouterr().err.replace("\n", " ")
    table = pq.read_table(file)
    assert table.column_names == [*columns]
    for at, name in enumerate(columns):
        read = table.column(at).to_pylist()
        values = [row[at] for row in rows]
        is_text = str(table.schema.field(at).type) in ("string", "large_string")
        as_json = is_text and any(v is not None and not isinstance(v, str) for v in values)
        assert not as_json or name.replace("\n", " ") in note
        if is_nan[name] and str(table.schema.field(at).type) == "double" and None not in values:
            read = [math.nan if value is None else value for value in read]
        for value, other in zip(read, values, strict=True):
            assert in_parquet(value, other, as_json=as_json), (value, other)
    pd.read_parquet(file)

    drawn = as_text(frame, Format.TABLE).replace(",", "")
    whole = [v for row in rows for v in row if isinstance(v, int) and not isinstance(v, bool)]
    for number in whole:
        assert str(number) in drawn or not columns_hold(frame, number)


def columns_hold(frame, number):
    """Whether a number stands in a column of integers alone or of mixed values."""
    return any(
        column.dtype.kind in "iO" and number in [v for v in column if isinstance(v, int)]
        for _, column in frame.items()
    )


def check_page(store, result, rows):
    """The page's files hold the values; its table and its picture are made."""
    names = names_in(store, result)
    frame = answers.as_frame(result, names)
    for row, cells in zip(rows, frame.itertuples(index=False, name=None), strict=True):
        assert all(map(in_page, cells, row)), (cells, row)

    shown, configuration = answers.as_table(result, names)
    assert configuration.keys() <= {*result.columns}
    convert_pandas_df_to_arrow_bytes(shown)
    for at, name in enumerate(result.columns):
        for cell, row in zip(shown[name], rows, strict=True):
            if isinstance(row[at], int) and abs(row[at]) > 2**53:
                # A browser has no such number.
                assert isinstance(cell, str)
                assert cell.replace(",", "") == str(row[at])

    answers.cliques_in(result)
    picture = pictures.picture_of(pictures.elements_in(result, ["x"], None, names), ["x"])
    assert all(math.isfinite(node.x_px) and math.isfinite(node.y_px) for node in picture.nodes)
    assert all(math.isfinite(edge.width_px) for edge in picture.edges)


def in_page(cell, other):
    """Whether a cell is a value, or its JSON text."""
    if isinstance(cell, str) and not isinstance(other, str):
        return same(json.loads(cell), other, finite=True)
    return in_cell(cell, other)


@pytest.mark.parametrize("query", STATEMENTS)
def test_an_answer_is_the_driver_s_in_every_form(store, ask, of, names, tmp_path, capsys, query):
    result = ask(query, {"of": of})
    if query.startswith(("EXPLAIN", "PROFILE")):
        columns, rows = result.columns, result.rows
    else:
        columns, rows = asked_of_driver(store, query, {"of": of})
    values = [[native(value) for value in row] for row in rows]
    check_everywhere(result, columns, values, tmp_path / "answer.parquet", capsys)
    check_page(store, result, [[native(value, names) for value in row] for row in rows])


NUMBERS = st.one_of(
    st.integers(SMALLEST, LARGEST),
    st.integers(-3, 3),
    st.sampled_from([2**53, 2**53 + 1, -(2**53) - 1, LARGEST, SMALLEST]),
    st.floats(),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=5)
KEYS = st.sampled_from(["id", "labels", "properties", "type", "start", "end", "nodes"]) | TEXTS
SIMPLE = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    SIMPLE,
    lambda values: (
        st.lists(values, max_size=3)
        | st.dictionaries(KEYS | st.just("relationships"), values, max_size=5)
    ),
    max_leaves=8,
)
ROWS = st.one_of(
    *(
        st.lists(st.tuples(kind | st.none(), kind), max_size=6)
        for kind in (
            NUMBERS,
            st.integers(SMALLEST, LARGEST),
            TEXTS,
            SIMPLE,
            st.lists(NUMBERS, max_size=3),
            VALUES,
        )
    )
)


@examples(
    max_examples=150,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(ROWS)
@example([(None, [2**53 + 1, math.nan])])
@example([(2**53 + 1, 0), (math.nan, 0)])
def test_any_values_come_back_in_every_form(store, ask, tmp_path, capsys, rows):
    query = "UNWIND $rows AS row RETURN row[0] AS n, row[1] AS concepts"
    sent = {"rows": [[*row] for row in rows]}
    columns, rows = asked_of_driver(store, query, sent)
    result = ask(query, sent)
    check_everywhere(result, columns, rows, tmp_path / "answer.parquet", capsys)
    check_page(store, result, rows)


def test_500_integers_beside_nulls(ask, tmp_path, capsys):
    query = (
        "UNWIND range(0, 499) AS i RETURN "
        "CASE WHEN i % 7 = 0 THEN null ELSE 9223372036854775807 - i END AS size, "
        "CASE WHEN i % 3 = 0 THEN null ELSE i END AS rank, "
        "CASE WHEN i % 5 = 0 THEN 0.25 ELSE 9007199254740993 + i END AS mixed"
    )
    rows = [
        [
            None if i % 7 == 0 else LARGEST - i,
            None if i % 3 == 0 else i,
            0.25 if i % 5 == 0 else 2**53 + 1 + i,
        ]
        for i in range(500)
    ]
    result = ask(query)
    check_everywhere(result, ["size", "rank", "mixed"], rows, tmp_path / "answer.parquet", capsys)
    frame = result_frame(result)
    assert [*map(str, frame.dtypes)] == ["Int64", "Int64", "object"]
    assert pd.read_parquet(tmp_path / "answer.parquet")["size"].equals(frame["size"])


@pytest.mark.parametrize(
    "text",
    [
        "datetime('2024-05-01T12:00:00.5[Europe/Berlin]')",
        "datetime('1850-05-01T12:00[Europe/Berlin]')",  # 53 minutes and 28 seconds ahead
        "datetime('2050-07-01T12:00[Europe/Berlin]')",  # in summer time
        "datetime('2024-10-27T02:30+01:00[Europe/Berlin]')",  # the later of two
        "datetime('2024-10-27T02:30+02:00[Europe/Berlin]')",
        "datetime('2024-05-01T12:00[UTC]')",
        "datetime('2024-05-01T12:00[Etc/GMT+5]')",
        "datetime('2024-05-01T12:00:00.000000001-03:30')",
        "datetime('2024-05-01T12:00Z')",
        "datetime('9999-12-31T23:59:59-18:00')",  # of the year 10000 in UTC
        "datetime('0001-01-01T00:00[Asia/Tokyo]')",
        "datetime({epochSeconds: -1, nanosecond: 5})",
        "localdatetime('2024-05-01T12:00:00.123')",
        "localdatetime('0001-01-01T00:00')",
        "time('12:00:00.100-00:30')",
        "time('23:59:59.999999999Z')",
        "localtime('00:00')",
        "date('0001-01-01')",
    ],
)
def test_dates_and_times_are_as_the_server_prints_them(ask, text):
    (row,) = ask(f"RETURN {text} AS t, toString({text}) AS printed, [{{t: {text}}}] AS inside").rows
    t, printed, inside = row
    assert (t, inside) == (printed, [{"t": printed}])


@examples(max_examples=100)
@given(
    st.integers(-62_135_500_000, 253_402_200_000),
    st.integers(0, 999_999_999),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia"]),
)
def test_seconds_of_an_offset_and_names_of_zones(ask, seconds, nanoseconds, zone):
    query = (
        "WITH datetime({epochSeconds: $s, nanosecond: $ns, timezone: $zone}) AS named "
        "WITH named, time(named) AS time, localdatetime(named) AS local, date(named) AS day "
        "RETURN named, toString(named), time, toString(time), local, toString(local), "
        "day, toString(day)"
    )
    (row,) = ask(query, {"s": seconds, "ns": nanoseconds, "zone": zone}).rows
    assert row[::2] == row[1::2]


@pytest.mark.parametrize(
    "value", ["date('+10000-01-01')", "localdatetime('-0001-01-01T12:00')", "date('0000-12-31')"]
)
@pytest.mark.parametrize("around", ["{}", "[1, {}]", "{{a: [{}]}}"])
def test_a_year_beyond_those_of_dates_is_said(ask, value, around):
    with pytest.raises(QueryError, match=r"outside the years 1 to 9999\. .*toString"):
        ask(f"RETURN {around.format(value)} AS x")


def test_a_year_beyond_those_of_dates_in_a_node_is_said(store, ask):
    mark = f"test {uuid.uuid4()}"
    store.write("CREATE (:Answer {of: $of, on: date('+10000-01-01')})", of=mark)
    try:
        with pytest.raises(QueryError, match="outside the years 1 to 9999"):
            ask("MATCH (n:Answer {of: $of}) RETURN n", {"of": mark})
    finally:
        store.write("MATCH (n:Answer {of: $of}) DELETE n", of=mark)


def test_values_nested_too_deeply_are_said(ask):
    deep = f"RETURN reduce(x = [], i IN range(1, {MAX_DEPTH}) | [x]) AS x"
    with pytest.raises(QueryError, match="nested too deeply"):
        ask(deep)
