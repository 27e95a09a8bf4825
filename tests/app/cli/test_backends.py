"""`cobalance backends`: its rows are those of the docs, and say what runs here."""

import json
import re
from pathlib import Path

import pytest

from cobalance.generation.backends import brushnet, inpaint, instruct, paste
from cobalance.generation.backends.families import FAMILIES
from tests.app.cli.calling import call

PAGE = Path(__file__).parents[3] / "docs" / "generation.md"
NOTHING: dict[str, str] = {"NEO4J_URI": "bolt://127.0.0.1:1"}


def test_each_model_has_its_figures(tmp_path):
    done = call(NOTHING | {"HOME": str(tmp_path)}, "backends", "--format", "json")
    assert done.returncode == 0, done.stderr
    rows = {row["model"]: row for row in json.loads(done.stdout)}
    assert rows.keys() == {family.model for family in FAMILIES}
    klein = rows["black-forest-labs/FLUX.2-klein-4B"]
    assert klein["backends"] == ["inpaint", "instruct", "paste"]
    assert (klein["licence"], klein["steps"], klein["memory_gb"]) == ("Apache-2.0", 4, 16)
    assert all(
        re.match("yes, on|slowly, on|with making.offload", row["here"]) for row in rows.values()
    )


def test_a_person_is_told_how_to_take_one(tmp_path):
    done = call(NOTHING | {"HOME": str(tmp_path)}, "backends")
    assert "Z-Image-Turbo" in done.stdout
    assert done.stderr == (
        "To take one: cobalance enqueue DATASET --backend NAME --model MODEL\n"
        "To have a server make the images: --recipe http, or comfyui\n"
    )


def test_the_page_has_the_same_table():
    section = PAGE.read_text("utf-8").partition("### Models")[2].partition("\n### ")[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if re.match(r"\| `[\w.-]+/[\w.-]+` \|", line)
    ]
    assert len(cells) == len(FAMILIES)
    for family, row in zip(FAMILIES, cells, strict=True):
        model, licence, billions, memory_gb, steps, *used = row
        assert model == f"`{family.model}`"
        assert (licence, float(billions)) == (family.licence, family.parameters_bn)
        assert int(memory_gb) == round(family.memory_gb)
        assert int(re.match(r"\d+", steps)[0]) == family.steps
        columns = zip(("inpaint", "instruct", "paste"), used, strict=True)
        names = {name for name, cell in columns if cell}
        assert names == set(family.backends) - {"brushnet"}


@pytest.mark.parametrize("backend", [brushnet, inpaint, instruct, paste])
def test_the_default_of_a_backend_is_listed(backend):
    name = backend.PLUGIN.name
    assert next(family.model for family in FAMILIES if name in family.backends) == backend.MODEL
