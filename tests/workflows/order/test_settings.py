"""Settings of a job as they are checked before it is created."""

import os

import pytest

from cobalance.base.errors import OptionError
from cobalance.workflows.order.settings import check_settings


@pytest.mark.parametrize(
    "given", [{"recipe": "alia"}, {"recipe": "alia", "filters": {"confidence": {"model": ""}}}]
)
def test_a_filter_without_what_it_needs_is_refused(given):
    with pytest.raises(OptionError, match=r"confidence needs the folder.*filters\.confidence\."):
        check_settings(given)


def test_paths_of_filters_become_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"recipe": "alia", "filters": {"confidence": {"model": "./net"}, "sanity": {}}}
    checked = check_settings(given)
    assert checked["filters"]["confidence"] == {"model": os.path.join(tmp_path, "net")}
