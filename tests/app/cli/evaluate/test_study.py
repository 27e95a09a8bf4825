"""`cobalance evaluate study`: drawn, followed, evaluated and closed."""

from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest

from cobalance.graph.panels.panel import list_panels
from cobalance.graph.panels.studies import Study
from cobalance.workflows.panel.answers import answer_task
from tests.app.cli.conftest import table
from tests.support.studied_job import write_studied_job


@pytest.fixture
def job(store, dataset, tmp_path):
    return write_studied_job(store, dataset, tmp_path / "pictures", 4)


def test_a_study_from_the_draw_to_a_table(run, store, dataset, job, tmp_path):
    refused = run("evaluate", "study", job, exit_code=2).stderr
    assert "has no study. Draw one with --people" in refused
    refused = run("evaluate", "study", job, "--people", "ann", "--pairs", 9, exit_code=2).stderr
    assert "9 pairs cannot be drawn, as 4 images" in refused
    assert "Ask for fewer with --pairs." in refused
    refused = run("evaluate", "study", job, "--people", "ann", "--overlap", 2, exit_code=2).stderr
    assert "with --overlap" in refused
    done = run(
        *("evaluate", "study", job[:8], "--people", "ann, bob", "--pairs", 3),
        *("--overlap", 1, "--seed", 7),
    )
    (study,) = list_panels(store, Study, job=job)
    assert "3 pairs for 2 people" in done.stderr
    address = urlsplit(done.stdout.strip())
    assert (address.scheme, address.path) == ("http", "/study")
    assert parse_qs(address.query) == {"dataset": [dataset], "study": [study.id]}
    assert study.settings == {"pairs": 3, "overlap": 1, "seed": 7}
    answer_task(store, study, "ann", 0, "man")
    followed = table(run("evaluate", "study", job, "-f", "csv"))
    assert followed["answered"].tolist() == [1, 0]
    assert sorted(followed["tasks"]) == [4, 8]
    file = tmp_path / "results.csv"
    run("evaluate", "study", job, "--results", "-f", "csv", "-o", file)
    results = pd.read_csv(file)
    assert list(results) == [
        *("measure", "question", "person", "group", "answer", "value", "low", "high", "n")
    ]
    shown = run("evaluate", "study", job, "--results").stdout
    assert "share of answers" in shown
    assert "alpha" not in shown  # rows without an answer are left out for people
    run("evaluate", "study", job, "--close", "--study", study.id[:6])
    (closed,) = list_panels(store, Study, job=job)
    assert closed.closed_at is not None
    refused = run("evaluate", "study", job, "--study", "x", exit_code=2).stderr
    assert "has not one study 'x'" in refused
