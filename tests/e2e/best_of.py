"""What must be there when the best of several candidates were chosen."""

import json
from collections import Counter
from pathlib import Path

from cobalance.generation.output.job_manifest import manifest_name
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.status import read_job, read_queries
from tests.e2e.scored import RANK_BY, known, places
from tests.support.manifests import read_manifest

QUERIES = [("country", ("cow",), 1), ("urban", ("cow",), 2), ("urban", ("gate",), 1)]
BEST_OF = 9


def order(store, dataset, **settings):
    wanted = {
        "filters": {"blank": {}},
        "making": {"width_px": 8, "height_px": 8},
        "best_of": BEST_OF,
        "rank_by": RANK_BY,
    }
    return create_job(store, dataset, "plan", QUERIES, settings=wanted | settings)


def winners(best_of=BEST_OF):
    """The numbers of the candidates to choose, by query."""
    return {
        position: set(places(position, range(n * best_of))[:n])
        for position, (_, _, n) in enumerate(QUERIES)
    }


def accepted(store, job, n_queries=3):
    rows = store.read(
        "MATCH (c:Candidate {job: $job, verdict: 'accepted'}) RETURN c.id AS id", job=job
    )
    found = {position: set() for position in range(n_queries)}
    for row in rows:
        query, index = map(int, row["id"].split("/")[-2:])
        found[query].add(index)
    return found


def assert_counted(store, job):
    """The counters of the job and its queries are those of its nodes."""
    rows = store.read(
        "MATCH (q:JobQuery {job: $job}) OPTIONAL MATCH (c:Candidate {query: q.id}) "
        "RETURN q.id AS id, coalesce(q.dropped, 0) AS dropped, collect(c.verdict) AS verdicts",
        job=job,
    )
    queries = read_queries(store, job).set_index("id")
    total = Counter()
    for row in rows:
        counts = Counter(row["verdicts"]) + Counter(rejected=row["dropped"])
        total += counts
        for state in ("pending", "accepted", "rejected"):
            assert queries.loc[row["id"], state] == counts[state], (row["id"], state)
    found = read_job(store, job)
    assert {"pending": found.pending, "accepted": found.accepted, "rejected": found.rejected} == {
        state: total[state] for state in ("pending", "accepted", "rejected")
    }


def assert_settled(store, own, job, best_of=BEST_OF):
    """The best of each query are accepted, all others rejected, each with its rank."""
    found = read_job(store, job)
    assert (found.state, found.pending) == ("done", 0), found
    assert found.made == sum(n for _, _, n in QUERIES) * best_of
    assert accepted(store, job) == winners(best_of)
    assert_counted(store, job)
    manifest = read_manifest(Path(own.folders().output) / manifest_name(job))
    assert len(manifest) == found.made
    for position, (_, _, n) in enumerate(QUERIES):
        best = places(position, range(n * best_of))
        for row in manifest[manifest["query"] == position].to_dict("records"):
            index = row["index"]
            verdict = "accepted" if index in best[:n] else "rejected"
            assert row["verdict"] == verdict
            assert json.loads(row["scores"])["blank"]["score"] == known(position, index)[0]
            if index not in best:
                assert row["reason"] == "It is so."
            elif verdict == "accepted":
                assert (row["rank"], row["reason"]) == (best.index(index) + 1, "")
            else:
                assert row["rank"] == best.index(index) + 1
                assert row["reason"].startswith(f"Rank {row['rank']} of {len(best)}: the sum of")
