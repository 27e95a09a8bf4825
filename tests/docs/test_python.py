"""docs/python.md, cell by cell in one namespace."""

from pathlib import Path

import pytest

import cobalance as cb
from graph.dataset.drop_rename import drop_dataset
from graph.dataset.state import find_dataset
from tests.docs.cells import check_page

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
DATASETS = ("tour", "tour-rebalanced")


@pytest.fixture
def connect(settings, store, monkeypatch, tmp_path):
    """Have the page connect to the tests' server, and clean up behind it."""
    own = settings.model_copy(update={"cobalance_output": str(tmp_path / "generated")})
    monkeypatch.setattr(cb, "connect", lambda: cb.Store(store, own))
    monkeypatch.chdir(tmp_path)
    yield
    for name in DATASETS:
        if find_dataset(store, name) is not None:
            drop_dataset(store, name)


@pytest.mark.usefixtures("connect")
def test_every_cell_runs_and_prints_what_the_page_says(capsys):
    check_page(PAGE, capsys)
