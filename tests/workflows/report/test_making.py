"""The jobs of a report's plan: acceptance by query, accepted images in time and money."""

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.candidates import NewCandidate, record_made
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.reports import finish_queries
from cobalance.workflows.report.making import draw_making, read_making
from tests.workflows.report.reading import Read

QUERIES = [("fox", ("<b>cow</b>",), 3), ("fox", ("gate",), 2)]


def test_the_jobs_of_a_plan_and_the_queries_with_the_lowest_acceptance(store, dataset):
    records = [ImageRecord("1", "fox", (Mention("<b>cow</b>"), Mention("gate")))]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    assert list(draw_making(*read_making(store, dataset, "small"))) == []

    create_job(store, dataset, "another", QUERIES)
    job = create_job(store, dataset, "small", QUERIES, settings={"hour_price": 1800.0})
    first, second = query_id(job, 0), query_id(job, 1)
    made = {
        query: [
            NewCandidate(f"{query}/{at}", None, verdict, seconds=2.0)
            for at, verdict in enumerate(verdicts)
        ]
        for query, verdicts in ((first, ["accepted"] * 3 + ["rejected"]), (second, ["rejected"]))
    }
    record_made(store, job, made)
    finish_queries(store, job, {second: "It will not be had."})

    read = Read("".join(draw_making(*read_making(store, dataset, "small"))).encode())
    (row,) = read.table("Jobs that make it")
    assert row == {
        "job": job,
        "state": "queued",
        "wanted": "5",
        "accepted": "3",
        "candidates": "5",
        "accepted, %": "60% (23 to 88)",
        "accepted a second": "0.3",
        "for a unit of money": "0.6",
    }
    lowest = read.table(f"Queries of job {job} with the lowest acceptance, by its upper limit")
    assert [(row["concepts"], row["of the candidates, %"]) for row in lowest] == [
        ("gate", "0% (0 to 79)"),
        ("<b>cow</b>", "75% (30 to 95)"),
    ]
