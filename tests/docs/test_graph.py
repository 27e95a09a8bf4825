"""docs/graph.md: each driver reads the store by the lines that it shows, each question is answered.

Not run: cypher-shell, a program of its own in Java, and Neo4j Browser, whose WebSocket is tried.
Answers are compared with counts, in Python, of what was written.
"""

import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
import pytest
from websockets.sync.client import connect as open_websocket

import cobalance as cb
from cobalance.graph.evaluations.writing import NewEvaluation, create_evaluations, save_scores
from cobalance.workflows.label.decide import decide_labels
from tests.support.audited_run import CONCEPTS, labelled, write_audited_run
from tests.support.edited_job import make, order, write_pictures

PAGE = (Path(__file__).parents[2] / "docs" / "graph.md").read_text(encoding="utf-8")
CODE = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
QUESTIONS = dict(re.findall(r"^([^\n`|]+\?[^\n]*)\n\n```cypher\n(.*?)^```$", PAGE, re.M | re.S))
BOLT = bytes.fromhex("6060b017 00080805 00000404 00000000 00000000")
"""The beginning of a connection by Bolt 5.0 to 5.8, or 4.4."""

A_COWS, B_SIGNS = (1, 2, 4, 6, 8), (1, 3, 4, 7, 9)
ROWS = [
    (f"{at}", "ab"[at % 2], ("train", "val")[at % 5 == 0], shown)
    for at in range(40)
    for shown in [{"cow": at % 10 in A_COWS, "road": at % 3 == 0, "sign": at % 10 in B_SIGNS}]
]
"""Image, class, split, and concepts: cows are mostly of class a, signs of class b."""


def shown_by(row) -> list[str]:
    return [concept for concept, shows in row[3].items() if shows]


@pytest.fixture
def asked(store):
    """The rows of the answer to a question of the page, named by its first words."""

    def ask(question: str, name: str) -> list[tuple[object, ...]]:
        (text,) = [text for asked, text in QUESTIONS.items() if asked.startswith(question)]
        return [tuple(row.values()) for row in store.read(text, dataset=name)]

    return ask


@pytest.fixture
def cows(store, settings, dataset):
    """The images of `ROWS`, mined and planned, with scores of two models."""
    frame = pd.DataFrame(
        [(*row[:3], "|".join(shown_by(row))) for row in ROWS],
        columns=["id", "class", "split", "concepts"],
    )
    held = cb.Store(store, settings).load(cb.read(frame), dataset).mine(max_size=2)
    held.plan("conbias", min_size=1)
    new = [NewEvaluation("erm", seed) for seed in (0, 1)]
    for one, value in zip(new, (0.25, 0.75), strict=True):
        create_evaluations(store, [one], train=dataset, test=dataset, extra=None)
        score = {"metric": "accuracy", "low": 0.1, "high": 0.9, "n": 4}
        rows = [{**score, "group": "", "value": value}, {**score, "group": "a", "value": 1.0}]
        save_scores(store, one.id, pd.DataFrame(rows))
    return held


def test_there_are_ten_questions_and_four_pieces_of_code():
    assert (len(QUESTIONS), len(CODE), PAGE.count("```cypher")) == (10, 4, 10)
    assert all(len(code.strip().splitlines()) <= 7 for code in CODE)


def test_every_driver_reads_the_store_by_the_lines_of_the_page(store, settings, cows):
    found = {"to": cb.Store(store, settings).connection}  # as the first piece, from the suite's
    connects, *drivers = CODE
    assert "to = cb.connect().connection" in connects
    for code in drivers:
        exec(compile(code, "docs/graph.md", "exec"), found)
    found["graph"].service.connector.close()
    there = [
        (row["name"], row["images"])
        for row in store.read("MATCH (d:Dataset) RETURN d.name AS name, d.images AS images")
    ]
    assert (cows.name, len(ROWS)) in there
    assert [tuple(record.values()) for record in found["records"]] == sorted(there)
    for frame in (found["frame"], found["table"]):
        assert isinstance(frame, pd.DataFrame)
        assert list(frame.itertuples(index=False, name=None)) == sorted(there)
        assert pd.api.types.is_integer_dtype(frame["images"])
    assert found["node"]["name"] == sorted(there)[0][0]


def test_the_port_speaks_bolt_over_websockets_as_neo4j_browser_does(address):
    parts = urlsplit(address[0])
    with open_websocket(f"ws://{parts.hostname}:{parts.port or 7687}", proxy=None) as socket:
        socket.send(BOLT)
        assert socket.recv(10)[3] in (4, 5)  # the version that the server chose


def test_questions_about_images_concepts_and_plans(cows, asked):
    name = cows.name
    splits = Counter((label, split) for _, label, split, _ in ROWS)
    assert asked("How many images", name) == [(*key, n) for key, n in sorted(splits.items())]

    by_class = Counter((concept, row[1]) for row in ROWS for concept in shown_by(row))
    assert asked("Which concepts", name) == sorted(
        ((*key, n) for key, n in by_class.items()), key=lambda row: (-row[2], row[:2])
    )

    pairs = Counter(pair for row in ROWS for pair in combinations(sorted(shown_by(row)), 2))
    most = min(pairs, key=lambda pair: (-pairs[pair], pair))
    together = sorted(
        (row[0], None, row[1], list(most)) for row in ROWS if set(most) <= set(shown_by(row))
    )
    assert len(together) > 1
    assert asked("Which images show two", name) == together

    both = pairs | {(b, a): n for (a, b), n in pairs.items()}
    expected = []
    for concept in sorted({concept for concept, _ in by_class}):
        others = [(-n, other) for (one, other), n in both.items() if one == concept]
        n, other = min(others)
        expected.append((concept, other, -n))
    assert asked("What does each concept", name) == expected

    found = cows.imbalances().frame
    leaning = {tuple(row.concepts) for row in found.itertuples() if row.q_value <= 0.05}
    answer = asked("Which combinations lean", name)
    assert {tuple(row[0]) for row in answer} == leaning != set()
    for concepts, effect, _, leans_to, label, images in answer:
        counts = Counter(row[1] for row in ROWS if set(concepts) <= set(shown_by(row)))
        assert images == counts[label]
        rates = {one: counts[one] / 20 for one in "ab"}
        assert effect == pytest.approx(max(rates.values()) - min(rates.values()))
        assert leans_to == max(rates, key=rates.__getitem__)

    planned = asked("What do plans ask", name)
    assert planned
    assert {row[0] for row in planned} == {"conbias"}
    after = Counter(by_class)
    for _, label, concepts, n in planned:
        for concept in concepts:
            after[(concept, label)] += n
    assert all(after[(one, "a")] == after[(one, "b")] for one, _ in by_class)

    assert asked("How good are models", name) == [("erm", name, "accuracy", 2, 0.5)]


def test_questions_about_jobs_and_generated_images(store, settings, dataset, asked, tmp_path):
    ids = ["first", "second", "third"]
    write_pictures(store, dataset, tmp_path / "pictures", ids)
    job = order(store, dataset, tmp_path / "pictures", ids)
    own = make(settings, job, tmp_path / "pictures")
    made = cb.Store(store, own).job(job)
    candidates = made.candidates()
    counted = candidates.groupby(["class_name", "verdict"]).size()
    answer = asked("What have jobs made", dataset)
    assert {row[0] for row in answer} == {job}
    told = Counter()
    for _, label, verdict, _, images in answer:
        told[(label, verdict)] += images
    assert told == Counter(counted.to_dict())

    accepted = set(candidates.loc[candidates["verdict"] == "accepted", "id"])
    into = made.rebalance(f"{dataset} renamed")
    generated = asked("Which images of this dataset were generated", into.name)
    assert len(generated) == len(ids)  # each image once more, in the group that it has not
    for image, by, _, source in generated:
        candidate = image.removeprefix("generated/")
        assert (candidate in accepted, by) == (True, job)
        query = int(candidate.split("/")[1])
        assert source == ids[query // 2]


def test_a_question_about_annotation_runs(store, settings, dataset, asked, tmp_path):
    images = 24
    own = settings.model_copy(update={"cobalance_output": str(tmp_path / "out")})
    folder = own.folders().open_output()
    run = write_audited_run(store, dataset, folder, tmp_path / "pictures", images)
    question = "What have annotation runs"
    assert asked(question, dataset) == [(run, "m", "done", None, 0, None)]
    decide_labels(store, folder, run, "accepted")
    expected = [
        (run, "m", "accepted", name, sum(labelled(at, name) for at in range(1, images)))
        for name in sorted(CONCEPTS)
    ]
    answer = asked(question, dataset)
    assert [row[:5] for row in answer] == expected
    assert [row[5] for row in answer] == pytest.approx([0.9, 0.9])
