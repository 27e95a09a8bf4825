"""The gallery reads what a click on a count needs, and no more."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from cobalance.graph.database.store import GraphStore
from tests.app.conftest import OpenPage, shown_text


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
