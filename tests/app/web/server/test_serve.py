"""`cobalance app` as a process: where it listens, whom it refuses, its health, and its end."""

import json
import signal
import socket
import tomllib
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from cobalance.app.web.server.serve import PORT, listen
from cobalance.app.web.server.streamlit_internals import OPTIONS
from cobalance.base.errors import DataError, OptionError
from cobalance.graph.database.local import server_control as local_server
from cobalance.workflows.demo.urbancars import NAME
from cobalance.workflows.login_file import read_login
from cobalance.workflows.settings import Settings
from tests.app.cli.calling import run_without, spawn
from tests.app.conftest import AUTH
from tests.browser.server import environment_of, running
from tests.support.waiting import until

OPEN = "0.0.0.0"


@pytest.fixture(scope="module")
def environment(settings, store):
    return environment_of(settings)


@pytest.fixture(scope="module")
def app(tmp_path_factory, environment):
    """Behind a proxy that passes the name on, as browsers ask for it."""
    folder = tmp_path_factory.mktemp("app")
    with running(folder, environment, "--host", "data.example.org") as started:
        yield started


@pytest.fixture
def auth_file(tmp_path):
    file = tmp_path / "auth.toml"
    file.write_text(AUTH)
    return file


@pytest.mark.parametrize("address", [OPEN, "::"])
def test_an_open_address_needs_a_login_or_a_word(address, auth_file):
    with pytest.raises(OptionError, match="without logging in"):
        listen(Settings(), address=address, port=0)
    for settings, without_login in (
        (Settings(), True),
        (Settings(cobalance_auth_file=auth_file), False),
    ):
        listening = listen(settings, address, 0, without_login=without_login)
        listening.socket.close()
        assert listening.host == (None if without_login else "data.example.org")


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "127.8.9.10"])
def test_loopback_needs_neither(address):
    listening = listen(Settings(), address=address, port=0)
    listening.socket.close()
    assert listening.url.endswith(f":{listening.url.rpartition(':')[2]}")


@pytest.mark.parametrize("address", ["192.0.2.1", "no.such.host.invalid", ""])
def test_an_address_of_another_machine(address):
    with pytest.raises(OptionError, match="address"):
        listen(Settings(), address=address, port=0, without_login=True)


def test_people_without_a_login_are_a_mistake():
    with pytest.raises(OptionError, match="COBALANCE_AUTH_FILE"):
        listen(Settings(cobalance_editors=("ann@example.org",)), port=0)


def test_a_taken_port(auth_file):
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        with pytest.raises(OptionError, match=f"--port {taken} is taken"):
            listen(Settings(), port=taken)


def test_the_usual_port_gives_way(auth_file):
    first = listen(Settings())
    second = listen(Settings())
    assert PORT != second.socket.getsockname()[1] != first.socket.getsockname()[1]
    first.socket.close()
    second.socket.close()
    with (
        listen(Settings()).socket,
        pytest.raises(OptionError, match="redirect_uri"),
    ):
        # Whom the provider sends back must find the app where redirect_uri says.
        listen(Settings(cobalance_auth_file=auth_file))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[auth]", "[oidc]", r"no table \[auth\]"),
        ("[auth]", "[auth", "is not TOML"),
        ("/oauth2callback", "/callback", "redirect_uri"),
        ("https://data", "http://data", "redirect_uri"),
        ("0123456789abcdef0123456789abcdef", "short", "cookie_secret is shorter"),
        ('client_secret = "hush"', "", "client_secret is missing"),
        ('client_id = "cobalance"', "client_id = 7", "client_id is missing"),
        ("https://login", "http://login", "server_metadata_url"),
        ("client_id", "[auth.my_provider]\nclient_id", "underscore"),
    ],
)
def test_a_login_that_would_let_nobody_in_or_anybody(auth_file, old, new, message):
    auth_file.write_text(AUTH.replace(old, new, 1))
    with pytest.raises(DataError, match=message) as refused:
        read_login(auth_file)
    assert str(auth_file) in str(refused.value)
    assert "hush" not in str(refused.value)


def test_a_login_with_several_providers(auth_file):
    head, _, provider = AUTH.partition("client_id")
    provider = f"client_id{provider}"
    auth_file.write_text(f"{head}[auth.one]\n{provider}[auth.two]\n{provider}")
    assert read_login(auth_file).providers == ("one", "two")
    with pytest.raises(OptionError, match="No such file"):
        read_login(auth_file.with_name("missing.toml"))


def test_options_of_streamlit_are_known_to_it():
    from streamlit import config

    known = set(config.get_config_options())

    def check(name: str, value: object) -> None:
        if name not in known and isinstance(value, dict):
            for part, inner in value.items():
                check(f"{name}.{part}" if name else part, inner)
        else:
            assert name in known

    check("", tomllib.loads(OPTIONS.read_text(encoding="utf-8")))


def test_the_command_line_says_it_in_one_sentence(environment):
    refused = spawn(environment, "app", "--no-browser", "--address", OPEN)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("Error: --address 0.0.0.0: ")
    assert "--insecure-without-login" in refused.stderr


def test_without_the_extra_it_says_what_to_install(environment):
    done = run_without(environment, ["app"], "app")
    assert done.returncode == 1
    assert "[app]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_demo_is_loaded_once_and_opened(tmp_path, environment, store):
    written = "MATCH (d:Dataset {name: $name}) RETURN d.updated_at AS at"
    with running(tmp_path, environment, "--demo") as app:
        assert f"{app.url}/?dataset={NAME} " in app.said
        before = store.read(written, name=NAME)
        assert before
    with running(tmp_path, environment, "--demo"):
        assert store.read(written, name=NAME) == before


def test_files_of_the_folder_and_the_home_decide_nothing(tmp_path, environment):
    folder = tmp_path / ".streamlit"  # of both: the app is run at home
    folder.mkdir()
    (folder / "config.toml").write_text(
        '[server]\nbaseUrlPath = "elsewhere"\n[theme]\nbase = "http://127.0.0.1:9/theme.toml"\n'
    )
    (folder / "secrets.toml").write_text(AUTH)
    before = sorted(tmp_path.rglob("*"))
    with running(tmp_path, environment) as app:
        assert app.get("/")[0] == 200
        assert app.get("/elsewhere/_stcore/health")[2] != "ok"
        config = json.loads(app.get("/_stcore/host-config")[2])
        assert config["allowedOrigins"] == []
    assert sorted({*tmp_path.rglob("*")} - {app.log}) == before


def test_other_names_and_origins_are_refused(app):
    for name in ("localhost", "127.0.0.1:1", "[::1]:8501", "data.example.org", "DATA.Example.org"):
        assert app.get("/", Host=name)[0] == 200, name
    for name in ("evil.example", "localhost.evil.example", "data.example.org.evil.example", ""):
        status, _, body = app.get("/healthz", Host=name)
        assert (status, "--host" in body) == (421, True), name
    stream = f"ws://{app.netloc}/_stcore/stream"
    for origin in (None, f"http://{app.netloc}", "https://data.example.org"):
        with connect(stream, origin=origin, proxy=None) as page:
            page.ping().wait(10)
    for origin in ("http://evil.example", "http://localhost:9", "null", "http://["):
        with pytest.raises(InvalidStatus), connect(stream, origin=origin, proxy=None):
            pass
    # Streamlit has not seen them: it would ask another host for this machine's address.
    assert "origin" not in app.log.read_text().lower()


def test_pages_send_nothing_elsewhere(app):
    headers = app.get("/")[1]
    policy = headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_health_endpoint_is_for_reading(app):
    assert app.get("/healthz", "POST", b"x")[0] == 405


def test_the_log_has_its_start_its_stop_and_what_it_refuses(tmp_path, environment):
    logs = {"COBALANCE_LOG": "info", "COBALANCE_LOG_FORMAT": "json"}
    with running(tmp_path, environment | logs) as app:
        assert app.get("/healthz")[0] == 200
        assert app.get("/", Host="evil.example")[0] == 421
        with (
            pytest.raises(InvalidStatus),
            connect(f"ws://{app.netloc}/x", origin="null", proxy=None),
        ):
            pass
    lines = map(json.loads, app.log.read_text().splitlines())
    told = [line["message"] for line in lines if "/healthz" not in line["message"]]
    assert told == [
        f"started at {app.url}, without login",
        "GET / from 127.0.0.1: 421",
        "WebSocket /x from 127.0.0.1: 1008",
        "stopped",
    ]


def test_ctrl_c_ends_it_quietly(tmp_path, environment):
    with running(tmp_path, environment) as app:
        with connect(f"ws://{app.netloc}/_stcore/stream", proxy=None):  # a page that stays open
            app.process.send_signal(signal.SIGINT)
            assert app.process.wait(300) == 0
        assert app.log.read_text() == ""
        assert app.process.stdout.read() == ""


def answers_meanwhile(app):
    """Whether another request was answered while one waited for the database."""
    with ThreadPoolExecutor(1) as others:
        waits = others.submit(app.health)
        assert app.get("/_stcore/health")[0] == 200
        return not waits.done()


def test_health_follows_the_database(tmp_path, environment, way):
    with running(tmp_path, environment | way.variables) as app:
        here = version("cobalance")
        assert app.health() == (200, {"status": "ok", "database": "ok", "version": here})

        way.block()
        until(lambda: app.health()[0] == 503)
        until(lambda: answers_meanwhile(app))
        assert app.health()[1] == {
            "status": "unavailable",
            "database": "It does not answer within 2 s.",
            "version": here,
        }
        way.unblock()
        until(lambda: app.health()[0] == 200)

        way.cut()
        until(lambda: app.health()[0] == 503)
        status, headers, body = app.get("/healthz")
        assert status == 503
        assert headers["Cache-Control"] == "no-store"
        assert json.loads(body)["database"] == "It does not answer."
        for secret in (str(way.port), *way.login[1:]):
            assert secret not in body
        way.restore()
        until(lambda: app.health()[0] == 200)


def test_health_does_not_start_a_server_that_was_stopped(tmp_path, settings, monkeypatch):
    for name in ("NEO4J_URI", "NEO4J_PASSWORD", "NEO4J_PASSWORD_FILE"):
        monkeypatch.delenv(name, raising=False)
    own = settings.model_copy(update={"neo4j_uri": None, "cobalance_home": tmp_path / "home"})
    try:
        with running(tmp_path, environment_of(own)) as app:
            local_server.stop(own.local_server())
            until(lambda: app.health()[0] == 503)
            assert "not running" in app.health()[1]["database"]
            assert local_server.status(own.local_server()) is None
    finally:
        local_server.stop(own.local_server())
