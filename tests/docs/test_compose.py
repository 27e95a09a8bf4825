"""docker-compose.yml follows the Compose specification and keeps secrets out of the environment."""

import re
import shlex
from pathlib import Path

from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner

from tests.docs.commands import unknown_parts
from tests.docs.containers import COMPOSE as DOCUMENT, DOCKERFILE, ROOT

COMPOSE, SERVICES = ROOT / "docker-compose.yml", DOCUMENT["services"]


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
    assert "ports" not in SERVICES["queue"]
    for service in SERVICES.values():
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:")
        for name, value in service["environment"].items():
            if "PASSWORD" in name or "AUTH" in name or "QUEUE" in name:
                assert name.endswith("_FILE")
                assert value.startswith("/run/secrets/")
    assert SERVICES["neo4j"]["healthcheck"]["test"]
    assert SERVICES["cobalance"]["depends_on"]["neo4j"]["condition"] == "service_healthy"


def test_ours_wait_for_both_databases_and_all_are_asked_for_their_health():
    for name, service in SERVICES.items():
        if name in ("neo4j", "queue"):
            assert service["healthcheck"]["test"]
            continue
        assert {other: wanted["condition"] for other, wanted in service["depends_on"].items()} == {
            "neo4j": "service_healthy",
            "queue": "service_healthy",
        }
        if name != "cobalance":  # which is one command
            _, *check = service["healthcheck"]["test"]
            assert check[0] == "python" or unknown_parts(shlex.join(check)) == []
            assert service["restart"] == "unless-stopped"
    assert SERVICES["worker"]["profiles"]
    (device,) = SERVICES["gpu-worker"]["deploy"]["resources"]["reservations"]["devices"]
    assert device["capabilities"] == ["gpu"]


def test_every_service_is_of_an_exact_version_and_confined():
    images = re.findall(r"^FROM (.+)$", DOCKERFILE, re.MULTILINE)
    images += [service["image"] for service in SERVICES.values() if "image" in service]
    assert len(images) == 3
    for image in images:
        assert re.match(r"\w+:\d+\.\d+(\.\d+)?-\w+", image), image
    for service in SERVICES.values():
        assert service["cap_drop"] == ["ALL"]
        assert "cap_add" not in service
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["logging"]["options"].keys() == {"max-size", "max-file"}
        assert re.fullmatch(r"\d+[gm]", service["mem_limit"])
        # An entrypoint that begins as root would need capabilities to become another user.
        assert service["user"] in ("neo4j:neo4j", "postgres:postgres") or "UID" in service["user"]
    heap = SERVICES["neo4j"]["environment"]["NEO4J_server_memory_heap_max__size"]
    assert int(heap.removesuffix("g")) < int(SERVICES["neo4j"]["mem_limit"].removesuffix("g"))


def test_our_services_share_their_folders_and_run_as_whoever_owns_them():
    ours = {name: service for name, service in SERVICES.items() if "build" in service}
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
