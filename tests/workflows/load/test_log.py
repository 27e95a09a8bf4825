"""The log of a load: begin, numbers, duration; of one that fails, how far it was and why."""

import logging

import pytest

from cobalance.base.errors import InputError
from cobalance.counting.mining_options import MiningOptions
from cobalance.ingest.load import read_annotations
from cobalance.workflows.diagnose.mine import mine
from cobalance.workflows.load.dataset import load_dataset

ROWS = "id,class,concepts\n1,country,cow\n2,urban,sign\n"


def test_a_load_and_mining_say_begin_end_numbers_and_duration(
    caplog, store, dataset, own, tmp_path
):
    caplog.set_level(logging.DEBUG, "cobalance")
    file = tmp_path / "cars.csv"
    file.write_text(ROWS)
    load_dataset(store, own.folders(), dataset, read_annotations(file), source="cars.csv")
    mine(store, dataset, MiningOptions(2), max_cliques=9)
    told = [(record.name, record.levelname, record.getMessage()) for record in caplog.records]
    names = ("ingest.load", "workflows.load.dataset", "workflows.diagnose.mine")
    for (name, operation), begin, end in zip(
        zip(names, ("read_annotations", "load_dataset", "mine"), strict=True),
        (f"path={str(file)!r}", f"dataset={dataset!r} images: 2", "max_size=2"),
        ("images: 2 mentions: 2", "created=2 updated=0", "images=2"),
        strict=True,
    ):
        first, last = [
            message
            for logger, level, message in told
            if logger == f"cobalance.{name}" and level == "INFO"
        ]
        assert first.startswith(f"{operation} begins: ")
        assert begin in first
        assert last.startswith(f"{operation} ended after ")
        assert end in last
    assert ("cobalance.workflows.diagnose.mine", "DEBUG", "mined in memory") in told


def test_a_load_that_fails_leaves_begin_numbers_so_far_and_the_error(caplog, tmp_path):
    caplog.set_level(logging.INFO, "cobalance")
    file = tmp_path / "cars.csv"
    file.write_text(f"{ROWS}3,,cow\n")
    with pytest.raises(InputError):
        read_annotations(file)
    begins, failed = caplog.messages
    assert begins == f"read_annotations begins: path={str(file)!r}"
    assert " (read " in failed
    assert "InputError: " in failed
    assert "line 4: the class is empty" in failed
