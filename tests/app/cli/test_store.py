"""Where the store is, how others connect to it, and what is said of encryption and addresses."""

import json
import re
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from neo4j import GraphDatabase

from cobalance.graph.database.local import server_control
from cobalance.graph.database.local.server_control import ensure_running, stop
from cobalance.graph.database.local.settings import LocalServerSettings
from tests.app.cli.calling import call

PAGE = (Path(__file__).parents[3] / "docs" / "operate.md").read_text(encoding="utf-8")
SETTINGS = dict(re.findall(r"^((?:dbms\.ssl|server\.bolt)\.\S+?)=(\S+)$", PAGE, re.MULTILINE))


def test_scripts_read_the_status_and_connect_by_what_is_said(run, address, settings, dataset):
    uri, user, password, database = address
    found = json.loads(run("store", "status", "--format", "json").stdout)
    assert (found["uri"], found["database"], found["running"]) == (uri, database, True)
    assert found["datasets"] == len(json.loads(run("datasets", "list", "-f", "json").stdout))
    assert found["local"] is (settings.neo4j_uri is None)
    assert found["encrypted"] is (urlsplit(uri).scheme[-2:] in ("+s", "sc"))
    with GraphDatabase.driver(uri, auth=(user, password)) as driver:
        rows, *_ = driver.execute_query(
            "CALL dbms.components() YIELD versions, edition RETURN versions[0] AS v, edition AS e",
            database_=database,
        )
    assert [found["version"], found["edition"]] == [rows[0]["v"], rows[0]["e"]]

    done = run("store", "connection", "--format", "json")
    said = json.loads(done.stdout)
    shown = run("store", "connection")
    if said["password_file"] is not None:
        assert Path(said["password_file"]).read_text().strip() == password
        assert said["password_file"] in shown.stdout
    else:
        assert "NEO4J_PASSWORD" in shown.stdout
    assert (said["uri"], said["username"], said["database"]) == (uri, user, database)
    assert password not in done.stdout + shown.stdout + shown.stderr
    assert ("COBALANCE_IDLE_STOP_S" in shown.stderr) is found["local"]


@pytest.fixture(scope="module")
def own_home(tmp_path_factory):
    """Variables of a home of these tests' own: its database is set up once."""
    return {"COBALANCE_HOME": str(tmp_path_factory.mktemp("home"))}


@pytest.mark.parametrize(
    ("started_with", "asked_with", "sentence"),
    [("7200", "60", "for 120 min"), ("inf", "60", "It runs until `cobalance store stop`.")],
)
def test_the_connection_tells_the_limit_of_the_server_that_runs(
    own_home, started_with, asked_with, sentence
):
    try:
        started = call(own_home | {"COBALANCE_IDLE_STOP_S": started_with}, "store", "start")
        assert started.returncode == 0

        asked = own_home | {"COBALANCE_IDLE_STOP_S": asked_with}
        assert sentence in call(asked, "store", "connection").stderr
        assert sentence in call(asked, "store", "status").stdout
    finally:
        stopped = call(own_home, "store", "stop")

    # The next case starts a server of its own.
    assert stopped.returncode == 0


def test_status_starts_nothing_and_masks_what_is_secret(tmp_path):
    places = {
        "COBALANCE_HOME": str(tmp_path / "home"),
        "COBALANCE_QUEUE": "postgresql://me:SECRET@host/jobs",
        "COBALANCE_OUTPUT": "s3://KEY:SECRET@bucket/made",
        "COBALANCE_IMAGES": "/data,https://host/images?token=SECRET",
        "COBALANCE_IDLE_STOP_S": "inf",
    }
    done = call(places, "store", "status", "-f", "json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert (found["running"], found["uri"], found["idle_stop_s"]) == (False, None, None)
    assert found["data"] == str(tmp_path / "home" / "neo4j")
    assert "SECRET" not in done.stdout
    assert not (tmp_path / "home").exists()


def test_without_the_extra_local_the_status_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(server_control, "find_spec", lambda name: None)
    home = {"COBALANCE_HOME": str(tmp_path)}
    done = call(home, "store", "status")
    assert (done.returncode, done.stdout) == (1, "")
    needs = "The local Neo4j needs packages that are not installed: "
    assert needs in done.stderr
    assert "[local]" in done.stderr
    assert "set NEO4J_URI to the address of a Neo4j server" in done.stderr
    found = call(home, "store", "status", "-f", "json")
    assert found.returncode == 1
    assert needs in json.loads(found.stdout)["problem"]


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("foo", "begins with none of"),
        ("http://localhost:7474", "begins with none of"),
        ("bolt//localhost", "begins with none of"),
        ("bolt://host:notaport", "resolve address host:notaport"),
        ("neo4j://host:notaport", "resolve address host:notaport"),
        ("bolt://[::1", "Invalid IPv6 URL"),
        ("bolt://..:7687", "label empty or too long"),
        ("bolt://[::1]x:1", "resolve"),
        ("bolt://ann:SECRET@host", "not supported"),
    ],
)
def test_an_address_that_cannot_be_is_one_sentence(tmp_path, uri, why):
    given = {"COBALANCE_HOME": str(tmp_path), "NEO4J_URI": uri, "NEO4J_PASSWORD": "x"}
    done = call(given, "datasets", "list")
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert why in line
    assert "Set NEO4J_URI to one like bolt://localhost:7687" in line
    found = call(given, "store", "status", "--format", "json")
    assert found.returncode == 1
    assert why in json.loads(found.stdout)["problem"]
    assert "SECRET" not in line + found.stdout


def certificate(folder: Path) -> None:
    """A key and a certificate for this machine that signs itself, as docs/operate.md makes one."""
    folder.mkdir()
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    names = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "public.crt").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    as_is = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    pem = key.private_bytes(serialization.Encoding.PEM, form, as_is)
    (folder / "private.key").write_bytes(pem)


@pytest.fixture
def tls_server(tmp_path, settings):
    """A server with the settings of docs/operate.md; it takes both, so that it can be started."""
    certificate(tmp_path / "certificates")
    own = LocalServerSettings(
        home=tmp_path / "neo4j",
        cache=settings.local_server().cache,
        heap_mb=256,
        pagecache_mb=16,
        more={
            **SETTINGS,
            "dbms.ssl.policy.bolt.base_directory": str(tmp_path / "certificates"),
            "server.bolt.tls_level": "OPTIONAL",
        },
    )
    try:
        yield ensure_running(own)
    finally:
        stop(own)


def test_what_is_encrypted_and_whom_a_certificate_names(tmp_path, tls_server):
    assert len(SETTINGS) == 4
    port = urlsplit(tls_server.uri).port
    authority = {"SSL_CERT_FILE": str(tmp_path / "certificates" / "public.crt")}
    base = {"COBALANCE_HOME": str(tmp_path), "NEO4J_PASSWORD": tls_server.password}

    def status(uri: str, **variables: str) -> tuple[bool, str, str]:
        done = call({**base, **variables, "NEO4J_URI": uri}, "store", "status", "-f", "json")
        found = json.loads(done.stdout)
        assert (found["problem"] is None) is (done.returncode == 0)
        return found["encrypted"], found["encryption"], found["problem"] or "answers"

    for scheme in ("bolt", "neo4j"):
        host = f"127.0.0.1:{port}"
        assert status(f"{scheme}://{host}") == (False, "not encrypted", "answers")
        verified = "encrypted, certificate verified"
        assert status(f"{scheme}+s://{host}", **authority) == (True, verified, "answers")
        unverified = "encrypted, certificate not verified"
        assert status(f"{scheme}+ssc://{host}") == (True, unverified, "answers")
        encrypted, _, problem = status(f"{scheme}+s://{host}")
        assert encrypted
        assert "self-signed certificate. Name the file of the authority" in problem
        assert "SSL_CERT_FILE" in problem
    text = call(
        {**base, **authority, "NEO4J_URI": f"bolt+s://localhost:{port}"}, "store", "status"
    ).stdout
    assert "Connection: encrypted, certificate verified" in text


def test_a_server_without_a_certificate_is_told_from_one_that_is_away(address, tmp_path):
    host = address[0].partition("://")[2]
    given = {"COBALANCE_HOME": str(tmp_path), "NEO4J_PASSWORD": "x"}
    done = call({**given, "NEO4J_URI": f"neo4j+s://{host}"}, "store", "status")
    assert f"neo4j+s://{host} does not speak TLS" in done.stderr
    assert len(done.stderr.splitlines()) == 1
