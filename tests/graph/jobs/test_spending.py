"""Images that servers are asked for: counted once each, and never above the budget."""

from concurrent.futures import ThreadPoolExecutor

from cobalance.graph.jobs.spending import release_image, reserve_image
from cobalance.graph.jobs.status import read_job
from cobalance.workflows.store import open_store


def test_no_more_images_are_reserved_at_once_than_the_budget_allows(store, settings, job):
    def reserve_ten(_):
        with open_store(settings) as own:
            return sum(reserve_image(own, job, 25) for _ in range(10))

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(reserve_ten, range(4))) == 25
    assert read_job(store, job).requested == 25
    release_image(store, job)
    assert [reserve_image(store, job, 25) for _ in range(2)] == [True, False]
    assert reserve_image(store, job, None)
    assert read_job(store, job).requested == 26


def test_a_job_that_is_gone_has_no_budget(store):
    assert not reserve_image(store, "0000000000000000", None)
    release_image(store, "0000000000000000")


def test_a_job_says_what_it_has_asked_for(store, job):
    assert read_job(store, job).requested is None
    assert not any("asked" in remark for remark in read_job(store, job).remarks)
    reserve_image(store, job, 1)
    assert "Servers were asked for 1 image." in read_job(store, job).remarks
    store.write(
        "MATCH (j:Job {id: $job}) SET j.settings = $settings, j.requested = 1200",
        job=job,
        settings='{"making": {"price": 0.02}}',
    )
    assert "Servers were asked for 1,200 images, which cost 24.00 at most." in (
        read_job(store, job).remarks
    )
