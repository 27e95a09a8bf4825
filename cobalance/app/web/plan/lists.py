"""Lists of real images as a baseline takes them, offered beside the planners."""

from functools import partial

import pandas as pd
import streamlit as st

from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import choice_in_url, number_in_url
from cobalance.app.web.widgets.controls import download
from cobalance.generation.planning.resampling import BASELINES
from cobalance.graph.arrays import IntArray
from cobalance.graph.counting.cliques import Cliques
from cobalance.workflows.cells import to_csv
from cobalance.workflows.plan.resample import listed, listed_images


def offer_lists(current: CurrentDataset, cliques: Cliques, chosen: IntArray) -> None:
    """Draw the choice of a baseline, and downloads of its list for the chosen cliques."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        baseline = st.selectbox(
            "List of images for a trainer",
            list(BASELINES),
            **choice_in_url("plan_list"),
            width=220,
            help="\n".join(f"- **{name}**: {purpose}" for name, purpose in BASELINES.items()),
        )
        seed = st.number_input(
            "Seed",
            0,
            value=0,
            **number_in_url("plan_seed"),
            width=120,
            help="Which images are repeated or dropped. Equal seeds give equal lists.",
        )
        made = partial(_list, current, cliques, chosen, baseline, seed)
        file = f"{current.name}-{baseline}"
        download("CSV", lambda: to_csv(made()), f"{file}.csv", key="_plan_list_csv")
        download(
            "Parquet",
            lambda: made().to_parquet(index=False),
            f"{file}.parquet",
            key="_plan_list_parquet",
        )


def _list(
    current: CurrentDataset, cliques: Cliques, chosen: IntArray, baseline: str, seed: int
) -> pd.DataFrame:
    images, incidence = listed_images(current.store, current.name, current.mining.split)
    return listed(images, incidence, cliques, chosen, baseline, seed)
