"""Writing a report: whole or not at all, and never over another file unasked."""

import pytest

from cobalance.base.errors import CobalanceError, ConflictError, NotFoundError, OptionError
from cobalance.notebook.datasets import Dataset
from cobalance.workflows.report.contents import ReportOptions
from cobalance.workflows.report.page import report, write_report

DATED = ReportOptions(date="2026-01-02")


def test_a_file_is_replaced_only_where_that_is_asked_for(store, hostile, settings, tmp_path):
    name, file = hostile[0], tmp_path / "report.html"
    size = write_report(store, name, file, DATED)
    assert file.stat().st_size == size
    file.write_text("mine")
    with pytest.raises(ConflictError, match="exists"):
        write_report(store, name, file, DATED)
    assert file.read_text() == "mine"
    Dataset(store, settings, name).report(file, date="2026-01-02", overwrite=True)
    assert file.read_bytes() == report(store, name, DATED)
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_what_cannot_be_written_leaves_nothing(store, hostile, tmp_path):
    with pytest.raises(OptionError, match="is a folder"):
        write_report(store, hostile[0], tmp_path, DATED)
    with pytest.raises(CobalanceError, match="Name a file that can be written"):
        write_report(store, hostile[0], tmp_path / "none" / "report.html", DATED)
    with pytest.raises(NotFoundError):
        write_report(store, "no such dataset", tmp_path / "report.html", DATED)
    assert [*tmp_path.iterdir()] == []
