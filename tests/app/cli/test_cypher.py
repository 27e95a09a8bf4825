"""Saved queries and queries of one's own, as files."""

import json

import pandas as pd
import pyarrow.parquet as pq

from cobalance.graph.queries.binding import bind_named
from cobalance.graph.queries.catalogue import CATALOGUE

GIVEN = {
    "concept": "cow",
    "concepts": ["cow", "road"],
    "class": "urban",
    "plan": "conbias",
    "compared": "cow",
    "without": "sign",
}


def test_every_saved_query_is_written_as_parquet(run, store, planned, tmp_path):
    file = tmp_path / "answer.parquet"
    for name, query in CATALOGUE.items():
        given = {key: value for key, value in GIVEN.items() if key in query.parameters}
        words = [
            word for key, value in given.items() for word in ("-p", f"{key}={json.dumps(value)}")
        ]
        words = [word.replace('"', "") if "[" not in word else word for word in words]
        done = run("cypher", name, "-d", planned, *words, "-f", "parquet", "-o", file)

        _, bound = bind_named(store, name, {"dataset": planned, **given})
        rows = store.read(query.text, **bound)
        table = pq.read_table(file)
        assert tuple(table.column_names) == query.columns, name
        for column in query.columns:
            read = table.column(column).to_pylist()
            values = [row[column] for row in rows]
            if read != values:
                assert column in done.stderr, (name, column)
                read = [None if text is None else json.loads(text) for text in read]
            assert read == values, (name, column)
        pd.read_parquet(file)


def test_relationships_without_properties_are_json_text_in_parquet(run, planned, tmp_path):
    file = tmp_path / "answer.parquet"
    edges = "MATCH (i:Image {dataset: $dataset})-[r:LABELED]->()"
    text = f"{edges} RETURN i.id AS id, r ORDER BY id LIMIT 2"
    done = run("cypher", text, "-d", planned, "-f", "parquet", "-o", file)
    assert done.stderr.strip() == "As JSON text, for which Parquet has no type: r."
    table = pq.read_table(file)
    assert table.column("id").to_pylist() == ["0", "1"]
    assert [json.loads(r)["properties"] for r in table.column("r").to_pylist()] == [{}, {}]


def test_small_numbers_in_a_column_named_n_are_shown(run):
    query = "UNWIND [1e-07, 2.0, 0.0] AS n RETURN n"
    assert run("cypher", query).stdout.split()[-3:] == ["1.0e-07", "2", "0"]
