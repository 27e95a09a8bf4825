import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given, strategies as st

import cobalance
from cobalance.annotation.proposing.proposal_voting import plain_name, vote

SAID = [["Color", "Size", "Pose"], ["size", "background", "color"], ["size", "color", "pose"]]
NAMES = st.lists(st.lists(st.sampled_from(["a", "b", "c", "A", " d ", "e"])), max_size=6)


def test_the_order_does_not_depend_on_the_hash_seed():
    code = (
        "from cobalance.annotation.proposing.proposal_voting import vote; "
        f"print([v.name for v in vote({SAID!r}, 3)])"
    )
    root = str(Path(cobalance.__file__).parents[1])
    for first in range(0, 100, 4):
        runs = [
            subprocess.Popen(
                [sys.executable, "-c", code],
                env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": root},
                stdout=subprocess.PIPE,
                text=True,
            )
            for seed in range(first, first + 4)
        ]
        assert {run.communicate()[0].strip() for run in runs} == {"['size', 'color', 'pose']"}
        assert all(run.returncode == 0 for run in runs)


@given(NAMES, st.integers(0, 6), st.integers(1, 3))
def test_votes_ranks_and_order_equal_brute_force(rounds, n, least):
    expected = []
    seen: list[str] = []
    for names in rounds:
        for name in names:
            if plain_name(name) not in seen:
                seen.append(plain_name(name))
    for name in seen:
        ranks = []
        for names in rounds:
            unique: list[str] = []
            for each in map(plain_name, names):
                if each not in unique:
                    unique.append(each)
            if name in unique:
                ranks.append(unique.index(name))
        if len(ranks) >= least:
            expected.append((-len(ranks), sum(ranks) / len(ranks), seen.index(name), name))
    expected.sort()
    assert [each.name for each in vote(rounds, n, least)] == [row[3] for row in expected[:n]]


def test_empty_names_do_not_count():
    assert vote([["", "  ", '""', "x"]]) == vote([["x"]])


def test_names_that_look_the_same_are_the_same():
    same = [["caf\u00e9"], ["**Cafe\u0301**"]]
    assert [(each.name, each.votes) for each in vote(same)] == [("caf\u00e9", 2)]
