"""What a browser reports of a review is taken over once, in order, and not trusted."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from cobalance.app.web.browser.review_grid import ACTS, Decision, new_decisions

entries = st.lists(st.tuples(st.sampled_from(ACTS), st.lists(st.sampled_from("abc"), max_size=3)))


@given(entries, st.data())
def test_however_reports_overlap_each_decision_is_taken_over_once(
    made: list[tuple[Any, list[str]]], data: st.DataObject
) -> None:
    """The browser reports what it does not know to be taken over, at any moment."""
    log = [[number + 1, act, ids] for number, (act, ids) in enumerate(made)]
    taken, found, known, reported = ("", 0), [], 0, 0
    while reported < len(log):
        reported = data.draw(st.integers(reported + 1, len(log)))
        known = data.draw(st.integers(known, taken[1]))
        taken, new = new_decisions(
            taken, {"name": "log", "entries": log[known:reported]}, "abc".__contains__
        )
        found += new
        assert taken == ("log", reported)
    assert found == [Decision(act, tuple(ids)) for act, ids in made]


def test_a_page_that_was_loaded_anew_counts_from_one() -> None:
    report = {"name": "new", "entries": [[1, "accepted", ["a"]]]}
    taken, found = new_decisions(("old", 7), report, "abc".__contains__)
    assert (taken, found) == (("new", 1), [Decision("accepted", ("a",))])


@pytest.mark.parametrize(
    "report",
    [
        None,
        7,
        {},
        {"name": 1, "entries": []},
        {"name": "log"},
        {"name": "log", "entries": 5},
        {"name": "log", "entries": [None, 3, [], ["1", "undo", []], [1, "drop", ["a"]]]},
        {"name": "log", "entries": [[1, "accepted", [3]], [2, "accepted", "a" * 3, 0]]},
    ],
)
def test_what_a_browser_says_is_not_trusted(report: object) -> None:
    assert new_decisions(("log", 0), report, "abc".__contains__)[1] == []


def test_others_images_are_left_out() -> None:
    report = {"name": "log", "entries": [[1, "rejected", ["a", "another job's"]]]}
    _, found = new_decisions(("log", 0), report, "abc".__contains__)
    assert found == [Decision("rejected", ("a",))]
