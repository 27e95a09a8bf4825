"""The gallery reads what a click on a count needs, and no more."""

import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from cobalance.graph.database.store import GraphStore
from tests.app.conftest import OpenPage, WriteDataset, shown_text


def gallery(dataset: str) -> None:
    from cobalance.app.web.components import gallery
    from cobalance.app.web.state import session
    from cobalance.app.web.state.session import CurrentDataset
    from cobalance.graph.dataset.state import dataset_state

    store = session.store()
    current = CurrentDataset(store, dataset_state(store, dataset))
    gallery.draw(current, ("cow",), {"country": 9, "urban": 1})


def test_a_click_reads_the_state_once_and_each_class_once(
    open_page: OpenPage, cars: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def record(name: str) -> None:
        original = getattr(GraphStore, name)

        def recorded(self: GraphStore, text: str, **parameters: Any) -> Any:
            if "dbms.components" not in str(text):  # which a new connection asks
                read.append(text)
            return original(self, text, **parameters)

        monkeypatch.setattr(GraphStore, name, recorded)

    record("stream")
    record("read_frame")
    script = AppTest.from_function(gallery, default_timeout=300, kwargs={"dataset": cars})
    assert "**country** \N{MIDDLE DOT} 9 images" in shown_text(script.run())
    tags = 2
    first = 1 + 2 * 3 + tags  # the dataset's state; each class's lists, ids, and images
    assert len(read) == first
    script.run()
    assert len(read) == first + 1 + tags  # the images are cached as long as the state is the same


def rare(dataset: str) -> None:
    from cobalance.app.web.components import gallery
    from cobalance.app.web.state import session
    from cobalance.app.web.state.session import CurrentDataset
    from cobalance.graph.dataset.state import dataset_state

    store = session.store()
    current = CurrentDataset(store, dataset_state(store, dataset))
    counts = {"beach": 20, "farm": 21, "forest": 22, "kitchen": 23, "office": 0, "street": 9}
    gallery.draw(current, ("cow",), counts, None, ("street", "office"))


def test_the_classes_that_are_compared_come_first_the_one_without_images_included(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    """Of six classes the two with the highest and the lowest rate have few images or none."""
    rows: list[tuple[str, tuple[str, ...], int]] = [
        ("street", ("cow",), 9),
        ("street", (), 1),
        ("office", ("road",), 35),
    ]
    for number, name in enumerate(("beach", "farm", "forest", "kitchen")):
        rows += [(name, ("cow",), 20 + number), (name, ("road",), 60)]
    write_dataset(dataset, rows)
    script = AppTest.from_function(rare, default_timeout=300, kwargs={"dataset": dataset})
    shown = shown_text(script.run())
    headings = re.findall(r"\*\*(\w+)\*\* \N{MIDDLE DOT} (.*)", shown)
    assert headings == [
        ("street", "9 images \N{MIDDLE DOT} 90.0% of the class"),
        ("office", "none of 35 images"),
        ("kitchen", "23 images \N{MIDDLE DOT} 27.7% of the class"),
        ("forest", "22 images \N{MIDDLE DOT} 26.8% of the class"),
    ]
    assert "4 of 6 classes (the compared ones, then those with most images)" in shown
