"""What Prometheus reads, and who may: also while the database is away."""

import re
import uuid
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open
from prometheus_client.parser import text_string_to_metric_families as parse

from cobalance.app.web.server.counters import REGISTRY, page_run
from cobalance.base.errors import DataError, OptionError
from cobalance.graph.jobs.reports import heartbeat, stop_worker
from cobalance.workflows.settings import Settings
from tests.browser.server import environment_of, running
from tests.support.waiting import until

PAGE = (Path(__file__).parents[4] / "docs" / "operate.md").read_text(encoding="utf-8")
TABLE = "\n".join(line for line in PAGE.splitlines() if line.startswith("| `cobalance_"))
TOKEN = "0123456789abcdef0123456789abcdef"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def samples(app, parser=parse, **headers: str) -> dict[tuple[str, ...], float]:
    """Each sample by its name and the values of its labels."""
    status, _, text = app.get("/metrics", **BEARER, **headers)
    assert status == 200
    found = [sample for family in parser(text) for sample in family.samples]
    return {(one.name, *sorted(one.labels.values())): one.value for one in found}


@contextmanager
def served(tmp_path, environment):
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    given = {"COBALANCE_METRICS_TOKEN_FILE": str(tmp_path / "token")}
    with running(tmp_path, {**environment, **given}) as app:
        yield app


def test_the_token_decides_and_numbers_are_those_of_the_graph(tmp_path, settings, store, dataset):
    job, worker = str(uuid.uuid4()), str(uuid.uuid4())
    store.write(
        "CREATE (:Job {id: $job, dataset: $dataset, state: 'queued', queued: 3, accepted: 5, "
        "created_at: datetime() - duration('PT1H')})",
        job=job,
        dataset=dataset,
    )
    heartbeat(store, worker)
    try:
        with served(tmp_path, environment_of(settings)) as app:
            for headers in (
                {},
                {"Authorization": "Bearer x"},
                {"Authorization": f"Basic {TOKEN}"},
                {"Authorization": f"Bearer {TOKEN}\xe9"},
            ):
                assert app.get("/metrics", **headers)[0] == 401, headers
            until(lambda: samples(app).get(("cobalance_jobs", "queued")))
            found = samples(app)
            (counted,) = store.read(
                "MATCH (j:Job) WITH sum(CASE j.state WHEN 'queued' THEN 1 END) AS jobs, "
                "sum(j.queued) AS queries, sum(j.accepted) AS accepted "
                "MATCH (w:Worker) WHERE w.heartbeat_at > datetime() - duration('PT30S') "
                "RETURN jobs, queries, accepted, sum(CASE WHEN w.job IS NULL THEN 1 END) AS idle"
            )
            assert found[("cobalance_jobs", "queued")] == counted["jobs"]
            assert found[("cobalance_job_queries", "queued")] == counted["queries"]
            assert found[("cobalance_generated_images", "accepted")] == counted["accepted"]
            assert found[("cobalance_workers", "idle")] == counted["idle"] >= 1
            assert found[("cobalance_oldest_waiting_seconds", "job")] >= 3600
            assert found[("cobalance_database_up",)] == 1
            assert ("cobalance_database_info", *sorted(store.server())) in found
            text = app.get("/metrics", **BEARER)[2]
            shown = set(re.findall(r"^# TYPE (cobalance_\w+)", text, re.MULTILINE))
            assert shown == set(re.findall(r"`(cobalance_\w+)`", TABLE))
            kind = "application/openmetrics-text; version=1.0.0"
            assert samples(app, parse_open, Accept=kind).keys() >= {("cobalance_database_up",)}
            assert app.log.read_text() == ""
    finally:
        stop_worker(store, worker)
        store.write("MATCH (j:Job {id: $job}) DELETE j", job=job)


def test_it_answers_while_the_database_is_away(tmp_path, settings, way):
    with served(tmp_path, environment_of(settings) | way.variables) as app:
        until(lambda: samples(app)[("cobalance_database_up",)] == 1)
        for stop, start in ((way.block, way.unblock), (way.cut, way.restore)):
            stop()
            until(lambda: samples(app)[("cobalance_database_up",)] == 0)
            assert not any(name == "cobalance_jobs" for name, *_ in samples(app))
            start()
            until(lambda: ("cobalance_datasets",) in samples(app))


def test_a_token_that_anybody_could_guess_is_refused(tmp_path):
    file = tmp_path / "token"
    with pytest.raises(OptionError, match="Name a file that this user can read"):
        Settings(cobalance_metrics_token_file=file).metrics_token()
    file.write_text("short\n")
    with pytest.raises(OptionError, match="openssl rand"):
        Settings(cobalance_metrics_token_file=file).metrics_token()


def runs(page: str, outcome: str) -> float:
    labels = {"page": page, "outcome": outcome}
    return REGISTRY.get_sample_value("cobalance_page_run_seconds_count", labels) or 0


def test_pages_are_counted_by_how_they_end(open_page):
    before = runs("Data", "ok")
    open_page("datasets")
    assert runs("Data", "ok") > before
    for error, outcome in ((DataError("no"), "error"), (ZeroDivisionError(), "defect")):
        with pytest.raises(type(error)), page_run("of a test"):
            raise error
        assert runs("of a test", outcome) == 1
