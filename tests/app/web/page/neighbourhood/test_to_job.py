"""From a click in Neighbourhood to a job for what was clicked, and what page Plan says of it."""

from collections import Counter
from dataclasses import replace

import numpy as np
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from cobalance.base.arrays import BoolArray, FloatArray
from cobalance.counting.cliques import Cliques
from cobalance.graph.database.store import GraphStore
from cobalance.graph.jobs.status import list_jobs, read_queries
from cobalance.statistics.association import homogeneity_test
from cobalance.statistics.q_values import q_values
from tests.app.conftest import OpenPage, WriteDataset, created, shown_text
from tests.support.counted import Images, count_cliques

ARROW = " \N{RIGHTWARDS ARROW} "
CLICKED, IN_URL = ("cow", "field"), '["cow","field"]'
RATES = {
    "country": {"cow": 0.6, "field": 0.5, "gate": 0.4, "sign": 0.15, "tram": 0.1, "dog": 0.3},
    "urban": {"cow": 0.15, "field": 0.2, "gate": 0.4, "sign": 0.5, "tram": 0.4, "dog": 0.3},
}


def draw_kinds() -> Counter[tuple[str, frozenset[str]]]:
    """Images of each class and set of concepts: cow and field lean to country, and many others."""
    rng = np.random.default_rng(0)
    return Counter(
        (name, frozenset(one for one, rate in rates.items() if rng.random() < rate))
        for name, rates in RATES.items()
        for _ in range(150)
    )


def recount(images: Images, like: Cliques | None = None) -> tuple[Cliques, BoolArray, FloatArray]:
    """Count cliques, all or those of a table: which of them lean, and their rate differences."""
    cliques = count_cliques(images, 3)
    if like is not None:
        rows = [cliques.names().index(name) for name in like.names()]
        members, counts = cliques.members[rows], cliques.counts[rows]
        cliques = replace(cliques, members=members, counts=counts)
    p_values, _ = homogeneity_test(cliques.counts, cliques.class_sizes)
    differences: FloatArray = np.ptp(cliques.counts / cliques.class_sizes, axis=1)
    return cliques, q_values(p_values) <= 0.05, differences


def visit(app: AppTest, path: str) -> None:
    """Go to another page in the same session, as the navigation does: with an empty URL."""
    app._page_hash = calc_hash(path)
    app.query_params.clear()
    app.run()
    assert not app.exception


def test_a_clicked_clique_gets_a_job_that_serves_it(
    open_page: OpenPage, store: GraphStore, dataset: str, write_dataset: WriteDataset
) -> None:
    real = draw_kinds()
    write_dataset(dataset, [(name, tuple(sorted(shown)), n) for (name, shown), n in real.items()])
    near = {"near_concept": "cow", "near_selected": "c:field"}  # what a click on a node writes
    app = open_page("diagnose", view="Around", dataset=dataset, **near)
    app.button(key="_near_details").click().run()
    app.button(key="_details_to_plan").click().run()
    assert not app.exception
    assert app.query_params["clique"] == IN_URL
    visit(app, "plan")
    assert (app.title[0].value, app.query_params["clique"]) == ("Plan", IN_URL)
    created(app, store, dataset)
    (job,) = list_jobs(store, dataset)
    queries = read_queries(store, job.id)
    planned = Counter(real)
    for name, concepts, n in zip(
        queries["class_name"], queries["concepts"], queries["n"].tolist(), strict=True
    ):
        assert ({*CLICKED} <= {*concepts}) == (name == "urban"), "which has it too rarely"
        planned[name, frozenset(concepts)] += n
    before, leant, was = recount(real)
    after, leans, becomes = recount(planned, before)
    row = before.names().index(CLICKED)
    others = np.arange(len(before)) != row
    assert (leant[row], leans[row]) == (True, False)
    assert becomes[row] < 0.6 * was[row]
    assert not (leans & ~leant).any()
    assert becomes[others].sum() < was[others].sum()
    # No other grows by more than chance alone has two classes differ: by two standard errors.
    rates = after.counts.sum(axis=1) / after.class_sizes.sum()
    chance = 2 * np.sqrt(rates * (1 - rates) * (1 / after.class_sizes).sum())
    assert ((becomes - was)[others] <= chance[others]).all()

    said = {one.label: one.value for one in app.metric}
    assert said["Images to make"] == str(planned.total() - real.total())
    assert len(queries) > 1
    assert f"All {len(queries)} queries" in [fold.label for fold in app.expander]
    assert said["Cliques that lean"] == f"1{ARROW}0"
    assert f"that lean before: {was[row]:.2f}{ARROW}{becomes[row]:.2f}." in shown_text(app)
    assert said["Largest difference"] == f"{was[row]:.1%}{ARROW}{becomes[row]:.1%}"
    n_widened = (leans & (becomes > was + 1e-12)).sum()
    assert ("The plan widens" in shown_text(app)) == bool(n_widened)
    # What leans before or after, with its rates.
    shown = next(one.value for one in app.dataframe if "status" in one.value)
    differences = dict(zip(map(tuple, shown["concepts"]), shown["difference"], strict=True))
    assert differences == {
        before.names()[at]: f"{was[at]:.1%}{ARROW}{becomes[at]:.1%}"
        for at in np.flatnonzero(leant | leans).tolist()
    }
    chosen = shown["concepts"][shown["chosen"].astype(bool)]
    assert [tuple(names) for names in chosen] == [CLICKED]
