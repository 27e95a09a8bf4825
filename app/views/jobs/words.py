"""Words for what a job's filters scored, made once a job."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app.views.jobs.twins import edited
from generation.jobs.words import FilterWords
from graph.jobs.status import Job


def words_of(job: Job) -> FilterWords:
    """The words of a job's filters."""
    return _words(job.id, edited(job) > 0, job.settings)


@st.cache_resource(show_spinner=False, max_entries=256)
def _words(_job: str, edits: bool, settings: Mapping[str, Any]) -> FilterWords:
    return FilterWords(settings, edits=edits)
