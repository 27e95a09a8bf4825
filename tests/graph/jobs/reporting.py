"""Candidates to report, the state of a job, and random reports and decisions."""

from dataclasses import asdict

import pytest

from cobalance.graph.jobs.candidates import (
    NewCandidate,
    decide,
    read_verdicts,
    record_made,
    reject_made,
)
from cobalance.graph.jobs.lifecycle import QUERY_STATES, cancel_job, query_id, retry_job
from cobalance.graph.jobs.reports import (
    end_job,
    fail_job,
    fail_queries,
    finish_queries,
    start_queries,
)
from cobalance.graph.jobs.rounds import begin_round
from cobalance.graph.jobs.status import read_job, read_queries

QUERIES = [("a", ("x", "y"), 3), ("b", ("x",), 2), ("a", ("y",), 5)]


def accepted(query, index, **changes):
    return NewCandidate(f"{query}/{index}", f"{index}.png", "accepted", seconds=2.0, **changes)


def verdicts_of(store, job):
    """The verdicts on all of a job's candidates."""
    rows = store.read("MATCH (c:Candidate {job: $job}) RETURN c.id AS id", job=job)
    return read_verdicts(store, job, [row["id"] for row in rows])


def rejected(query, index, **changes):
    return NewCandidate(
        f"{query}/{index}", f"{index}.png", "rejected", reason="blank", seconds=2.0, **changes
    )


def states(store, job):
    return read_queries(store, job)["state"].tolist()


def recounted(store, job):
    """What the job's counts say, from its queries one by one."""
    queries = read_queries(store, job)
    states = queries["state"]
    missing = (queries["n"] - queries["accepted"]).clip(lower=0)
    (best_of,) = store.read("MATCH (j:Job {id: $job}) RETURN coalesce(j.best_of, 1) AS n", job=job)
    more = store.read(
        "MATCH (q:JobQuery {job: $job}) RETURN coalesce(q.more, 0) AS more ORDER BY q.position",
        job=job,
    )
    candidates = queries["n"] * best_of["n"] + [row["more"] for row in more]
    made = queries["accepted"] + queries["rejected"] + queries["pending"]
    unmade = (candidates - made).clip(lower=0)[states.isin(["queued", "running"])].sum()
    return {
        "queries": {state: int((states == state).sum()) for state in QUERY_STATES},
        "short": int(((states == "done") & (missing > 0)).sum()),
        "wanted": int(queries["n"].sum()),
        "covered": int((queries["n"] - missing).sum()),
        "accepted": int(queries["accepted"].sum()),
        "rejected": int(queries["rejected"].sum()),
        "pending": int(queries["pending"].sum()),
        "remaining": int(missing[states.isin(["queued", "running"])].sum()),
        "unmade": int(unmade) if best_of["n"] > 1 else 0,
        "seconds": pytest.approx(queries["seconds"].sum(), abs=1e-5),
    }


def counted(store, job):
    found = asdict(read_job(store, job))
    return {name: found[name] for name in recounted(store, job)}


def act_at_random(store, job, random, steps):
    """Report, decide, cancel and try again, in any order, whether it makes sense or not."""
    made = []
    for _ in range(steps):
        positions = random.sample(range(len(QUERIES)), random.randint(1, len(QUERIES)))
        queries = [query_id(job, position) for position in positions]
        acts = ["start", "report", "report", "decide", "reject", "finish", "fail", "job"]
        match random.choice(acts):
            case "start":
                attempt = begin_round(store, job, 0, []).attempt
                start_queries(store, job, attempt, queries)
            case "report":
                found = {
                    query: NewCandidate(
                        f"{query}/{random.randrange(8)}",
                        "0.png",
                        random.choice(["accepted", "rejected"]),
                        seconds=random.choice([None, random.random()]),
                    )
                    for query in queries
                }
                ends = random.random() < 0.5
                record_made(store, job, {query: [one] for query, one in found.items()}, finish=ends)
                made += [one.id for one in found.values()]
            case "decide" if made:
                decide(store, random.choice(made), random.choice(["accepted", "rejected"]), "ann")
            case "reject" if made:
                reject_made(store, job, dict.fromkeys(random.choices(made, k=2), "twice"))
            case "finish":
                finish_queries(store, job, dict.fromkeys(queries, ""))
            case "fail":
                attempt = begin_round(store, job, 0, []).attempt
                fail_queries(store, job, attempt, queries, "no object")
            case "job":
                act_on_job(store, job, random)


def act_on_job(store, job, random):
    match random.choice(["cancel", "retry", "end", "fail", "fill"]):
        case "cancel":
            cancel_job(store, job)
        case "retry":
            retry_job(store, job)
        case "end":
            end_job(store, job)
        case "fail":
            fail_job(store, job, "no model")
        case "fill":
            retry_job(store, job, short=True)
