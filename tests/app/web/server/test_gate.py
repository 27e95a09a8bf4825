"""Before the login there is nothing of the app, and no message empties what it keeps for all."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.util import calc_hash
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import MiningOptions, mine_dataset
from cobalance.graph.dataset.write import write_annotations
from tests.app.conftest import AUTH
from tests.browser.server import WebApp, environment_of, running

SECRET = "0123456789abcdef0123456789abcdef"  # of AUTH
HTML = {"Accept": "text/html,application/xhtml+xml"}
STRANGERS = 300


@pytest.fixture(scope="module")
def app(tmp_path_factory, settings, store) -> Iterator[WebApp]:
    records = [ImageRecord("1", "a", (Mention("x"),)), ImageRecord("2", "b", (Mention("x"),))]
    write_annotations(store, "gate", Annotations.from_records(records), source="test")
    mine_dataset(store, "gate", MiningOptions(1), max_cliques=10)
    folder = tmp_path_factory.mktemp("login")
    file = folder / "auth.toml"
    file.write_text(AUTH.replace("https://data.example.org", "http://127.0.0.1:{port}"))
    file.chmod(0o600)
    given = {"COBALANCE_AUTH_FILE": str(file), "COBALANCE_EDITORS": "ann@example.org"}
    with running(folder, {**environment_of(settings), **given}) as started:
        yield started
    drop_dataset(store, "gate")
    assert started.crashes() == []


def cookie(app: WebApp, **claims: object) -> str:
    """What a browser holds after its person has logged in."""
    user = {"email": "ann@example.org", "email_verified": True, "is_logged_in": True}
    said = json.dumps({**user, "origin": app.url, "provider": "default", **claims})
    return f"_streamlit_user={create_signed_value(SECRET, '_streamlit_user', said).decode()}"


def metrics(app: WebApp, family: str) -> list[str]:
    status, _, text = app.get(f"/_stcore/metrics?families={family}", Cookie=cookie(app))
    assert status == 200
    return text.splitlines()


@contextmanager
def session(app: WebApp, user: str) -> Iterator[ClientConnection]:
    xsrf = app.get("/_stcore/health", Cookie=user)[1]["Set-Cookie"].split(";")[0]
    with connect(
        f"ws://{app.netloc}/_stcore/stream",
        origin=app.url,
        additional_headers={"Cookie": f"{user}; {xsrf}"},
        subprotocols=["streamlit", xsrf.partition("=")[2]],
        proxy=None,
        max_size=None,
    ) as page:
        yield page


def answers(page: ClientConnection, asked: BackMsg, kind: str) -> ForwardMsg:
    page.send(asked.SerializeToString())
    while (told := ForwardMsg.FromString(page.recv(60))).WhichOneof("type") != kind:
        pass
    return told


def test_a_stranger_is_asked_to_log_in_and_reads_nothing_else(app):
    for path in ("/_stcore/metrics", "/_stcore/host-config", "/_stcore/health", "/"):
        status, _, body = app.get(path)
        assert (status, body.count("\n")) == (401, 1), path
    for user in (
        cookie(app, is_logged_in=False),
        cookie(app, origin="http://127.0.0.1:1"),
        cookie(app)[:-1],
        "_streamlit_user=x",
    ):
        assert app.get("/_stcore/metrics", Cookie=user)[0] == 401, user
    assert app.get("/_stcore/upload_file/session/file", "PUT")[0] == 401
    status, _, page = app.get("/plan?dataset=demo", **HTML)
    assert (status, "Log in" in page, "<script" in page) == (200, True, False)
    assert app.health()[0] == 200  # whoever watches the app does not log in
    assert app.get("/metrics")[0] == 404  # but has a token of its own, where there is one

    assert "active_sessions 0" in metrics(app, "active_sessions")
    assert 'id="root"' in app.get("/", Cookie=cookie(app))[2]


def test_strangers_have_no_sessions(app):
    with ExitStack() as opened:
        for _ in range(STRANGERS):
            stream = f"ws://{app.netloc}/_stcore/stream"
            with suppress(InvalidStatus):
                opened.enter_context(connect(stream, origin=app.url, proxy=None))
        assert app.health()[0] == 200
        assert "active_sessions 0" in metrics(app, "active_sessions")


def test_only_the_origin_of_the_login_connects(app):
    foreign = [
        "http://evil.example",
        f"http://{app.netloc}.evil.example",
        "http://127.0.0.1:1",
        "http://127.0.0.1",
        f"https://{app.netloc}",
        f"http://localhost:{app.netloc.partition(':')[2]}",
        f"http://user@{app.netloc}",
        f"http://{app.netloc}/",
        f"{app.netloc}",
        "null",
    ]
    stream = f"ws://{app.netloc}/_stcore/stream"
    user = {"Cookie": cookie(app)}
    for origin in foreign:
        with (
            pytest.raises(InvalidStatus),
            connect(stream, origin=origin, additional_headers=user, proxy=None),
        ):
            pytest.fail(origin)
    with connect(stream, origin=app.url, additional_headers=user, proxy=None) as page:
        page.ping().wait(10)
    assert app.get("/healthz", Host=f"{app.netloc}.evil.example")[0] == 421


def test_no_message_empties_what_the_app_keeps(app):
    user = cookie(app)
    with session(app, user) as page:
        draw = BackMsg()
        draw.rerun_script.page_script_hash = calc_hash("diagnose")
        draw.rerun_script.query_string = "dataset=gate"
        answers(page, draw, "script_finished")
        page.send(BackMsg(clear_cache=True).SerializeToString())
        answers(page, BackMsg(app_heartbeat=True), "heartbeat_ack")
        assert any("cobalance.app.web" in line for line in metrics(app, "cache_memory_bytes"))
