"""Estimate of how long a plan's images take to make."""

import json
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from cobalance.app.web.state import CurrentDataset, number_in_url
from cobalance.base import text_if
from cobalance.generation import JobSettings, Recipe
from cobalance.graph import read_speeds
from cobalance.workflows import duration_text


@dataclass(frozen=True)
class Pace:
    """Seconds that an image takes one worker, and the price of an hour, if known."""

    shortest_s: float
    longest_s: float
    hour_price: float | None = None

    def time(self, images: int) -> str:
        """Such as ``2 min to 5 min``."""
        shortest = duration_text(images * self.shortest_s)
        longest = duration_text(images * self.longest_s)
        return shortest if shortest == longest else f"{shortest} to {longest}"

    def cost(self, images: int) -> str:
        """Such as ``0.40 to 1.00``, in the currency of the price; empty without one."""
        if self.hour_price is None:
            return ""
        hours = images * self.shortest_s / 3600, images * self.longest_s / 3600
        low, high = (f"{self.hour_price * of_hours:,.2f}" for of_hours in hours)
        return low if low == high else f"{low} to {high}"


def draw_estimate(current: CurrentDataset, images: int, recipe: Recipe, best_of: int = 1) -> Pace:
    """Draw the estimated time with one worker and its source; return the pace.

    One of `best_of` candidates of each image is chosen.
    """
    speeds = _speeds_of(read_speeds(current.store), recipe.backend, best_of)
    fastest, slowest, origin = _range(speeds, recipe, best_of)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        from_s = _seconds("Seconds per accepted image, from", "s_from", fastest, 230)
        to_s = _seconds("to", "s_to", slowest, 130)

        hour_price: float | None = st.number_input(
            "Price of an hour",
            0.0,
            value=None,
            **number_in_url("hour_price"),
            placeholder="none",
            width=130,
            help="Of a machine with one worker, in any currency.",
        )

        # Two numbers that were typed may be in either order.
        pace = Pace(min(from_s, to_s), max(from_s, to_s), hour_price)
        cost = text_if(pace.cost(images), f", for **{pace.cost(images)}**")
        with st.container():
            st.markdown(
                f"**{images:,}** images, about **{pace.time(images)}** with one worker{cost}"
            )
            st.caption(f"An estimate. {origin}")
    return pace


def _seconds(label: str, key: str, usual: float, width: int) -> float:
    """Draw a field for seconds, with the usual value as its default."""
    typed: float | None = st.number_input(
        label, 0.01, value=None, **number_in_url(key), placeholder=f"{usual:g}", width=width
    )
    return typed or usual


def _speeds_of(measured: pd.DataFrame, backend: str, best_of: int) -> "pd.Series[float]":
    """Seconds per image in the jobs of one backend, each for so many candidates.

    Jobs that choose the best make all of their candidates, so that they do not tell how many of
    them another job would reject.
    """
    usual = JobSettings().backend
    backends = measured["settings"].map(lambda text: json.loads(text).get("backend", usual))
    jobs = measured[backends == backend]

    if best_of > 1:
        return best_of * jobs["seconds_per_candidate"]
    return jobs["seconds_per_image"][jobs["best_of"] == 1]


def _range(speeds: "pd.Series[float]", recipe: Recipe, best_of: int) -> tuple[float, float, str]:
    """Lowest and highest seconds per image, and a sentence on their origin."""
    backend = recipe.backend
    image, more = "an accepted image", "; rejected images come on top"
    if best_of != 1:
        image = f"the {best_of:,} candidates of an image"
        more = f" for {image}"
    if not len(speeds):
        origin = f"No job has measured the backend {backend} yet, so the numbers are assumed{more}."
        low, high = recipe.seconds
        return best_of * low, best_of * high, origin

    fastest, slowest = float(speeds.min()), float(speeds.max())
    if len(speeds) == 1:
        origin = (
            f"One job of the backend {backend} took {fastest:,.3g} s for {image}; this is half to "
            "twice that."
        )
        fastest, slowest = fastest / 2, slowest * 2
    else:
        origin = (
            f"The {len(speeds):,} latest jobs of the backend {backend} took {fastest:,.3g} to "
            f"{slowest:,.3g} s for {image}, the rejected ones included."
        )
    return _round_seconds(fastest), _round_seconds(slowest), origin


def _round_seconds(seconds: float) -> float:
    # A speed of 0 would make any number of images take no time.
    return max(round(seconds, 3 if seconds < 1 else 2), 0.001)
