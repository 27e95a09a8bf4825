"""The image grid as a Streamlit component: rows of one height, and a lightbox over the page.

The browser asks for a picture when its cell comes into view. What a person opens, and whether
boxes are drawn, is the page's to keep: the component calls back, and shows what it is given.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from cobalance.app.web.browser.browser_part import draw_part
from cobalance.app.web.pictures.thumbnails import Picture
from cobalance.app.web.server.streamlit_internals import picture_url


@dataclass(frozen=True)
class GridImage:
    """An image of a grid, in which its id is unique, or the one in the lightbox.

    `text` describes it to screen readers, or is its caption there; `drawn` is the image with its
    boxes and outlines, if it has any.
    """

    id: str
    text: str
    plain: Picture
    drawn: Picture | None = None


def image_grid(
    images: Sequence[GridImage],
    *,
    key: str,
    label: str,
    row_px: int,
    on_open: Callable[[str | None], None],
    overlay: bool = False,
    on_overlay: Callable[[bool], None] = lambda _: None,
    opened: GridImage | None = None,
    has_lightbox: bool = True,
) -> None:
    """Draw images in rows of one height.

    A click or Enter asks for an image in the lightbox, where the arrow keys lead on; Escape closes
    it. Arrow keys move in the grid, too.

    Parameters
    ----------
    label : str
        Its name for screen readers.
    row_px : int
        Height of a row in CSS pixels.
    overlay : bool
        Whether boxes and outlines are drawn.
    opened : GridImage or None
        The image in the lightbox.
    on_open : callable
        Takes the id of the requested image, or None when the lightbox is closed; called before
        the next run.
    on_overlay : callable
        Takes whether the person wants boxes and outlines.
    has_lightbox : bool
        Whether a click opens an image here; else the page is only told.
    """
    data = grid_data(images, key=key, label=label, row_px=row_px, overlay=overlay, opened=opened)
    draw_part(
        "image_grid",
        key,
        data | {"has_lightbox": has_lightbox},
        on_asked_change=opening(key, images, on_open),
        on_overlay_change=switching(key, "overlay", on_overlay),
    )


def grid_data(
    images: Sequence[GridImage],
    *,
    key: str,
    label: str,
    row_px: int,
    overlay: bool,
    opened: GridImage | None,
) -> dict[str, Any]:
    """Data for the browser to draw images in rows; parameters as in `image_grid`."""
    return {
        "images": [
            {
                "id": image.id,
                "alt": image.text,
                "aspect": round(image.plain.width_px / image.plain.height_px, 3),
                **_urls(image, f"{key}.{place}"),
            }
            for place, image in enumerate(images)
        ],
        "opened": opened
        and {"id": opened.id, "caption": opened.text, **_urls(opened, f"{key}.opened")},
        "overlay": overlay,
        "row_px": row_px,
        "label": label,
    }


def opening(
    key: str, images: Sequence[GridImage], on_open: Callable[[str | None], None]
) -> Callable[[], None]:
    """Callback that opens the requested image; unknown ids are ignored."""
    ids = {image.id for image in images}

    def open_asked() -> None:
        # Whoever has gone to another page meanwhile has no state here. Without an id the lightbox
        # is closed.
        id_ = (st.session_state.get(key, {}).get("asked") or {}).get("id")
        if id_ is None or id_ in ids:
            on_open(id_)

    return open_asked


def switching(key: str, name: str, on_switch: Callable[[bool], None]) -> Callable[[], None]:
    """Callback that passes on a switch's new state."""

    def switch() -> None:
        on_switch(bool((st.session_state.get(key, {}).get(name) or {}).get("on")))

    return switch


def _urls(image: GridImage, place: str) -> dict[str, Any]:
    return {
        "src": picture_url(image.plain.data, f"{place}.plain"),
        "drawn": image.drawn and picture_url(image.drawn.data, f"{place}.drawn"),
    }
