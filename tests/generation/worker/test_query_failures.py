"""Failures of queries: counted by query and reason, each query failed once."""

from cobalance.generation.worker.job_runner import QueryFailures


def test_failures_in_a_row_are_counted_by_query_and_reason():
    failures = QueryFailures()
    assert [failures.count(1, "no memory") for _ in range(3)] == [1, 2, 3]
    assert failures.count(2, "no memory") == 1
    failures.reset([2])
    assert failures.count(1, "no memory") == 4
    assert failures.count(1, "no words") == 1
    failures.reset([1])
    assert failures.count(1, "no words") == 1


def test_each_failed_query_is_given_once_by_its_first_message():
    failures = QueryFailures()
    failures.fail([1, 2], "no images")
    failures.fail([2, 3], "no words")
    assert failures.take() == {"no images": [1, 2], "no words": [3]}
    failures.fail([1], "no images")
    assert failures.take() == {}


def test_a_query_fails_after_four_failures_in_a_row():
    failures = QueryFailures()
    assert [failures.record(1, "No words.") for _ in range(4)] == [False, False, False, True]
    assert failures.take() == {
        "4 images in a row could not be generated, for the same reason: No words. Put that right, "
        "then retry the job.": [1]
    }
