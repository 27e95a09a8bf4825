"""Tasks from the command line: listed beside jobs, cancelled and retried."""

from cobalance.graph.tasks.lifecycle import create_task, fail_task, report_task, start_task
from tests.app.cli.conftest import table


def test_tasks_are_listed_cancelled_and_retried(run, planned, store):
    task = create_task(store, "measure", "worker", dataset=planned)
    start_task(store, task, 0)
    report_task(store, task, 0, "read", 3, 10)
    said = run("jobs", "list", "-d", planned).stdout
    assert task in said
    assert "read: 3 of 10" in said
    (row,) = table(run("jobs", "list", "--tasks", "-d", planned, "-f", "csv")).itertuples()
    assert (row.task, row.kind, row.state, row.done, row.total) == (
        *(task, "measure", "running"),
        *(3, 10),
    )
    assert "waits for a worker" in said
    assert table(run("jobs", "list", "-d", planned, "-f", "csv")).empty
    assert f"Task {task} is cancelled." in run("jobs", "cancel", task[:6]).stderr
    assert f"Task {task} is queued: it runs again." in run("jobs", "retry", task).stderr
    assert f"Task {task} is queued: there is nothing to retry." in run("jobs", "retry", task).stderr
    fail_task(store, task, 1, "The disk is full.")
    said = run("jobs", "show", task)
    assert "failed" in said.stdout
    assert f"{task}: The disk is full." in said.stderr
    refused = run("rebalance", task, exit_code=1).stderr
    assert f"There is no job '{task}'" in refused
    refused = run("jobs", "cancel", "nothing-like-it", exit_code=1).stderr
    assert "There is no job 'nothing-like-it'" in refused
