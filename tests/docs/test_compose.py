"""docker-compose.yml follows the Compose specification and keeps secrets out of the environment."""

import shlex
from pathlib import Path

from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner
from ruamel.yaml import YAML

from tests.docs.commands import unknown_parts

COMPOSE = Path(__file__).parents[2] / "docker-compose.yml"


def test_follows_the_compose_specification():
    result = CliRunner().invoke(
        check_jsonschema, ["--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    )
    assert result.exit_code == 0, result.output


def test_the_schema_check_can_fail(tmp_path):
    broken = tmp_path / "docker-compose.yml"
    broken.write_text(COMPOSE.read_text().replace("healthcheck:", "helthcheck:"))
    result = CliRunner().invoke(
        check_jsonschema, ["--builtin-schema", "vendor.compose-spec", str(broken)]
    )
    assert result.exit_code != 0


def test_ports_are_on_loopback_and_passwords_in_files():
    services = YAML(typ="safe").load(COMPOSE)["services"]
    assert "ports" not in services["queue"]
    for service in services.values():
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:")
        for name, value in service["environment"].items():
            if "PASSWORD" in name or "AUTH" in name or "QUEUE" in name:
                assert name.endswith("_FILE")
                assert value.startswith("/run/secrets/")
    assert services["neo4j"]["healthcheck"]["test"]
    assert services["cobalance"]["depends_on"]["neo4j"]["condition"] == "service_healthy"


def test_workers_wait_for_both_databases():
    services = YAML(typ="safe").load(COMPOSE)["services"]
    for name in ("worker", "gpu-worker"):
        worker = services[name]
        assert {other: wanted["condition"] for other, wanted in worker["depends_on"].items()} == {
            "neo4j": "service_healthy",
            "queue": "service_healthy",
        }
        assert worker["profiles"]
    (device,) = services["gpu-worker"]["deploy"]["resources"]["reservations"]["devices"]
    assert device["capabilities"] == ["gpu"]


def test_our_services_share_their_folders_and_run_as_whoever_owns_them():
    services = YAML(typ="safe").load(COMPOSE)["services"]
    ours = {name: service for name, service in services.items() if "build" in service}
    assert set(ours) == {"app", "worker", "gpu-worker", "cobalance"}
    for name, service in ours.items():
        assert service["user"].startswith("${UID:?")
        environment, volumes = service["environment"], service["volumes"]
        assert {"./generated:/generated", "./home:/home/cobalance"} <= set(volumes)
        assert environment["COBALANCE_OUTPUT"] == "/generated"
        assert environment["HOME"] == environment["COBALANCE_HOME"] == "/home/cobalance"
        assert Path(environment["COBALANCE_CACHE"]).is_relative_to("/home/cobalance")
        # The command line alone writes there: exports and reports.
        assert f"./data:/data{'' if name == 'cobalance' else ':ro'}" in volumes
        assert environment["COBALANCE_IMAGES"] == "/data"
        words = service.get("command", [])
        assert unknown_parts(shlex.join(["cobalance", *words])) == []
