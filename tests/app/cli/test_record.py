"""`cobalance record` of a file, without any database, and what it refuses."""

import json

import pytest

from tests.app.cli.calling import call
from tests.app.cli.test_gate import EVEN, LEANING, write
from tests.workflows.gate.drawn import records


@pytest.fixture
def cobalance(tmp_path, monkeypatch):
    """Call the command line in a folder of its own, without any database."""
    monkeypatch.chdir(tmp_path)
    environment = {"HOME": str(tmp_path), "NEO4J_URI": "bolt://127.0.0.1:1"}
    return lambda *arguments: call(environment, *arguments)


def test_a_file_is_recorded_for_machines_and_people(cobalance, tmp_path):
    write(tmp_path / "cars.csv", records(0, 500, LEANING))
    done = cobalance("record", "cars.csv", "--card", "card.md")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "bias.json: 2 of 3 combinations lean to a class.\n"
    content = json.loads((tmp_path / "bias.json").read_text())
    assert content["rai:dataBiases"][1].startswith("cow is in ")
    assert (tmp_path / "card.md").read_text().startswith("## Biases\n")

    before = (tmp_path / "bias.json").read_bytes()
    refused = cobalance("record", "cars.csv")
    assert refused.returncode == 1
    assert "bias.json exists" in refused.stderr
    assert cobalance("record", "cars.csv", "--overwrite").returncode == 0
    assert (tmp_path / "bias.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("record",), 2, "Name a file or dataset"),
        (("record", "none.csv"), 1, "none.csv"),
        (("record", "empty.csv"), 1, "empty.csv"),
        (("ingest", "cars.csv", "--counts"), 1, "cars.csv: is no bias record"),
        (("ingest", "cars.csv", "--counts", "--dry-run"), 2, "--counts"),
        (("ingest", "cars.csv", "--counts", "--class-column", "x"), 2, "--counts"),
    ],
)
def test_what_cannot_be_recorded_is_said(cobalance, tmp_path, arguments, code, message):
    write(tmp_path / "cars.csv", records(0, 20, EVEN))
    (tmp_path / "empty.csv").write_text("image,class,concepts\n")
    refused = cobalance(*arguments)
    assert refused.returncode == code, refused.stderr
    assert message in refused.stderr
    assert not (tmp_path / "bias.json").exists()
