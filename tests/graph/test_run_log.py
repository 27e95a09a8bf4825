import logging

import pytest

from cobalance.graph.errors import DataError
from cobalance.graph.progress import silent
from cobalance.graph.records import PlannedQuery
from cobalance.graph.run_log import log_run


@log_run
def share(images, dataset="cars", progress=silent):
    progress("read", 2, 2)
    progress("count", 1, None)
    if not images:
        raise DataError("There are no images.")
    return PlannedQuery(dataset, ("cow",), len(images))


def test_begin_end_numbers_and_duration(caplog):
    caplog.set_level(logging.DEBUG, __name__)
    share([1, 2])
    begins, read, count, ended = caplog.messages
    assert begins == "share begins: images: 2 dataset='cars'"
    assert (read, count) == ("share: read", "share: count")
    assert ended.startswith("share ended after 0.0 s: ")
    assert {record.name for record in caplog.records} == {__name__}


def test_an_error_comes_with_what_was_done(caplog):
    caplog.set_level(logging.INFO, __name__)
    with pytest.raises(DataError):
        share([])
    assert caplog.messages[1:] == [
        "share failed after 0.0 s (read 2/2, count 1): DataError: There are no images."
    ]


def test_nothing_is_logged_by_default(caplog):
    share([1])
    assert not caplog.records
