"""The web app on 118,000 images and 80 concepts: each page's queries, and Diagnose in a browser.

    python -m benchmarks.ingest --keep && python -m benchmarks.web
    python -m benchmarks.scale --images 2000000 --sample 12 --keep
    python -m benchmarks.web --dataset scale

Prints the 95th percentile of every read that a page makes, warm, each time about other concepts;
then how long Chromium takes until Diagnose can be used, beside a blank Streamlit page.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import requests
from playwright.sync_api import Browser, sync_playwright

from cobalance.base.records import PlannedQuery
from cobalance.graph.database import schema
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.cliques import clique_totals, load_cliques
from cobalance.graph.dataset.names import class_sizes
from cobalance.graph.dataset.state import dataset_state, list_datasets
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.reports import workers_alive
from cobalance.graph.jobs.status import list_jobs, read_queries, read_speeds
from cobalance.graph.queries.binding import bind_named
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.graph.queries.clique_images import read_clique_images
from cobalance.graph.queries.contrasts import read_contrasts
from cobalance.graph.queries.imbalances import Ranking, read_folded_imbalances, read_imbalances
from cobalance.graph.queries.neighbourhood import read_neighbourhood, shortest_link
from cobalance.graph.queries.overview import read_overview
from cobalance.graph.queries.own_effects import read_own_effects
from cobalance.workflows.diagnose.facets import read_facets
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store
from tests.browser import chromium
from tests.browser.server import environment_of, running

JOB, JOB_QUERIES = "benchmark", 80_000


def page_reads(store: GraphStore, dataset: str) -> dict[str, Callable[[int], object]]:
    """What each page reads; each run, numbered, asks about other concepts."""
    rows = store.read(CATALOGUE["concepts"].text, dataset=dataset, limit=40)
    concepts = [row["concept"] for row in rows]

    class_name = next(iter(class_sizes(store, dataset)))
    top = tuple(read_imbalances(store, dataset, Ranking(limit=200))["concepts"])

    def of_clique(i: int) -> object:
        pair = sorted((concepts[i % 20], concepts[i % 20 + 3]))
        return read_clique_images(store, dataset, pair, class_name, limit=6)

    def named(name: str) -> Callable[[int], object]:
        query, bound = bind_named(store, name, {"dataset": dataset})
        return lambda _: store.read(query.text, **bound)

    return {
        "all pages: state": lambda _: dataset_state(store, dataset),
        "all pages: datasets": lambda _: list_datasets(store),
        "all pages: classes": lambda _: class_sizes(store, dataset),
        "diagnose: totals": lambda _: clique_totals(store, dataset),
        "diagnose: table": lambda _: read_folded_imbalances(store, dataset, Ranking(limit=200)),
        "diagnose: own effects of the table": lambda _: read_own_effects(store, dataset, top),
        "diagnose: heat map, strongest contrast": lambda _: read_contrasts(store, dataset),
        "diagnose: table of a group": lambda i: read_folded_imbalances(
            store, dataset, Ranking(any_of=tuple(concepts[i % 20 : i % 20 + 15]), limit=200)
        ),
        "diagnose: groups of concepts": lambda _: read_facets(store, dataset),
        "diagnose: table by count gap": lambda _: read_imbalances(
            store, dataset, Ranking(by="gap", limit=200)
        ),
        "diagnose: table of a concept": lambda i: read_imbalances(
            store, dataset, Ranking(concepts=(concepts[i % 40],), limit=200)
        ),
        "diagnose: graph": lambda i: read_overview(store, dataset, include=(concepts[i % 40],)),
        "diagnose: images behind a count": of_clique,
        "datasets: images without concepts": named("images-without-concepts"),
        "datasets: rare concepts": named("rare-concepts"),
        "neighbourhood": lambda i: read_neighbourhood(store, dataset, concepts[i % 40]),
        "neighbourhood: shortest link": lambda i: shortest_link(
            store, dataset, concepts[i % 39], concepts[39]
        ),
        "plan: all cliques": lambda _: load_cliques(store, dataset),
        "plan: measured speeds": lambda _: read_speeds(store),
        "jobs": lambda _: (list_jobs(store, dataset), workers_alive(store)),
        "jobs: a page of queries": lambda i: read_queries(store, JOB, skip=50 * i, limit=50),
        "cypher: names": lambda _: store.read(
            f"MATCH (n:{schema.CONCEPT.label} {{dataset: $dataset}}) RETURN n.name",
            dataset=dataset,
        ),
    }


def create_large_job(store: GraphStore, dataset: str) -> None:
    """Have a job with so many queries that counting them would take long."""
    if any(job.id == JOB for job in list_jobs(store, dataset)):
        return
    cliques = load_cliques(store, dataset)
    names = cliques.names()
    queries = [
        PlannedQuery(cliques.classes[i % len(cliques.classes)], names[i % len(names)], 1 + i % 40)
        for i in range(JOB_QUERIES)
    ]
    create_job(store, dataset, "benchmark", queries, job=JOB)


def time_reads(store: GraphStore, dataset: str, repeats: int) -> None:
    """Print the 95th percentile of each read, in milliseconds."""
    for name, read in page_reads(store, dataset).items():
        runs = []
        for i in range(repeats + 3):
            start = time.perf_counter()
            read(i)
            runs.append(1000 * (time.perf_counter() - start))
        print(f"  {name:<40} p95 {np.percentile(runs[3:], 95):8.1f} ms", flush=True)


def time_page(browser: Browser, url: str, usable: str, repeats: int) -> float:
    """Median seconds from a new visitor's request until an element can be used."""
    runs = []
    for _ in range(repeats):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        start = time.perf_counter()
        page.goto(url)
        page.locator(usable).first.wait_for()
        runs.append(time.perf_counter() - start)
        context.close()
    return float(np.median(runs))


@contextmanager
def blank_page(folder: Path, port: int) -> Iterator[str]:
    """Serve a Streamlit script that writes one word."""
    script = folder / "blank.py"
    script.write_text("import streamlit as st\nst.text('blank')\n", encoding="utf-8")
    options = {
        "server.port": port,
        "server.address": "127.0.0.1",
        "server.headless": "true",
        "browser.gatherUsageStats": "false",
    }
    flags = [f"--{name}={value}" for name, value in options.items()]
    with subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(script), *flags],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        url = f"http://127.0.0.1:{port}"
        for _ in range(100):
            try:
                requests.get(f"{url}/_stcore/health", timeout=1)
                break
            except requests.ConnectionError:
                time.sleep(0.1)
        try:
            yield url
        finally:
            process.terminate()


def main() -> None:
    """Run all measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="bench")
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--visits", type=int, default=5)
    parser.add_argument("--blank-port", type=int, default=8599)
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with open_store(Settings.from_environment()) as store:
        create_large_job(store, arguments.dataset)
        time_reads(store, arguments.dataset, arguments.repeats)
    with (
        tempfile.TemporaryDirectory() as name,
        sync_playwright() as playwright,
        blank_page(Path(name), arguments.blank_port) as blank,
        running(Path(name), environment_of(Settings.from_environment())) as app,
    ):
        browser = chromium.launch(playwright)
        text, graph = "[data-testid=stText]", ".concept-graph[data-ready]"
        empty_s = time_page(browser, blank, text, arguments.visits)
        ours_s = time_page(
            browser, f"{app.url}/?dataset={arguments.dataset}", graph, arguments.visits
        )
        browser.close()
    print(f"  blank Streamlit page: {empty_s:.2f} s; Diagnose with its graph: {ours_s:.2f} s")


if __name__ == "__main__":
    main()
