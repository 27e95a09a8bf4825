"""What the browser is sent of an image grid, and what of its answers reaches the page."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.web.browser.test_concept_graph import components


def page() -> None:
    import streamlit as st

    from cobalance.app.web.browser.image_grid import GridImage, image_grid
    from cobalance.app.web.pictures.thumbnails import Picture

    opened = st.session_state.get("opened")
    image_grid(
        [
            GridImage("a", "a: cat", Picture(b"a", 40, 20)),
            GridImage("<b>", "<b>: cat", Picture(b"b", 10, 40), Picture(b"b with boxes", 10, 40)),
        ],
        key="grid",
        label="Images of cat",
        row_px=120,
        overlay=st.session_state.get("overlay", True),
        opened=GridImage(opened, "cat: sofa", Picture(b"large", 400, 200)) if opened else None,
        on_open=lambda name: st.session_state.update(opened=name),
        on_overlay=lambda on: st.session_state.update(overlay=on),
    )


def sent(app: AppTest) -> dict:
    library, grid = components(app)
    assert library.json == ""
    assert len(grid.js_content) < 2_000
    return json.loads(grid.json)


def test_it_has_the_addresses_of_pictures_and_not_their_bytes() -> None:
    data = sent(AppTest.from_function(page).run())
    first, second = data["images"]
    assert [one["id"] for one in data["images"]] == ["a", "<b>"]
    assert (first["aspect"], second["aspect"]) == (2, 0.25)
    assert first["drawn"] is None
    assert second["drawn"] != second["src"]
    assert data["opened"] is None


@pytest.mark.parametrize("opened", ["a", "<b>"])
def test_an_opened_image_has_a_picture_of_its_own(opened: str) -> None:
    app = AppTest.from_function(page)
    app.session_state["opened"] = opened
    data = sent(app.run())
    assert data["opened"]["id"] == opened
    assert data["opened"]["src"] not in {one["src"] for one in data["images"]}
