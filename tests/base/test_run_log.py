import json
import logging
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from cobalance.base.errors import DataError
from cobalance.base.progress import silent
from cobalance.base.records import PlannedQuery
from cobalance.base.run_log import log_run


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


AS_JSON = """
import logging, sys
from pathlib import Path
from cobalance.base.run_log import LogFormat, log_run, write_log

def share(images, source, rate):
    return len(images) / rate

share.__module__ = "cobalance.tried"
share = log_run(share)
write_log(None, Path(sys.argv[1]), LogFormat.JSON)
share([1, 2], "bolt://ann:SECRET@host", 0.5)
share([1], "here", float("inf"))
try:
    share([], "here", 0)
except ZeroDivisionError:
    logging.getLogger("cobalance.worker").exception("chunk \\x1b[31m of s3://KEY:SECRET@bucket")
logging.getLogger("somebody").warning("else")
logging.getLogger("somebody").info("not this")
"""


def test_as_json_each_line_is_an_object_without_secrets(tmp_path):
    file = tmp_path / "log.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", AS_JSON, str(file)],
        env=os.environ | {"TZ": "Asia/Tokyo"},
        capture_output=True,
        text=True,
        check=True,
    )
    text = file.read_text()
    assert "SECRET" not in text + done.stderr
    assert "\x1b" not in text
    lines = [json.loads(line, parse_constant=pytest.fail) for line in text.splitlines()]
    assert [(one["logger"], one["level"], one.get("phase")) for one in lines] == [
        ("cobalance.tried", "INFO", "begins"),
        ("cobalance.tried", "INFO", "ended"),
        ("cobalance.tried", "INFO", "begins"),
        ("cobalance.tried", "INFO", "ended"),
        ("cobalance.tried", "INFO", "begins"),
        ("cobalance.tried", "INFO", "failed"),
        ("cobalance.worker", "ERROR", None),
        ("somebody", "WARNING", None),
    ]
    begins, ended, *_, failed, broke, _ = lines
    assert begins["numbers"] == {"images": 2, "source": "bolt://ann:***@host", "rate": 0.5}
    assert (ended["workflow"], ended["numbers"]) == ("share", {"result": 4.0})
    assert 0 <= ended["duration_s"] < 60
    assert failed["error"] == "ZeroDivisionError"
    assert "Traceback" in broke["exception"]
    assert len({one["process"] for one in lines}) == 1
    written = datetime.fromisoformat(begins["time"])
    assert written.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - written) < timedelta(minutes=5)
    told = [json.loads(line)["logger"] for line in done.stderr.splitlines()]
    assert told == ["cobalance.worker", "somebody"]
