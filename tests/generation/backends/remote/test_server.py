"""Servers that share work: rate limits, pauses that they name, and answers without an end."""

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from cobalance.generation.backends.remote import server as server_module
from cobalance.generation.backends.remote.server import (
    MOST_PAUSE_S,
    Server,
    ServerFaultError,
    ServerPool,
    _read_pause,
)


@pytest.fixture
def endless():
    """A server that sends a byte after the other, as fast as they are taken or one at a time."""
    stopping, pauses = Event(), {"/fast": 0.0, "/slow": 0.02}

    class Endless(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            try:
                while not stopping.wait(pauses[self.path]):
                    self.wfile.write(b"x" * (65_536 if self.path == "/fast" else 1))
            except OSError:
                return

        def log_message(self, *_):
            """Print nothing."""

    running = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    running.daemon_threads = True
    thread = Thread(target=running.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_address[1]}"
    stopping.set()
    running.shutdown()
    running.server_close()


def test_an_answer_that_is_too_long_is_not_read_to_its_end(endless, monkeypatch):
    monkeypatch.setattr(server_module, "MOST_ANSWER_BYTES", 1 << 20)
    with pytest.raises(ServerFaultError, match="answers with more than 1 MiB"):
        Server(endless, None, 20).send("GET", "/fast", charged=True)


def test_an_answer_that_trickles_ends_with_the_time_for_an_image(endless):
    with pytest.raises(ServerFaultError, match=r"gave no answer within 0\.3 s") as error:
        Server(endless, None, 0.3).send("GET", "/slow", charged=False)
    assert (error.value.remedy, error.value.charged) == ("retry", False)


def test_a_pause_is_seconds_or_a_date():
    in_an_hour = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    before = format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)
    assert [_read_pause(text) for text in (None, "soon", "nan", "-3", "1.5", before)] == [
        *(None, None, 0, 0, 1.5, 0),
    ]
    assert _read_pause(in_an_hour) == _read_pause("1e9") == MOST_PAUSE_S


def test_a_server_is_asked_no_faster_than_its_rate_and_not_during_its_pause(monkeypatch):
    now, waits = [100.0], []
    pool = ServerPool([Server("http://a", None, 1), Server("http://b", None, 1)], 2, 3.0)

    def wait(seconds):
        waits.append(seconds)
        now[0] += seconds

    def take():
        with pool.use() as server:
            return server.url[-1]

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(pool._changed, "wait", wait)
    assert [take() for _ in range(4)] == ["a", "b", "a", "b"]
    assert waits == [3.0]  # both rest at the same time
    pool.rest(pool.servers[0], 60)
    now[0] += 10
    assert [take() for _ in range(2)] == ["b", "b"]
    assert waits[1:] == [3.0]


def test_a_server_has_no_more_requests_at_a_time_than_it_may():
    pool = ServerPool([Server("http://a", None, 1), Server("http://b", None, 1)], 1, 0.0)
    with pool.use() as first, pool.use() as second:
        assert {first.url, second.url} == {"http://a", "http://b"}
