"""The steps of a dataset: what is done, what comes next, and what is offered to do it."""

from dataclasses import asdict, replace

import pytest
from hypothesis import given, strategies as st

from cobalance.graph.dataset.state import DatasetState
from cobalance.graph.queries.progress import DatasetProgress
from cobalance.workflows.diagnose.steps import next_action, steps_of

NONE = DatasetProgress(*[False] * 6)
LOADED = DatasetState("d", 1, 1, None, None, (), None)
MINED = replace(LOADED, cliques_digest=1, mining="{}")


def names(state: DatasetState, progress: DatasetProgress, wanted: str) -> list[str]:
    return [page for page, step in steps_of(state, progress).items() if step == wanted]


@pytest.mark.parametrize(
    ("state", "so_far", "done", "on"),
    [
        (replace(LOADED, digest=None), "", [], "datasets"),
        (LOADED, "", ["datasets"], "diagnose"),
        (replace(MINED, digest=2, cooccurrence_digest=2), "", ["datasets"], "diagnose"),
        (MINED, "", ["datasets", "diagnose"], "plan"),
        (MINED, "planned", ["datasets", "diagnose", "plan"], "jobs"),
        (MINED, "planned ordered making", ["datasets", "diagnose", "plan"], "jobs"),
        (MINED, "planned ordered making made", ["datasets", "diagnose", "plan"], "jobs"),
        (MINED, "planned ordered made", ["datasets", "diagnose", "plan", "jobs"], "compare"),
    ],
)
def test_the_next_step_and_its_page(
    state: DatasetState, so_far: str, done: list[str], on: str
) -> None:
    progress = replace(NONE, **dict.fromkeys(so_far.split(), True))
    assert names(state, progress, "done") == done
    assert names(state, progress, "next") == [on]


@given(st.builds(DatasetProgress, *[st.booleans()] * 6), st.integers(0, 2))
def test_every_progress_has_all_steps_and_one_action(
    progress: DatasetProgress, leaning: int
) -> None:
    steps = steps_of(MINED, progress)
    assert list(steps) == ["datasets", "diagnose", "plan", "jobs", "compare", "evaluate"]
    states = list(steps.values())
    assert states.count("next") <= 1
    assert "next" not in states or "later" not in states[: states.index("next")]
    assert all(asdict(progress).values()) <= (states.count("done") >= 5)
    label, page = next_action(progress, leaning=leaning)
    assert label
    assert page in {"plan", "jobs", "evaluate", "compare"}
