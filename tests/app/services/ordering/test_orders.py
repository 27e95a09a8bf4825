"""Orders of plans: consent, recipes that fit the plan, and what a plan that edits images adds."""

import pytest

from app.services.ordering.orders import order_plan
from graph.dataset.write import write_annotations
from graph.errors import OptionError
from graph.jobs.status import list_jobs, read_job
from graph.records import Annotations, Edit, ImageRecord, Mention, PlannedQuery

BASIS = {"consent": "All shown have agreed."}


@pytest.fixture
def loaded(store, dataset):
    records = [
        ImageRecord(name, "man", (Mention("tie"),), split=split)
        for name, split in (("1", "train"), ("2", "train"), ("3", "test"))
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    return dataset


def edited(*images, group="woman", caption="a woman"):
    return [PlannedQuery(group, ("tie",), 1, Edit(name, caption)) for name in images]


def test_the_basis_is_kept_with_the_job(store, loaded):
    with pytest.raises(OptionError, match="Say on what basis"):
        order_plan(store, loaded, "r", edited("1"), {"recipe": "resampled"})
    assert list_jobs(store, loaded) == []
    job = order_plan(
        store, loaded, "r", edited("1"), {"recipe": "resampled", **BASIS}, created_by="ann"
    )
    found = read_job(store, job)
    assert found.settings["consent"] == BASIS["consent"]
    assert found.created_by == "ann"


def test_the_groups_words_and_the_split_go_with_the_job(store, loaded):
    settings = {"recipe": "resampled", "prompt": "an {adjective} {noun}", **BASIS}
    queries = edited("1", "2") + edited("2", group="elderly man")
    job = order_plan(store, loaded, "r", queries, settings, planned={"words": ["coco-gb", "age"]})
    kept = read_job(store, job).settings
    assert kept["split"] == "train"
    assert kept["phrases"] == {
        "elderly man": {"noun": "elderly man", "adjective": "elderly"},
        "woman": {"noun": "woman", "adjective": "feminine"},
    }
    own = {"phrases": {"woman": {"noun": "lady", "adjective": "x"}}, "split": "test"}
    job = order_plan(store, loaded, "r", edited("1"), settings | own)
    kept = read_job(store, job).settings
    assert (kept["phrases"], kept["split"]) == (own["phrases"], "test")
    mixed = order_plan(store, loaded, "r", edited("1", "3"), settings)
    assert "split" not in read_job(store, mixed).settings


@pytest.mark.parametrize(
    ("queries", "given", "message"),
    [
        ([PlannedQuery("man", ("tie",), 1)], BASIS, "edits images, and the plan 'r' asks for"),
        (edited("1", caption=""), BASIS, "a place for the caption, and the class 'woman' has none"),
        (
            edited("1", group="dog"),
            BASIS | {"prompt": "a {adjective} {noun}"},
            "place for the adjective.*settings phrases.GROUP.noun and",
        ),
        ([], BASIS, "asks for no images"),
        (
            edited("1", "2"),
            BASIS | {"recipe": "genswap", "alters_real_people": True},
            r"none of these is of the class 'woman' \(their classes: man\)",
        ),
    ],
)
def test_orders_that_cannot_be_made(store, loaded, queries, given, message):
    with pytest.raises(OptionError, match=message):
        order_plan(store, loaded, "r", queries, {"recipe": "resampled", **given})
    assert list_jobs(store, loaded) == []
