"""`cobalance annotate audit`: drawn, answered by CSV, evaluated, and shown beside imbalances."""

import io
import json
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pandas as pd
import pytest

from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.annotations.runs import decide_run
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.panels.audits import Audit
from cobalance.graph.panels.panel import list_panels
from cobalance.vision.stored.output_folder import OutputFolder
from tests.app.cli.calling import call
from tests.app.cli.conftest import table
from tests.support.audited_run import CONCEPTS, shows, write_audited_run


@pytest.fixture
def audited(store, dataset, tmp_path):
    folder = OutputFolder(str(tmp_path / "output"))
    return write_audited_run(store, dataset, folder, tmp_path / "pictures", 41)


@pytest.fixture
def cobalance(environment, tmp_path):
    def command(*arguments, exit_code=0):
        own = {"COBALANCE_OUTPUT": str(tmp_path / "output")}
        done = call(environment | own, *arguments)
        assert done.returncode == exit_code, done.stderr
        return done

    return command


def test_from_the_draw_to_corrected_imbalances(store, dataset, cobalance, audited, tmp_path):
    assert (
        "has no audit. Draw one with --people"
        in cobalance("annotate", "audit", audited, exit_code=2).stderr
    )
    done = cobalance("annotate", "audit", audited[:8], "--people", "ann, bob", "--per-stratum", 99)
    (audit,) = list_panels(store, Audit, run=audited)
    assert "80 labels for 2 people" in done.stderr
    address = urlsplit(done.stdout.strip())
    assert address.path == "/audit"
    assert parse_qs(address.query) == {"dataset": [dataset], "audit": [audit.id]}
    sheet = table(cobalance("annotate", "audit", audited, "--sheet", "-f", "csv"))
    assert list(sheet) == ["person", "image", "uri", "concept", "answer"]
    right = [shows(int(image), name) for image, name in sheet[["image", "concept"]].to_numpy()]
    file = tmp_path / "answers.csv"
    sheet.assign(answer=np.where(right, "shows", "does not")).to_csv(file, index=False)
    done = cobalance("annotate", "audit", audited, "--from", file)
    assert "160 answers taken." in done.stderr
    assert table(cobalance("annotate", "audit", audited, "-f", "csv"))["answered"].tolist() == [
        80,
        80,
    ]
    rates = table(cobalance("annotate", "audit", audited, "--rates", "-f", "csv"))
    truth = [
        sum(shows(image, name) for image in range(first, 41, 2))
        for first in (2, 1)
        for name in CONCEPTS
    ]
    assert rates["corrected"].tolist() == pytest.approx(truth)
    shown = cobalance("annotate", "audit", audited, "--rates").stdout
    assert "100.0 [" in shown
    found = table(cobalance("annotate", "audit", audited, "--results", "-f", "csv"))
    assert dict(zip(found["concept"], found["verdict"], strict=True)) == {
        CONCEPTS[0]: "not supported",
        CONCEPTS[1]: "supported",
    }
    assert "not supported" in cobalance("annotate", "audit", audited, "--results").stdout
    mine_dataset(store, dataset, MiningOptions(1, common=()), max_cliques=100)
    assert "audit" not in table(cobalance("imbalances", dataset, "-f", "csv"))
    assert decide_run(store, audited, "accepted")
    assert "audit" in table(cobalance("imbalances", dataset, "-f", "csv"))
    file.write_text("person,image\n")
    answers = ("annotate", "audit", audited, "--from", file)
    assert "line 1: there is no column 'concept'" in cobalance(*answers, exit_code=1).stderr
    file.write_bytes(b"\xff\x00")
    assert "line 1: the byte 0xff is not UTF-8" in cobalance(*answers, exit_code=1).stderr
    file.write_text("person,image,concept,answer\nann,1,sea,shows\n\nann,1,sea,unknown\n")
    said = cobalance(*answers, exit_code=1).stderr
    assert "Line 4: the answer for person 'ann', image '1', concept 'sea'" in " ".join(said.split())
    clique = json.dumps(CONCEPTS)
    cobalance(
        "annotate", "audit", audited, "--people", "=eve", "--per-stratum", 2, "--clique", clique
    )
    sheet = cobalance("annotate", "audit", audited, "--sheet", "-f", "csv").stdout
    assert set(pd.read_csv(io.StringIO(sheet))["concept"]) == {" + ".join(sorted(CONCEPTS))}
    assert set(pd.read_csv(io.StringIO(sheet))["person"]) == {
        "'=eve"
    }  # no formula, for a spreadsheet
    file.write_text(sheet.replace(",\n", ",shows\n"))
    assert "6 answers taken" in cobalance(*answers).stderr
    both = cobalance("annotate", "audit", audited, "--rates", "--results", exit_code=2)
    assert "one at a time" in both.stderr
