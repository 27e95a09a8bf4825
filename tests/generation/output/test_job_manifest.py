"""A job's rows from its records, in batches: the same as all at once, in bounded memory."""

import json
import tracemalloc
from random import Random

import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import DataError
from cobalance.generation.jobs.chunks import candidate_id
from cobalance.generation.output.chunk_records import ChunkRecord, read_records
from cobalance.generation.output.job_manifest import stream_manifest
from cobalance.generation.output.settlement_records import Settlements, add_settled
from cobalance.vision.stored.output_folder import OutputFolder

JOB = "5f1c"


def row(query, index, **others):
    found = {"candidate": candidate_id(JOB, query, index), "query": query, "index": index}
    found |= {"verdict": "rejected", "reason": "", "path": "a.png", "scores": "{}"}
    return found | {"settings": "{}"} | others


@pytest.fixture
def folder(tmp_path):
    return OutputFolder(str(tmp_path / "generated"))


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A new output folder at each call."""
    return lambda: OutputFolder(str(tmp_path_factory.mktemp("generated")))


ITEMS = st.lists(
    st.tuples(st.sampled_from([0, 1, 2, 999_999, 1_000_000]), st.integers(0, 9)),
    unique=True,
    max_size=40,
)


@given(ITEMS, st.integers(1, 7), st.randoms(use_true_random=False), st.integers(1, 50))
def test_rows_are_in_order_whatever_chunks_they_are_in(places, items, size, random, most):
    """Chunks in disorder, and some of them whole and in halves, as killed workers leave them."""
    folder = places()
    for at in range(0, len(items), size):
        rows = [row(*item, reason="first") for item in items[at : at + size]]
        name = f"000-{at:06d}"
        ChunkRecord(folder, JOB, name).write(rows)
        if random.random() < 0.3:
            half = [found | {"reason": "second"} for found in rows[: size // 2]]
            ChunkRecord(folder, JOB, f"{name}.z").write(half)  # after the whole, by name
    ChunkRecord(folder, JOB, "000-empty").write([])
    ordered = sorted(items)
    found = list(read_records(folder, JOB))
    assert [(one["query"], one["index"]) for one in found] == ordered
    reported = {candidate_id(JOB, *item): {} for item in items if random.random() < 0.8}
    asked = []

    def verdicts(candidates):
        asked.append(candidates)
        return {name: {"verdict": "accepted"} for name in candidates if name in reported}

    batches = list(stream_manifest(folder, JOB, verdicts, most))
    assert [one["candidate"] for batch in batches for one in batch] == [
        candidate_id(JOB, *item) for item in ordered if candidate_id(JOB, *item) in reported
    ]
    assert [name for names in asked for name in names] == [
        candidate_id(JOB, *item) for item in ordered
    ]
    queries = [{name.split("/")[1] for name in names} for names in asked]
    for names, of_batch, of_next in zip(asked, queries, queries[1:], strict=False):
        assert len(names) <= most
        shared = of_batch & of_next
        assert not shared or sum(query == int(*shared) for query, _ in items) > most


def test_the_first_record_by_name_counts(folder):
    ChunkRecord(folder, JOB, "000-000000").write([row(0, 0, reason="whole"), row(0, 1)])
    ChunkRecord(folder, JOB, "000-000000.0").write([row(0, 0, reason="half")])
    ChunkRecord(folder, JOB, "000-000000.1").write([row(0, 1), row(0, 2)])
    found = list(read_records(folder, JOB))
    assert [(one["index"], one["reason"]) for one in found] == [(0, "half"), (1, ""), (2, "")]
    assert list(read_records(folder, "none")) == []


@pytest.mark.parametrize("name", ["query", "index", "candidate", "verdict", "settings"])
def test_a_row_that_lacks_what_each_has_is_named(folder, name):
    lacking = row(0, 1)
    del lacking[name]
    ChunkRecord(folder, JOB, "000-000000").write([row(0, 0), lacking])
    told = f"{JOB}/chunks/000-000000.json, row 2: it has no {name}. Delete the file"
    with pytest.raises(DataError, match=told):
        list(stream_manifest(folder, JOB, lambda _: {}))
    with pytest.raises(DataError, match=told):
        ChunkRecord(folder, JOB, "000-000000").read()


def test_a_record_that_is_cut_off_is_named(folder):
    folder.write(f"{JOB}/chunks/000-000000.json", b'[\n{\n"query": 1,')
    with pytest.raises(DataError, match=r"000-000000.json, line 3: it is not JSON. Delete"):
        list(read_records(folder, JOB))


@pytest.mark.parametrize(
    ("content", "told"), [(b"{}", "list"), (b"null", "list"), (b"[1]", "row 1")]
)
def test_a_record_of_another_form_is_named(folder, content, told):
    folder.write(f"{JOB}/chunks/000-000000.json", content)
    with pytest.raises(DataError, match=f"000-000000.json.*{told}.*Delete"):
        ChunkRecord(folder, JOB, "000-000000").read()


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.lists(st.sampled_from([0, 1, 5, 99, 1_000_000]), min_size=1, unique=True),
        ),
        max_size=8,
    )
)
def test_the_last_settlement_of_a_query_counts(places, settled):
    folder = places()
    expected = {}
    for at, (number, queries) in enumerate(settled):
        ordered = sorted(queries)
        record = {candidate_id(JOB, query, 0): {"rank": at} for query in ordered}
        add_settled(folder, JOB, number, ordered[0], record)
        for query in ordered:
            key = (number, ordered[0])
            expected[query] = max(expected.get(query, (key, at)), (key, at))
    settlements = Settlements(folder, JOB)
    for query in [0, 1, 2, 99, 1_000_000]:
        found = settlements.of_query(query)
        assert settlements.of_query(query) == found
        rank = expected[query][1] if query in expected else None
        assert found == ({} if rank is None else {candidate_id(JOB, query, 0): {"rank": rank}})


def test_what_was_dropped_is_as_its_settlement_has_it(folder):
    scores = json.dumps({"clip": {"score": 0.5}})
    ChunkRecord(folder, JOB, "000-000000").write([row(0, at, scores=scores) for at in range(4)])
    lost = {"verdict": "rejected", "rank": 2, "reason": "Rank 2 of 2.", "judged": {"near": {}}}
    chosen = {"verdict": "rejected", "rank": 1, "reason": "Rank 1 of 2."}
    settled = {candidate_id(JOB, 0, 0): lost, candidate_id(JOB, 0, 1): chosen}
    add_settled(folder, JOB, 0, 0, settled)
    current = {
        candidate_id(JOB, 0, 1): {"verdict": "accepted", "reason": "", "decided_by": "ann"},
        candidate_id(JOB, 0, 2): {"verdict": "rejected", "reason": "Blank.", "decided_by": None},
    }
    ((first, second, third),) = stream_manifest(folder, JOB, lambda _names: current)
    assert (first["path"], first["rank"], first["reason"]) == (None, 2, "Rank 2 of 2.")
    assert json.loads(first["scores"]) == {"clip": {"score": 0.5}, "near": {}}
    assert (second["path"], second["rank"], second["verdict"]) == ("a.png", 1, "accepted")
    assert (third["rank"], third["reason"]) == (None, "Blank.")


def test_memory_does_not_grow_with_the_job(folder):
    """Four times as many candidates take hardly more than their number, in two rounds."""

    def write(first, last):
        for query in range(first, last):
            rows = [row(query, index, reason="x" * 1500) for index in range(8)]
            ChunkRecord(folder, JOB, f"000-{query:06d}").write(rows[::2])
            ChunkRecord(folder, JOB, f"001-{query:06d}").write(rows[1::2])
            if query % 20 == 0:
                many = range(query, min(query + 20, last))
                lost = {
                    candidate_id(JOB, one, at): {"reason": "y" * 200}
                    for one in many
                    for at in range(8)
                }
                add_settled(folder, JOB, 1, query, lost)

    def peak():
        tracemalloc.start()
        try:
            batches = stream_manifest(folder, JOB, lambda _names: {}, 200)
            rows = sum(len(batch) for batch in batches)
            return rows, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    write(0, 100)
    few, before = peak()
    write(100, 400)
    many, after = peak()
    assert (few, many) == (800, 3200)
    assert after < 1.5 * before, (before, after)
    assert after < 0.5 * many * 1500


def test_chunks_of_any_order_are_read_once_more_only(folder, monkeypatch):
    numbers = list(range(30))
    Random(0).shuffle(numbers)
    for at, number in enumerate(numbers):
        ChunkRecord(folder, JOB, f"000-{at:06d}").write([row(number, 0)])
    read = []
    original = OutputFolder.read
    monkeypatch.setattr(
        OutputFolder, "read", lambda self, name: read.append(name) or original(self, name)
    )
    assert [one["query"] for one in read_records(folder, JOB)] == list(range(30))
    assert len(read) == 60
