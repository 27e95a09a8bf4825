"""What all sessions share outlives the caches of Streamlit."""

import streamlit as st

from cobalance.app.web.state import local_workers, session, tasks


def test_what_all_sessions_share_is_in_no_cache(settings, store, monkeypatch):
    if settings.neo4j_uri is None:
        monkeypatch.setenv("COBALANCE_HOME", str(settings.cobalance_home))
    session.forget_store()
    opened, workers = session.store(), local_workers.workers()
    task = tasks.start("kept", "Kept", lambda _: "done")
    st.cache_data.clear()
    st.cache_resource.clear()
    assert session.store() is opened
    assert local_workers.workers() is workers
    assert tasks.find("kept") is task
    tasks.dismiss("kept")
    opened.close()
    session.forget_store()
