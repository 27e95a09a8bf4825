"""A dataset of a bias record has counts and no image: every page says so, or shows its counts."""

from collections.abc import Iterator

import pytest

from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.workflows.record.examination import examine_subject
from cobalance.workflows.record.stored import load_record
from tests.app.conftest import OpenPage, shown_text
from tests.workflows.gate.drawn import records, subject

RATES = {"cow": (0.4, 0.1), "road": (0.3, 0.3), "tree": (0.2, 0.1)}


@pytest.fixture
def counts_alone(store: GraphStore, dataset: str) -> Iterator[str]:
    name = f"{dataset} counts"
    examined = examine_subject(subject(records(0, 200, RATES)), "cobalance record")
    load_record(store, name, examined, source="bias.json")
    yield name
    drop_dataset(store, name)


@pytest.mark.parametrize(
    ("page", "view", "text"),
    [
        ("diagnose", "Graph", "Counts alone: the dataset is of a bias record."),
        ("diagnose", "Rules", "Not without all images"),
        ("diagnose", "Similar", "Not without all images"),
        ("diagnose", "Together", "Click a row to see its images."),
        ("datasets", None, "They were read from a bias record, which has no images."),
        ("plan", None, ""),
        ("compare", None, ""),
        ("evaluate", None, ""),
    ],
)
def test_pages_show_counts_and_say_that_there_are_no_images(
    open_page: OpenPage, counts_alone: str, page: str, view: str | None, text: str
) -> None:
    query = {} if view is None else {"view": view}
    app = open_page(page, dataset=counts_alone, **query)
    assert not app.exception
    assert text in shown_text(app)


def test_images_of_a_combination_are_counted(open_page: OpenPage, counts_alone: str) -> None:
    app = open_page("diagnose", dataset=counts_alone, images='["cow"]')
    assert not app.exception
    assert "of the class · counts alone" in shown_text(app)
