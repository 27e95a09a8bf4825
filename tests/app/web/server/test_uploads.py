"""Uploads to the running app: only to a page with a place for them, and only so many."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.util import calc_hash
from websockets.sync.client import ClientConnection, connect

from cobalance.app.web.server.uploads import MOST_FILES, UploadLimits, UploadRefusedError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.write import write_annotations
from tests.browser.server import WebApp, environment_of, running
from tests.support.waiting import until

MB = 1024 * 1024
SIZE = 700_000  # one fits into an MB, two do not


@pytest.fixture(scope="module")
def environment(settings, store):
    records = [ImageRecord("1", "a", (Mention("x"),)), ImageRecord("2", "b", (Mention("x"),))]
    write_annotations(store, "uploads", Annotations.from_records(records), source="test")
    yield {**environment_of(settings), "COBALANCE_UPLOAD_MB": "1"}
    drop_dataset(store, "uploads")


@pytest.fixture(scope="module")
def app(tmp_path_factory, environment) -> Iterator[WebApp]:
    """Nobody logs in: everybody is an editor."""
    with running(tmp_path_factory.mktemp("app"), environment) as started:
        yield started


def draw(page: ClientConnection, path: str) -> str:
    """Have the app draw a page; return the session's id."""
    asked = BackMsg()
    asked.rerun_script.page_script_hash = calc_hash(path)
    asked.rerun_script.query_string = "ds_view=Load+annotations"  # on the page Data
    page.send(asked.SerializeToString())
    session = ""
    while True:
        told = ForwardMsg.FromString(page.recv(60))
        if told.WhichOneof("type") == "new_session":
            session = told.new_session.initialize.session_id
        if told.WhichOneof("type") == "script_finished" and session:
            return session


@contextmanager
def opened(app: WebApp, path: str = "datasets") -> Iterator[str]:
    """A session that shows a page; gives its id."""
    origin = f"http://{app.netloc}"
    stream = f"ws://{app.netloc}/_stcore/stream"
    with connect(stream, origin=origin, proxy=None, max_size=None) as page:
        yield draw(page, path)


class Sender:
    """What a browser sends, and more.

    Parameters
    ----------
    app : WebApp
        To whom.
    """

    def __init__(self, app: WebApp) -> None:
        self._app = app
        _, headers, _ = app.get("/_stcore/health")
        self._token = headers["Set-Cookie"].split(";")[0].partition("=")[2]

    def __call__(
        self, session: str, file: str, size_bytes: int = SIZE, method: str = "PUT", **headers: str
    ) -> int:
        """Send or delete a file; return the status."""
        head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\n'
        body = head + b"0" * size_bytes + b"\r\n--x--\r\n"
        own = {
            "Content-Type": "multipart/form-data; boundary=x",
            "Cookie": f"_streamlit_xsrf={self._token}",
            "X-Xsrftoken": self._token,
        }
        path = f"/_stcore/upload_file/{session}/{file}"
        return self._app.get(path, method, body, **(own | headers))[0]


def test_only_a_page_with_a_place_for_files_takes_them(app: WebApp) -> None:
    send = Sender(app)
    with opened(app, "cypher") as session:
        assert send(session, "1", 1) == 403
    assert send("no-such-session", "1", 1) == 403


def test_the_sum_of_a_session_is_bounded(app: WebApp) -> None:
    send = Sender(app)
    with opened(app) as session:
        assert send(session, "1") == 204
        assert send(session, "2") == 413
        assert send(session, "1", 1, "DELETE", **{"X-Xsrftoken": "forged"}) == 403
        assert send(session, "2") == 413
        assert send(session, "1", 1, "DELETE") == 204
        assert send(session, "2") == 204
        assert send(session, "3", 1, **{"Transfer-Encoding": "chunked"}) in (400, 411)


def test_what_a_session_sent_is_freed_with_it(app: WebApp) -> None:
    send = Sender(app)
    with opened(app) as first, opened(app) as second, opened(app) as third:
        assert send(first, "1") == 204
        assert send(second, "1") == 204
        assert send(third, "1") == 503  # twice an MB for all
    with opened(app) as other, opened(app) as another:
        until(lambda: send(other, "1") == 204)
        until(lambda: send(another, "1") == 204)


def test_what_a_session_sent_is_freed_when_its_page_is_left(app: WebApp) -> None:
    send = Sender(app)
    stream = f"ws://{app.netloc}/_stcore/stream"
    with connect(stream, origin=f"http://{app.netloc}", proxy=None, max_size=None) as page:
        session = draw(page, "datasets")
        assert send(session, "1") == 204
        draw(page, "cypher")
        assert send(session, "1", 1) == 403
        draw(page, "datasets")
        assert send(session, "2") == 204


def limits(*sessions: str) -> UploadLimits:
    found = UploadLimits(1)
    for session in sessions:
        found.connect(f"to {session}")
        found.admit(session, f"to {session}")
    return found


def test_the_number_of_files_is_bounded() -> None:
    found = limits("a", "b")
    for number in range(MOST_FILES):
        assert found.end("a", found.begin("a", 1), f"{number}", arrived=True)
    with pytest.raises(UploadRefusedError, match="1,000 files"):
        found.begin("a", 1)
    found.begin("b", 1)
    found.remove("a", "0")
    found.begin("a", 1)


def test_what_is_on_its_way_counts_whatever_happens_meanwhile() -> None:
    found = limits("a")
    coming = found.begin("a", MB)
    found.remove("a", "file")
    with pytest.raises(UploadRefusedError, match="1 MB"):
        found.begin("a", 1)
    assert found.end("a", coming, "file", arrived=False)
    coming = found.begin("a", MB)
    assert found.disconnect("to a") == ["a"]
    found.admit("a", "to a")  # by a page that is drawn late
    with pytest.raises(UploadRefusedError, match="may not send"):
        found.begin("a", 1)
    assert not found.end("a", coming, "file", arrived=True)  # so it does not stay


def test_a_session_that_came_back_keeps_its_files() -> None:
    found = limits("a")
    assert found.end("a", found.begin("a", MB), "file", arrived=True)
    found.disconnect("to a")
    found.connect("again")
    found.admit("a", "again")
    assert not found.forget("a", even_if_admitted=False)
    with pytest.raises(UploadRefusedError, match="1 MB"):
        found.begin("a", 1)
    assert found.forget("a")
    with pytest.raises(UploadRefusedError, match="may not send"):
        found.begin("a", 1)
