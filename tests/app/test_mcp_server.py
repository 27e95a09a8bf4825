"""An assistant reads datasets over the Model Context Protocol, and changes nothing."""

import asyncio
import json
import sys

import pytest
from mcp import Client, StdioServerParameters

from cobalance.app.mcp_server import open_assistant
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.workflows.settings import Settings
from tests.browser.server import environment_of

ROWS = [("country", ("cow", "field"), 6), ("urban", ("cow", "sign"), 2), ("urban", ("sign",), 3)]


@pytest.fixture
def cars(store, dataset):
    records = [
        ImageRecord(f"{class_name} {i} {concepts}", class_name, tuple(map(Mention, concepts)))
        for class_name, concepts, n in ROWS
        for i in range(n)
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(common=()), max_cliques=100)
    return dataset


def ask(store, *calls):
    """Call tools as a client does; gives (text, whether it is an error) of each."""

    async def talk():
        async with Client(open_assistant(store, Settings.from_environment().folders())) as client:
            found = []
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                found.append((result.content[0].text, bool(result.is_error)))
            return found

    return asyncio.run(talk())


def test_every_tool_says_that_it_only_reads(store):
    async def tools():
        async with Client(open_assistant(store, Settings.from_environment().folders())) as client:
            return (await client.list_tools()).tools

    found = asyncio.run(tools())
    assert {tool.name for tool in found} == {
        "datasets",
        "imbalances",
        "gate",
        "list_saved_queries",
        "run_saved_query",
        "run_cypher",
        "graph_schema",
    }
    assert all(tool.annotations.read_only_hint and tool.description for tool in found)


def test_a_gate_says_what_breaks_a_rule(store, cars):
    ((text, failed),) = ask(store, ("gate", {"dataset": cars, "rules": {"min_class_images": 6}}))
    assert not failed
    assert text.startswith(f"{cars} breaks a rule: ")
    assert "urban has 5 images (at least 6)." in text
    ((text, failed),) = ask(store, ("gate", {"dataset": cars, "rules": {"most": 6}}))
    assert failed
    assert "is no rule" in text


def test_questions_are_answered_with_exact_counts(store, cars):
    count = "MATCH (i:Image {dataset: $name})-[:CONTAINS]->(:Concept {name: $c}) RETURN count(*)"
    answers = ask(
        store,
        ("datasets", {}),
        ("imbalances", {"dataset": cars, "concepts": ["cow", "field"]}),
        ("run_saved_query", {"name": "concepts", "parameters": {"dataset": cars}}),
        ("run_cypher", {"query": count, "parameters": {"name": cars, "c": "cow"}}),
        ("list_saved_queries", {}),
        ("graph_schema", {}),
    )
    assert not any(failed for _, failed in answers)
    datasets, imbalances, concepts, counted, saved, schema = (json.loads(it) for it, _ in answers)
    assert cars in {row["dataset"] for row in datasets["rows"]}
    (row,) = imbalances["rows"]
    assert (row["count_country"], row["count_urban"], row["gap"]) == (6, 0, 6)
    assert {row["concept"] for row in concepts["rows"]} == {"cow", "field", "sign"}
    assert list(counted["rows"][0].values()) == [8]
    assert {row["query"] for row in saved["rows"]} >= {"concepts"}
    assert "(Image)-[:CONTAINS]->(Concept)" in schema["edges"]


def test_more_rows_than_asked_for_are_said(store, cars):
    ((text, _),) = ask(
        store, ("run_cypher", {"query": "UNWIND range(1, 9) AS n RETURN n", "limit": 4})
    )
    found = json.loads(text)
    assert len(found["rows"]) == 4
    assert found["more"]


def test_the_command_serves_standard_input_and_output(settings, cars):
    async def talk():
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "cobalance.app", "store", "mcp"],
            env=environment_of(settings),
        )
        async with Client(server) as client:
            return await client.call_tool("imbalances", {"dataset": cars, "limit": 1})

    result = asyncio.run(talk())
    assert len(json.loads(result.content[0].text)["rows"]) == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("run_cypher", {"query": "MATCH (n) DETACH DELETE n"}, "read"),
        ("run_cypher", {"query": "LOAD CSV FROM 'file:///etc/passwd' AS l RETURN l"}, "LOAD"),
        ("run_cypher", {"query": "RETURN"}, "RETURN"),
        ("imbalances", {"dataset": "no such"}, "no such"),
        ("run_saved_query", {"name": "nothing"}, "nothing"),
    ],
)
def test_what_is_refused_says_why(store, cars, tool, arguments, said):
    before = store.read("MATCH (n) RETURN count(n) AS n")
    ((text, failed),) = ask(store, (tool, arguments))
    assert failed
    assert said in text
    assert "Traceback" not in text
    assert store.read("MATCH (n) RETURN count(n) AS n") == before
