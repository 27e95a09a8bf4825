"""Reports of workers: repeated, at once, and after the job has ended."""

from concurrent.futures import ThreadPoolExecutor
from random import Random

from cobalance.graph.dataset.backup import read_cut
from cobalance.graph.jobs.candidates import QueryCounts, decide, record_made
from cobalance.graph.jobs.lifecycle import cancel_job, create_job, query_id, retry_job
from cobalance.graph.jobs.reports import (
    end_job,
    fail_job,
    fail_queries,
    finish_queries,
    heartbeat,
    start_queries,
    stop_worker,
    workers_alive,
)
from cobalance.graph.jobs.status import read_job, read_queries
from cobalance.workflows.store import open_store
from tests.graph.jobs.reporting import QUERIES, accepted, rejected, states


def test_the_course_of_a_job(store, loaded, job):
    first, second, third = (query_id(job, i) for i in range(3))
    assert start_queries(store, job, 0, [first]) == loaded
    assert read_job(store, job).state == "running"
    counts = record_made(store, job, {first: [accepted(first, 0), rejected(first, 1)]})
    assert counts == {first: QueryCounts(n=3, accepted=1, rejected=1)}
    read = read_job(store, job)
    assert (read.seconds, read.seconds_per_image, read.remaining) == (4.0, 4.0, 9)
    assert read.seconds_left == 36.0
    queries = read_queries(store, job, seconds_per_image=5.0)
    assert queries["seconds_left"].tolist() == [8.0, 10.0, 25.0]
    assert read_queries(store, job)["seconds_left"].notna().tolist() == [True, False, False]
    record_made(store, job, {first: [accepted(first, i) for i in (2, 3)]})
    finish_queries(store, job, {first: ""})
    assert states(store, job) == ["done", "queued", "queued"]
    assert start_queries(store, job, 0, [first, second, third]) == loaded
    assert states(store, job) == ["done", "running", "running"]
    finish_queries(store, job, {third: "the cap of 20 candidates was reached"})
    end_job(store, job)
    assert read_job(store, job).state == "running"
    fail_job(store, job, "CUDA out of memory")
    assert states(store, job) == ["done", "failed", "done"]
    read = read_job(store, job)
    assert (read.state, read.short, read.seconds_left) == ("failed", 1, None)
    assert read.ended_at is not None
    assert read_queries(store, job)["message"].tolist() == [
        "",
        "CUDA out of memory",
        "the cap of 20 candidates was reached",
    ]
    assert retry_job(store, job) == 1
    read = read_job(store, job)
    assert (read.state, read.error, read.ended_at) == ("queued", "", None)
    assert states(store, job) == ["done", "queued", "done"]
    assert start_queries(store, job, 0, [second]) is None  # the attempt before
    assert start_queries(store, job, 1, [second]) == loaded
    finish_queries(store, job, {second: ""})
    assert read_job(store, job).state == "running"
    end_job(store, job)
    read = read_job(store, job)
    assert (read.state, read.ended_at is None) == ("done", False)


def test_workers_are_alive_while_they_are_heard_of(store, job):
    name = f"worker of {job}"
    heartbeat(store, name, host="here")
    heartbeat(store, name, host="here", job=job)
    (alive,) = [worker for worker in workers_alive(store) if worker.id == name]
    assert (alive.host, alive.job) == ("here", job)
    assert 0 <= alive.silent_s < 30
    store.write(
        "MATCH (w:Worker {id: $id}) SET w.heartbeat_at = datetime() - duration('PT1M')", id=name
    )
    assert name not in [worker.id for worker in workers_alive(store)]
    assert name in [worker.id for worker in workers_alive(store, within_s=90)]
    store.write(
        "MATCH (w:Worker {id: $id}) SET w.heartbeat_at = datetime() - duration('P2D')", id=name
    )
    heartbeat(store, f"{name} 2")
    assert store.read("MATCH (w:Worker {id: $id}) RETURN w.id", id=name) == []
    stop_worker(store, f"{name} 2")
    heartbeat(store, name, job="no such job")
    stop_worker(store, name)


def test_workers_are_heard_of_while_a_backup_reads_their_jobs(store, loaded, job):
    name = f"worker of {job}"

    def beat(*_):
        with ThreadPoolExecutor() as pool:
            pool.submit(heartbeat, store, name, host="here", job=job).result(timeout=60)

    read_cut(store, [loaded], beat)
    assert name in [worker.id for worker in workers_alive(store)]
    stop_worker(store, name)


def test_reports_may_be_repeated(store, dump, loaded, job):
    query = query_id(job, 0)
    batch = [accepted(query, 0, scores={"clip": 0.7}, seed=-5), rejected(query, 1)]
    for _ in range(3):
        assert start_queries(store, job, 0, [query]) == loaded
        assert record_made(store, job, {query: batch}) == {query: QueryCounts(3, 1, 1)}
    before = dump(loaded)
    record_made(store, job, {query: batch})
    after = dump(loaded)
    assert {t for t in before if "Candidate" in t} == {t for t in after if "Candidate" in t}
    for message in ("enough", "more than enough"):
        finish_queries(store, job, {query: message})
    assert read_queries(store, job)["message"].tolist() == ["enough", "", ""]
    assert start_queries(store, job, 0, [query]) is None
    for _ in range(2):
        assert cancel_job(store, job) == "cancelled"
    fail_job(store, job, "too late")
    end_job(store, job)
    assert read_job(store, job).state == "cancelled"
    assert states(store, job) == ["done", "queued", "queued"]


def test_a_job_that_cannot_go_on(store, job):
    first = query_id(job, 0)
    start_queries(store, job, 0, [first])
    finish_queries(store, job, {first: ""})
    fail_job(store, job, "the folder of the model is missing")
    fail_job(store, job, "another worker finds the same")
    end_job(store, job)
    assert start_queries(store, job, 0, [query_id(job, 1)]) is None
    read = read_job(store, job)
    assert (read.state, read.error) == ("failed", "the folder of the model is missing")
    assert states(store, job) == ["done", "failed", "failed"]
    assert retry_job(store, job) == 2
    read = read_job(store, job)
    assert (read.state, read.error) == ("queued", "")


def test_a_job_that_failed_with_all_queries_done_can_be_tried_again(store, job):
    """Such as for want of room for its manifest."""
    queries = [query_id(job, i) for i in range(3)]
    finish_queries(store, job, dict.fromkeys(queries, ""))
    assert states(store, job) == ["done"] * 3
    assert read_job(store, job).state == "queued"
    fail_job(store, job, "the disk is full")
    assert read_job(store, job).state == "failed"
    assert retry_job(store, job) == 0
    assert read_job(store, job).state == "queued"
    end_job(store, job)
    read = read_job(store, job)
    assert (read.state, read.error, read.queries["done"]) == ("done", "", 3)


def test_queries_that_cannot_go_on_fail_the_job_at_its_end(store, job):
    first, second, third = (query_id(job, i) for i in range(3))
    fail_queries(store, job, 1, [second], "of another attempt")
    fail_queries(store, job, 0, [first, third], "nothing shows an a")
    read = read_job(store, job)
    assert (read.state, read.queries["failed"], read.remaining) == ("queued", 2, 2)
    end_job(store, job)
    assert read_job(store, job).state == "queued"
    finish_queries(store, job, {second: ""})
    end_job(store, job, note="one is blurred")
    read = read_job(store, job)
    assert (read.state, read.error, read.note) == (
        "failed",
        "nothing shows an a",
        "one is blurred",
    )
    assert read.remarks == ("nothing shows an a", "one is blurred")
    fail_queries(store, job, 0, [second], "too late")
    assert states(store, job) == ["failed", "done", "failed"]
    assert retry_job(store, job) == 2
    assert read_job(store, job).remarks == ()


def test_several_writers_at_once_lose_and_double_nothing(settings, store, loaded):
    """Workers with a connection each report the same candidates, persons decide, all repeated."""
    queries = [("a", ("x",), 40), ("b", ("y",), 40)]
    job = create_job(store, loaded, "mine", queries)
    ids = [query_id(job, i) for i in range(2)]

    def work(seed):
        random = Random(seed)
        with open_store(settings) as own:
            for query in random.sample(ids, 2):
                start_queries(own, job, 0, [query])
                indexes = list(range(40))
                random.shuffle(indexes)
                for start in range(0, 40, 8):
                    batch = [accepted(query, i) for i in indexes[start : start + 8]]
                    record_made(own, job, {query: batch})
                    decide(own, random.choice(batch).id, "rejected", f"person {seed}")
                    heartbeat(own, f"{job} {seed}", job=job)
                finish_queries(own, job, {query: ""})
                end_job(own, job)
            stop_worker(own, f"{job} {seed}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    read = read_job(store, job)
    assert read.state == "done"
    assert (read.accepted + read.rejected, read.seconds) == (80, 160.0)
    (counted,) = store.read(
        "MATCH (c:Candidate {job: $job})-[m:MADE_FOR]->() RETURN count(m) AS edges, "
        "count(DISTINCT c) AS made, sum(CASE c.verdict WHEN 'accepted' THEN 1 ELSE 0 END) AS yes",
        job=job,
    )
    assert counted == {"edges": 80, "made": 80, "yes": read.accepted}
    assert read.rejected > 0


def test_the_last_two_queries_end_at_once(settings, store, loaded):
    """Whoever comes second ends the job: it sees that the other query has ended."""

    def end(own, job, position):
        finish_queries(own, job, {query_id(job, position): ""})
        end_job(own, job)

    with open_store(settings) as one, open_store(settings) as two, ThreadPoolExecutor(2) as pool:
        for _ in range(10):
            job = create_job(store, loaded, "mine", QUERIES[:2])
            start_queries(store, job, 0, [query_id(job, position) for position in range(2)])
            ends = [pool.submit(end, own, job, position) for position, own in enumerate((one, two))]
            for ended in ends:
                ended.result()
            assert read_job(store, job).state == "done"
