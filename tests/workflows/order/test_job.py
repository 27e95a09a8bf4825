"""Orders of plans: consent, recipes that fit the plan, and what a plan that edits images adds."""

import pytest

from cobalance.base.errors import DataError, OptionError
from cobalance.base.records import Annotations, Edit, ImageRecord, Mention, PlannedQuery
from cobalance.generation.backends.backend import BackendPlugin
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.status import list_jobs, read_job
from cobalance.workflows.order.job import order_plan

BASIS = {"consent": "All shown have agreed."}
WITHOUT = {"without_images": True}


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
        order_plan(store, loaded, "r", edited("1"), {"recipe": "resampled"}, places=())
    assert list_jobs(store, loaded) == []
    job = order_plan(
        store,
        loaded,
        "r",
        edited("1"),
        {"recipe": "resampled", **BASIS, **WITHOUT},
        places=(),
        created_by="ann",
    )
    found = read_job(store, job)
    assert found.settings["consent"] == BASIS["consent"]
    assert found.created_by == "ann"


def test_the_groups_words_and_the_split_go_with_the_job(store, loaded):
    settings = {"recipe": "resampled", "prompt": "an {adjective} {noun}", **BASIS, **WITHOUT}
    queries = edited("1", "2") + edited("2", group="elderly man")
    job = order_plan(
        store, loaded, "r", queries, settings, places=(), planned={"words": ["coco-gb", "age"]}
    )
    kept = read_job(store, job).settings
    assert kept["split"] == "train"
    assert kept["phrases"] == {
        "elderly man": {"noun": "elderly man", "adjective": "elderly"},
        "woman": {"noun": "woman", "adjective": "feminine"},
    }
    own = {"phrases": {"woman": {"noun": "lady", "adjective": "x"}}, "split": "test"}
    job = order_plan(store, loaded, "r", edited("1"), settings | own, places=())
    kept = read_job(store, job).settings
    assert (kept["phrases"], kept["split"]) == (own["phrases"], "test")
    mixed = order_plan(store, loaded, "r", edited("1", "3"), settings, places=())
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
    with pytest.raises((DataError, OptionError), match=message):
        order_plan(store, loaded, "r", queries, {"recipe": "resampled", **given}, places=())
    assert list_jobs(store, loaded) == []


@pytest.fixture
def pictured(store, dataset, tmp_path):
    """Forty men and as many women with the name of a file each; those of the men are there."""
    (tmp_path / "men").mkdir()
    for at in range(40):
        (tmp_path / "men" / f"{at}.png").touch()
    records = [
        ImageRecord(f"{at}", name, (Mention("tie"),), uri=f"{name}/{at}.png")
        for name, first in (("men", 0), ("women", 40))
        for at in range(first, first + 40)
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    return dataset


@pytest.mark.parametrize(
    ("queries", "recipe", "told"),
    [
        (
            [PlannedQuery("men", ("tie",), 1), PlannedQuery("women", ("tie",), 1)],
            "procedural",
            "no image of the class 'women' has a file that is found: 1 of 21 files looked for are",
        ),
        (
            [PlannedQuery("women", ("tie",), 1)],
            "inpaint",
            "a file that is found: 0 of 20",
        ),
        (edited("45", "46"), "resampled", "no image to edit has a file that is found: 0 of 2"),
    ],
)
def test_a_job_without_the_images_that_it_needs(store, pictured, tmp_path, queries, recipe, told):
    settings = {"recipe": recipe, "masks": {"object": ["dog"]}}
    places = (str(tmp_path),)
    with pytest.raises(DataError) as refused:
        order_plan(store, pictured, "r", queries, settings, places=places)
    assert told in str(refused.value)
    assert f"looked in {tmp_path}. Set images to" in str(refused.value)
    assert str(refused.value).endswith("order with without_images=True.")
    assert list_jobs(store, pictured) == []
    order_plan(store, pictured, "r", queries, settings | WITHOUT, places=places)
    (tmp_path / "women").symlink_to(tmp_path / "men")
    for at in range(40, 80):
        (tmp_path / "men" / f"{at}.png").touch()
    order_plan(store, pictured, "r", queries, settings, places=places)


def test_a_backend_that_takes_no_source_needs_no_images(store, loaded, monkeypatch):
    queries = [PlannedQuery("man", ("tie",), 1)]
    with pytest.raises(DataError, match="no image of the class 'man' names a file"):
        order_plan(store, loaded, "r", queries, {}, places=())
    plugin = BackendPlugin("procedural", "From words.", takes_source=False)
    monkeypatch.setattr("cobalance.generation.backends.procedural.PLUGIN", plugin)
    order_plan(store, loaded, "r", queries, {}, places=())


@pytest.mark.parametrize(
    ("wanted", "options", "pilot"),
    [
        (200, {}, None),
        (201, {}, True),
        (201, {"pilot": False}, False),
        (2, {"pilot": True}, True),
        (201, {"best_of": 2, "rank_by": {"blank": 1.0}, "filters": {"blank": {}}}, None),
    ],
)
def test_a_large_job_has_a_pilot_unless_it_is_said(store, loaded, wanted, options, pilot):
    queries = [PlannedQuery("man", ("tie",), wanted)]
    job = order_plan(store, loaded, "r", queries, {**options, **WITHOUT}, places=())
    assert read_job(store, job).settings.get("pilot") is pilot


def test_a_pilot_of_what_is_made_whatever_is_accepted_is_refused(store, loaded):
    settings = {"pilot": True, "best_of": 2, "rank_by": {"blank": 1.0}, "filters": {"blank": {}}}
    queries = [PlannedQuery("man", ("tie",), 1)]
    with pytest.raises(OptionError, match="pilot is true, and best_of is 2"):
        order_plan(store, loaded, "r", queries, {**settings, **WITHOUT}, places=())
