"""The image grid as a Streamlit component: rows of one height, and a lightbox over the page.

The browser asks for a picture when its cell comes into view. What a person opens, and whether
boxes are drawn, is the page's to keep: the component calls back, and shows what it is given.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from app.concept_graph.browser_part import browser_part
from app.image_grid.media import media_url
from app.pictures.thumbnails import Picture


@dataclass(frozen=True)
class GridImage:
    """An image of a grid.

    Parameters
    ----------
    id : str
        Unique in the grid.
    alt : str
        What is in it, in words.
    plain : Picture
        The image.
    drawn : Picture or None
        The image with its boxes and outlines, if it has any.
    """

    id: str
    alt: str
    plain: Picture
    drawn: Picture | None = None


@dataclass(frozen=True)
class OpenedImage:
    """The image that the lightbox shows, with as many of its pixels as there are to show.

    Parameters
    ----------
    id : str
        One of the grid's.
    caption : str
        What is known of it.
    plain, drawn : Picture
        As of `GridImage`.
    """

    id: str
    caption: str
    plain: Picture
    drawn: Picture | None = None


def image_grid(
    images: Sequence[GridImage],
    *,
    key: str,
    label: str,
    row_px: int,
    overlay: bool,
    opened: OpenedImage | None,
    on_open: Callable[[str | None], None],
    on_overlay: Callable[[bool], None],
) -> None:
    """Draw images in rows of one height.

    A click or Enter asks for an image in the lightbox, where the arrow keys lead on; Escape closes
    it. Arrow keys move in the grid, too.

    Parameters
    ----------
    images : sequence of GridImage
        In their order.
    key : str
        The widget's key, which no other widget of the page has.
    label : str
        Its name for screen readers.
    row_px : int
        Height of a row in CSS pixels.
    overlay : bool
        Whether boxes and outlines are drawn.
    opened : OpenedImage or None
        The image in the lightbox.
    on_open : callable
        Takes the id of the image that a person asks for, or None when they close the lightbox;
        called before the next run.
    on_overlay : callable
        Takes whether the person wants boxes and outlines.
    """
    library, grid = browser_part("image_grid")

    def asked() -> None:
        wanted = st.session_state[key].get("asked") or {}
        id_ = wanted.get("id")
        if id_ is None or id_ in known:
            on_open(id_)

    def switched() -> None:
        wanted = st.session_state[key].get("overlay") or {}
        on_overlay(bool(wanted.get("on")))

    known = {image.id for image in images}
    with st.container(gap=None):
        library(key=f"{key}.library")
        grid(
            key=key,
            data={
                "images": [
                    {
                        "id": image.id,
                        "alt": image.alt,
                        "aspect": round(image.plain.width_px / image.plain.height_px, 3),
                        **_addresses(image.plain, image.drawn, f"{key}.{place}"),
                    }
                    for place, image in enumerate(images)
                ],
                "opened": opened
                and {
                    "id": opened.id,
                    "caption": opened.caption,
                    **_addresses(opened.plain, opened.drawn, f"{key}.opened"),
                },
                "overlay": overlay,
                "row_px": row_px,
                "label": label,
            },
            on_asked_change=asked,
            on_overlay_change=switched,
        )


def _addresses(plain: Picture, drawn: Picture | None, place: str) -> dict[str, Any]:
    return {
        "src": media_url(plain, f"{place}.plain"),
        "drawn": drawn and media_url(drawn, f"{place}.drawn"),
    }
