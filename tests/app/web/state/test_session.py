"""What all sessions share outlives the caches of Streamlit."""

import streamlit as st

from cobalance.app.web.components import workers
from cobalance.app.web.state import session, tasks


def test_what_all_sessions_share_is_in_no_cache(settings, store, monkeypatch):
    if settings.neo4j_uri is None:
        monkeypatch.setenv("COBALANCE_HOME", str(settings.cobalance_home))
    session.forget_store()
    opened, started = session.store(), workers.WORKERS
    task = tasks.start("kept", "Kept", lambda _: "done")
    st.cache_data.clear()
    st.cache_resource.clear()
    assert session.store() is opened
    assert workers.WORKERS is started
    assert tasks.find("kept") is task
    tasks.dismiss("kept")
    opened.close()
    session.forget_store()
