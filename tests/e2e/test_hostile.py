"""A small round of the attacks in benchmarks/hostile.py: nothing foreign comes of them."""

from benchmarks.hostile import MOST_MB, attack_console, attack_readers


def test_mutated_files_are_read_or_refused(tmp_path):
    tally = attack_readers(tmp_path, files=300, seed=11)
    assert tally.foreign == []
    assert {"read", "InputError"} <= set(tally.outcomes)
    assert tally.worst_mb < MOST_MB


def test_hostile_queries_change_and_end_nothing(settings):
    tally = attack_console(settings, queries=80, seed=12)
    assert tally.foreign == []
    assert tally.outcomes["QueryRefusedError"] > 40
