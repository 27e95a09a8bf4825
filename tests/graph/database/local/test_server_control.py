"""The local Neo4j: real servers, real processes; each test has a home folder of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from filelock import FileLock
from neo4j import Driver, GraphDatabase
from neo4j.exceptions import AuthError, ClientError, DriverError, Neo4jError, ServiceUnavailable

from cobalance.base.errors import StoreUnavailableError
from cobalance.graph.database.local.home import Home, ServerState
from cobalance.graph.database.local.server_control import Endpoint, ensure_running, status, stop
from cobalance.graph.database.local.settings import LocalServerSettings
from tests.support.waiting import until

CLIENT = """
import json, sys
from pathlib import Path
from cobalance.graph.database.local.server_control import ensure_running
from cobalance.graph.database.local.settings import LocalServerSettings
endpoint = ensure_running(LocalServerSettings(home=Path(sys.argv[1]), heap_mb=512))
print(json.dumps([endpoint.pid, endpoint.uri, endpoint.password]))
"""


def client(home: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(home)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "LC_ALL": "C"},  # the poorest locale must do
    )


def connect(endpoint: Endpoint) -> Driver:
    return GraphDatabase.driver(endpoint.uri, auth=(endpoint.username, endpoint.password))


def execute(endpoint: Endpoint, query: str) -> list[list[object]]:
    with connect(endpoint) as driver:
        return [list(record.values()) for record in driver.execute_query(query).records]


def state_of(settings: LocalServerSettings) -> ServerState | None:
    return ServerState.read(Home(settings.home).state)


def is_running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def end_all_in(home: Path) -> None:
    for process in psutil.process_iter():
        try:
            if process.cmdline()[-1:] == [str(home)]:
                process.kill()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[LocalServerSettings]:
    home = tmp_path / "hôme of one"
    yield LocalServerSettings(home=home, heap_mb=512, pagecache_mb=64, stop_timeout_s=300)
    end_all_in(home)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServerSettings]:
    """Settings of a home folder for what needs no first start: its server may run, or be killed."""
    home = tmp_path_factory.mktemp("shared") / "hôme of many"
    settings = LocalServerSettings(home=home, heap_mb=512, pagecache_mb=64, stop_timeout_s=300)
    yield settings
    stop(settings)
    end_all_in(home)


# Starting and joining


def refusal(uri: str) -> str | None:
    """Why the default password is not let in; None when nothing listens."""
    try:
        with GraphDatabase.driver(uri, auth=("neo4j", "neo4j")) as driver:
            driver.verify_connectivity()
    except ServiceUnavailable:
        return None
    except AuthError as error:
        return error.code
    pytest.fail("the default password was let in")


def test_ten_processes_at_once_get_one_server_that_never_knows_the_default_password(
    settings: LocalServerSettings,
) -> None:
    clients = [client(settings.home) for _ in range(10)]
    refusals = set()
    while any(process.poll() is None for process in clients):
        if (state := state_of(settings)) is not None:
            refusals.add(refusal(f"bolt://127.0.0.1:{state.port}"))
    answers = [process.communicate() for process in clients]
    assert [process.returncode for process in clients] == [0] * 10, answers
    assert len({output for output, _ in answers}) == 1
    servers = [
        process.pid
        for process in psutil.process_iter()
        if is_running(process.pid) and process.cmdline()[-1:] == [str(settings.home)]
    ]
    pid, uri, password = json.loads(answers[0][0])
    assert servers == [pid]
    assert execute(Endpoint(uri, "neo4j", password, pid), "RETURN 1") == [[1]]
    refusals.add(refusal(uri))
    assert refusals == {None, "Neo.ClientError.Security.Unauthorized"}


def test_joining_gives_the_same_server_at_once(shared: LocalServerSettings) -> None:
    stages: list[str] = []
    first = ensure_running(shared)
    again = ensure_running(shared, lambda stage, *_: stages.append(stage))
    assert again == first
    assert stages == []


def test_status_tells_process_and_address(shared: LocalServerSettings) -> None:
    endpoint = ensure_running(shared)
    seen = status(shared)
    assert seen is not None
    assert (seen.pid, seen.phase, seen.uri) == (endpoint.pid, "ready", endpoint.uri)
    assert 100 < seen.resident_mb < 1500
    assert seen.running_s > 0
    assert seen.log.exists()


def test_the_end_of_its_starter_does_not_end_the_server(settings: LocalServerSettings) -> None:
    starter = client(settings.home)
    until(lambda: (state := state_of(settings)) is not None and state.phase == "starting")
    os.killpg(starter.pid, signal.SIGKILL)
    starter.communicate()
    state = state_of(settings)
    assert state is not None
    assert ensure_running(settings).pid == state.pid


def test_terminal_signals_do_not_end_the_server(shared: LocalServerSettings) -> None:
    endpoint = ensure_running(shared)
    for name in (signal.SIGHUP, signal.SIGINT):
        os.kill(endpoint.pid, name)
        assert execute(endpoint, "RETURN 1") == [[1]]
    assert ensure_running(shared) == endpoint
    assert os.getsid(endpoint.pid) != os.getsid(0)


# Surviving accidents


def test_after_kill_9_commits_password_and_port_are_there(shared: LocalServerSettings) -> None:
    before = ensure_running(shared)
    with connect(before) as driver:
        for n in range(200):
            driver.execute_query("CREATE (:Kept {n: $n})", n=n)
        os.kill(before.pid, signal.SIGKILL)
    until(lambda: status(shared) is None)
    after = ensure_running(shared)
    assert after.pid != before.pid
    assert (after.uri, after.password) == (before.uri, before.password)
    assert execute(after, "MATCH (k:Kept) RETURN count(k), sum(k.n)") == [[200, 19900]]


def test_kill_9_during_the_first_start_is_told_and_overcome(
    settings: LocalServerSettings,
) -> None:
    starter = client(settings.home)
    until(Home(settings.home).system_database.exists)
    state = state_of(settings)
    assert state is not None
    os.kill(state.pid, signal.SIGKILL)
    _, errors = starter.communicate()
    assert "its process ended without an error message. Its log is" in errors
    endpoint = ensure_running(settings)
    assert execute(endpoint, "RETURN 1") == [[1]]


@pytest.mark.parametrize("content", ["", "{", '{"pid": 1}', "[]"])
def test_senseless_state_file_is_as_none(tmp_path: Path, content: str) -> None:
    settings = LocalServerSettings(home=tmp_path)
    Home(tmp_path).state.write_text(content)
    assert status(settings) is None
    assert stop(settings) is False


def test_sigterm_is_a_clean_stop_and_a_port_taken_since_is_replaced(
    shared: LocalServerSettings,
) -> None:
    before = ensure_running(shared)
    os.kill(before.pid, signal.SIGTERM)
    until(lambda: not is_running(before.pid))
    state = state_of(shared)
    assert state is not None
    assert state.phase == "stopped"
    port = int(before.uri.rpartition(":")[2])
    with socket.socket() as squatter:
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        squatter.bind(("127.0.0.1", port))
        squatter.listen()
        after = ensure_running(shared)
    assert after.uri != before.uri
    assert execute(after, "RETURN 1") == [[1]]


def test_hung_server_is_told_and_can_be_stopped(shared: LocalServerSettings) -> None:
    endpoint = ensure_running(shared)
    os.kill(endpoint.pid, signal.SIGSTOP)
    with pytest.raises(StoreUnavailableError, match=r"does not answer.*server\.log"):
        ensure_running(replace(shared, answer_timeout_s=2))
    assert stop(replace(shared, stop_timeout_s=1)) is True
    assert not is_running(endpoint.pid)


def test_state_file_naming_another_living_process(shared: LocalServerSettings) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        stop(shared)
        ServerState(other.pid, "ready", 7687).write(Home(shared.home).state)
        assert status(shared) is None
        assert stop(shared) is False
        endpoint = ensure_running(shared)
        assert endpoint.pid != other.pid
        assert stop(shared) is True
        assert other.poll() is None
        other.communicate(b"\n")


def test_start_that_fails_names_cause_and_log(settings: LocalServerSettings) -> None:
    settings.home.mkdir()
    (settings.home / "data").write_text("not a folder")
    with pytest.raises(StoreUnavailableError) as caught:
        ensure_running(settings)
    message = str(caught.value)
    assert str(settings.home) in message
    assert "logs/server.log" in message
    assert (settings.home / "logs" / "server.log").read_text()
    assert status(settings) is None


def test_folder_served_by_an_unknown_process(settings: LocalServerSettings) -> None:
    settings.home.mkdir()
    with (
        FileLock(settings.home / "serving.lock"),
        pytest.raises(StoreUnavailableError, match="another process"),
    ):
        ensure_running(settings)


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailableError, match="cannot be used"):
        ensure_running(LocalServerSettings(home=tmp_path / "file" / "home"))


# Stopping


def test_stop_ends_the_process_under_a_client_and_keeps_the_data(
    shared: LocalServerSettings,
) -> None:
    endpoint = ensure_running(shared)
    with connect(endpoint) as driver, driver.session() as session:
        session.run("CREATE (:AfterStop)").consume()
        assert stop(shared) is True
    state = state_of(shared)
    assert state is not None
    assert state.phase == "stopped"  # and not killed, as one is that takes `stop_timeout_s`
    assert not is_running(endpoint.pid)
    assert status(shared) is None
    assert stop(shared) is False
    assert execute(ensure_running(shared), "MATCH (s:AfterStop) RETURN count(s)") == [[1]]


def test_stop_ends_a_query_of_the_console_that_computes_on(
    shared: LocalServerSettings,
) -> None:
    endpoint = ensure_running(shared)
    slow = "RETURN reduce(s = 0, i IN range(1, 1000000000) | s + i) AS x"  # some ten seconds

    def compute() -> None:
        with connect(endpoint) as driver, driver.session() as session:
            transaction = session.begin_transaction(metadata={"cobalance_console_s": 600})
            transaction.run(slow).single(strict=True)  # which needs the sum

    with ThreadPoolExecutor() as pool:
        computing = pool.submit(compute)
        until(lambda: [slow] in execute(endpoint, "SHOW TRANSACTIONS YIELD currentQuery"))
        assert stop(shared)
        assert isinstance(computing.exception(), Neo4jError | DriverError)
    state = ServerState.read(Home(shared.home).state)
    assert state is not None
    assert state.phase == "stopped"  # by itself: one that is killed has no time to say so


def test_stop_without_a_home(tmp_path: Path) -> None:
    assert stop(LocalServerSettings(home=tmp_path / "none")) is False
    assert status(LocalServerSettings(home=tmp_path / "none")) is None
    assert list(tmp_path.iterdir()) == []


def test_idle_server_stops_but_a_connected_one_does_not(settings: LocalServerSettings) -> None:
    idle_s = 2.0
    endpoint = ensure_running(replace(settings, idle_stop_s=idle_s))
    home = Home(settings.home)
    joined = home.last_used.stat().st_mtime
    with connect(endpoint) as driver:
        driver.verify_connectivity()  # the pool keeps this connection open, unused
        until(lambda: home.last_used.stat().st_mtime - joined > 2 * idle_s)
        assert driver.execute_query("RETURN 1").records[0].values() == [1]
    until(lambda: not is_running(endpoint.pid))
    state = state_of(settings)
    assert state is not None
    assert state.phase == "stopped"
    assert home.state.stat().st_mtime - home.last_used.stat().st_mtime >= idle_s


# Secrecy


def test_files_are_their_owners_alone(shared: LocalServerSettings) -> None:
    endpoint = ensure_running(shared)
    password = Home(shared.home).password
    assert password.read_text() == endpoint.password
    assert len(endpoint.password) >= 32
    for file in [shared.home, *shared.home.rglob("*")]:
        assert file.stat().st_mode & 0o077 == 0, file


def test_password_is_in_no_command_line_environment_or_log(shared: LocalServerSettings) -> None:
    endpoint = ensure_running(shared)
    assert endpoint.password not in repr(endpoint)
    process = psutil.Process(endpoint.pid)
    assert endpoint.password not in " ".join(process.cmdline())
    assert endpoint.password not in json.dumps(process.environ())
    holders = [
        file.name
        for file in shared.home.rglob("*")
        if file.is_file() and endpoint.password.encode() in file.read_bytes()
    ]
    assert holders == ["password"]


def test_lost_password_is_replaced(shared: LocalServerSettings) -> None:
    before = ensure_running(shared)
    execute(before, "CREATE (:AfterLoss)")
    stop(shared)
    Home(shared.home).password.unlink()
    after = ensure_running(shared)
    assert after.password != before.password
    assert execute(after, "MATCH (l:AfterLoss) RETURN count(l)") == [[1]]
    with pytest.raises(AuthError):
        execute(replace(after, password=before.password), "RETURN 1")


def test_password_changed_in_the_database_is_told(shared: LocalServerSettings) -> None:
    endpoint = ensure_running(shared)
    with connect(endpoint) as driver:
        driver.execute_query(
            "ALTER USER neo4j SET PASSWORD 'something else' CHANGE NOT REQUIRED",
            database_="system",
        )
    with pytest.raises(StoreUnavailableError, match=r"refuses the password in .*password"):
        ensure_running(shared)
    Home(shared.home).password.write_text("something else")
    assert execute(ensure_running(shared), "RETURN 1") == [[1]]


def test_only_bolt_listens_and_only_on_loopback(shared: LocalServerSettings) -> None:
    endpoint = ensure_running(shared)
    listening = [
        connection.laddr
        for connection in psutil.Process(endpoint.pid).net_connections()
        if connection.status == psutil.CONN_LISTEN
    ]
    assert [f"bolt://{ip.removeprefix('::ffff:')}:{port}" for ip, port in listening] == [
        endpoint.uri
    ]


@pytest.mark.parametrize("source", ["file:///etc/hostname", "http://127.0.0.1:1/x.csv"])
def test_load_csv_is_closed(shared: LocalServerSettings, source: str) -> None:
    endpoint = ensure_running(shared)
    with pytest.raises(ClientError):
        execute(endpoint, f"LOAD CSV FROM '{source}' AS line RETURN line")


def test_empty_home_is_small(shared: LocalServerSettings) -> None:
    ensure_running(shared)
    files = [file for file in shared.home.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 50_000_000
