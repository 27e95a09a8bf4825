"""What does not change of a job once it is written, read once: edited images, filters' words."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from cobalance.app.web.state import session
from cobalance.generation.jobs.words import FilterWords
from cobalance.graph.jobs.edited_images import count_edited
from cobalance.graph.jobs.status import Job


def edited(job: Job) -> int:
    """How many images a job edits, counted once for each job that is written."""
    if job.state == "preparing":
        return count_edited(session.store(), job.id)
    return _edited(job.id)


def words_of(job: Job) -> FilterWords:
    """Words for what a job's filters scored."""
    return _words(edited(job) > 0, job.settings)


@st.cache_data(show_spinner=False, max_entries=256)
def _edited(job: str) -> int:
    return count_edited(session.store(), job)


@st.cache_resource(show_spinner=False, max_entries=256)
def _words(edits: bool, settings: Mapping[str, Any]) -> FilterWords:
    return FilterWords(settings, edits=edits)
