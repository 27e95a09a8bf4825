"""Jobs whose images a server makes: budgets, faults, and workers that are killed."""

import json
from random import Random

import pytest

from cobalance.generation.worker.worker import Worker
from cobalance.graph.jobs.lifecycle import create_job, retry_job
from cobalance.graph.jobs.status import read_job
from cobalance.workflows.work.run import worker_resources
from tests.browser.server import environment_of
from tests.e2e.small_jobs import candidates
from tests.support.image_servers import WORKFLOW, ComfyHandler, image_server
from tests.support.remote_job import job_settings, run_killed, write_sources

QUERIES = [("country", ("cow",), 5), ("urban", ("gate",), 4)]


@pytest.fixture
def masks(store, dataset, tmp_path):
    return write_sources(store, dataset, tmp_path)


@pytest.fixture
def ordered(store, dataset, masks):
    """Order a job whose images are one chunk, or more."""

    def order(url, chunk_size=16, **making):
        settings = job_settings(url, masks, **making) | {"chunk_size": chunk_size}
        return create_job(store, dataset, "plan", QUERIES, settings=settings)

    return order


def accepted(store, job):
    return [found for found in candidates(store, job) if found.verdict == "accepted"]


def test_a_killed_worker_s_images_are_made_once_and_within_the_budget(
    store, dataset, settings, tmp_path
):
    environment = environment_of(settings)
    outcome = run_killed(
        store, dataset, environment, tmp_path, images=40, kills=1, share=0.3, random=Random()
    )
    outcome.check(40)


def test_a_budget_that_is_spent_ends_the_job_with_what_was_made(store, ordered, work):
    with image_server() as painter:
        job = ordered(painter.url, chunk_size=2, max_cost=0.7, price=0.1)
        work()
        found = read_job(store, job)
        assert (found.state, found.requested) == ("failed", 7)
        assert found.error.startswith("The budget is spent: 7 images were asked for.")
        assert "Servers were asked for 7 images, which cost 0.70 at most." in found.remarks
        assert len(accepted(store, job)) == 7

        retry_job(store, job)
        work()
        assert (read_job(store, job).state, read_job(store, job).requested) == ("failed", 7)
    assert painter.painted.total() == 7
    assert len(accepted(store, job)) == 7


def test_a_job_that_a_server_has_stopped_goes_on_without_paying_twice(
    store, ordered, own, options, tmp_path
):
    faults = iter(["", "", "", "401"])
    with image_server(next_fault=lambda: next(faults, "")) as painter:
        job = ordered(painter.url, at_once=1)
        Worker(worker_resources(own), options).run()
        stopped = read_job(store, job)
        assert stopped.state == "failed"
        assert f"The server {painter.url} refuses the key" in stopped.error
        assert (stopped.made, stopped.requested) == (0, 3)

        retry_job(store, job)
        Worker(worker_resources(own), options).run()
        ended = read_job(store, job)
    assert (ended.state, ended.covered, ended.requested) == ("done", 9, 9)
    assert set(painter.painted.values()) == {1}
    assert not (tmp_path / "generated" / job / "answers").exists()


def test_images_that_are_refused_fail_their_query_alone(store, ordered, work):
    with image_server(next_fault=lambda: "400") as painter:
        job = ordered(painter.url)
        work()
    found = read_job(store, job)
    assert (found.state, found.requested, found.accepted) == ("failed", 0, 0)
    assert "4 images in a row could not be generated, for the same reason: The server" in (
        found.error
    )


def test_a_job_by_a_workflow_of_comfyui(store, dataset, masks, work, tmp_path):
    file = tmp_path / "workflow.json"
    file.write_text(json.dumps(WORKFLOW))
    making = {"workflow": str(file), "native_px": 64, "poll_s": 0.01, "pause_s": 0.01}
    faults = iter(["500", "error"])
    with image_server(ComfyHandler, lambda: next(faults, "")) as painter:
        settings = {
            "recipe": "comfyui",
            "making": {**making, "url": painter.url},
            "masks": masks,
            "filters": {"sanity": {}},
        }
        job = create_job(store, dataset, "plan", QUERIES, settings=settings)
        work()
    found = read_job(store, job)
    assert (found.state, found.covered, found.requested) == ("done", 9, 11)
    assert len(accepted(store, job)) == 9


def test_a_workflow_without_its_titles_fails_the_job_before_anything_is_asked(
    store, dataset, masks, work, tmp_path
):
    file = tmp_path / "workflow.json"
    file.write_text('{"1": {"inputs": {}}}')
    with image_server(ComfyHandler) as painter:
        settings = {
            "recipe": "comfyui",
            "making": {"workflow": str(file), "url": painter.url},
            "masks": masks,
            "filters": {},
        }
        job = create_job(store, dataset, "plan", QUERIES, settings=settings)
        work()
    found = read_job(store, job)
    assert found.state == "failed"
    assert f"{file}: no node has the title image" in found.error
    assert painter.paths == []
