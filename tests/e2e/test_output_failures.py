"""An output folder that fails: the job fails clearly, nothing is lost, and a retry completes it."""

import errno
import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from cobalance.graph.jobs.lifecycle import create_job, retry_job
from cobalance.graph.jobs.status import read_job
from tests.e2e.small_jobs import PLAIN, QUERIES, WANTED, assert_complete, candidates


@pytest.fixture
def failing_writes(own, monkeypatch):
    """Have the operating system refuse some files of the output folder, named by a predicate."""
    move, folder = os.replace, Path(own.folders().output)

    @contextmanager
    def refuse(number, is_refused):
        def move_some(source, target):
            if Path(target).is_relative_to(folder) and is_refused(Path(target)):
                raise OSError(number, "it is not possible now")
            move(source, target)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", move_some)
            yield

    return refuse


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_folder_that_cannot_be_written_to(
    store, loaded, own, work, fails, failing_writes, number
):
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    asked = []
    with failing_writes(number, lambda path: asked.append(path) or len(asked) > 7):
        work()
    found = read_job(store, job)
    assert found.state == "failed"
    assert "cannot be written to: it is not possible now" in found.error
    assert "retry the job" in found.error
    kept = {candidate.id for candidate in candidates(store, job)}
    assert retry_job(store, job) > 0
    work()
    assert_complete(store, own, job)
    assert kept <= {candidate.id for candidate in candidates(store, job)}


def test_a_full_folder_is_not_held_against_a_chunk(store, loaded, own, work, fails, failing_writes):
    """However often people try in vain, no image is given up for it."""
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN)
    with failing_writes(errno.ENOSPC, lambda path: path.suffix != ".starts"):
        for _ in range(6):
            work()
            assert retry_job(store, job) > 0
    work()
    assert_complete(store, own, job)
    assert read_job(store, job).rejected == 0


@pytest.mark.parametrize("size", [2, 64])
def test_a_job_has_its_manifest_before_it_ends(
    store, loaded, own, work, fails, failing_writes, size
):
    """Also where each query is made in one chunk; and a folder that is full then, fails it."""
    job = create_job(store, loaded, "plan", QUERIES, settings=PLAIN | {"chunk_size": size})
    with failing_writes(errno.ENOSPC, lambda path: path.name == "manifest.parquet"):
        work()
    found = read_job(store, job)
    assert (found.state, found.covered) == ("failed", WANTED)
    assert "it is not possible now" in found.error
    assert retry_job(store, job) == 0
    assert read_job(store, job).state == "queued"
    work()
    assert_complete(store, own, job)
