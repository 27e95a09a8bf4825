"""`cobalance annotate measure` and `compare`: of a run whose errors are known."""

import io
import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from cobalance.vision.stored.output_folder import OutputFolder
from tests.app.cli.calling import call
from tests.support.audited_run import CONCEPTS, labelled, shows, write_audited_run

IMAGES = 40


@pytest.fixture
def cobalance(environment, tmp_path):
    def command(*arguments, exit_code=0):
        done = call(environment | {"COBALANCE_OUTPUT": str(tmp_path / "output")}, *arguments)
        assert done.returncode == exit_code, done.stderr
        return done

    return command


def test_labels_are_measured_and_compared(store, dataset, cobalance, tmp_path):
    folder = OutputFolder(str(tmp_path / "output"))
    run = write_audited_run(store, dataset, folder, tmp_path / "pictures", IMAGES)
    truth = tmp_path / "truth.csv"
    pd.DataFrame(
        {"image": f"x/{at}.jpg", "No_Sky": int(not shows(at, CONCEPTS[0]))} for at in range(IMAGES)
    ).to_csv(truth, index=False)
    names = tmp_path / "names.csv"
    pd.DataFrame({"concept": CONCEPTS[:1], "truth": ["No_Sky"], "inverted": ["yes"]}).to_csv(
        names, index=False
    )
    wanted = ["annotate", "measure", run[:8], "--truth", truth, "--mapping", names]
    done = cobalance(*wanted, "--format", "csv")
    (row,) = pd.read_csv(io.StringIO(done.stdout)).to_dict("records")
    read = range(1, IMAGES)  # the run could not read the first
    yes = [at for at in read if shows(at, CONCEPTS[0])]
    hits = [at for at in yes if labelled(at, CONCEPTS[0])]
    assert (row["images"], row["shown"], row["unread"]) == (IMAGES - 1, len(yes), 1)
    assert (row["precision"], row["recall"]) == pytest.approx((1.0, len(hits) / len(yes)))
    assert row["auc"] == pytest.approx((1 + len(hits) / len(yes)) / 2)
    assert CONCEPTS[1] in done.stderr
    summary = cobalance(*wanted, "--summary", "--format", "csv").stdout
    assert summary.splitlines()[1].startswith("auc,")

    chart = tmp_path / "chart.svg"
    runs = ["--run-real", run, "--run-generated", run, "--chart", chart, "--format", "csv"]
    found = pd.read_csv(
        io.StringIO(cobalance("annotate", "compare", dataset, dataset, *runs).stdout)
    ).set_index("attribute")
    sea = sum(labelled(at, CONCEPTS[1]) for at in read)
    assert found.loc[CONCEPTS[1], "real"] == pytest.approx(100 * sea / (IMAGES - 1))
    assert (found["difference"] == 0).all()
    ET.parse(chart)

    table = tmp_path / "aucs.csv"
    table.write_text("attribute,m\na,0.5\nb,0.75\n")
    done = cobalance("annotate", "measure", "--auc-table", table, "--format", "csv")
    assert pd.read_csv(io.StringIO(done.stdout))["macro"].tolist() == [0.625]
    assert "--truth" in cobalance("annotate", "measure", run, exit_code=2).stderr
