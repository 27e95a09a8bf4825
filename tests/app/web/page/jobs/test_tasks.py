"""Tasks on the Jobs page: progress, failures, cancelling and running again."""

from cobalance.graph.database.store import GraphStore
from cobalance.graph.jobs.reports import heartbeat, stop_worker
from cobalance.graph.tasks.lifecycle import (
    create_task,
    fail_task,
    read_task,
    report_task,
    start_task,
)
from tests.app.conftest import OpenPage, shown_text


def test_tasks_are_shown_cancelled_and_run_again(
    open_page: OpenPage, store: GraphStore, cars: str
) -> None:
    names = [f"{cars} {one}"[-20:] for one in ("running", "failed")]
    running, failed = (
        create_task(store, "evaluation", "worker", dataset=cars, task=one) for one in names
    )
    start_task(store, running, 0)
    report_task(store, running, 0, "train", 3, 10)
    heartbeat(store, "w", host="gpu-box", job=running)
    fail_task(store, failed, 0, "<b>The disk</b> is full.")
    app = open_page("jobs", dataset=cars)
    stop_worker(store, "w")
    assert not app.exception
    assert "No job yet" in shown_text(app)  # tasks stand above
    shown = app.dataframe[0].value.set_index("state")
    assert shown.loc["running", ["stage", "progress", "worker"]].tolist() == [
        *("train", 30),
        "gpu-box",
    ]
    assert shown.loc["failed", "message"] == "<b>The disk</b> is full."
    app.button(key="_cancel_tasks").click().run()
    assert read_task(store, running).state == "cancelled"
    assert read_task(store, failed).state == "failed"
    app.button(key="_retry_tasks").click().run()
    assert not app.exception
    assert {read_task(store, one).state for one in (running, failed)} == {"queued"}
    app.button(key="_tasks_to_evaluate").click().run()
    assert app.title[0].value == "Evaluate"
