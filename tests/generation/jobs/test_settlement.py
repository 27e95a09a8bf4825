"""The best candidates of a job, whatever order they come in and whatever is interrupted."""

import json
from itertools import count
from random import Random

import numpy as np
import pandas as pd
import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.generation.filters.filter import FilterPlugin, Judgement
from cobalance.generation.filters.pool import EmbeddedImage
from cobalance.generation.jobs import settlement as pools
from cobalance.generation.jobs.chunks import candidate_id
from cobalance.generation.jobs.rounds import is_complete, next_round, report_chunk
from cobalance.generation.jobs.settings import read_job_settings
from cobalance.generation.jobs.settlement import rank_query
from cobalance.generation.output.chunk_records import ChunkRecord, read_vectors, write_vectors
from cobalance.generation.output.job_manifest import read_job_manifest
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.candidates import decide
from cobalance.graph.jobs.lifecycle import create_job, retry_job
from cobalance.graph.jobs.reports import start_queries
from cobalance.graph.jobs.rounds import read_query_progress, read_round
from cobalance.graph.jobs.settlement import MadeCandidate
from cobalance.graph.jobs.status import read_job, read_queries
from cobalance.vision.stored.output_folder import OutputFolder
from tests.e2e.best_of import accepted, assert_counted
from tests.e2e.scored import RANK_BY, known, places
from tests.graph.jobs.reporting import verdicts_of

NAN = float("nan")
QUERIES = [("a", ("x",), 1), ("b", ("x",), 3), ("b", ("y",), 1), ("a", ("y",), 2)]


@pytest.fixture
def loaded(store, dataset):
    records = [ImageRecord(f"{i}", "ab"[i % 2], (Mention("x"), Mention("y"))) for i in range(8)]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    return dataset


@pytest.fixture
def folder(tmp_path):
    return OutputFolder(str(tmp_path / "generated"))


def settings_of(**changes):
    return read_job_settings({"filters": {"blank": {}}, "best_of": 7, "rank_by": RANK_BY} | changes)


def order(store, dataset, settings, queries=QUERIES):
    return create_job(store, dataset, "plan", queries, settings=settings.model_dump(mode="json"))


def made_row(job, query, index, judge=known):
    score, second, is_good = judge(query, index)
    details = {} if second is None else {"second": second}
    judged = {"score": score, "accepted": is_good, "reason": "", "details": details}
    row = dict.fromkeys(
        [
            *("prompt", "chunk", "backend", "model", "revision", "weights_sha256"),
            *("digital_source_type", "mask_sha256", "sha256", "width_px", "height_px", "made_at"),
            *("source_image", "source_uri", "source_class", "captions", "mask_path"),
            *("chunk_items", "decided_by", "rank"),
        ]
    )
    return row | {
        "candidate": candidate_id(job, query, index),
        "job": job,
        "query": query,
        "index": index,
        "class": "a",
        "concepts": [],
        "prompt": "",
        "path": f"{job}/images/{query:06d}-{index:06d}.png",
        "verdict": "accepted" if is_good else "rejected",
        "reason": "" if is_good else "It is so.",
        "scores": json.dumps({"blank": judged}),
        "settings": "{}",
        "software": "{}",
        "seed": index,
        "seconds": 0.25,
    }


class KilledError(Exception):
    """A worker is killed."""


class Mortal:
    """A store whose process dies at some write, before or after it is committed."""

    def __init__(self, store, random):
        self._store, self._left, self._before = store, random.randint(0, 6), random.random() < 0.5

    def read(self, *arguments, **parameters):
        return self._store.read(*arguments, **parameters)

    def write(self, *arguments, **parameters):
        self._left -= 1
        if self._left < 0 and self._before:
            raise KilledError
        rows = self._store.write(*arguments, **parameters)
        if self._left < 0:
            raise KilledError
        return rows


def step(store, folder, job, settings, current, random):
    """Begin the next round, killed again and again until it is through."""
    while random is not None and random.random() < 0.7:
        try:
            return next_round(Mortal(store, random), folder, job, settings, current)
        except KilledError:
            assert_counted(store, job)
    return next_round(store, folder, job, settings, current)


def work(store, folder, job, settings, random, judge=known, kills=False):
    """Make a job's images as many workers would: in any order, some reported twice."""
    current = step(store, folder, job, settings, None, random if kills else None)
    numbers = count()
    while current is not None:
        items = [(s.query, i) for s in current.spans for i in range(s.first, s.first + s.count)]
        random.shuffle(items)
        ids = sorted({f"{job}/{query:06d}" for query, _ in items})
        start_queries(store, job, current.attempt, ids)
        chunks = []
        while items:
            size = random.choice([1, 2, 5, 64])
            rows = [made_row(job, *item, judge) for item in items[:size]]
            items = items[size:]
            for row in rows:
                folder.write(row["path"], b"image")
            ChunkRecord(folder, job, f"000-{next(numbers):06d}").write(rows)
            chunks.append(rows)
        for rows in chunks + random.sample(chunks, min(3, len(chunks))):
            report_chunk(store, job, rows)
        assert is_complete(current, read_query_progress(store, job))
        before = chunks
        current = step(store, folder, job, settings, current, random if kills else None)
        for rows in random.sample(before, min(4, len(before))):
            report_chunk(store, job, rows)  # of a worker that was killed before it reported
        assert_counted(store, job)
    return job


def expected(best_of, queries=QUERIES):
    return {
        position: set(places(position, range(n * best_of))[:n])
        for position, (_, _, n) in enumerate(queries)
    }


@pytest.mark.parametrize("keep_losers", [True, False])
@pytest.mark.parametrize("best_of", [2, 7, 30])
def test_the_winners_are_those_of_brute_force_in_any_order_and_after_kills(
    store, loaded, folder, best_of, keep_losers
):
    random = Random(best_of)
    settings = settings_of(best_of=best_of, keep_losers=keep_losers)
    job = work(store, folder, order(store, loaded, settings), settings, random, kills=True)
    wanted = expected(best_of)
    assert accepted(store, job, len(QUERIES)) == wanted
    found = read_job(store, job)
    assert found.made == best_of * sum(n for _, _, n in QUERIES)
    manifest = read_job_manifest(store, folder, job)
    assert len(manifest) == found.made
    files = set(folder.names(f"{job}/images"))
    for row in manifest.to_dict("records"):
        query, index, n = row["query"], row["index"], QUERIES[row["query"]][2]
        best = places(query, range(n * best_of))
        assert (row["verdict"] == "accepted") == (index in wanted[query])
        rank = None if pd.isna(row["rank"]) else row["rank"]
        assert rank == (best.index(index) + 1 if index in best else None)
        is_there = keep_losers or index in wanted[query] or len(wanted[query]) < n
        assert (f"{query:06d}-{index:06d}.png" in files) == is_there
        assert (row["path"] is not None) == is_there


def test_a_query_whose_candidates_all_fail_ends_and_can_be_queued_again(store, loaded, folder):
    random = Random(3)
    settings = settings_of(best_of=3, keep_losers=False)

    def bad_at_first(query, index):
        return float(index % 4), None, (query != 2 and index > 0) or index >= 3

    job = order(store, loaded, settings)
    work(store, folder, job, settings, random, bad_at_first)
    first = read_queries(store, job).set_index("position")
    assert first["state"].tolist() == ["done"] * 4
    assert first["accepted"].tolist() == [1, 3, 0, 2]
    assert first["message"][2].startswith("0 of 1 image accepted after 3 candidates, the most")
    assert retry_job(store, job, short=True) == 1
    assert read_job(store, job).remaining == 1
    _resume(store, folder, job, settings, random, bad_at_first)
    again = read_queries(store, job).set_index("position")
    assert again["accepted"].tolist() == [1, 3, 1, 2]
    assert (again["accepted"] + again["rejected"]).tolist() == [3, 9, 6, 6]
    assert accepted(store, job, 4)[2] == {3}


def _resume(store, folder, job, settings, random, judge):
    """Go on with a job that was queued again."""
    current = next_round(store, folder, job, settings, read_round(store, job))
    while current is not None:
        for span in current.spans:
            items = [(span.query, index) for index in range(span.first, span.first + span.count)]
            random.shuffle(items)
            report_chunk(store, job, [made_row(job, *item, judge) for item in items])
        current = next_round(store, folder, job, settings, current)
    assert_counted(store, job)


def test_more_candidates_compete_with_those_that_have_lost(store, loaded, folder):
    """A person rejects winner and losers but one; what is made anew may be better than that."""
    settings = settings_of(best_of=3)
    job = order(store, loaded, settings, [("a", ("x",), 2)])

    def judge(_query, index):
        return float(index), None, True

    work(store, folder, job, settings, Random(0), judge)
    assert accepted(store, job, 1) == {0: {5, 4}}
    for index in (5, 4, 3, 2, 1):
        decide(store, candidate_id(job, 0, index), "rejected", "ann")
    assert accepted(store, job, 1) == {0: {0}}
    assert retry_job(store, job, short=True) == 1
    _resume(store, folder, job, settings, Random(0), judge)
    assert accepted(store, job, 1) == {0: {0, 8}}  # what is accepted stays
    ranks = read_job_manifest(store, folder, job).set_index("index")["rank"]
    assert ranks.loc[0] == 4


def test_a_missing_score_is_last_and_told():
    found = [
        MadeCandidate("q/000000", {"a": NAN}),
        MadeCandidate("q/000001", {"a": 1.0}),
        MadeCandidate("q/000002", {}),
        MadeCandidate("q/000003", {"a": -9.0}),
        MadeCandidate("q/000004", {"a": 9.0}, eligible=False, reason="blank"),
    ]
    settled = rank_query("q", 5, 1, found[::-1], {"a": 1.0})
    assert [one.id[-1] for one in settled.ranked] == ["1", "3", "0", "2"]
    assert settled.ranked[2].reason == (
        "Rank 3 of 4: the sum of its ranks is 3.5, that of the best 1. It has no score a, and is "
        "last by that."
    )
    assert settled.message == "2 of 4 candidates have no score a, and are last by that."
    nothing = rank_query("q", 5, 1, [], {"a": 1.0})
    assert (nothing.ranked, nothing.message) == ([], "")
    assert nothing.short_message.startswith("0 of 1 image accepted after 5 candidates, the most")


def pool_filter(calls):
    """Rejects what is nearest to no other image, scored by its distance to the mean of all."""

    def judge(pool, _options):
        calls.append(len(pool.candidates))
        distances = np.linalg.norm(pool.vectors - pool.vectors.mean(axis=0), axis=1)
        limit = np.median(distances)
        return {
            name: Judgement(
                -float(distance),
                "" if distance <= limit else "It is far from the others.",
                {"far": float(distance)},
            )
            for name, distance in zip(pool.candidates, distances, strict=True)
        }

    return FilterPlugin("blank", "Looks at all.", "worker", judge_pool=judge)


@pytest.mark.parametrize("keep_losers", [True, False])
def test_a_filter_that_looks_at_all_images_judges_them_once_all_are_made(
    store, loaded, folder, keep_losers, monkeypatch
):
    calls = []
    monkeypatch.setattr(pools, "FILTERS", Registry(pool_filter(calls)))
    rank_by = {"blank": 1.0}
    settings = settings_of(
        best_of=6, rank_by=rank_by, filters={"blank": {}}, keep_losers=keep_losers
    )
    job = order(store, loaded, settings)
    vectors = {}
    for query, (_, _, n) in enumerate(QUERIES):
        for index in range(6 * n):
            draw = np.random.default_rng([query, index]).normal(size=3).astype(np.float32)
            vectors[candidate_id(job, query, index)] = draw
    names = list(vectors)
    for at in range(0, len(names), 5):
        images = [
            {"blank": EmbeddedImage(name, "a", vectors[name], "s", "b", vectors[name])}
            for name in names[at : at + 5]
        ]
        write_vectors(folder, job, f"chunk-{at}", images)
    assert [one.candidate for one in read_vectors(folder, job, "other")] == []
    work(store, folder, job, settings, Random(4), lambda _q, _i: (0.0, None, True), kills=True)
    assert set(calls) == {len(names)}
    mean = np.array([vectors[name] for name in sorted(names)]).mean(axis=0)
    far = {name: np.linalg.norm(vector - mean) for name, vector in vectors.items()}
    limit = np.median(list(far.values()))
    found = accepted(store, job, len(QUERIES))
    manifest = read_job_manifest(store, folder, job).set_index("candidate")
    for query, (_, _, n) in enumerate(QUERIES):
        own = [candidate_id(job, query, index) for index in range(6 * n)]
        good = sorted((name for name in own if far[name] <= limit), key=lambda name: far[name])
        assert found[query] == {int(name[-6:]) for name in good[:n]}
        for name in own:
            judged = json.loads(manifest["scores"][name])["blank"]
            assert judged["details"]["far"] == pytest.approx(far[name], rel=1e-5)
            if name not in good:
                assert manifest["reason"][name] == "It is far from the others."
            assert manifest["verdict"][name] == ("accepted" if name in good[:n] else "rejected")


def test_candidates_that_repeat_each_other_do_not_compete(store, loaded, folder):
    """The filter duplicates rejects all but the first, across chunks; the best of these stays."""
    settings = settings_of(best_of=6, filters={"duplicates": {}}, rank_by={"duplicates": 1.0})
    job = order(store, loaded, settings, [("a", ("x",), 1)])
    current = next_round(store, folder, job, settings, None)
    start_queries(store, job, 0, [f"{job}/000000"])
    hashes = ["0f" * 8, "f0" * 8, "0f" * 8, "f0" * 8, "33" * 8, "0f" * 8]
    for index in (5, 3, 4, 0, 2, 1):
        judged = {"score": float(index % 5), "accepted": True, "reason": ""}
        scores = {"duplicates": judged | {"details": {"phash": hashes[index]}}}
        row = made_row(job, 0, index) | {"verdict": "accepted", "reason": ""}
        report_chunk(store, job, [row | {"scores": json.dumps(scores)}])
    assert next_round(store, folder, job, settings, current) is None
    assert accepted(store, job, 1) == {0: {4}}
    verdicts = verdicts_of(store, job)
    reasons = [verdicts[candidate_id(job, 0, index)]["reason"] for index in range(6)]
    repeats = f"It is nearly the same as candidate {job}/000000/00000"
    assert [reason.startswith(repeats) for reason in reasons] == [0, 0, 1, 1, 0, 1]
    assert [verdicts[candidate_id(job, 0, index)].get("rank") for index in (4, 1, 0)] == [1, 2, 3]
    assert_counted(store, job)


class Registry:
    """A registry that has one filter."""

    def __init__(self, plugin):
        self._plugin = plugin

    def __getitem__(self, _name):
        return self._plugin

    def check(self, _name, options):
        return options
