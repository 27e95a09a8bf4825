"""A pilot with real workers: what will not be had is held back, and the rest is made in full."""

import sys
from types import SimpleNamespace

import pytest

from cobalance.base.errors import DataError
from cobalance.base.records import PlannedQuery
from cobalance.generation.filters import blank
from cobalance.generation.filters.filter import Judgement, PixelFilter
from cobalance.generation.image_request import seed_of
from cobalance.graph.jobs.lifecycle import drop_short, retry_job
from cobalance.graph.jobs.status import read_job, read_queries
from cobalance.workflows.order.job import order_plan, reorder_short, settings_to_reuse
from cobalance.workflows.order.settings import check_settings
from cobalance.workflows.work.tables import describe_pace
from tests.e2e.small_jobs import candidates
from tests.tiny.vision import save_owlv2

# With two candidates an image, a pilot has 12 of each query.
SETTINGS = {
    "pilot": True,
    "candidates_per_image": 2,
    "chunk_size": 6,
    "seed": "s",
    "without_images": True,
    "hour_price": 3.6,
    "making": {"width_px": 32, "height_px": 32},
}


def order(store, dataset, queries, **settings):
    checked = check_settings({**SETTINGS, **settings})
    planned = [PlannedQuery(*query) for query in queries]
    return order_plan(store, dataset, "plan", planned, checked, places=())


@pytest.fixture
def without_gates(tmp_path):
    """Filters with a real detector, which finds a gate everywhere, where it is not to be."""
    pytest.importorskip("torch")
    model = save_owlv2(tmp_path / "owlv2")
    objects = {
        "model": str(model),
        "threshold": 0.5,
        "check_class": False,
        "vocabulary": ["gate"],
        "reject_unasked": True,
    }
    return {"sanity": {}, "objects": objects}


def test_what_is_never_accepted_is_held_back_until_somebody_decides(
    store, loaded, work, without_gates
):
    queries = [
        ("country", ("gate",), 15),
        ("urban", ("cow",), 15),
        ("urban", ("cow", "gate"), 15),
    ]
    job = order(store, loaded, queries, filters=without_gates)
    work()
    found = read_job(store, job)
    frame = read_queries(store, job)
    assert (found.state, found.covered, found.short) == ("done", 30, 1)
    # Nothing but the pilot is painted of the one, nothing in vain of the others.
    assert frame["accepted"].tolist() == [15, 0, 15]
    assert frame["rejected"].tolist() == [0, 12, 0]
    assert frame["message"].tolist() == [
        "",
        "It will not be had: the filter objects rejects 12 of 12 candidates.",
        "",
    ]
    assert found.cost == pytest.approx(found.seconds / 1000)
    (sentence,) = describe_pace(found)
    assert sentence.endswith(" for a unit of money.")

    # Whoever asks again wants it to the end, whatever its acceptance.
    assert retry_job(store, job, short=True) == 1
    work()
    again = read_queries(store, job)
    assert again["rejected"].tolist() == [0, 60, 0]
    assert "the most that the job allows" in again["message"][1]

    # With another recipe's filters the same images are had.
    settings = check_settings({**settings_to_reuse(found), "filters": {"sanity": {}}})
    new_job = reorder_short(store, job, settings, places=())
    work()
    remade = read_job(store, new_job)
    assert (remade.state, remade.wanted, remade.accepted) == ("done", 15, 15)
    old = read_job(store, job)
    assert (old.wanted, old.covered, old.short) == (30, 30, 0)
    assert read_queries(store, job)["message"][1] == "Dropped: 0 of 15 images are enough."
    with pytest.raises(DataError, match="nothing to order again"):
        reorder_short(store, job, settings, places=())
    assert drop_short(store, job) == 0


def accept_by_seed(request, made, options):
    return Judgement(1.0) if request.seed % 100 < 60 else Judgement(0.0, "Not of these seeds.")


@pytest.fixture
def three_in_five(monkeypatch):
    """The filter `blank` accepts three images in five, by their seeds."""
    by_seed = SimpleNamespace(
        PLUGIN=blank.PLUGIN,
        open_filter=lambda options: PixelFilter("blank", options, accept_by_seed),
    )
    monkeypatch.setitem(sys.modules, "cobalance.generation.filters.blank", by_seed)
    return {"blank": {}}


@pytest.mark.parametrize("pilot", [True, False])
def test_the_same_images_are_accepted_with_and_without_a_pilot(
    store, loaded, work, three_in_five, pilot
):
    queries = [("country", ("gate",), 30), ("urban", ("cow",), 7)]
    job = order(store, loaded, queries, filters=three_in_five, pilot=pilot, candidates_per_image=4)
    work()
    accepted = {
        tuple(map(int, candidate.id.split("/")[1:]))
        for candidate in candidates(store, job)
        if candidate.verdict == "accepted"
    }
    expected = set()
    for position, (_, _, wanted) in enumerate(queries):
        numbers = [i for i in range(1000) if seed_of("s", position, i) % 100 < 60]
        expected |= {(position, number) for number in numbers[:wanted]}
    assert accepted == expected

    found = read_job(store, job)
    assert (found.state, found.accepted, found.short) == ("done", 37, 0)
    # The last round's estimate has what was made in the end.
    assert found.expected_low <= found.made <= found.expected_high
    assert found.expected == pytest.approx(found.made, rel=0.15)
